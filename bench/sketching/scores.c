/* sketching/scores.c: see scores.h. */
#include "sketching/scores.h"

#include "attn/random.h"
#include "attn/support.h"
#include "sketch/matrices.h"
#include "sketching/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(int64_t rows, int64_t columns) {
    if (rows > 0 && columns > INT64_MAX / (int64_t)sizeof(double) / rows) return NULL;
    return calloc((size_t)(rows * columns) + 1, sizeof(double));
}

void sketching_basis_destroy(sketching_basis_t *basis) {
    free(basis->matrix);
    *basis = (sketching_basis_t){.matrix = NULL};
}

/* ---- from a triangle to a basis ---------------------------------------------------------------------- */

/* 1 / the length of each row; 0 for a row of zeros. */
static void invert_lengths(const sketching_x_t *x, double *inverse) {
    for (int64_t i = 0; i < x->rows; i++) {
        const double square = sketching_square(x, i);
        inverse[i] = square > 0 ? 1 / sqrt(square) : 0;
    }
}

/* matrix = D R^-1. */
static void solve_full(const double *r, const double *inverse, int64_t n, double *matrix) {
    for (int64_t i = n - 1; i >= 0; i--) {
        double *row = matrix + i * n;
        memset(row, 0, (size_t)n * sizeof *row);
        row[i] = 1;
        for (int64_t k = i + 1; k < n; k++) {
            const double factor = r[i * n + k], *below = matrix + k * n;
            for (int64_t j = k; j < n; j++) row[j] -= factor * below[j];
        }
        for (int64_t j = i; j < n; j++) row[j] /= r[i * n + i];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) matrix[i * n + j] *= inverse[i];
}

/* matrix = D V / sqrt(values), of the eigenvalues of R^T R that are none of rounding. */
static int solve_deficient(const algebra_solver_t *solver, const double *r, const double *inverse,
                           int64_t n, sketching_basis_t *basis) {
    double *gram = numbers(n, n + 1), *values = gram + n * n;
    int done = gram != NULL;
    for (int64_t i = 0; i < n && done; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) gram[k * n + j] += r[i * n + k] * r[i * n + j];
    done = done && solver->eigen(gram, n, values);
    const double least = 0x1p-40 + (double)n * 0x1p-52;
    for (int64_t k = 0; k < n && done; k++) basis->rank += values[k] > least;
    for (int64_t i = 0; i < n && done; i++)
        for (int64_t k = 0; k < basis->rank; k++) {
            const int64_t from = n - basis->rank + k;
            basis->matrix[i * basis->rank + k] =
                inverse[i] * gram[from * n + i] / sqrt(values[from]);
        }
    free(gram);
    return done;
}

static int solve(const algebra_solver_t *solver, const double *r, const double *inverse, int64_t n,
                 sketching_basis_t *basis) {
    int is_full = 1;
    *basis = (sketching_basis_t){.rows = n, .matrix = numbers(n, n)};
    if (!basis->matrix) return 0;
    for (int64_t i = 0; i < n; i++) is_full &= r[i * n + i] > 0x1p-20;
    if (!is_full) return solve_deficient(solver, r, inverse, n, basis);
    basis->rank = n;
    solve_full(r, inverse, n, basis->matrix);
    return 1;
}

/* ---- exactly ---------------------------------------------------------------------------------------- */

/* What is on its way into the triangle: rows of X^T D, behind n rows that the triangle takes. */
typedef struct pile {
    const algebra_solver_t *solver;
    int64_t n, room, used;
    double *rows, *triangle;
} pile_t;

static int reduce(pile_t *stack) {
    const int64_t n = stack->n;
    memcpy(stack->rows, stack->triangle, (size_t)(n * n) * sizeof(double));
    const int done = stack->solver->triangle(stack->rows, n + stack->used, n, stack->triangle);
    memset(stack->rows, 0, (size_t)((n + stack->room) * n) * sizeof(double));
    stack->used = 0;
    return done;
}

static int push(pile_t *stack, const sketching_block_t *block, const double *inverse) {
    double *rows = stack->rows + (stack->n + stack->used) * stack->n;
    for (int64_t r = 0; r < block->count; r++)
        for (int64_t f = 0; f < block->width; f++)
            rows[f * stack->n + block->rows[r]] =
                (double)block->values[r * block->stride + f] * inverse[block->rows[r]];
    stack->used += block->width;
    return stack->used + SKETCHING_WIDTH <= stack->room || reduce(stack);
}

