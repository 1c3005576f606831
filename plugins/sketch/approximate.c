#include "approximate.h"

#include "algebra/dense.h"
#include "attn/random.h"
#include "attn/support.h"
#include "embed.h"
#include "matrices.h"

#include <math.h>

enum { STREAM_JL = 1 };

/* ---- R ----------------------------------------------------------------------------------------------- */

/* D, and A D in the place of A: exactly, as D is of powers of 2. */
static attn_status_t scale_panels(float *panels, int64_t size, int64_t n, double *scale) {
    for (int64_t i = 0; i < n; i++) {
        float *column = panels + attn_embed_panel(size, i);
        double square = 0;
        for (int64_t t = 0; t < size; t++) {
            const double value = (double)column[t * ATTN_EMBED_ROWS];
            square += value * value;
        }
        if (square == 0) continue;
        if (!(square > 0x1p-200 && square < 0x1p200)) return ATTN_ERROR_RANGE;
        scale[i] = ldexp(1, -ilogb(sqrt(square)));
        for (int64_t t = 0; t < size; t++) column[t * ATTN_EMBED_ROWS] *= (float)scale[i];
    }
    return ATTN_OK;
}

/* embedding_kernels_t's gram() in double: products are exact. */
static void gram_in_double(const float *a, const float *b, int64_t count, double *tile) {
    for (int64_t t = 0; t < count; t++, a += ATTN_EMBED_ROWS, b += ATTN_EMBED_ROWS)
        for (int r = 0; r < ATTN_EMBED_ROWS; r++)
            for (int c = 0; c < ATTN_EMBED_ROWS; c++)
                tile[r * ATTN_EMBED_ROWS + c] += (double)a[r] * (double)b[c];
}

typedef void gram_t(const float *a, const float *b, int64_t count, double *tile);

/* The upper triangle of A^T A, panel by panel; sums of so many products at a time are the kernel's. */
static void multiply_panels(gram_t *gram, const float *panels, int64_t size, int64_t n,
                            double *product) {
    enum { R = ATTN_EMBED_ROWS, PART = 512 };
    for (int64_t i = 0; i < n; i += R)
        for (int64_t j = i; j < n; j += R) {
            const float *a = panels + i * size, *b = panels + j * size;
            double tile[R * R] = {0};
            for (int64_t t = 0; t < size; t += PART)
                gram(a + t * R, b + t * R, attn_min(PART, size - t), tile);
            for (int64_t r = 0; r < attn_min(R, n - i); r++)
                memcpy(product + (i + r) * n + j, tile + r * R,
                       (size_t)attn_min(R, n - j) * sizeof *tile);
        }
}

/* R^-1 B in the place of B (n x columns), from the last row of R to the first; 0 for a column that is others'. B may be an
 * upper triangle. */
static void solve(const double *r, int64_t n, int is_triangle, int64_t columns, double *b) {
    for (int64_t i = n - 1; i >= 0; i--) {
        const double *entries = r + i * n;
        double *row = b + i * columns;
        for (int64_t k = i + 1; k < n; k++) {
            const int64_t first = is_triangle ? k : 0;
            algebra_add_multiple(row + first, -entries[k], b + k * columns + first,
                                 columns - first);
        }
        for (int64_t c = 0; c < columns; c++) row[c] = entries[i] > 0 ? row[c] / entries[i] : 0;
    }
}

static void invert(const double *r, int64_t n, double *inverse) {
    memset(inverse, 0, (size_t)(n * n) * sizeof *inverse);
    for (int64_t i = 0; i < n; i++) inverse[i * n + i] = 1;
    solve(r, n, 1, n, inverse);
}

/*
 * R, row by row in the place of the upper triangle of G = R^T R. What is left of a column without those before it, of its
 * squared length, is more than `least`, or no more than `none` either way: then it is theirs. 0 where it is neither.
 */
static int factor_gram(const embedding_kernels_t *kernels, double *g, int64_t n, double least,
                       double none, int64_t *rank) {
    *rank = 0;
    for (int64_t i = 0; i < n; i++) {
        double *row = g + i * n;
        const double square = row[i];
        kernels->eliminate(row + i, g + i, n, i, n - i);
        const int is_kept = row[i] > least * square;
        if (!is_kept && !(fabs(row[i]) <= none * square)) return 0;
        const double inverse = is_kept ? 1 / sqrt(row[i]) : 0;
        for (int64_t c = i; c < n; c++) row[c] *= inverse;
        *rank += is_kept;
    }
    return 1;
}

