/*
 * sketching/scores.h: leverage scores of X's features, exactly by QR and approximately by Algorithm 2 of Deng,
 * Mahadevan, Song (arXiv:2304.04397), whose tall matrix is X^T: sigma_j = x_j^T (X X^T)^+ x_j for column x_j of
 * X, between 0 and 1, their sum the rank of X.
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
    int64_t rows, rank;
    double *matrix; /**< n x rank, row-major */
} sketching_basis_t;

/**
 * By QR of X^T D, in pieces of a few n features that go into one triangle, never all of X in double. A row within
 * 2^-20 of a combination of the others, relative to its length, depends on them as far as numbers in float
 * can tell. 0 when there is no memory; rank 0 for a matrix of zeros.
 */
int sketching_basis_exact(const sketching_features_t *features, const algebra_solver_t *solver,
                          sketching_basis_t *basis);

/**
 * Steps 3 to 6 of Algorithm 2: the same by the triangle of S1 X^T D, S1 being a sparse embedding to
 * sketching_buckets() n features; isotropic within their part of the factor. In time of the elements and n^3. R comes from the
 * Gram matrix by Cholesky where its pivots say that this is good enough (CholeskyQR), else from QR.
 */
int sketching_basis_embedded(const sketching_features_t *features, const algebra_solver_t *solver,
                             double factor, uint64_t seed, sketching_basis_t *basis);

void sketching_basis_destroy(sketching_basis_t *basis);

/**
 * What approximate scores promise unless another factor is asked for: within it of the exact ones, with
 * probability 1 - delta.
 */
#define SKETCHING_FACTOR 3.0

/** Features of the embedding for each row of X: 16; 8 for a factor from 8 on, 4 from 256 on. */
int64_t sketching_buckets(double factor);

/** The part of the factor that is the embedding's: 1 / (1 - 1 / sqrt(buckets))^2, and 20 for 4. */
double sketching_factor_embedded(double factor);

/**
 * Columns of the JL matrix S2 (Definition 2.5) for which, with probability 1 - delta, no |x_j^T N S2|^2 of d
 * features is off by more than a factor of u > 1: exact tails of chi squared (Laurent and Massart, 2000).
 */
int64_t sketching_jl_columns(int64_t features, double u, double delta);

/** scores[j] = |N^T x_j|^2. 0 when there is no memory. */
int sketching_scores(const sketching_features_t *features, const sketching_basis_t *basis,
                     double *scores);

/**
 * Steps 7 to 12: scores[j] = |S2^T N^T x_j|^2, or without S2 where it would not have fewer columns than N. A large
 * factor is for few columns: n d of them are multiplications.
 */
int sketching_scores_projected(const sketching_features_t *features, const sketching_basis_t *basis,
                               double factor, double delta, uint64_t seed, double *scores);

#endif