int sketching_basis_exact(const sketching_features_t *features, const algebra_solver_t *solver,
                          sketching_basis_t *basis) {
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows, room = 4 * n + SKETCHING_WIDTH;
    pile_t stack = {.solver = solver, .n = n, .room = room};
    double *inverse = numbers(n, 1);
    stack.rows = numbers(n + room, n);
    stack.triangle = numbers(n, n);
    *basis = (sketching_basis_t){.matrix = NULL};
    int done = inverse && stack.rows && stack.triangle;
    if (done) invert_lengths(x, inverse);
    for (int64_t first = 0; first < x->columns && done;) {
        const sketching_block_t block = sketching_block(features, first);
        first += block.width;
        if (block.count) done = push(&stack, &block, inverse);
    }
    done = done && reduce(&stack) && solve(solver, stack.triangle, inverse, n, basis);
    free(inverse);
    free(stack.rows);
    free(stack.triangle);
    return done;
}

/* ---- Algorithm 2 ------------------------------------------------------------------------------------ */

enum { STREAM_JL = 1 };

/* S1 X^T, and D, of its columns as they are: any D does that makes them alike. */
typedef struct embedded {
    const algebra_solver_t *solver;
    int64_t size, n;
    float *rows;     /* size x n */
    double *inverse; /* n: D */
} embedded_t;

static void invert_columns(const embedded_t *embedded) {
    const int64_t n = embedded->n;
    double *inverse = embedded->inverse;
    for (int64_t t = 0; t < embedded->size; t++)
        for (int64_t i = 0; i < n; i++) {
            const double value = (double)embedded->rows[t * n + i];
            inverse[i] += value * value;
        }
    for (int64_t i = 0; i < n; i++) inverse[i] = inverse[i] > 0 ? 1 / sqrt(inverse[i]) : 0;
}

static void scale_rows(const embedded_t *embedded, int64_t first, int64_t count, double *scaled) {
    const int64_t n = embedded->n;
    for (int64_t t = 0; t < count; t++)
        for (int64_t i = 0; i < n; i++)
            scaled[t * n + i] = embedded->inverse[i] * (double)embedded->rows[(first + t) * n + i];
}

/*
 * R by Cholesky's factor of the Gram matrix, a few rows at a time: half the work of QR, and products of matrices.
 * Its rounding is relative to the square of R: 0 where that may count, a pivot near 2^-16, or there is no memory.
 */
static int triangle_of_gram(const embedded_t *embedded, double *r) {
    const int64_t n = embedded->n, part = 4 * n;
    double *scaled = numbers(part, n);
    int done = scaled != NULL;
    memset(r, 0, (size_t)(n * n) * sizeof *r);
    for (int64_t first = 0; first < embedded->size && done; first += part) {
        const int64_t left = embedded->size - first, count = left < part ? left : part;
        scale_rows(embedded, first, count, scaled);
        done = embedded->solver->add_gram(scaled, count, n, r);
    }
    free(scaled);
    done = done && embedded->solver->cholesky(r, n);
    for (int64_t i = 0; i < n && done; i++) {
        done = r[i * n + i] > 0x1p-16;
        for (int64_t j = 0; j < i; j++) {
            r[j * n + i] = r[i * n + j];
            r[i * n + j] = 0;
        }
    }
    return done;
}

static int triangle_of_embedded(const embedded_t *embedded, double *r) {
    if (triangle_of_gram(embedded, r)) return 1;
    double *scaled = numbers(embedded->size, embedded->n);
    if (scaled) scale_rows(embedded, 0, embedded->size, scaled);
    const int done = scaled && embedded->solver->triangle(scaled, embedded->size, embedded->n, r);
    free(scaled);
    return done;
}

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

int sketching_basis_embedded(const sketching_features_t *features, const algebra_solver_t *solver,
                             double factor, uint64_t seed, sketching_basis_t *basis) {
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows, size = sketching_buckets(factor) * n;
    if (size >= x->columns) return sketching_basis_exact(features, solver, basis);
    const sketching_embedding_t s = {size, attn_sketch_sparsity(size, PLACES), seed};
    embedded_t embedded = {.solver = solver, .size = size, .n = n, .inverse = numbers(n, 1)};
    double *triangle = numbers(n, n);
    *basis = (sketching_basis_t){.matrix = NULL};
    embedded.rows = malloc((size_t)(size * n) * sizeof *embedded.rows);
    int done = embedded.inverse && embedded.rows && triangle &&
               sketching_embed_features(&s, features, embedded.rows);
    if (done) {
        invert_columns(&embedded);
        done = triangle_of_embedded(&embedded, triangle) &&
               solve(solver, triangle, embedded.inverse, n, basis);
    }
    free(embedded.inverse);
    free(embedded.rows);
    free(triangle);
    return done;
}

