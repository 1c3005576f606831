/*
 * labs/barrier.h: a deterministic sparsifier: of many vectors whose outer products sum to the identity it
 * keeps few, with weights, so that the weighted sum stays near the identity (arXiv:2304.04397, Theorem
 * 4.2). By the barrier method of Batson, Spielman and Srivastava, "Twice-Ramanujan Sparsifiers", 2012:
 * vectors are added one by one, each such that all eigenvalues of the sum stay between two barriers that
 * move up.
 */
#ifndef ATTN_LABS_BARRIER_H
#define ATTN_LABS_BARRIER_H

#include <stdint.h>

/**
 * `count` vectors of `dim` numbers, row by row, sum_j v_j v_j^T = I. Fills weights[count], at most
 * `steps` > dim of them above 0, such that the eigenvalues of sum_j w_j v_j v_j^T are within
 * 1 +- barrier_distortion(). The same input gives the same output, always. 0 when there is no memory.
 */
int barrier_weights(const double *vectors, int64_t count, int64_t dim, int64_t steps,
                    double *weights);

/** 2 sqrt(q) / (q + 1), q = steps / dim: what (sqrt q + 1)^2 / (sqrt q - 1)^2 is as 1 +- eps. */
double barrier_distortion(int64_t dim, int64_t steps);

#endif
