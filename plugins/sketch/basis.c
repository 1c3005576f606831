#include "basis.h"

#include "algebra/dense.h"

#include <math.h>

/* The least singular value of X D that is none of rounding to float: 16 times what rounding changes. */
#define LEAST 0x1p-20

/* ---- memory -------------------------------------------------------------------------------------- */

void attn_basis_take(attn_arena_t *arena, int64_t rows, int64_t columns, attn_basis_t *basis) {
    const int64_t k = attn_min(rows, columns);
    *basis = (attn_basis_t){.matrix = attn_arena_take(arena, k, (uint64_t)k * sizeof(double))};
    if (rows <= columns) return;
    basis->values = attn_arena_take(arena, k, (uint64_t)columns * sizeof *basis->values);
    basis->isotropic.rows = attn_arena_take(arena, k, sizeof *basis->isotropic.rows);
}

void attn_basis_work_take(attn_arena_t *arena, int64_t rows, int64_t columns,
                          attn_basis_work_t *work) {
    const int64_t k = attn_min(rows, columns);
    const uint64_t line = (uint64_t)k * sizeof(double);
    attn_pile_take(arena, k, &work->pile);
    work->lengths = attn_arena_take(arena, rows, sizeof(double));
    work->ones = attn_arena_take(arena, 1, line);
    for (int s = 0; s < 3; s++) work->square[s] = attn_arena_take(arena, k, line);
    work->gram = attn_arena_take(arena, k, line);
    work->values = attn_arena_take(arena, 1, line);
    work->row = attn_arena_take(arena, 1, line);
    work->room = attn_arena_take(arena, k, line);
}

/* ---- from a triangle to a basis ------------------------------------------------------------------ */

/* D. A tall X, of d features, has sqrt(n / d) times the singular values of so many rows, and of their rounding. */
static void invert_lengths(const attn_x_t *x, double *inverse) {
    const int is_tall = x->rows > x->columns;
    const double one = is_tall ? sqrt((double)x->columns / (double)x->rows) : 1;
    for (int64_t i = 0; i < x->rows; i++) {
        const double square = attn_x_square(x, i);
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
static int straighten(const double *r, int64_t n, const attn_basis_work_t *work,
                      attn_basis_t *basis) {
    const int64_t k = basis->rank;
    double *l = work->room, *row = work->row;
    memset(l, 0, (size_t)(k * k) * sizeof *l);
    for (int64_t i = 0; i < n; i++) {
        memset(row, 0, (size_t)k * sizeof *row);
        for (int64_t j = i; j < n; j++)
            algebra_add_multiple(row, r[i * n + j], basis->matrix + j * k, k);
        for (int64_t c = 0; c < k; c++) algebra_add_multiple(l + c * k, row[c], row, k);
    }
    if (!algebra_cholesky(l, k)) return 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            double *at = basis->matrix + i * k;
            at[c] = (at[c] - algebra_dot(l + c * k, at, c)) / l[c * k + c];
        }
    return 1;
}

static int eigen(const attn_basis_work_t *work, int64_t n) {
    const attn_factoring_t *factoring = work->pile.factoring;
    return factoring ? factoring->eigen(work->gram, n, work->values)
                     : algebra_eigen(work->gram, n, work->values, work->room);
}

/* matrix = D V / sqrt(values), of the eigenvalues of R^T R that are none of rounding. */
static int solve_deficient(const double *r, const double *inverse, int64_t n,
                           const attn_basis_work_t *work, attn_basis_t *basis) {
    double *gram = work->gram, *values = work->values;
    memset(gram, 0, (size_t)(n * n) * sizeof *gram);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++) gram[k * n + j] += r[i * n + k] * r[i * n + j];
    if (!eigen(work, n)) return 0;
    const double least = LEAST * LEAST + (double)n * 0x1p-52;
    for (int64_t k = 0; k < n; k++) basis->rank += values[k] > least;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < basis->rank; k++) {
            const int64_t from = n - basis->rank + k;
            basis->matrix[i * basis->rank + k] = gram[from * n + i] / sqrt(values[from]);
        }
    if (!straighten(r, n, work, basis)) return 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < basis->rank; k++) basis->matrix[i * basis->rank + k] *= inverse[i];
    return 1;
}