/*
 * P(chi^2_k <= k / u) and P(chi^2_k >= k u) are at most exp(-k rate), the rates being (1/u - 1 + ln u) / 2 and
 * (u - 1 - ln u) / 2 (Chernoff); the first is the smaller one for u > 1.
 */
int64_t sketching_jl_columns(int64_t features, double u, double delta) {
    const double rate = (1 / u - 1 + log(u)) / 2;
    return (int64_t)ceil(log(2 * (double)features / delta) / rate);
}

/* scores += squares of x_j^T N: lanes are features where a block has many, columns of N where it has one. */
static void add_squares(const sketching_block_t *block, const double *matrix, int64_t columns,
                        double *room, double *scores) {
    double *out = scores + block->first;
    const int64_t width = block->width;
    if (width == 1) {
        memset(room, 0, (size_t)columns * sizeof *room);
        for (int64_t r = 0; r < block->count; r++) {
            const double value = (double)block->values[r * block->stride];
            const double *row = matrix + block->rows[r] * columns;
            for (int64_t c = 0; c < columns; c++) room[c] += value * row[c];
        }
        for (int64_t c = 0; c < columns; c++) out[0] += room[c] * room[c];
        return;
    }
    for (int64_t c = 0; c < columns; c++) {
        double sums[SKETCHING_WIDTH] = {0};
        for (int64_t r = 0; r < block->count; r++) {
            const double factor = matrix[block->rows[r] * columns + c];
            const float *values = block->values + r * block->stride;
            if (factor == 0) continue; /* half of a triangle */
            for (int64_t f = 0; f < width; f++) sums[f] += factor * (double)values[f];
        }
        for (int64_t f = 0; f < width; f++) out[f] += sums[f] * sums[f];
    }
}

int sketching_scores(const sketching_features_t *features, const sketching_basis_t *basis,
                     double *scores) {
    const int64_t d = features->x->columns;
    double *room = numbers(basis->rank, 1);
    if (!room) return 0;
    memset(scores, 0, (size_t)d * sizeof *scores);
    for (int64_t first = 0; first < d;) {
        const sketching_block_t block = sketching_block(features, first);
        first += block.width;
        add_squares(&block, basis->matrix, basis->rank, room, scores);
    }
    free(room);
    return 1;
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

/*
 * The same of any X in float: good to about 2^-20, and to the same bits on every tier. What N has below a
 * diagonal of its own is 0 and left out.
 */
static int scores_in_float(const sketching_features_t *features, const sketching_basis_t *basis,
                           double *scores) {
    enum { C = SKETCHING_COLUMNS };
    const sketching_x_t *x = features->x;
    const int64_t n = basis->rows, d = x->columns,
                  columns = attn_round_up(attn_max(basis->rank, 1), C);
    float *matrix = calloc((size_t)(n * columns + columns) + 1, sizeof *matrix);
    float *copy = malloc((size_t)(n * SKETCHING_COPIED) * sizeof *copy);
    int32_t *last = calloc((size_t)columns + 1, sizeof *last);
    const int done = matrix && last && copy;
    for (int64_t r = 0; r < n && done; r++)
        for (int64_t c = 0; c < basis->rank; c++) {
            const int64_t at = x->dense ? (c / C * n + r) * C + c % C : r * columns + c;
            matrix[at] = (float)basis->matrix[r * basis->rank + c];
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

int sketching_scores_projected(const sketching_features_t *features, const sketching_basis_t *basis,
                               double factor, double delta, uint64_t seed, double *scores) {
    const int64_t size = sketching_jl_columns(features->x->columns,
                                              factor / sketching_factor_embedded(factor), delta);
    if (size >= basis->rank) return scores_in_float(features, basis, scores);
    const double sigma = 1 / sqrt((double)size);
    sketching_basis_t small = {
        .rows = basis->rows, .rank = size, .matrix = numbers(basis->rows, size)};
    double *normals = numbers(basis->rank, size);
    int done = normals && small.matrix;
    for (int64_t i = 0; i < basis->rank * size && done; i++)
        normals[i] =
            sigma * attn_random_normal(seed, attn_sketch_stream(ATTN_SKETCH_GAUSSIAN, STREAM_JL),
                                       (uint64_t)i);
    for (int64_t i = 0; i < basis->rows && done; i++)
        for (int64_t k = 0; k < basis->rank; k++) {
            const double entry = basis->matrix[i * basis->rank + k];
            for (int64_t c = 0; c < size; c++)
                small.matrix[i * size + c] += entry * normals[k * size + c];
        }
    done = done && scores_in_float(features, &small, scores);
    free(normals);
    sketching_basis_destroy(&small);
    return done;
}
