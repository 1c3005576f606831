/*
 * approximate.h: leverage scores by Algorithm 2 of Deng, Mahadevan, Song (arXiv:2304.04397), whose tall
 * matrix is X^T. All of its arithmetic stands here, in an order of its own: no library and no tier has a part in
 * which features are drawn.
 */
#ifndef ATTN_SKETCH_APPROXIMATE_H
#define ATTN_SKETCH_APPROXIMATE_H

#include "attn/support.h"
#include "embed.h"
#include "triangle.h"
#include "ways.h"

/**
 * What approximate scores promise unless another factor is asked for: within it of the exact ones, with
 * probability 1 - delta.
 */
#define ATTN_SCORES_FACTOR 3.0
#define ATTN_SCORES_LEAST_FACTOR 2.0
#define ATTN_SCORES_MOST_FACTOR 1000.0

/** What is needed on the way: numbers for n^2, the embeddings of n rows and, of a dense X, all entries of S1 and of another. */
typedef struct attn_scores_work {
    double *square, *gram;       /**< n x n */
    attn_embedded_t embedded[2]; /**< S1, and what checks it */
    float *matrix, *copy;        /**< of the kernel's squares() */
    int32_t *last;
} attn_scores_work_t;

/**
 * S1 (0), and what checks it (1, ...), for an X of so many features: no word of their draws (attn_sketch_osnap()) is another
 * one's, whatever their places, so that they are independent.
 */
attn_embedding_t attn_scores_embedding(const attn_scores_way_t *way, int64_t columns, uint64_t seed,
                                       int64_t number);

/** For an X with these sizes, dense or not; its numbers may be still to come. */
void attn_scores_take(attn_arena_t *arena, const attn_x_t *x, double factor, double delta,
                      attn_scores_work_t *work);

/** Whether X has more features than its embeddings: else exact scores are taken. */
int attn_is_embedded(const attn_x_t *x, double factor, double delta);

/**
 * Steps 3 to 6 of Algorithm 2: that of S1 X^T, S1 being a sparse embedding, which other ones confirm (ways.h): it is off by more
 * than its part of the factor with probability delta at most. In time of the elements and n^3. ATTN_ERROR_RANGE where they do not,
 * where float is too coarse, and where X has no more features than they: then exact scores are to be taken.
 */
attn_status_t attn_triangle_embedded(const embedding_kernels_t *kernels,
                                     const attn_features_t *features, double factor, double delta,
                                     uint64_t seed, attn_scores_work_t *work,
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
                                   uint64_t seed, attn_scores_work_t *work,
                                   attn_triangle_t *triangle, double *scores);

/** Additions and multiplications of that for a dense X. */
double attn_scores_flops(const attn_x_t *x, double factor, double delta);

#endif
