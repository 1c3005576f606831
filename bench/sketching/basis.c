/* sketching/basis.c: see basis.h. */
#include "sketching/basis.h"

#include "algebra/algebra.h"
#include "sketching/pile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least singular value of X D that is none of rounding to float: 16 times what rounding changes. */
#define LEAST 0x1p-20

static double *numbers(int64_t rows, int64_t columns) {
    return sketching_allocate(rows, columns, sizeof(double));
}

/* ---- from a triangle to a basis ---------------------------------------------------------------------- */

/* D. A tall X, of d features, has sqrt(n / d) times the singular values of so many rows, and of their rounding. */
static void invert_lengths(const sketching_x_t *x, double *inverse) {
    const int is_tall = x->rows > x->columns;
    const double one = is_tall ? sqrt((double)x->columns / (double)x->rows) : 1;
    for (int64_t i = 0; i < x->rows; i++) {
        const double square = sketching_square(x, i);
        inverse[i] = square > 0 ? one / sqrt(square) : 0;
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

/* ---- no more rows than features ---------------------------------------------------------------------- */

/* Features of D X, one a row. */
static void put_features(const sketching_block_t *block, const double *inverse, int64_t n,
                         double *rows) {
    for (int64_t r = 0; r < block->count; r++)
        for (int64_t f = 0; f < block->width; f++)
            rows[f * n + block->rows[r]] =
                (double)block->values[r * block->stride + f] * inverse[block->rows[r]];
}

static int find_wide(const sketching_features_t *features, const algebra_solver_t *solver,
                     sketching_basis_t *basis) {
    const sketching_x_t *x = features->x;
    const int64_t n = x->rows;
    sketching_pile_t pile;
    double *inverse = numbers(n, 1), *rows;
    int done = sketching_pile_create(solver, n, &pile) && inverse;
    if (done) invert_lengths(x, inverse);
    for (int64_t first = 0; first < x->columns && done;) {
        const sketching_block_t block = sketching_block(features, first);
        first += block.width;
        if (!block.count) continue;
        done = (rows = sketching_pile_rows(&pile, block.width)) != NULL;
        if (done) put_features(&block, inverse, n, rows);
    }
    done = done && sketching_pile_reduce(&pile) && solve(solver, pile.triangle, inverse, n, basis);
    free(inverse);
    sketching_pile_destroy(&pile);
    return done;
}

/* Where two solvers may differ, by plain C. */
static int find_agreed(const sketching_features_t *features, const algebra_solver_t *solver,
                       sketching_basis_t *basis) {
    if (!find_wide(features, solver, basis)) return 0;
    if (solver == &algebra_plain || basis->inverse_norm <= SKETCHING_AGREED) return 1;
    sketching_basis_destroy(basis);
    return find_wide(features, &algebra_plain, basis);
}

/* ---- more rows than features --------------------------------------------------------------------------- */

/* A row of X, and m numbers of Y behind it, times `scale`. */
static void put_row(const sketching_x_t *x, int64_t i, const float *y, int64_t m, double scale,
                    double *row) {
    const int64_t start = x->dense ? i * x->columns : x->starts[i];
    const int64_t count = x->dense ? x->columns : x->starts[i + 1] - start;
    const float *values = (x->dense ? x->dense : x->data) + start;
    for (int64_t at = 0; at < count; at++)
        row[x->dense ? at : x->indices[start + at]] = scale * (double)values[at];
    for (int64_t t = 0; t < m; t++) row[x->columns + t] = scale * (double)y[t];
}

/* [R S; 0 .], d + m columns, of D [X Y] = [Q .] [R S; 0 .], by plain C. */
static int find_triangle(const sketching_x_t *x, const float *y, int64_t m,
                         sketching_pile_t *pile) {
    double *inverse = numbers(x->rows, 1), *row;
    int done = sketching_pile_create(&algebra_plain, x->columns + m, pile) && inverse;
    if (done) invert_lengths(x, inverse);
    for (int64_t i = 0; i < x->rows && done; i++) {
        done = (row = sketching_pile_rows(pile, 1)) != NULL;
        if (done) put_row(x, i, m ? y + i * m : NULL, m, inverse[i], row);
    }
    free(inverse);
    return done && sketching_pile_reduce(pile);
}

/* The basis of R itself, whose rows' lengths tell of nothing: those of a deficient X end in rounding. */
static int solve_triangle(const sketching_pile_t *pile, int64_t d, sketching_basis_t *basis) {
    double *turned = numbers(2 * d + 1, d), *r = turned + d * d, *ones = r + d * d;
    int done = turned != NULL;
    for (int64_t i = 0; i < d && done; i++) {
        for (int64_t j = i; j < d; j++) turned[j * d + i] = pile->triangle[i * pile->columns + j];
        ones[i] = 1;
    }
    done =
        done && algebra_plain.triangle(turned, d, d, r) && solve(&algebra_plain, r, ones, d, basis);
    free(turned);
    return done;
}

/* N^T times columns [first, first + count) of R and what is beside it: rank x count. */
static double *project(const sketching_pile_t *pile, const sketching_basis_t *basis, int64_t first,
                       int64_t count) {
    double *projected = numbers(basis->rank, count);
    for (int64_t i = 0; i < basis->rows && projected; i++)
        for (int64_t c = 0; c < basis->rank; c++)
            algebra_add_multiple(projected + c * count, basis->matrix[i * basis->rank + c],
                                 pile->triangle + i * pile->columns + first, count);
    return projected;
}

/* X' (rank x d), orthonormal rows that span what X's do. */
static sketching_isotropic_t *rotate(const sketching_pile_t *pile, const sketching_basis_t *basis) {
    const int64_t rank = basis->rank, d = basis->rows;
    sketching_isotropic_t *isotropic = sketching_allocate(1, 1, sizeof *isotropic);
    double *projected = isotropic ? project(pile, basis, 0, d) : NULL;
    float *dense = projected ? sketching_allocate(rank, d, sizeof *dense) : NULL;
    for (int64_t at = 0; at < rank * d && dense; at++) dense[at] = (float)projected[at];
    free(projected);
    if (isotropic) isotropic->x = (sketching_x_t){.rows = rank, .columns = d, .dense = dense};
    if (dense && sketching_features_create(&isotropic->x, &isotropic->features)) return isotropic;
    free(dense);
    free(isotropic);
    return NULL;
}

static int find_tall(const sketching_features_t *features, const algebra_solver_t *solver,
                     sketching_basis_t *basis) {
    const sketching_x_t *x = features->x;
    sketching_basis_t of_triangle = {.matrix = NULL};
    sketching_isotropic_t *isotropic = NULL;
    sketching_pile_t pile;
    if (find_triangle(x, NULL, 0, &pile) && solve_triangle(&pile, x->columns, &of_triangle))
        isotropic = rotate(&pile, &of_triangle);
    sketching_pile_destroy(&pile);
    sketching_basis_destroy(&of_triangle);
    const int done = isotropic && find_agreed(&isotropic->features, solver, basis);
    basis->isotropic = isotropic;
    return done;
}

/* ---- Y beside X ---------------------------------------------------------------------------------------- */

/* N^T Y. */
static double *multiply(const sketching_basis_t *basis, const float *y, int64_t m) {
    double *images = numbers(basis->rank + 1, m), *row = images + basis->rank * m;
    for (int64_t i = 0; i < basis->rows && images; i++) {
        for (int64_t t = 0; t < m; t++) row[t] = (double)y[i * m + t];
        for (int64_t c = 0; c < basis->rank; c++)
            algebra_add_multiple(images + c * m, basis->matrix[i * basis->rank + c], row, m);
    }
    return images;
}

double *sketching_images(const sketching_features_t *features, const algebra_solver_t *solver,
                         const float *y, int64_t m, int64_t *rank) {
    const sketching_x_t *x = features->x;
    sketching_basis_t basis = {.matrix = NULL};
    sketching_pile_t pile = {.rows = NULL};
    double *images = NULL;
    if (x->rows <= x->columns) {
        if (sketching_basis_exact(features, solver, &basis)) images = multiply(&basis, y, m);
    } else if (find_triangle(x, y, m, &pile) && solve_triangle(&pile, x->columns, &basis)) {
        images = project(&pile, &basis, x->columns, m);
    }
    *rank = basis.rank;
    sketching_pile_destroy(&pile);
    sketching_basis_destroy(&basis);
    return images;
}

/* ---- exactly ---------------------------------------------------------------------------------------- */

int sketching_basis_exact(const sketching_features_t *features, const algebra_solver_t *solver,
                          sketching_basis_t *basis) {
    const int is_tall = features->x->rows > features->x->columns;
    *basis = (sketching_basis_t){.matrix = NULL};
    return (is_tall ? find_tall : find_agreed)(features, solver, basis);
}

void sketching_basis_destroy(sketching_basis_t *basis) {
    if (basis->isotropic) {
        sketching_features_destroy(&basis->isotropic->features);
        free((void *)basis->isotropic->x.dense);
    }
    free(basis->isotropic);
    free(basis->matrix);
    *basis = (sketching_basis_t){.matrix = NULL};
}
