/* sketching/scores.c: see scores.h. */
#include "sketching/scores.h"

#include "algebra/algebra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least singular value of X D that is none of rounding to float: 16 times what rounding changes. */
#define LEAST 0x1p-20

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

/* matrix = D R^-1; the norm of R^-1. */
static double solve_full(const double *r, const double *inverse, int64_t n, double *matrix) {
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
    double square = 0;
    for (int64_t i = 0; i < n; i++) square += algebra_dot(matrix + i * n, matrix + i * n, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) matrix[i * n + j] *= inverse[i];
    return sqrt(square);
}

/*
 * N L^-T in the place of N, L being of (R N)^T R N = L L^T: R N is orthonormal but for what R^T R, whose condition is
 * the square of R's, has lost of small eigenvalues, and a second time that is not lost (CholeskyQR2).
 */
static int straighten(const double *r, int64_t n, sketching_basis_t *basis) {
    const int64_t k = basis->rank;
    double *l = numbers(k + 1, k), *row = l + k * k;
    for (int64_t i = 0; i < n && l; i++) {
        memset(row, 0, (size_t)k * sizeof *row);
        for (int64_t j = i; j < n; j++)
            algebra_add_multiple(row, r[i * n + j], basis->matrix + j * k, k);
        for (int64_t c = 0; c < k; c++) algebra_add_multiple(l + c * k, row[c], row, k);
    }
    const int done = l && algebra_cholesky(l, k);
    for (int64_t i = 0; i < n && done; i++)
        for (int64_t c = 0; c < k; c++) {
            double *at = basis->matrix + i * k;
            at[c] = (at[c] - algebra_dot(l + c * k, at, c)) / l[c * k + c];
        }
    free(l);
    return done;
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
    const double least = LEAST * LEAST + (double)n * 0x1p-52;
    for (int64_t k = 0; k < n && done; k++) basis->rank += values[k] > least;
    for (int64_t i = 0; i < n && done; i++)
        for (int64_t k = 0; k < basis->rank; k++) {
            const int64_t from = n - basis->rank + k;
            basis->matrix[i * basis->rank + k] = gram[from * n + i] / sqrt(values[from]);
        }
    free(gram);
    done = done && straighten(r, n, basis);
    for (int64_t i = 0; i < n && done; i++)
        for (int64_t k = 0; k < basis->rank; k++) basis->matrix[i * basis->rank + k] *= inverse[i];
    return done;
}

static int solve(const algebra_solver_t *solver, const double *r, const double *inverse, int64_t n,
                 sketching_basis_t *basis) {
    int may_be_full = 1;
    *basis = (sketching_basis_t){
        .solver = solver, .rows = n, .matrix = numbers(n, n), .inverse_norm = INFINITY};
    if (!basis->matrix) return 0;
    for (int64_t i = 0; i < n; i++) may_be_full &= r[i * n + i] > LEAST;
    /* A diagonal of R tells of the rows before each alone, and depends on their order (Kahan): R^-1 does not. */
    const double norm = may_be_full ? solve_full(r, inverse, n, basis->matrix) : INFINITY;
    if (!(norm < 1 / LEAST)) return solve_deficient(solver, r, inverse, n, basis);
    basis->rank = n;
    basis->inverse_norm = norm;
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

static int find_basis(const sketching_features_t *features, const algebra_solver_t *solver,
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

int sketching_basis_exact(const sketching_features_t *features, const algebra_solver_t *solver,
                          sketching_basis_t *basis) {
    if (!find_basis(features, solver, basis)) return 0;
    if (solver == &algebra_plain || basis->inverse_norm <= SKETCHING_AGREED) return 1;
    sketching_basis_destroy(basis);
    return find_basis(features, &algebra_plain, basis);
}

/* ---- scores ----------------------------------------------------------------------------------------- */

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