static int solve(const double *r, const double *inverse, int64_t n, const attn_basis_work_t *work,
                 attn_basis_t *basis) {
    int may_be_full = 1;
    basis->rows = n;
    basis->rank = 0;
    basis->inverse_norm = INFINITY;
    basis->is_plain = !work->pile.factoring;
    for (int64_t i = 0; i < n; i++) may_be_full &= r[i * n + i] > LEAST;
    /* A diagonal of R tells of the rows before each alone, and depends on their order (Kahan): R^-1 does not. */
    const double norm = may_be_full ? solve_full(r, inverse, n, basis->matrix) : INFINITY;
    if (!(norm < 1 / LEAST)) return solve_deficient(r, inverse, n, work, basis);
    basis->rank = n;
    basis->inverse_norm = norm;
    return 1;
}

/* ---- no more rows than features ------------------------------------------------------------------ */

/* Features of D X, one a row. */
static void put_features(const attn_block_t *block, const double *inverse, int64_t n,
                         double *rows) {
    for (int64_t r = 0; r < block->count; r++)
        for (int64_t f = 0; f < block->width; f++)
            rows[f * n + block->rows[r]] =
                (double)block->values[r * block->stride + f] * inverse[block->rows[r]];
}

static int find_wide(const attn_features_t *features, const attn_factoring_t *factoring,
                     attn_basis_work_t work, attn_basis_t *basis) {
    const attn_x_t *x = features->x;
    invert_lengths(x, work.lengths);
    attn_pile_start(&work.pile, factoring, x->rows);
    for (int64_t first = 0; first < x->columns;) {
        const attn_block_t block = attn_block(features, first);
        first += block.width;
        if (!block.count) continue;
        double *rows = attn_pile_rows(&work.pile, block.width);
        if (!rows) return 0;
        put_features(&block, work.lengths, x->rows, rows);
    }
    return attn_pile_reduce(&work.pile) &&
           solve(work.pile.triangle, work.lengths, x->rows, &work, basis);
}

/* Where two may differ, by plain C. */
static int find_agreed(const attn_features_t *features, const attn_factoring_t *factoring,
                       const attn_basis_work_t *work, attn_basis_t *basis) {
    if (!find_wide(features, factoring, *work, basis)) return 0;
    if (!factoring || basis->inverse_norm <= ATTN_BASIS_AGREED) return 1;
    return find_wide(features, NULL, *work, basis);
}

/* ---- more rows than features --------------------------------------------------------------------- */

/* A row of X, and m numbers of Y behind it, times `scale`. */
static void put_row(const attn_x_t *x, int64_t i, const float *y, int64_t m, double scale,
                    double *row) {
    const int64_t start = x->dense ? i * x->columns : x->starts[i];
    const int64_t count = x->dense ? x->columns : x->starts[i + 1] - start;
    const float *values = (x->dense ? x->dense : x->data) + start;
    for (int64_t at = 0; at < count; at++)
        row[x->dense ? at : x->indices[start + at]] = scale * (double)values[at];
    for (int64_t t = 0; t < m; t++) row[x->columns + t] = scale * (double)y[t];
}

void attn_basis_triangle(const attn_x_t *x, const float *y, int64_t m, double *lengths,
                         attn_pile_t *pile) {
    invert_lengths(x, lengths);
    attn_pile_start(pile, NULL, x->columns + m);
    for (int64_t i = 0; i < x->rows; i++)
        put_row(x, i, m ? y + i * m : NULL, m, lengths[i], attn_pile_rows(pile, 1));
    attn_pile_reduce(pile);
}

