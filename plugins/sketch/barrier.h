/*
 * barrier.h: the deterministic sparsifier of arXiv:2304.04397, Theorem 4.2, by the barrier method of
 * Batson, Spielman and Srivastava ("Twice-Ramanujan Sparsifiers", SIAM Journal on Computing, 2012): of
 * vectors whose outer products sum to the identity it keeps few, with weights. They are added one by one, each
 * such that all eigenvalues of the sum stay between two barriers that move up.
 */
#ifndef ATTN_SKETCH_BARRIER_H
#define ATTN_SKETCH_BARRIER_H

#include "basis.h"

/** What came of it. */
typedef struct attn_barrier_end {
    int64_t steps;     /**< that were taken: fewer where rounding has left no feature with room */
    double distortion; /**< how far the eigenvalues of sum_j w_j v_j v_j^T are from 1 */
    int keeps;         /**< whether that is within the promise, but for its rounding */
} attn_barrier_end_t;

/** Room: numbers for k^2, k = min(n, d), and for blocks. */
typedef struct attn_barrier_work {
    double *sum;   /**< A, rank x rank */
    double *upper; /**< inverses at the barriers, the same */
    double *lower;
    double *inverted; /**< what is being inverted */
    double *turned;   /**< N^T, rank x n */
    double *room;     /**< rank x n */
    double *form;     /**< n x n: below the diagonal, twice what stands there */
    double *vector;   /**< rank */
    int64_t *firsts;  /**< where blocks of features begin that have elements at all */
} attn_barrier_work_t;

/** `blocks`: those of X that have elements: columns / ATTN_BLOCK_WIDTH + 1 of a dense X, at most its elements of a CSR. */
void attn_barrier_take(attn_arena_t *arena, int64_t rows, int64_t columns, int64_t blocks,
                       attn_barrier_work_t *work);

/**
 * For the vectors v_j = N^T x_j of a basis of rank >= 1: fills weights[d], at most `steps`
 * > rank of them above 0, such that the eigenvalues of sum_j w_j v_j v_j^T are within 1 +-
 * attn_barrier_distortion(): looked at when it is done. The same input gives the same output, always.
 *
 * Time: steps times the squares of the features' elements (n^2 d for a dense X), and steps times n^3.
 */
void attn_barrier_weights(const attn_features_t *features, const attn_basis_t *basis, int64_t steps,
                          const attn_barrier_work_t *work, double *weights,
                          attn_barrier_end_t *end);

/** Additions and multiplications of that for a dense X. */
double attn_barrier_flops(int64_t rows, int64_t columns, double steps);

/** 2 sqrt(q) / (q + 1), q = steps / rank: what (sqrt q + 1)^2 / (sqrt q - 1)^2 is as 1 +- eps. */
double attn_barrier_distortion(int64_t rank, int64_t steps);

/** ceil(4 rank / eps^2), for which attn_barrier_distortion() is at most eps. */
double attn_barrier_steps(int64_t rank, double eps);

#endif
