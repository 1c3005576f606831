/*
 * sketching/basis.h: the backend's basis of X (sketch/basis.h), by a solver, with memory of its own.
 */
#ifndef ATTN_SKETCHING_BASIS_H
#define ATTN_SKETCHING_BASIS_H

#include "algebra/solver.h"
#include "sketch/basis.h"
#include "sketching/x.h"

typedef attn_basis_t sketching_basis_t;

/** attn_basis_exact(); sketching_basis_destroy() in any case. 0 when there is no memory. */
int sketching_basis_exact(const sketching_features_t *features, const algebra_solver_t *solver,
                          sketching_basis_t *basis);

void sketching_basis_destroy(sketching_basis_t *basis);

/**
 * The columns of Y (n x m) as N^T has X's, rank x m, whose outer products sum to the identity where Y is X; free() them.
 * From Y itself, not from Y Y^T: rows that are near to each other make N large, and its square would make rounding so. NULL when
 * there is no memory.
 */
double *sketching_images(const sketching_features_t *features, const algebra_solver_t *solver,
                         const float *y, int64_t m, int64_t *rank);

#endif
