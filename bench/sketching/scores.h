/*
 * sketching/scores.h: leverage scores of X's features, exactly, by QR: sigma_j = x_j^T (X X^T)^+ x_j for
 * column x_j of X, between 0 and 1, their sum the rank of X.
 */
#ifndef ATTN_SKETCHING_SCORES_H
#define ATTN_SKETCHING_SCORES_H

#include "algebra/solver.h"
#include "sketching/x.h"

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
} sketching_basis_t;

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

/** scores[j] = |N^T x_j|^2. 0 when there is no memory. */
int sketching_scores(const sketching_features_t *features, const sketching_basis_t *basis,
                     double *scores);

#endif
