/*
 * labs/softmax_regression/layer.h: explicit weights with which one layer of self-attention does what a step of gradient descent
 * does to softmax regression. arXiv:2304.13276 says that there is great similarity and gives no weights; its section
 * 2.1 quotes those of linear attention and linear regression (arXiv:2212.07677, Proposition 1),
 * which these are after.
 *
 * Token i is (a_i, r_i), r = -u, so that the step is x' = x + eta A^T r and moves logit i by eta sum_j (a_i . a_j) r_j:
 * linear attention with query a_i, keys a_j and values r_j. The layer adds that to a_i along x,
 *
 *     a_i' = a_i + eta sum_j (a_i . a_j) r_j x / |x|^2,  so that  A' x = A x'.
 *
 * Softmax attention with queries beta a_i and values n / beta times these comes to the same as beta -> 0: its weights
 * are (1 + s_ij - mean_k s_ik) / n + O(s^2), s_ij = beta a_i . a_j, and sum_j r_j = 0 takes the 1 and the mean away.
 */
#ifndef ATTN_LABS_SOFTMAX_REGRESSION_LAYER_H
#define ATTN_LABS_SOFTMAX_REGRESSION_LAYER_H

#include "attn/attn.h"
#include "labs/softmax_regression/regression.h"

/** The layer's shift of the target, f(A') - f(A) at x, beside the step's, f(x') - f(x). */
typedef struct regression_alike {
    double error;    /**< length of their difference, over the step's shift */
    double bound;    /**< what that is at most */
    double rounding; /**< what float and double may add to it */
    double cosine;   /**< of the two */
} regression_alike_t;

/**
 * One layer through the softmax plugin at this `beta`, or with 0 through the linear plugin. Gradient and rate of
 * `regression` are there (regression_descend()).
 *
 * The bound: where the scores s_ij of row i are within S of each other, a weight's second derivative along t s is at
 * most S^2 times the weight, which is at most exp(S) / n, so that logit i is off by at most
 * eta S^2 exp(S) |r|_1 / (2 beta), which is of the order of beta. f moves at most max f or 1/2 times as far as its logits.
 */
attn_status_t regression_layer(const attn_context_t *context, const regression_t *regression,
                               double beta, regression_alike_t *alike, attn_error_t *error);

#endif
