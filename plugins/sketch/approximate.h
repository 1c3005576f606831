/*
 * approximate.h: leverage scores by Algorithm 2 of Deng, Mahadevan, Song (arXiv:2304.04397), whose tall
 * matrix is X^T. All of its arithmetic stands here, in an order of its own: no library and no tier has a part in
 * which features are drawn.
 */
#ifndef ATTN_SKETCH_APPROXIMATE_H
#define ATTN_SKETCH_APPROXIMATE_H

#include "attn/support.h"
#include "embed.h"

/**
 * What approximate scores promise unless another factor is asked for: within it of the exact ones, with
 * probability 1 - delta.
 */
#define ATTN_SCORES_FACTOR 3.0
#define ATTN_SCORES_LEAST_FACTOR 2.0
#define ATTN_SCORES_MOST_FACTOR 1000.0

/**
 * Features of the embedding of n rows: 16 n, 8 n for a factor from 8 on and 4 n from 256 on, and as many as a normal matrix
 * needs at least for scores within the factor, with probability 1 - delta: its least singular value is less than
 * 1 - sqrt(n / size) - t with probability exp(-size t^2 / 2) at most (Davidson and Szarek, 2001, Theorem II.13).
 */
int64_t attn_embedded_size(int64_t n, double factor, double delta);

/** The part of the factor that is the embedding's, by the same theorem: at most the factor. */
double attn_embedded_factor(int64_t n, double factor, double delta);

/**
 * Columns of the JL matrix S2 (Definition 2.5) for which, with probability 1 - delta, no |x_j^T N S2|^2 of d
 * features is off by more than a factor of u > 1: exact tails of chi squared (Laurent and Massart, 2000).
 */
int64_t attn_jl_columns(int64_t features, double u, double delta);

/** R of A D = Q R for a tall A of n columns; a column that depends on those before it has a row of zeros. */
typedef struct attn_triangle {
    int64_t n, rank;
    double *matrix; /**< n x n: R, on the diagonal and above it */
    double *scale;  /**< n: D, powers of 2 that make columns of A alike */
    void *memory;   /**< for who made the room for it */
} attn_triangle_t;

/** What is needed on the way: numbers for n^2, the embedding of n rows and, of a dense X, all entries of S1. */
typedef struct attn_scores_work {
    double *square; /**< n x n */
    float *panels;  /**< S1 X^T */
    attn_sketch_entry_t *entries;
    float *matrix, *copy; /**< of the kernel's squares() */
    int32_t *last;
} attn_scores_work_t;

void attn_triangle_take(attn_arena_t *arena, int64_t n, attn_triangle_t *triangle);

/** For an X with these sizes, dense or not; its numbers may be still to come. */
void attn_scores_take(attn_arena_t *arena, const attn_x_t *x, double factor, double delta,
                      attn_scores_work_t *work);

/**
 * By Cholesky's factor of the Gram matrix of A (size x n), which stands in panels (embed.h) and is multiplied by D; `inverse` is
 * room for n x n numbers.
 * ATTN_ERROR_RANGE where float is too coarse for A: columns that are nearer than 2^-10 to a combination of others, relative
 * to their length, and none, or as long as 2^100, or as short as 2^-100.
 */
attn_status_t attn_triangle_of(const embedding_kernels_t *kernels, float *panels, int64_t size,
                               double *inverse, attn_triangle_t *triangle);

/** Whether X has more features than its embedding: else exact scores are taken. */
int attn_is_embedded(const attn_x_t *x, double factor, double delta);

/**
 * Steps 3 to 6 of Algorithm 2: that of S1 X^T, S1 being a sparse embedding to attn_embedded_size() features, which
 * is off by more than its part of the factor with probability delta. In time of the elements and n^3. ATTN_ERROR_RANGE, after which exact scores are to be taken, also where X has no more features than that.
 */
attn_status_t attn_triangle_embedded(const embedding_kernels_t *kernels,
                                     const attn_features_t *features, double factor, double delta,
                                     uint64_t seed, const attn_scores_work_t *work,
                                     attn_triangle_t *triangle);

/**
 * Steps 7 to 12: scores[j] = |S2^T R^-T D x_j|^2, or without S2 where it would not have fewer columns than R. S2 is off by
 * more than its part of the factor with probability delta, the other part being that of an embedding for as much. A large
 * factor is for few columns: n d of them are multiplications. In float, good to about 2^-20.
 */
void attn_scores_projected(const embedding_kernels_t *kernels, const attn_features_t *features,
                           const attn_triangle_t *triangle, double factor, double delta,
                           uint64_t seed, const attn_scores_work_t *work, double *scores);

/**
 * Both. Scores that are off by a factor of at most F add up to rank / F at least and F rank at most: where they do not, the
 * embedding has failed, as it may for a part of delta. ATTN_ERROR_RANGE then, too.
 */
attn_status_t attn_scores_embedded(const embedding_kernels_t *kernels,
                                   const attn_features_t *features, double factor, double delta,
                                   uint64_t seed, const attn_scores_work_t *work,
                                   attn_triangle_t *triangle, double *scores);

/** Additions and multiplications of that for a dense X. */
double attn_scores_flops(const attn_x_t *x, double factor, double delta);

#endif
