/*
 * algebra/algebra.h: what experiments measure with, on core/algebra/dense.h; solver.h has what may come from LAPACK.
 */
#ifndef ATTN_ALGEBRA_ALGEBRA_H
#define ATTN_ALGEBRA_ALGEBRA_H

#include "algebra/dense.h"

double algebra_norm(const double *a, int64_t n);

/** Cosine of the angle between a and b; NaN where one is zero. */
double algebra_cosine(const double *a, const double *b, int64_t n);

/** Largest singular value of a (rows x columns); `scratch` has room for columns (columns + 1). */
double algebra_spectral_norm(const double *a, int64_t rows, int64_t columns, double *scratch);

/**
 * The least eps with (1 - eps) S <= T <= (1 + eps) S in the order of symmetric matrices: how far the
 * eigenvalues of L^-1 T L^-T are from 1, S = L L^T. Destroys both (n x n); `scratch` has room for n.
 * INFINITY where S is not positive definite.
 */
double algebra_distortion(double *s, double *t, int64_t n, double *scratch);

#endif
