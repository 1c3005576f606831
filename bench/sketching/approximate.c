/* sketching/approximate.c: see approximate.h. */
#include "sketching/approximate.h"

#include "algebra/algebra.h"
#include "attn/random.h"
#include "attn/support.h"
#include "sketch/matrices.h"
#include "sketching/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_JL = 1 };

static double *numbers(int64_t rows, int64_t columns) {
    return calloc((size_t)(rows * columns) + 1, sizeof(double));
}

/* ---- R ----------------------------------------------------------------------------------------------- */

/* D, and A D in the place of A: exactly, as D is of powers of 2. */
static attn_status_t scale_panels(float *panels, int64_t size, int64_t n, double *scale) {
    for (int64_t i = 0; i < n; i++) {
        float *column = panels + sketching_panel(size, i);
        double square = 0;
        for (int64_t t = 0; t < size; t++) {
            const double value = (double)column[t * SKETCHING_ROWS];
            square += value * value;
        }
        if (square == 0) continue;
        if (!(square > 0x1p-200 && square < 0x1p200)) return ATTN_ERROR_RANGE;
        scale[i] = ldexp(1, -ilogb(sqrt(square)));
        for (int64_t t = 0; t < size; t++) column[t * SKETCHING_ROWS] *= (float)scale[i];
    }
    return ATTN_OK;
}

/* sketching_kernels_t's gram() in double: products are exact. */
static void gram_in_double(const float *a, const float *b, int64_t count, double *tile) {
    for (int64_t t = 0; t < count; t++, a += SKETCHING_ROWS, b += SKETCHING_ROWS)
        for (int r = 0; r < SKETCHING_ROWS; r++)
            for (int c = 0; c < SKETCHING_ROWS; c++)
                tile[r * SKETCHING_ROWS + c] += (double)a[r] * (double)b[c];
}

typedef void gram_t(const float *a, const float *b, int64_t count, double *tile);

