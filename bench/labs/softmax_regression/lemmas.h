/*
 * labs/softmax_regression/lemmas.h: what steps of softmax regression are of what each lemma on the way to Theorems 8.1 and 8.2
 * allows (arXiv:2304.13276): Lemmas 5.5 to 5.8 for a step of x, 7.5 to 7.8, the same, for one of A.
 */
#ifndef ATTN_LABS_SOFTMAX_REGRESSION_LEMMAS_H
#define ATTN_LABS_SOFTMAX_REGRESSION_LEMMAS_H

#include "labs/softmax_regression/regression.h"

/** u = exp(Ax), alpha = <u, 1>; primes are behind the step s; beta = min(1, alpha, alpha'). */
enum regression_lemma {
    LEMMA_EXP,     /**< 5.6: |u' - u| <= 2 sqrt n R exp(R^2) s */
    LEMMA_SUM,     /**< 5.7: |alpha' - alpha| <= sqrt n |u' - u| */
    LEMMA_INVERSE, /**< 5.8: |1 / alpha' - 1 / alpha| <= |alpha' - alpha| / beta^2 */
    LEMMA_FIRST, /**< 5.5, 1: |1 / alpha' - 1 / alpha| |u'| <= 2 n^1.5 exp(2 R^2) s / beta^2, as printed */
    LEMMA_SECOND, /**< 5.5, 2: |u' - u| / alpha <= 2 sqrt n R exp(R^2) s / beta */
    LEMMA_SHIFT,  /**< 5.5, 3: |f' - f| <= 4 n^1.5 R exp(2 R^2) s / beta^2 */
    LEMMAS
};

/**
 * log10 of the left side over the right, for `n` logits that are `moved` by a step of this length; -INFINITY where the
 * left side is 0. `work`: 2 n numbers.
 */
void regression_lemmas(const double *logits, const double *moved, int64_t n, double radius,
                       double step, double *work, double parts[LEMMAS]);

/**
 * The same for the step to `next`, and for the gradient step on A with as long a move: parts[0] of x, parts[1] of A,
 * whose entries are NaN where it does not move. 0 when there is no memory.
 */
int regression_step_lemmas(const regression_t *regression, double parts[2][LEMMAS]);

#endif
