/* sketching/scores.c: see scores.h. */
#include "sketching/scores.h"

#include "attn/attn.h"
#include "attn/random.h"
#include "sketch/matrices.h"
#include "sketching/kernels.h"

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

enum { LANES = 8 };

/* 1 / the length of each row; 0 for a row of zeros. */
static void invert_lengths(const sketching_x_t *x, double *inverse) {
    for (int64_t i = 0; i < x->rows; i++) {
        const float *row = x->dense ? x->dense + i * x->columns : x->data + x->starts[i];
        const int64_t count = x->dense ? x->columns : x->starts[i + 1] - x->starts[i];
        double squares[LANES] = {0}, square = 0;
        int64_t k = 0;
        for (; k + LANES <= count; k += LANES)
            for (int l = 0; l < LANES; l++) squares[l] += (double)row[k + l] * (double)row[k + l];
        for (; k < count; k++) square += (double)row[k] * (double)row[k];
        for (int l = 0; l < LANES; l++) square += squares[l];
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

enum { SPARSITY = 4, STREAM_JL = 1 };

static const sketching_kernels_t *best_kernels(void) {
    attn_tier_t tiers[16];
    const uint32_t count = attn_available_tiers(tiers, 16);
    return attn_sketching_kernels(tiers[count < 16 ? count - 1 : 15]);
}

/* What the kernel does, for a feature of few elements. */
static void embed_sparse(const sketching_block_t *block, const attn_sketch_entry_t *entries,
                         int64_t sparsity, int64_t padded, float *embedded) {
    for (int64_t i = 0; i < sparsity; i++) {
        float *bucket = embedded + entries[i].column * padded;
        for (int64_t r = 0; r < block->count; r++)
            bucket[block->rows[r]] += entries[i].weight * block->values[r];
    }
}

/* result (size x n) = S1 X^T D. */
static int embed(const sketching_features_t *features, int64_t size, uint64_t seed,
                 const double *inverse, double *result) {
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows, padded = sketching_padded(n);
    const int64_t sparsity = attn_sketch_sparsity(size, SPARSITY);
    const sketching_kernels_t *kernels = best_kernels();
    attn_sketch_entry_t entries[SKETCHING_WIDTH * SPARSITY];
    float *embedded = calloc((size_t)((size + SKETCHING_WIDTH) * padded), sizeof *embedded);
    if (!embedded) return 0;
    for (int64_t first = 0; first < x->columns;) {
        const sketching_block_t block = sketching_block(features, first);
        const attn_sketch_part_t part = {first, block.width, size, seed};
        first += block.width;
        if (!block.count) continue;
        attn_sketch_osnap(entries, &part, sparsity);
        if (x->dense)
            kernels->embed(block.values, block.stride, block.width, n, entries, sparsity,
                           embedded + size * padded, embedded);
        else
            embed_sparse(&block, entries, sparsity, padded, embedded);
    }
    for (int64_t t = 0; t < size; t++)
        for (int64_t i = 0; i < n; i++)
            result[t * n + i] = inverse[i] * (double)embedded[t * padded + i];
    free(embedded);
    return 1;
}

int sketching_basis_embedded(const sketching_features_t *features, const algebra_solver_t *solver,
                             uint64_t seed, sketching_basis_t *basis) {
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows, size = SKETCHING_BUCKETS * n;
    if (size >= x->columns) return sketching_basis_exact(features, solver, basis);
    double *inverse = numbers(n, 1), *embedded = numbers(size, n), *triangle = numbers(n, n);
    *basis = (sketching_basis_t){.matrix = NULL};
    int done = inverse && embedded && triangle;
    if (done) invert_lengths(x, inverse);
    done = done && embed(features, size, seed, inverse, embedded) &&
           solver->triangle(embedded, size, n, triangle) &&
           solve(solver, triangle, inverse, n, basis);
    free(inverse);
    free(embedded);
    free(triangle);
    return done;
}

/*
 * P(chi^2_k <= k / u) and P(chi^2_k >= k u) are at most exp(-k rate), the rates being (1/u - 1 + ln u) / 2 and
 * (u - 1 - ln u) / 2 (Chernoff); the first is the smaller one for u > 1.
 */
int64_t sketching_jl_columns(int64_t features, double delta) {
    const double u = 5.0 / 3, rate = (1 / u - 1 + log(u)) / 2;
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
static double square_of(const sketching_block_t *block, const float *matrix, int64_t columns,
                        float *sums) {
    double square = 0;
    memset(sums, 0, (size_t)columns * sizeof *sums);
    for (int64_t r = 0; r < block->count; r++) {
        const float *row = matrix + block->rows[r] * columns, value = block->values[r];
        for (int64_t c = 0; c < columns; c++) sums[c] += row[c] * value;
    }
    for (int64_t c = 0; c < columns; c += 4) {
        float four = 0;
        for (int64_t i = c; i < c + 4; i++) four += sums[i] * sums[i];
        square += (double)four;
    }
    return square;
}

/* A block's rows side by side: where d is a power of two, they lie in one set of the cache. */
static void squares_of(const sketching_kernels_t *kernels, const sketching_block_t *block,
                       const float *matrix, const int32_t *last, int64_t columns, float *copy,
                       double *scores) {
    for (int64_t r = 0; r < block->count; r++)
        memcpy(copy + r * SKETCHING_WIDTH, block->values + r * block->stride,
               (size_t)block->width * sizeof *copy);
    kernels->squares(copy, SKETCHING_WIDTH, block->width, matrix, last, columns, scores);
}

/*
 * The same of any X in float: good to about 2^-20, and to the same bits on every tier. What N has below a
 * diagonal of its own is 0 and left out.
 */
static int scores_in_float(const sketching_features_t *features, const sketching_basis_t *basis,
                           double *scores) {
    const sketching_x_t *x = features->x;
    const int64_t n = basis->rows, columns = (basis->rank + 3) / 4 * 4;
    const sketching_kernels_t *kernels = best_kernels();
    float *matrix = calloc((size_t)(n * columns + columns) + 1, sizeof *matrix);
    float *block_copy = calloc((size_t)(n * SKETCHING_WIDTH) + 1, sizeof *block_copy);
    int32_t *last = calloc((size_t)columns + 1, sizeof *last);
    const int done = matrix && last && block_copy;
    for (int64_t r = 0; r < n && done; r++)
        for (int64_t c = 0; c < basis->rank; c++) {
            matrix[r * columns + c] = (float)basis->matrix[r * basis->rank + c];
            if (matrix[r * columns + c] != 0) last[c] = (int32_t)r;
        }
    if (done) memset(scores, 0, (size_t)x->columns * sizeof *scores);
    for (int64_t first = 0; first < x->columns && done;) {
        const sketching_block_t block = sketching_block(features, first);
        first += block.width;
        if (x->dense)
            squares_of(kernels, &block, matrix, last, columns, block_copy, scores + block.first);
        else
            scores[block.first] = square_of(&block, matrix, columns, matrix + n * columns);
    }
    free(matrix);
    free(block_copy);
    free(last);
    return done;
}

int sketching_scores_projected(const sketching_features_t *features, const sketching_basis_t *basis,
                               double delta, uint64_t seed, double *scores) {
    const int64_t size = sketching_jl_columns(features->x->columns, delta);
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
            const double factor = basis->matrix[i * basis->rank + k];
            for (int64_t c = 0; c < size; c++)
                small.matrix[i * size + c] += factor * normals[k * size + c];
        }
    done = done && scores_in_float(features, &small, scores);
    free(normals);
    sketching_basis_destroy(&small);
    return done;
}
