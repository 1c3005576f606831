/*
 * algebra/algebra.h: small dense algebra in double precision, row-major: what experiments measure with. Plain
 * C, so that they give the same numbers everywhere; solver.h has what may come from LAPACK.
 */
#ifndef ATTN_ALGEBRA_ALGEBRA_H
#define ATTN_ALGEBRA_ALGEBRA_H

#include <stdint.h>

double algebra_dot(const double *a, const double *b, int64_t n);

/** y += factor x, for arrays that do not overlap. */
void algebra_add_multiple(double *y, double factor, const double *x, int64_t n);

double algebra_norm(const double *a, int64_t n);

/** Cosine of the angle between a and b; NaN where one is zero. */
double algebra_cosine(const double *a, const double *b, int64_t n);

/** Eigenvalues of the symmetric a (n x n), in no order, by Jacobi rotations; destroys a. */
void algebra_eigenvalues(double *a, int64_t n, double *values);

/**
 * The same, and row k of `vectors` (n x n; NULL: not asked for), which has to be the identity before, becomes
 * the eigenvector of values[k].
 */
void algebra_rotate_to_diagonal(double *a, int64_t n, double *vectors, double *values);

/** The inverse of the symmetric positive definite a (n x n), which is destroyed; 0 when it is not. */
int algebra_invert(double *a, int64_t n, double *inverse);

/** s = L L^T, in place of its lower triangle; 0 when s is not positive definite. */
int algebra_cholesky(double *s, int64_t n);

/** Largest singular value of a (rows x columns); `scratch` has room for columns (columns + 1). */
double algebra_spectral_norm(const double *a, int64_t rows, int64_t columns, double *scratch);

/**
 * The least eps with (1 - eps) S <= T <= (1 + eps) S in the order of symmetric matrices: how far the
 * eigenvalues of L^-1 T L^-T are from 1, S = L L^T. Destroys both (n x n); `scratch` has room for n.
 * INFINITY where S is not positive definite.
 */
double algebra_distortion(double *s, double *t, int64_t n, double *scratch);

#endif