/* R's rows have no lengths to divide by: those of a deficient X end in rounding. */
int attn_basis_of_triangle(const attn_pile_t *pile, int64_t d, const attn_basis_work_t *work,
                           attn_basis_t *basis) {
    double *turned = work->square[0], *r = work->square[1];
    attn_basis_work_t plain = *work;
    plain.pile.factoring = NULL;
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < d; j++) turned[j * d + i] = pile->triangle[i * pile->columns + j];
        work->ones[i] = 1;
    }
    algebra_triangle(turned, d, d, r, work->row);
    return solve(r, work->ones, d, &plain, basis);
}

void attn_basis_project(const attn_pile_t *pile, const attn_basis_t *basis, int64_t first,
                        int64_t count, double *projected) {
    memset(projected, 0, (size_t)(basis->rank * count) * sizeof *projected);
    for (int64_t i = 0; i < basis->rows; i++)
        for (int64_t c = 0; c < basis->rank; c++)
            algebra_add_multiple(projected + c * count, basis->matrix[i * basis->rank + c],
                                 pile->triangle + i * pile->columns + first, count);
}

static int find_tall(const attn_features_t *features, const attn_factoring_t *factoring,
                     const attn_basis_work_t *work, attn_basis_t *basis) {
    const int64_t d = features->x->columns;
    attn_basis_t of_triangle = {.matrix = work->square[2]};
    attn_basis_work_t own = *work;
    double *projected = work->square[0];
    attn_basis_triangle(features->x, NULL, 0, own.lengths, &own.pile);
    if (!attn_basis_of_triangle(&own.pile, d, &own, &of_triangle)) return 0;
    attn_basis_project(&own.pile, &of_triangle, 0, d, projected);
    for (int64_t at = 0; at < of_triangle.rank * d; at++) basis->values[at] = (float)projected[at];
    for (int64_t i = 0; i < of_triangle.rank; i++) basis->isotropic.rows[i] = (int32_t)i;
    basis->x = (attn_x_t){.rows = of_triangle.rank, .columns = d, .dense = basis->values};
    basis->isotropic.x = &basis->x;
    return find_agreed(&basis->isotropic, factoring, work, basis);
}

/* ---- exactly ------------------------------------------------------------------------------------- */

int attn_basis_exact(const attn_features_t *features, const attn_factoring_t *factoring,
                     const attn_basis_work_t *work, attn_basis_t *basis) {
    basis->is_tall = features->x->rows > features->x->columns;
    return (basis->is_tall ? find_tall : find_agreed)(features, factoring, work, basis);
}

double attn_basis_flops(int64_t rows, int64_t columns) {
    const double n = (double)rows, d = (double)columns;
    const double k = n < d ? n : d, most = n < d ? d : n;
    return 2.5 * most * k * k + (n < d ? 0 : 10 * k * k * k); /* pieces of 4 k with k before them */
}

/* ---- scores -------------------------------------------------------------------------------------- */

/* scores += squares of x_j^T N: lanes are features where a block has many, columns of N where it has one. */
static void add_squares(const attn_block_t *block, const double *matrix, int64_t columns,
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
        double sums[ATTN_BLOCK_WIDTH] = {0};
        for (int64_t r = 0; r < block->count; r++) {
            const double factor = matrix[block->rows[r] * columns + c];
            const float *values = block->values + r * block->stride;
            if (factor == 0) continue; /* half of a triangle */
            for (int64_t f = 0; f < width; f++) sums[f] += factor * (double)values[f];
        }
        for (int64_t f = 0; f < width; f++) out[f] += sums[f] * sums[f];
    }
}

void attn_basis_scores(const attn_features_t *features, const attn_basis_t *basis, double *room,
                       double *scores) {
    const attn_features_t *vectors = attn_basis_features(basis, features);
    const int64_t d = vectors->x->columns;
    memset(scores, 0, (size_t)d * sizeof *scores);
    for (int64_t first = 0; first < d;) {
        const attn_block_t block = attn_block(vectors, first);
        first += block.width;
        add_squares(&block, basis->matrix, basis->rank, room, scores);
    }
}