/*
 * Whether of each column that is kept more than `least` is left, of its squared length, without all the others: 1 / |r_i R|^2
 * of |R_i|^2, r_i being row i of R^-1. What is left of it without those before it alone tells nothing of that (Kahan's
 * matrix), and rounding errors of G grow by as much as what is left is less. `inverse` is room for R^-1.
 */
static int columns_are_apart(const double *r, int64_t n, double least, double *inverse) {
    invert(r, n, inverse);
    for (int64_t i = 0; i < n; i++) {
        double left = 0, square = 0;
        for (int64_t k = 0; k <= i; k++) square += r[k * n + i] * r[k * n + i];
        for (int64_t k = i; k < n; k++) left += inverse[i * n + k] * inverse[i * n + k];
        if (r[i * n + i] > 0 && !(left * square * least < 1)) return 0;
    }
    return 1;
}

/*
 * Sums in float are off by 2^-15 of the lengths at most, of 512 products: much less than 2^-6. 2^-43 is what is left of
 * columns that are sums of others but for rounding to float, and less than an embedding leaves of 2^-40 (scores.h).
 */
static attn_status_t find_triangle(const embedding_kernels_t *kernels, const float *panels,
                                   int64_t size, double *inverse, attn_triangle_t *triangle) {
    static const struct {
        gram_t *gram;
        double least, none;
    } ways[] = {{NULL, 0x1p-6, -1}, {gram_in_double, 0x1p-20, 0x1p-43}};
    const int64_t n = triangle->n;
    double *r = triangle->matrix;
    for (size_t w = 0; w < 2; w++) {
        multiply_panels(ways[w].gram ? ways[w].gram : kernels->gram, panels, size, n, r);
        if (factor_gram(kernels, r, n, ways[w].least, ways[w].none, &triangle->rank) &&
            columns_are_apart(r, n, ways[w].least, inverse))
            return ATTN_OK;
    }
    return ATTN_ERROR_RANGE;
}

attn_status_t attn_triangle_of(const embedding_kernels_t *kernels, float *panels, int64_t size,
                               double *inverse, attn_triangle_t *triangle) {
    memset(triangle->matrix, 0, (size_t)(triangle->n * triangle->n) * sizeof(double));
    memset(triangle->scale, 0, (size_t)triangle->n * sizeof(double));
    const attn_status_t status = scale_panels(panels, size, triangle->n, triangle->scale);
    return status ? status : find_triangle(kernels, panels, size, inverse, triangle);
}

/* ---- the embedding ------------------------------------------------------------------------------------- */

enum { PLACES = 4 /* of a feature: two features that share 2 are no rarity */ };

/* sqrt(size) (1 - least singular value) of a normal matrix, but for a part delta of them. */
static double shortfall(int64_t n, double delta) {
    return sqrt((double)n) + sqrt(2 * log(1 / delta));
}

int64_t attn_embedded_size(int64_t n, double factor, double delta) {
    const int64_t buckets = factor < 8 ? 16 : factor < 256 ? 8 : 4;
    const double root = shortfall(n, delta) / (1 - 1 / sqrt(factor));
    return attn_max(buckets * n, (int64_t)ceil(root * root));
}

double attn_embedded_factor(int64_t n, double factor, double delta) {
    const double size = (double)attn_embedded_size(n, factor, delta);
    const double least = 1 - shortfall(n, delta) / sqrt(size);
    return 1 / (least * least);
}

int attn_is_embedded(const attn_x_t *x, double factor, double delta) {
    return attn_embedded_size(x->rows, factor, delta) < x->columns;
}

static attn_embedding_t embedding_of(const attn_x_t *x, double factor, double delta,
                                     uint64_t seed) {
    const int64_t size = attn_embedded_size(x->rows, factor, delta);
    return (attn_embedding_t){size, attn_sketch_sparsity(size, PLACES), seed};
}

