#include "approximate.h"

#include "attn/random.h"
#include "attn/support.h"
#include "embed.h"
#include "matrices.h"

#include <math.h>

enum { STREAM_JL = 1 };

/* ---- the embedding ------------------------------------------------------------------------------------- */

static attn_scores_way_t way_of(const attn_x_t *x, double factor, double delta) {
    return attn_scores_way(x->rows, x->columns, factor, delta);
}

int attn_is_embedded(const attn_x_t *x, double factor, double delta) {
    const attn_scores_way_t way = way_of(x, factor, delta);
    return attn_max(way.size, way.check_size) < x->columns;
}

/* Of the words, which are numbered by feature and place, S1 has the first 4 d at most; check k begins at 4 k d or behind. */
attn_embedding_t attn_scores_embedding(const attn_scores_way_t *way, int64_t columns, uint64_t seed,
                                       int64_t number) {
    const int64_t size = number ? way->check_size : way->size;
    const int64_t places = number ? way->check_places : ATTN_EMBED_PLACES;
    return (attn_embedding_t){size, attn_sketch_sparsity(size, places), seed,
                              number * columns * ATTN_EMBED_PLACES};
}

/* Whether other embeddings, the first of which is there already, agree with R. */
static int is_confirmed(const embedding_kernels_t *kernels, const attn_features_t *features,
                        const attn_scores_way_t *way, const attn_scores_work_t *work,
                        const attn_triangle_t *triangle) {
    attn_embedded_t other = work->embedded[1];
    for (int64_t k = 1; k <= way->checks; k++) {
        other.s = attn_scores_embedding(way, features->x->columns, other.s.seed, k);
        if (k > 1) attn_embed_features(kernels, features, &other, 1);
        if (!attn_triangle_agrees(kernels, triangle, other.panels, other.s.size, way->within,
                                  work->gram, work->square))
            return 0;
    }
    return 1;
}

attn_status_t attn_triangle_embedded(const embedding_kernels_t *kernels,
                                     const attn_features_t *features, double factor, double delta,
                                     uint64_t seed, attn_scores_work_t *work,
                                     attn_triangle_t *triangle) {
    const attn_x_t *x = features->x;
    const attn_scores_way_t way = way_of(x, factor, delta);
    if (!attn_is_embedded(x, factor, delta)) return ATTN_ERROR_RANGE;
    for (int i = 0; i < 2; i++)
        work->embedded[i].s = attn_scores_embedding(&way, x->columns, seed, i);
    attn_embed_features(kernels, features, work->embedded, 2);
    const attn_embedded_t *first = work->embedded;
    const attn_status_t status =
        attn_triangle_of(kernels, first->panels, first->s.size, work->square, triangle);
    if (status) return status;
    for (int64_t i = 0; i < x->rows; i++) /* rows that an embedding in float has lost */
        if (triangle->scale[i] == 0 && attn_x_square(x, i) > 0) return ATTN_ERROR_RANGE;
    return is_confirmed(kernels, features, &way, work, triangle) ? ATTN_OK : ATTN_ERROR_RANGE;
}

/* ---- the projection ------------------------------------------------------------------------------------- */

/* B: S2, or the identity where `columns` are n. */
static void fill(double *b, int64_t n, int64_t columns, uint64_t seed) {
    const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_GAUSSIAN, STREAM_JL);
    const double sigma = 1 / sqrt((double)columns);
    for (int64_t i = 0; i < n * columns; i++)
        b[i] =
            columns == n ? i / n == i % n : sigma * attn_random_normal(seed, stream, (uint64_t)i);
}

/* What the kernel does, for a feature of few elements: the same sums in the same order, without zeros. */
static float square_of(const attn_block_t *block, const float *matrix, int64_t columns,
                       float *sums) {
    float square = 0;
    memset(sums, 0, (size_t)columns * sizeof *sums);
    for (int64_t r = 0; r < block->count; r++) {
        const float *row = matrix + block->rows[r] * columns, value = block->values[r];
        for (int64_t c = 0; c < columns; c++) sums[c] += row[c] * value;
    }
    for (int64_t c = 0; c < columns; c += ATTN_EMBED_COLUMNS) {
        float some = 0;
        for (int64_t i = c; i < c + ATTN_EMBED_COLUMNS; i++) some += sums[i] * sums[i];
        square += some;
    }
    return square;
}

