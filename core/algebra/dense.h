/*
 * algebra/dense.h: small dense algebra in double precision, row-major, without gaps: in plain C and in one order, so that
 * it gives the same numbers everywhere. It allocates nothing; room for what is on the way is the caller's.
 */
#ifndef ATTN_ALGEBRA_DENSE_H
#define ATTN_ALGEBRA_DENSE_H

#include "ieee/ieee.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/** Of sums that need not wait for each other. */
static inline double algebra_dot(const double *a, const double *b, int64_t n) {
    double sums[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/** y += factor x, for arrays that do not overlap. */
static inline void algebra_add_multiple(double *restrict y, double factor, const double *restrict x,
                                        int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* ---- Cholesky ------------------------------------------------------------------------------------ */

/** s = L L^T, in place of its lower triangle; 0 when s is not positive definite. */
static inline int algebra_cholesky(double *s, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double sum = s[i * n + j] - algebra_dot(s + i * n, s + j * n, j);
            if (i == j && !(sum > 0)) return 0;
            s[i * n + j] = i == j ? sqrt(sum) : sum / s[j * n + j];
        }
    return 1;
}

/**
 * The inverse of the symmetric positive definite a (n x n), which is destroyed; 0 when it is not. Row by row: L^-1, below its
 * diagonal in `inverse`, and the products of its rows, in a; both triangles of those.
 */
static inline int algebra_invert(double *a, int64_t n, double *inverse) {
    if (!algebra_cholesky(a, n)) return 0;
    for (int64_t i = 0; i < n; i++) {
        double *row = inverse + i * n;
        for (int64_t j = 0; j <= i; j++) row[j] = i == j;
        for (int64_t k = 0; k < i; k++)
            algebra_add_multiple(row, -a[i * n + k], inverse + k * n, k + 1);
        for (int64_t j = 0; j <= i; j++) row[j] /= a[i * n + i];
    }
    for (int64_t i = 0; i < n * n; i++) a[i] = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i <= k; i++)
            algebra_add_multiple(a + i * n, inverse[k * n + i], inverse + k * n, i + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) inverse[i * n + j] = a[j <= i ? i * n + j : j * n + i];
    return 1;
}

/* ---- QR ------------------------------------------------------------------------------------------ */

/*
 * Reflects rows k and below so that column k becomes (norm, 0, ..., 0). The reflection is I - u u^T / h with
 * u_k = a_kk -+ norm, the sign that does not cancel (Golub and Van Loan, "Matrix Computations", 5.1).
 */
static inline void algebra_reflect(double *a, int64_t rows, int64_t columns, int64_t k,
                                   double *along) {
    double square = 0;
    for (int64_t i = k; i < rows; i++) square += a[i * columns + k] * a[i * columns + k];
    if (square == 0) return;
    const double corner = a[k * columns + k], norm = corner > 0 ? -sqrt(square) : sqrt(square);
    const double h = square - corner * norm;
    a[k * columns + k] = corner - norm;
    memset(along, 0, (size_t)columns * sizeof *along);
    for (int64_t i = k; i < rows; i++) {
        const double *row = a + i * columns, u = row[k];
        for (int64_t j = k + 1; j < columns; j++) along[j] += u * row[j];
    }
    for (int64_t i = k; i < rows; i++) {
        double *row = a + i * columns;
        const double u = row[k] / h;
        for (int64_t j = k + 1; j < columns; j++) row[j] -= u * along[j];
    }
    a[k * columns + k] = norm;
}

/**
 * R of a = Q R, `rows` >= `columns`: upper triangular with a diagonal of no number below 0; destroys a. By Householder's
 * reflections, for any rank. `room` is for `columns` numbers.
 */
static inline void algebra_triangle(double *a, int64_t rows, int64_t columns, double *r,
                                    double *room) {
    for (int64_t k = 0; k < columns; k++) algebra_reflect(a, rows, columns, k, room);
    for (int64_t i = 0; i < columns; i++) {
        const double sign = a[i * columns + i] < 0 ? -1 : 1;
        for (int64_t j = 0; j < columns; j++)
            r[i * columns + j] = j < i ? 0 : sign * a[i * columns + j];
    }
}

/* ---- eigenvalues --------------------------------------------------------------------------------- */

/* Rows p and q of a, turned. */
static inline void algebra_turn_rows(double *a, int64_t n, int64_t p, int64_t q, double c,
                                     double s) {
    double *restrict first = a + p * n, *restrict second = a + q * n;
    for (int64_t k = 0; k < n; k++) {
        const double x = first[k], y = second[k];
        first[k] = c * x - s * y;
        second[k] = s * x + c * y;
    }
}

/* Turns rows and columns p and q so that a[p][q] becomes 0, and rows p and q of `vectors`. */
static inline void algebra_rotate(double *a, int64_t n, int64_t p, int64_t q, double *vectors) {
    const double off = a[p * n + q];
    if (off == 0) return;
    const double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t k = 0; k < n; k++) {
        const double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    algebra_turn_rows(a, n, p, q, c, s);
    if (vectors) algebra_turn_rows(vectors, n, p, q, c, s);
}

/* Sum of squares off the diagonal, against all. */
static inline double algebra_off_diagonal(const double *a, int64_t n) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double square = a[i * n + j] * a[i * n + j];
            all += square;
            if (i != j) off += square;
        }
    return all > 0 ? off / all : 0;
}

/**
 * Eigenvalues of the symmetric a (n x n), in no order, by Jacobi's rotations, and row k of `vectors` (n x n; NULL: not asked
 * for), which has to be the identity before, becomes the eigenvector of values[k]. Destroys a.
 */
static inline void algebra_rotate_to_diagonal(double *a, int64_t n, double *vectors,
                                              double *values) {
    enum { MAX_SWEEPS = 30 }; /* convergence is quadratic: six or seven are enough */
    for (int sweep = 0; sweep < MAX_SWEEPS && algebra_off_diagonal(a, n) > 0x1p-104; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) algebra_rotate(a, n, p, q, vectors);
    for (int64_t i = 0; i < n; i++) values[i] = a[i * n + i];
}

/** Eigenvalues of the symmetric a (n x n), in no order, by Jacobi rotations; destroys a. */
static inline void algebra_eigenvalues(double *a, int64_t n, double *values) {
    algebra_rotate_to_diagonal(a, n, NULL, values);
}

/* Rows of a are the vectors by their ascending values. */
static inline void algebra_put_in_order(double *a, const double *vectors, int64_t n,
                                        double *values) {
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0; /* how many come before; equal ones by their numbers */
        for (int64_t i = 0; i < n; i++)
            at += values[i] < values[k] || (values[i] == values[k] && i < k);
        memcpy(a + at * n, vectors + k * n, (size_t)n * sizeof *a);
    }
    for (int64_t i = 1; i < n; i++) {
        const double value = values[i];
        int64_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

/**
 * Eigenvalues of the symmetric a (n x n), ascending; row k of a becomes the eigenvector of values[k], of length 1. `room` is
 * for n x n numbers. 0 where they are not finite.
 */
static inline int algebra_eigen(double *a, int64_t n, double *values, double *room) {
    memset(room, 0, (size_t)(n * n) * sizeof *room);
    for (int64_t i = 0; i < n; i++) room[i * n + i] = 1;
    algebra_rotate_to_diagonal(a, n, room, values);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return 0;
    algebra_put_in_order(a, room, n, values);
    return 1;
}

#endif
