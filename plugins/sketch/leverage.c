#include "leverage.h"

#include "attn/random.h"

#include <math.h>
#include <string.h>

enum { ROWS_AT_A_TIME = 4 };

/* ---- the stacked rows ------------------------------------------------------------------------ */

/* Row number `index` of X in double precision; zeros when an element is not finite. */
static void stacked_row(const attn_problem_t *problem, const attn_tensor_t *query,
                        const attn_tensor_t *key, int64_t batch, int64_t kv_head, int64_t index,
                        double *row) {
    int64_t group = problem->heads / problem->kv_heads;
    const attn_tensor_t *tensor = key;
    int64_t head = kv_head, position = index - group * problem->queries;
    if (position < 0) {
        tensor = query;
        head = kv_head * group + index / problem->queries;
        position = index % problem->queries;
    }
    const float *source = (const float *)tensor->data + batch * tensor->stride[0] +
                          head * tensor->stride[1] + position * tensor->stride[2];
    int finite = 1;
    for (int64_t j = 0; j < problem->dim; j++) {
        row[j] = source[j * tensor->stride[3]];
        finite &= isfinite(row[j]) != 0;
    }
    if (!finite) memset(row, 0, (size_t)problem->dim * sizeof *row);
}

/* ---- small dense algebra, row-major, in double precision --------------------------------------- */

static double dot(const double *a, const double *b, int64_t n) {
    double sum[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; lane++) sum[lane] += a[i + lane] * b[i + lane];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add_multiple(double *restrict y, double factor, const double *restrict x, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* Lengths of rows change no score, but in sums over rows short ones would be lost beside long ones. */
static void scale_to_one(double *row, int64_t n) {
    const double length = sqrt(dot(row, row, n));
    for (int64_t j = 0; j < n && length > 0.0; j++) row[j] /= length;
}

/* gram (count x count) = R R^T for the rows R (count x d). */
static void gram_of_rows(const double *rows, int64_t count, int64_t dim, double *gram) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++)
            gram[i * count + j] = gram[j * count + i] = dot(rows + i * dim, rows + j * dim, dim);
}

/* gram (d x d) += R^T R for four rows R (4 x d): the upper triangle only. */
static void add_outer_products(const double *rows, int64_t dim, double *gram) {
    const double *r0 = rows, *r1 = r0 + dim, *r2 = r1 + dim, *r3 = r2 + dim;
    for (int64_t i = 0; i < dim; i++) {
        double a0 = r0[i], a1 = r1[i], a2 = r2[i], a3 = r3[i];
        double *restrict row = gram + i * dim;
        for (int64_t j = i; j < dim; j++)
            row[j] += (a0 * r0[j] + a1 * r1[j]) + (a2 * r2[j] + a3 * r3[j]);
    }
}

int64_t attn_leverage_cholesky(double *gram, int64_t n, double tolerance, double *factor,
                               double *diagonal, int64_t *pivots) {
    for (int64_t i = 0; i < n; i++) diagonal[i] = gram[i * n + i];
    for (int64_t rank = 0; rank < n; rank++) {
        int64_t pivot = -1;
        double largest = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double remainder = gram[i * n + i];
            if (diagonal[i] == 0.0 || remainder <= tolerance * diagonal[i])
                diagonal[i] = 0.0; /* out */
            else if (remainder > largest)
                largest = remainder, pivot = i;
        }
        if (pivot < 0) return rank;

        double *row = factor + rank * n, root = sqrt(largest);
        for (int64_t i = 0; i < n; i++)
            row[i] = diagonal[i] > 0.0 ? gram[pivot * n + i] / root : 0.0;
        pivots[rank] = pivot;
        diagonal[pivot] = 0.0;
        for (int64_t i = 0; i < n; i++)
            if (diagonal[i] > 0.0) add_multiple(gram + i * n, -row[i], row, n);
    }
    return n;
}

/* ---- scores ------------------------------------------------------------------------------------ */