/* scores[j] = |N^T x_j|^2 in float, to the same bits on every tier; zeros below a diagonal of N are left out. */
static void square_features(const embedding_kernels_t *kernels, const attn_features_t *features,
                            const double *factors, int64_t width, const attn_scores_work_t *work,
                            double *scores) {
    enum { C = ATTN_EMBED_COLUMNS };
    const attn_x_t *x = features->x;
    const int64_t n = x->rows, d = x->columns, columns = attn_round_up(attn_max(width, 1), C);
    float *matrix = work->matrix;
    int32_t *last = work->last;
    memset(matrix, 0, (size_t)(n * columns) * sizeof *matrix);
    memset(last, 0, (size_t)columns * sizeof *last);
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < width; c++) {
            const int64_t at = x->dense ? (c / C * n + r) * C + c % C : r * columns + c;
            matrix[at] = (float)factors[r * width + c];
            if (matrix[at] != 0) last[c] = (int32_t)r;
        }
    if (x->dense) {
        kernels->squares(x->dense, d, d, matrix, n, last, columns, work->copy, scores);
        return;
    }
    for (int64_t j = 0; j < d; j++) {
        const attn_block_t block = attn_block(features, j);
        scores[j] = (double)square_of(&block, matrix, columns, matrix + n * columns);
    }
}

void attn_scores_projected(const embedding_kernels_t *kernels, const attn_features_t *features,
                           const attn_triangle_t *triangle, double factor, double delta,
                           uint64_t seed, const attn_scores_work_t *work, double *scores) {
    const int64_t n = triangle->n, size = way_of(features->x, factor, delta).columns;
    const int64_t columns = size < triangle->rank ? size : n;
    double *b = work->square;
    fill(b, n, columns, seed);
    attn_triangle_solve(triangle->matrix, n, columns == n, columns, b);
    for (int64_t i = 0; i < n * columns; i++) b[i] *= triangle->scale[i / columns];
    square_features(kernels, features, b, columns, work, scores);
}

/* ---- both ---------------------------------------------------------------------------------------- */

attn_status_t attn_scores_embedded(const embedding_kernels_t *kernels,
                                   const attn_features_t *features, double factor, double delta,
                                   uint64_t seed, attn_scores_work_t *work,
                                   attn_triangle_t *triangle, double *scores) {
    double total = 0;
    const attn_status_t status =
        attn_triangle_embedded(kernels, features, factor, delta, seed, work, triangle);
    if (status) return status;
    attn_scores_projected(kernels, features, triangle, factor, delta, seed, work, scores);
    for (int64_t j = 0; j < features->x->columns; j++) total += scores[j];
    const double rank = (double)triangle->rank;
    return total >= rank / factor && total <= factor * rank ? ATTN_OK : ATTN_ERROR_RANGE;
}

double attn_scores_flops(const attn_x_t *x, double factor, double delta) {
    const attn_scores_way_t way = way_of(x, factor, delta);
    return attn_scores_way_flops(&way, x->rows, x->columns);
}

/* ---- memory -------------------------------------------------------------------------------------- */

void attn_scores_take(attn_arena_t *arena, const attn_x_t *x, double factor, double delta,
                      attn_scores_work_t *work) {
    const int64_t n = x->rows, columns = attn_round_up(n, ATTN_EMBED_COLUMNS);
    const attn_scores_way_t way = way_of(x, factor, delta);
    const int64_t panels = attn_round_up(n, ATTN_EMBED_ROWS);
    work->square = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    work->gram = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    for (int i = 0; i < 2; i++) {
        attn_embedded_t *embedded = &work->embedded[i];
        embedded->s = attn_scores_embedding(&way, x->columns, 0, i);
        embedded->panels =
            attn_arena_take(arena, panels, (uint64_t)embedded->s.size * sizeof(float));
        embedded->entries =
            attn_arena_take(arena, attn_embed_entries(&embedded->s, x), sizeof *embedded->entries);
    }
    work->matrix = attn_arena_take(arena, n + 1, (uint64_t)columns * sizeof(float));
    work->copy = attn_arena_take(arena, n, ATTN_EMBED_COPIED * sizeof(float));
    work->last = attn_arena_take(arena, columns, sizeof *work->last);
}
