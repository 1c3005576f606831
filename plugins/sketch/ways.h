/*
 * ways.h: how leverage scores within a factor F are made: sizes of the embedding, of what it is checked by, and of the JL
 * matrix, so that F fails for a part delta of each of the two at most, whatever X is.
 *
 * R of S1 X^T = Q R gives scores |R^-T x_j|^2, which are x_j^T (X X^T)^+ x_j times what lies between the least and the largest
 * eigenvalue of W = R^-T X X^T R^-1. How near to 1 they are is known of a normal S1, and of sparse ones of no usable size: two
 * features that stand alone may share most of their buckets. So S1 is not trusted. Another embedding S2, of m rows, is drawn, and
 * W2 = R^-T X S2^T S2 X^T R^-1 has to be within a factor c < F of the identity; else exact scores are taken.
 *
 * That tells of a W that is beyond F: for its eigenvector u, which has nothing to do with S2, Z = u^T W2 u / u^T W u
 * is |S2 y|^2 of a fixed y of length 1, whose mean is 1 and whose variance is 2 / m at most: entries of different features have
 * independent signs, and share 1/m of their squares in the mean (as osnap's in bound.h). It passes where Z <= c/F or, with an
 * eigenvalue below 1/F, where Z >= F/c: by Cantelli's inequality for a part v / (v + (1 - c/F)^2) of S2 at most, v = 2/m, as F/c - 1
 * is more than 1 - c/F. Of independent checks the power counts.
 */
#ifndef ATTN_SKETCH_WAYS_H
#define ATTN_SKETCH_WAYS_H

#include "ieee/ieee.h"

#include <stdint.h>

typedef struct attn_scores_way {
    double embedded;    /**< the part of F that is the embedding's: all of it without a JL matrix */
    double within;      /**< c: what an embedding is off by at most that passes a check */
    int64_t size;       /**< features of S1 */
    int64_t check_size; /**< of each S2 */
    int64_t check_places; /**< of a feature in S2 */
    int64_t checks;
    int64_t columns; /**< of the JL matrix; n, and none, where it would not save operations */
} attn_scores_way_t;

/** For an X of n rows and d features; delta is of the embedding and of the JL matrix each. */
attn_scores_way_t attn_scores_way(int64_t n, int64_t d, double factor, double delta);

/** What S2s of this way miss at most of the S1s that are beyond their part of the factor. */
double attn_scores_missed(const attn_scores_way_t *way);

/** Additions and multiplications for a dense X. */
double attn_scores_way_flops(const attn_scores_way_t *way, int64_t n, int64_t d);

/**
 * Columns of the JL matrix S2 (Definition 2.5) for which, with probability 1 - delta, no |x_j^T N S2|^2 of d
 * features is off by more than a factor of u > 1: exact tails of chi squared (Laurent and Massart, 2000).
 */
int64_t attn_jl_columns(int64_t features, double u, double delta);

#endif
