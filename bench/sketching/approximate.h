/*
 * sketching/approximate.h: leverage scores by Algorithm 2 of Deng, Mahadevan, Song (arXiv:2304.04397), whose tall
 * matrix is X^T. All of its arithmetic stands here, in an order of its own: no library and no tier has a part in
 * which features are drawn.
 */
#ifndef ATTN_SKETCHING_APPROXIMATE_H
#define ATTN_SKETCHING_APPROXIMATE_H

#include "sketching/x.h"

/**
 * What approximate scores promise unless another factor is asked for: within it of the exact ones, with
 * probability 1 - delta.
 */
#define SKETCHING_FACTOR 3.0

/**
 * Features of the embedding of n rows: 16 n, 8 n for a factor from 8 on and 4 n from 256 on, and as many as a normal matrix
 * needs at least for scores within the factor, with probability 1 - delta: its least singular value is less than
 * 1 - sqrt(n / size) - t with probability exp(-size t^2 / 2) at most (Davidson and Szarek, 2001, Theorem II.13).
 */
int64_t sketching_embedded_size(int64_t n, double factor, double delta);

/** The part of the factor that is the embedding's, by the same theorem: at most the factor. */
double sketching_embedded_factor(int64_t n, double factor, double delta);

/**
 * Columns of the JL matrix S2 (Definition 2.5) for which, with probability 1 - delta, no |x_j^T N S2|^2 of d
 * features is off by more than a factor of u > 1: exact tails of chi squared (Laurent and Massart, 2000).
 */
int64_t sketching_jl_columns(int64_t features, double u, double delta);

/** R of A D = Q R for a tall A of n columns; a column that depends on those before it has a row of zeros. */
typedef struct sketching_triangle {
    int64_t n, rank;
    double *matrix; /**< n x n: R, on the diagonal and above it */
    double *scale;  /**< n: D, powers of 2 that make columns of A alike */
} sketching_triangle_t;

/**
 * By Cholesky's factor of the Gram matrix of A (size x n), which stands in panels (embed.h) and is multiplied by D.
 * ATTN_ERROR_RANGE where float is too coarse for A: columns that are nearer than 2^-10 to a combination of others, relative
 * to their length, and none, or as long as 2^100, or as short as 2^-100.
 */
attn_status_t sketching_triangle_of(float *panels, int64_t size, int64_t n,
                                    sketching_triangle_t *triangle);

/**
 * Steps 3 to 6 of Algorithm 2: that of S1 X^T, S1 being a sparse embedding to sketching_embedded_size() features, which
 * is off by more than its part of the factor with probability delta. In time of the elements and n^3. ATTN_ERROR_RANGE, after which exact scores are to be taken, also where X has no more features than that.
 */
attn_status_t sketching_triangle_embedded(const sketching_features_t *features, double factor,
                                          double delta, uint64_t seed,
                                          sketching_triangle_t *triangle);

void sketching_triangle_destroy(sketching_triangle_t *triangle);

/**
 * Steps 7 to 12: scores[j] = |S2^T R^-T D x_j|^2, or without S2 where it would not have fewer columns than R. S2 is off by
 * more than its part of the factor with probability delta, the other part being that of an embedding for as much. A large
 * factor is for few columns: n d of them are multiplications. In float, good to about 2^-20. 0 when there is no memory.
 */
int sketching_scores_projected(const sketching_features_t *features,
                               const sketching_triangle_t *triangle, double factor, double delta,
                               uint64_t seed, double *scores);

#endif
