/*
 * sketching/barrier.h: the deterministic sparsifier of arXiv:2304.04397, Theorem 4.2, by the barrier method of
 * Batson, Spielman and Srivastava ("Twice-Ramanujan Sparsifiers", SIAM Journal on Computing, 2012): of
 * vectors whose outer products sum to the identity it keeps few, with weights. They are added one by one, each
 * such that all eigenvalues of the sum stay between two barriers that move up.
 */
#ifndef ATTN_SKETCHING_BARRIER_H
#define ATTN_SKETCHING_BARRIER_H

#include "sketching/scores.h"

/** What came of it. */
typedef struct barrier_end {
    int64_t steps;     /**< that were taken: fewer where rounding has left no feature with room */
    double distortion; /**< how far the eigenvalues of sum_j w_j v_j v_j^T are from 1 */
    int keeps;         /**< whether that is within the promise, but for its rounding */
} barrier_end_t;

/**
 * For the vectors v_j = N^T x_j of a basis (sketching/scores.h) of rank >= 1: fills weights[d], at most `steps`
 * > rank of them above 0, such that the eigenvalues of sum_j w_j v_j v_j^T are within 1 +-
 * barrier_distortion(): looked at when it is done. The same input gives the same output, always. 0 when there is no memory.
 *
 * Time: steps times the squares of the features' elements (n^2 d for a dense X), and steps times n^3.
 */
int barrier_weights(const sketching_features_t *features, const sketching_basis_t *basis,
                    int64_t steps, double *weights, barrier_end_t *end);

/** 2 sqrt(q) / (q + 1), q = steps / rank: what (sqrt q + 1)^2 / (sqrt q - 1)^2 is as 1 +- eps. */
double barrier_distortion(int64_t rank, int64_t steps);

/** ceil(4 rank / eps^2), for which barrier_distortion() is at most eps. */
double barrier_steps(int64_t rank, double eps);

#endif
