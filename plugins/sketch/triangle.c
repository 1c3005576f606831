#include "triangle.h"

#include "algebra/dense.h"
#include "embed.h"

#include <math.h>

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

/* The upper triangle of A^T A, panel by panel; sums of so many products at a time are the kernel's. */
static void multiply_panels(attn_gram_t *gram, const float *panels, int64_t size, int64_t n,
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

void attn_triangle_solve(const double *r, int64_t n, int is_triangle, int64_t columns, double *b) {
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
    attn_triangle_solve(r, n, 1, n, inverse);
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
        attn_gram_t *gram;
        double least, none;
    } ways[] = {{NULL, 0x1p-6, -1}, {gram_in_double, 0x1p-20, 0x1p-43}};
    const int64_t n = triangle->n;
    double *r = triangle->matrix;
    for (size_t w = 0; w < 2; w++) {
        triangle->gram = ways[w].gram ? ways[w].gram : kernels->gram;
        multiply_panels(triangle->gram, panels, size, n, r);
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

/* ---- what another embedding tells of R --------------------------------------------------------------- */

/* A D in the place of A. */
static void scale_alike(float *panels, int64_t size, const attn_triangle_t *triangle) {
    for (int64_t i = 0; i < triangle->n; i++) {
        float *column = panels + attn_embed_panel(size, i);
        for (int64_t t = 0; t < size; t++) column[t * ATTN_EMBED_ROWS] *= (float)triangle->scale[i];
    }
}

static int is_kept(const attn_triangle_t *triangle, int64_t i) {
    return triangle->matrix[i * triangle->n + i] > 0;
}

/* Whether sign (c G2 - R^T R) is positive definite, on the columns that R keeps. */
static int is_definite(const embedding_kernels_t *kernels, const attn_triangle_t *triangle,
                       const double *gram, double c, double sign, double *square) {
    const int64_t n = triangle->n;
    int64_t rank;
    for (int64_t i = 0; i < n; i++) {
        double *row = square + i * n;
        for (int64_t k = i; k < n; k++) row[k] = c * gram[i * n + k];
        kernels->eliminate(row + i, triangle->matrix + i, n, i + 1, n - i);
        for (int64_t k = i; k < n; k++)
            row[k] = is_kept(triangle, i) && is_kept(triangle, k) ? sign * row[k] : i == k;
    }
    return factor_gram(kernels, square, n, 0, -1, &rank);
}

/* Whether column i is that sum of others that R takes it for: |A (R^-1 r_i - e_i)|^2 is nothing of |A e_i|^2. */
static int is_dependent(const attn_triangle_t *triangle, const double *gram, int64_t i,
                        double *sum) {
    const int64_t n = triangle->n;
    double square = 0;
    for (int64_t k = 0; k < n; k++) sum[k] = k < i ? triangle->matrix[k * n + i] : 0;
    attn_triangle_solve(triangle->matrix, n, 0, 1, sum);
    sum[i] = -1;
    for (int64_t k = 0; k <= i; k++) {
        double product = gram[k * n + k] * sum[k];
        for (int64_t l = k + 1; l <= i; l++) product += 2 * gram[k * n + l] * sum[l];
        square += product * sum[k];
    }
    return square <= 0x1p-40 * gram[i * n + i];
}

int attn_triangle_agrees(const embedding_kernels_t *kernels, const attn_triangle_t *triangle,
                         float *panels, int64_t size, double within, double *gram, double *square) {
    const int64_t n = triangle->n;
    scale_alike(panels, size, triangle);
    multiply_panels(triangle->gram, panels, size, n, gram);
    for (int64_t i = 0; i < n; i++)
        if (!is_kept(triangle, i) && !is_dependent(triangle, gram, i, square)) return 0;
    return is_definite(kernels, triangle, gram, within, 1, square) &&
           is_definite(kernels, triangle, gram, 1 / within, -1, square);
}

/* ---- memory -------------------------------------------------------------------------------------- */

void attn_triangle_take(attn_arena_t *arena, int64_t n, attn_triangle_t *triangle) {
    *triangle = (attn_triangle_t){.n = n};
    triangle->matrix = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    triangle->scale = attn_arena_take(arena, n, sizeof(double));
}
