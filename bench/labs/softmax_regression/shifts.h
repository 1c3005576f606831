/*
 * labs/softmax_regression/shifts.h: the shifts of the target that one step of softmax regression stands for, measured
 * through the softmax plugin (arXiv:2304.13276, Theorems 8.1 and 8.2): attention of one query x over
 * keys A at scale 1 has the weights f(x). Beside the step of x stand two updates of A: a gradient step
 * on A, and what one layer of self-attention does: every token attends to all tokens through the
 * plugin, Q = K = V = A with scale 1/sqrt(d), and what comes out is added to it, scaled as the other is.
 */
#ifndef ATTN_LABS_SOFTMAX_REGRESSION_SHIFTS_H
#define ATTN_LABS_SOFTMAX_REGRESSION_SHIFTS_H

#include "labs/head.h"
#include "labs/softmax_regression/regression.h"

/** The plugin and the arrays it reads and writes, for one size of problem. */
typedef struct shifts_probe {
    head_t head;                                         /* one query x */
    head_t layer;                                        /* n queries A */
    float *key, *query, *weights, *out;                  /* key is what is freed */
    double *updated, *before, *after, *turned, *scratch; /* updated is what is freed */
} shifts_probe_t;

/** An update of A. */
typedef struct shifts_update {
    double step, shift; /**< |A' - A| (spectral; 0: there is none), |f(A') - f(A)| at x */
    double cosine;      /**< of its shift and the weight step's */
    double moved, norm; /**< |(A' - A) x|_inf, |A'| */
} shifts_update_t;

typedef struct shifts {
    double loss;                     /**< at f(x) of the plugin */
    double weight_step, weight;      /**< |x' - x|, |f(x') - f(x)| */
    double moved, norm, length;      /**< |A (x' - x)|_inf, |A|, max(|x|, |x'|) */
    double deviation;                /**< max |f(x) of the plugin - f(x) in double| */
    shifts_update_t gradient, layer; /**< updates of A */
    int told;                        /**< all shifts are longer than rounding would make them */
} shifts_t;

/** On an error nothing is left to destroy. */
attn_status_t shifts_create(const attn_context_t *context, int64_t rows, int64_t dim,
                            shifts_probe_t *probe, attn_error_t *error);

void shifts_destroy(shifts_probe_t *probe);

/** Gradient and step of `regression` are there. */
attn_status_t shifts_measure(shifts_probe_t *probe, const regression_t *regression,
                             shifts_t *shifts, attn_error_t *error);

/** Do the premises hold: |A|, both |A'|, |x|, |x'| <= R >= 4, all moves below 0.01? */
int shifts_premises(const regression_t *regression, const shifts_t *shifts);

#endif
