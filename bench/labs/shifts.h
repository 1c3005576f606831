/*
 * labs/shifts.h: the shifts of the target that one step of softmax regression stands for, measured
 * through the softmax plugin (arXiv:2304.13276, Theorems 8.1 and 8.2): attention of one query x over
 * keys A at scale 1 has the weights f(x).
 */
#ifndef ATTN_LABS_SHIFTS_H
#define ATTN_LABS_SHIFTS_H

#include "labs/head.h"
#include "labs/regression.h"

/** The plugin and the arrays it reads and writes, for one size of problem. */
typedef struct shifts_probe {
    head_t head;
    float *key, *query, *weights;                        /* key is what is freed */
    double *updated, *before, *after, *turned, *scratch; /* updated is what is freed */
} shifts_probe_t;

typedef struct shifts {
    double loss;                    /**< at f(x) of the plugin */
    double weight_step, weight;     /**< |x' - x|, |f(x') - f(x)| */
    double data_step, data;         /**< |A' - A| (spectral), |f(A') - f(A)| at x */
    double cosine;                  /**< between the two shifts; NaN where rounding would tell */
    double moved, data_moved;       /**< |A (x' - x)|_inf, |(A' - A) x|_inf */
    double norm, data_norm, length; /**< |A|, |A'|, max(|x|, |x'|) */
    double deviation;               /**< max |f(x) of the plugin - f(x) in double| */
} shifts_t;

/** On an error nothing is left to destroy. */
attn_status_t shifts_create(const attn_context_t *context, int64_t rows, int64_t dim,
                            shifts_probe_t *probe, attn_error_t *error);

void shifts_destroy(shifts_probe_t *probe);

/** Gradient and step of `regression` are there. data_step is 0 where there is no data update. */
attn_status_t shifts_measure(shifts_probe_t *probe, const regression_t *regression,
                             shifts_t *shifts, attn_error_t *error);

/** Do the premises hold: |A|, |A'|, |x|, |x'| <= R >= 4, both moves below 0.01? */
int shifts_premises(const regression_t *regression, const shifts_t *shifts);

#endif