/* The upper triangle of A^T A, panel by panel; sums of so many products at a time are the kernel's. */
static void multiply_panels(gram_t *gram, const float *panels, int64_t size, int64_t n,
                            double *product) {
    enum { R = SKETCHING_ROWS, PART = 512 };
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

/*
 * R, row by row in the place of the upper triangle of G = R^T R. What is left of a column without those before it, of its
 * squared length, is more than `least`, or no more than `none`: then it is theirs. 0 where it is between.
 */
static int factor_gram(double *g, int64_t n, double least, double none, int64_t *rank) {
    const sketching_kernels_t *kernels = sketching_kernels();
    *rank = 0;
    for (int64_t i = 0; i < n; i++) {
        double *row = g + i * n;
        const double square = row[i];
        kernels->eliminate(row + i, g + i, n, i, n - i);
        const int is_kept = row[i] > least * square;
        if (!is_kept && !(row[i] <= none * square)) return 0;
        const double inverse = is_kept ? 1 / sqrt(row[i]) : 0;
        for (int64_t c = i; c < n; c++) row[c] *= inverse;
        *rank += is_kept;
    }
    return 1;
}

/*
 * Sums in float are off by 2^-15 of the lengths at most, of 512 products: much less than 2^-6. 2^-43 is what is left of
 * columns that are sums of others but for rounding to float, and less than an embedding leaves of 2^-40 (scores.h).
 */
static attn_status_t find_triangle(const float *panels, int64_t size,
                                   sketching_triangle_t *triangle) {
    const int64_t n = triangle->n;
    double *r = triangle->matrix;
    multiply_panels(sketching_kernels()->gram, panels, size, n, r);
    if (factor_gram(r, n, 0x1p-6, -1, &triangle->rank)) return ATTN_OK;
    multiply_panels(gram_in_double, panels, size, n, r);
    return factor_gram(r, n, 0x1p-20, 0x1p-43, &triangle->rank) ? ATTN_OK : ATTN_ERROR_RANGE;
}

attn_status_t sketching_triangle_of(float *panels, int64_t size, int64_t n,
                                    sketching_triangle_t *triangle) {
    *triangle = (sketching_triangle_t){.n = n, .matrix = numbers(n, n), .scale = numbers(n, 1)};
    attn_status_t status = triangle->matrix && triangle->scale ? ATTN_OK : ATTN_ERROR_MEMORY;
    if (!status) status = scale_panels(panels, size, n, triangle->scale);
    if (!status) status = find_triangle(panels, size, triangle);
    if (status) sketching_triangle_destroy(triangle);
    return status;
}

void sketching_triangle_destroy(sketching_triangle_t *triangle) {
    free(triangle->matrix);
    free(triangle->scale);
    *triangle = (sketching_triangle_t){.n = 0};
}

/* ---- the embedding ------------------------------------------------------------------------------------- */

enum { FEW_BUCKETS = 4, PLACES = 4 /* of a feature: two features that share 2 are no rarity */ };

int64_t sketching_buckets(double factor) {
    return factor < 8 ? 16 : factor < 256 ? 8 : FEW_BUCKETS;
}

/* What a normal matrix of many rows would be off by; of so few buckets what 200 seeds of 12 rows were (tests). */
double sketching_factor_embedded(double factor) {
    const int64_t buckets = sketching_buckets(factor);
    const double least = 1 - 1 / sqrt((double)buckets);
    return buckets == FEW_BUCKETS ? 20 : 1 / (least * least);
}

attn_status_t sketching_triangle_embedded(const sketching_features_t *features, double factor,
                                          uint64_t seed, sketching_triangle_t *triangle) {
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows, size = sketching_buckets(factor) * n;
    *triangle = (sketching_triangle_t){.n = 0};
    if (size >= x->columns) return ATTN_ERROR_RANGE;
    const sketching_embedding_t s = {size, attn_sketch_sparsity(size, PLACES), seed};
    float *panels =
        malloc((size_t)sketching_panel(size, attn_round_up(n, SKETCHING_ROWS)) * sizeof *panels);
    attn_status_t status = panels && sketching_embed_features(&s, features, panels)
                               ? sketching_triangle_of(panels, size, n, triangle)
                               : ATTN_ERROR_MEMORY;
    free(panels);
    for (int64_t i = 0; i < n && !status; i++) /* rows that an embedding in float has lost */
        if (triangle->scale[i] == 0 && sketching_square(x, i) > 0) status = ATTN_ERROR_RANGE;
    if (status) sketching_triangle_destroy(triangle);
    return status;
}

/* ---- the projection ------------------------------------------------------------------------------------- */

/*
 * P(chi^2_k <= k / u) and P(chi^2_k >= k u) are at most exp(-k rate), the rates being (1/u - 1 + ln u) / 2 and
 * (u - 1 - ln u) / 2 (Chernoff); the first is the smaller one for u > 1.
 */
int64_t sketching_jl_columns(int64_t features, double u, double delta) {
    const double rate = (1 / u - 1 + log(u)) / 2;
    return (int64_t)ceil(log(2 * (double)features / delta) / rate);
}

/* D R^-1 B in the place of B (n x columns), from the last row of R to the first. B may be an upper triangle. */
static void solve(const sketching_triangle_t *triangle, int is_triangle, int64_t columns,
                  double *b) {
    const int64_t n = triangle->n;
    for (int64_t i = n - 1; i >= 0; i--) {
        const double *entries = triangle->matrix + i * n;
        double *row = b + i * columns;
        for (int64_t k = i + 1; k < n; k++) {
            const int64_t first = is_triangle ? k : 0;
            algebra_add_multiple(row + first, -entries[k], b + k * columns + first,
                                 columns - first);
        }
        for (int64_t c = 0; c < columns; c++) row[c] = entries[i] > 0 ? row[c] / entries[i] : 0;
    }
    for (int64_t i = 0; i < n * columns; i++) b[i] *= triangle->scale[i / columns];
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
static float square_of(const sketching_block_t *block, const float *matrix, int64_t columns,
                       float *sums) {
    float square = 0;
    memset(sums, 0, (size_t)columns * sizeof *sums);
    for (int64_t r = 0; r < block->count; r++) {
        const float *row = matrix + block->rows[r] * columns, value = block->values[r];
        for (int64_t c = 0; c < columns; c++) sums[c] += row[c] * value;
    }
    for (int64_t c = 0; c < columns; c += SKETCHING_COLUMNS) {
        float some = 0;
        for (int64_t i = c; i < c + SKETCHING_COLUMNS; i++) some += sums[i] * sums[i];
        square += some;
    }
    return square;
}

/* scores[j] = |N^T x_j|^2 in float, to the same bits on every tier; zeros below a diagonal of N are left out. */
static int square_features(const sketching_features_t *features, const double *factors,
                           int64_t width, double *scores) {
    enum { C = SKETCHING_COLUMNS };
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows, d = x->columns, columns = attn_round_up(attn_max(width, 1), C);
    float *matrix = calloc((size_t)(n * columns + columns) + 1, sizeof *matrix);
    float *copy = malloc((size_t)(n * SKETCHING_COPIED) * sizeof *copy);
    int32_t *last = calloc((size_t)columns + 1, sizeof *last);
    const int done = matrix && last && copy;
    for (int64_t r = 0; r < n && done; r++)
        for (int64_t c = 0; c < width; c++) {
            const int64_t at = x->dense ? (c / C * n + r) * C + c % C : r * columns + c;
            matrix[at] = (float)factors[r * width + c];
            if (matrix[at] != 0) last[c] = (int32_t)r;
        }
    if (done && x->dense)
        sketching_kernels()->squares(x->dense, d, d, matrix, n, last, columns, copy, scores);
    for (int64_t j = 0; j < d && done && !x->dense; j++) {
        const sketching_block_t block = sketching_block(features, j);
        scores[j] = (double)square_of(&block, matrix, columns, matrix + n * columns);
    }
    free(matrix);
    free(copy);
    free(last);
    return done;
}

int sketching_scores_projected(const sketching_features_t *features,
                               const sketching_triangle_t *triangle, double factor, double delta,
                               uint64_t seed, double *scores) {
    const double u = factor / sketching_factor_embedded(factor);
    const int64_t n = triangle->n, size = sketching_jl_columns(features->x->columns, u, delta);
    const int64_t columns = size < triangle->rank ? size : n;
    double *b = numbers(n, columns);
    if (!b) return 0;
    fill(b, n, columns, seed);
    solve(triangle, columns == n, columns, b);
    const int done = square_features(features, b, columns, scores);
    free(b);
    return done;
}
