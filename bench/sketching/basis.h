/*
 * sketching/basis.h: what X's features are in a basis of the space that its rows span, exactly, by QR. Leverage scores, the
 * barrier method and the distortion of a sketch depend on X by that space alone.
 */
#ifndef ATTN_SKETCHING_BASIS_H
#define ATTN_SKETCHING_BASIS_H

#include "algebra/solver.h"
#include "sketching/x.h"

/**
 * X' of a tall X (more rows than features): orthonormal rows that span what X's do. D X = Q R with Q^T Q = I, so that the rows
 * of R (d x d) span it, and nothing of n x n is needed. In float, which of orthonormal rows takes no more than rounding.
 */
typedef struct sketching_isotropic {
    sketching_x_t x;
    sketching_features_t features;
} sketching_isotropic_t;

/**
 * A matrix N (n x rank) for which the vectors N^T x_j of all features are isotropic: their outer products sum to
 * the identity. Its columns span what the rows of X do; where X has rank n, N = D R^-1 with the triangle R
 * of X^T D, D being 1 / the length of each row.
 */
typedef struct sketching_basis {
    const algebra_solver_t *solver; /**< by which it was found */
    int64_t rows, rank;
    double *matrix;      /**< n x rank, row-major */
    double inverse_norm; /**< Frobenius norm of R^-1; INFINITY where X has not rank n */
    sketching_isotropic_t *isotropic; /**< of a tall X: all of this is of X' then; else NULL */
} sketching_basis_t;

/** The features that N goes with: X's, or those of X'. */
static inline const sketching_features_t *
sketching_basis_features(const sketching_basis_t *basis, const sketching_features_t *features) {
    return basis->isotropic ? &basis->isotropic->features : features;
}

/**
 * Two solvers find scores within d 2^-54 |R^-1| of each other, relative to them: n 2^-52 |R^-1| for each piece of 4 n
 * features. Up to this norm that is far less than draws can tell; where R^-1 is larger, or X has not rank n, plain C
 * finds it, whichever solver is asked for.
 */
#define SKETCHING_AGREED 1024.0

/**
 * By QR of X^T D, in pieces of a few n features that go into one triangle, never all of X in double. The rank is the number of X D's
 * singular values above 2^-20, whatever the order of rows: as far as numbers in float can tell. 0 when there is no memory; rank 0 for a matrix of zeros.
 */
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