/*
 * The inputs are f32: a row within 2^-20 of a combination of others, relative to its own length, is
 * dependent as far as they can tell. Squared, and more where rounding in the Gram matrix is more.
 */
double attn_leverage_tolerance(int64_t terms) { return 0x1p-40 + (double)terms * 0x1p-52; }

/* After how many rows it is worth asking whether d features are independent: a multiple of ROWS_AT_A_TIME. */
static int64_t rows_for_rank(int64_t dim) {
    return (2 * dim + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
}

/*
 * scores_j = |L^-1 Z e_j|^2 for a basis Z of X's row space, whose row i is basis[pivots[i]], and the
 * Cholesky factor of Z Z^T: L_ik = factor[k][pivots[i]]. Row i of L^-1 Z takes the place of row i of Z.
 */
static void scores_of_basis(double *basis, int64_t dim, int64_t rank, const double *factor,
                            int64_t stride, const int64_t *pivots, double *scores) {
    memset(scores, 0, (size_t)dim * sizeof *scores);
    for (int64_t i = 0; i < rank; i++) {
        double *row = basis + pivots[i] * dim;
        for (int64_t k = 0; k < i; k++)
            add_multiple(row, -factor[k * stride + pivots[i]], basis + pivots[k] * dim, dim);
        double scale = 1.0 / factor[i * stride + pivots[i]];
        for (int64_t j = 0; j < dim; j++) {
            row[j] *= scale;
            scores[j] += row[j] * row[j];
        }
    }
}

/* The lower triangle of what add_outer_products() has filled. */
static void mirror(double *gram, int64_t dim) {
    for (int64_t i = 0; i < dim; i++)
        for (int64_t j = 0; j < i; j++) gram[i * dim + j] = gram[j * dim + i];
}

/* Whether the rows so far have rank d, which more rows cannot take away: then all scores are 1. */
static int is_full_already(int64_t dim, double tolerance, attn_leverage_scratch_t *s) {
    memcpy(s->factor, s->gram, (size_t)(dim * dim) * sizeof *s->gram);
    mirror(s->factor, dim);
    return attn_leverage_cholesky(s->factor, dim, tolerance, s->basis, s->diagonal, s->pivots) ==
           dim;
}

/*
 * With d <= N: G = X^T X = F^T F, so the rows of F (rank x d) span X's row space. Z = F_P^-1 F, F_P
 * being the pivot columns, is the identity on those: Z Z^T = I + W W^T has no eigenvalue below 1, and
 * its Cholesky factorisation cannot fail, however small X's own singular values are.
 */
int64_t attn_leverage_of_gram(int64_t dim, double tolerance, attn_leverage_scratch_t *s) {
    mirror(s->gram, dim);
    int64_t rank =
        attn_leverage_cholesky(s->gram, dim, tolerance, s->basis, s->diagonal, s->pivots);
    if (rank == dim) {
        for (int64_t j = 0; j < dim; j++) s->scores[j] = 1.0;
        return rank;
    }
    for (int64_t i = rank - 1; i >= 0; i--) {
        double *row = s->basis + i * dim;
        for (int64_t k = i + 1; k < rank; k++)
            add_multiple(row, -row[s->pivots[k]], s->basis + k * dim, dim);
        double scale = 1.0 / row[s->pivots[i]];
        for (int64_t j = 0; j < dim; j++) row[j] *= scale;
    }
    gram_of_rows(s->basis, rank, dim, s->gram);
    rank = attn_leverage_cholesky(s->gram, rank, 0.0, s->factor, s->diagonal, s->pivots);
    scores_of_basis(s->basis, dim, rank, s->factor, rank, s->pivots, s->scores);
    return rank;
}

int64_t attn_leverage_scores(const attn_problem_t *problem, const attn_tensor_t *query,
                             const attn_tensor_t *key, int64_t batch, int64_t kv_head,
                             attn_leverage_scratch_t *s) {
    int64_t dim = problem->dim, rows = attn_leverage_rows(problem);
    double tolerance = attn_leverage_tolerance(rows + dim);

    if (rows < dim) {
        for (int64_t i = 0; i < rows; i++)
            stacked_row(problem, query, key, batch, kv_head, i, s->basis + i * dim);
        gram_of_rows(s->basis, rows, dim, s->gram);
        int64_t rank =
            attn_leverage_cholesky(s->gram, rows, tolerance, s->factor, s->diagonal, s->pivots);
        scores_of_basis(s->basis, dim, rank, s->factor, rows, s->pivots, s->scores);
        return rank;
    }
    memset(s->gram, 0, (size_t)(dim * dim) * sizeof *s->gram);
    for (int64_t i = 0; i < rows; i += ROWS_AT_A_TIME) {
        for (int64_t r = 0; r < ROWS_AT_A_TIME; r++) {
            if (i + r < rows)
                stacked_row(problem, query, key, batch, kv_head, i + r, s->rows + r * dim);
            else
                memset(s->rows + r * dim, 0, (size_t)dim * sizeof *s->rows);
            scale_to_one(s->rows + r * dim, dim);
        }
        add_outer_products(s->rows, dim, s->gram);
        if (i + ROWS_AT_A_TIME != rows_for_rank(dim)) continue;
        if (!is_full_already(dim, tolerance, s)) continue;
        for (int64_t j = 0; j < dim; j++) s->scores[j] = 1.0;
        return dim;
    }
    return attn_leverage_of_gram(dim, tolerance, s);
}

double attn_leverage_flops(const attn_problem_t *problem) {
    double n = (double)attn_leverage_rows(problem), d = (double)problem->dim;
    if (n < d) return n * n * d + n * n * n + n * n * d; /* Gram, Cholesky, triangular solve */
    const double most = (double)rows_for_rank(problem->dim);
    return (n < most ? n : most) * d * d + d * d * d;
}

/* ---- memory and sampling ----------------------------------------------------------------------- */

void attn_leverage_scratch_take(attn_arena_t *arena, const attn_problem_t *problem,
                                attn_leverage_scratch_t *scratch) {
    int64_t dim = problem->dim, rows = attn_leverage_rows(problem);
    int64_t smaller = rows < dim ? rows : dim;
    uint64_t line = (uint64_t)smaller * sizeof(double), row = (uint64_t)dim * sizeof(double);
    scratch->scores = attn_arena_take(arena, 1, row);
    scratch->diagonal = attn_arena_take(arena, 1, line);
    scratch->pivots = attn_arena_take(arena, smaller, sizeof *scratch->pivots);
    scratch->gram = attn_arena_take(arena, smaller, line);
    scratch->factor = attn_arena_take(arena, smaller, line);
    scratch->basis = attn_arena_take(arena, smaller, row);
    scratch->rows = attn_arena_take(arena, ROWS_AT_A_TIME, row);
}

/* The first index whose running sum exceeds x. */
static int64_t search(const double *sums, int64_t count, double x) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sums[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void attn_leverage_draw(double *scores, int64_t dim, int64_t size, uint64_t seed, uint64_t stream,
                        attn_sketch_draw_t *draws) {
    double total = 0.0;
    for (int64_t j = 0; j < dim; j++) total += scores[j];
    int uniform = !(total > 0.0);

    double sum = 0.0;
    int64_t last = 0; /* the last feature that can be drawn */
    for (int64_t j = 0; j < dim; j++) {
        double next = sum + (uniform ? 1.0 : scores[j]);
        if (next > sum) last = j;
        scores[j] = sum = next;
    }
    for (int64_t t = 0; t < size; t++) {
        double u = attn_random_uniform(seed, stream, (uint64_t)t);
        int64_t j = search(scores, last + 1, u * sum);
        double score = scores[j] - (j > 0 ? scores[j - 1] : 0.0);
        draws[t].feature = j;
        draws[t].weight = (float)sqrt(sum / ((double)size * score));
    }
}