attn_status_t attn_triangle_embedded(const embedding_kernels_t *kernels,
                                     const attn_features_t *features, double factor, double delta,
                                     uint64_t seed, const attn_scores_work_t *work,
                                     attn_triangle_t *triangle) {
    const attn_x_t *x = features->x;
    const attn_embedding_t s = embedding_of(x, factor, delta, seed);
    if (!attn_is_embedded(x, factor, delta)) return ATTN_ERROR_RANGE;
    attn_embed_features(kernels, &s, features, work->entries, work->panels);
    const attn_status_t status =
        attn_triangle_of(kernels, work->panels, s.size, work->square, triangle);
    if (status) return status;
    for (int64_t i = 0; i < x->rows; i++) /* rows that an embedding in float has lost */
        if (triangle->scale[i] == 0 && attn_x_square(x, i) > 0) return ATTN_ERROR_RANGE;
    return ATTN_OK;
}

/* ---- the projection ------------------------------------------------------------------------------------- */

/*
 * P(chi^2_k <= k / u) and P(chi^2_k >= k u) are at most exp(-k rate), the rates being (1/u - 1 + ln u) / 2 and
 * (u - 1 - ln u) / 2 (Chernoff); the first is the smaller one for u > 1.
 */
int64_t attn_jl_columns(int64_t features, double u, double delta) {
    const double rate = fmax(0, (1 / u - 1 + log(u)) / 2); /* but for rounding */
    const double columns = log(2 * (double)features / delta) / rate;
    return columns < 0x1p31 ? (int64_t)ceil(columns) : INT32_MAX;
}

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

/* Columns of the JL matrix for the part of the factor that the embedding leaves. */
static int64_t jl_columns(const attn_x_t *x, double factor, double delta) {
    const double u = factor / attn_embedded_factor(x->rows, factor, delta);
    return attn_jl_columns(x->columns, u, delta);
}

void attn_scores_projected(const embedding_kernels_t *kernels, const attn_features_t *features,
                           const attn_triangle_t *triangle, double factor, double delta,
                           uint64_t seed, const attn_scores_work_t *work, double *scores) {
    const int64_t n = triangle->n, size = jl_columns(features->x, factor, delta);
    const int64_t columns = size < triangle->rank ? size : n;
    double *b = work->square;
    fill(b, n, columns, seed);
    solve(triangle->matrix, n, columns == n, columns, b);
    for (int64_t i = 0; i < n * columns; i++) b[i] *= triangle->scale[i / columns];
    square_features(kernels, features, b, columns, work, scores);
}

/* ---- both ---------------------------------------------------------------------------------------- */

attn_status_t attn_scores_embedded(const embedding_kernels_t *kernels,
                                   const attn_features_t *features, double factor, double delta,
                                   uint64_t seed, const attn_scores_work_t *work,
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
    const double n = (double)x->rows, d = (double)x->columns;
    const double size = (double)attn_embedded_size(x->rows, factor, delta);
    const double width = fmin(n, (double)jl_columns(x, factor, delta));
    return 2 * PLACES * n * d + n * n * size + n * n * n + 2 * n * width * d;
}

/* ---- memory -------------------------------------------------------------------------------------- */

void attn_triangle_take(attn_arena_t *arena, int64_t n, attn_triangle_t *triangle) {
    *triangle = (attn_triangle_t){.n = n};
    triangle->matrix = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    triangle->scale = attn_arena_take(arena, n, sizeof(double));
}

void attn_scores_take(attn_arena_t *arena, const attn_x_t *x, double factor, double delta,
                      attn_scores_work_t *work) {
    const int64_t n = x->rows, columns = attn_round_up(n, ATTN_EMBED_COLUMNS);
    const attn_embedding_t s = embedding_of(x, factor, delta, 0);
    const int64_t panels = attn_round_up(n, ATTN_EMBED_ROWS);
    work->square = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    work->panels = attn_arena_take(arena, panels, (uint64_t)s.size * sizeof(float));
    work->entries = attn_arena_take(arena, attn_embed_entries(&s, x), sizeof *work->entries);
    work->matrix = attn_arena_take(arena, n + 1, (uint64_t)columns * sizeof(float));
    work->copy = attn_arena_take(arena, n, ATTN_EMBED_COPIED * sizeof(float));
    work->last = attn_arena_take(arena, columns, sizeof *work->last);
}
