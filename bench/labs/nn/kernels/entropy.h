/*
 * nn/kernels/entropy.h: softmax with cross-entropy, loss and gradient at once.
 */
#ifndef ATTN_NN_KERNELS_ENTROPY_H
#define ATTN_NN_KERNELS_ENTROPY_H

#include "simd/math.h"

/* One row: -log softmax(logits)[target]; logits become scale * (softmax - 1 at target). */
static double entropy_row(int64_t classes, int32_t target, float scale, float *logits) {
    vf most = vf_set1(-INFINITY), sum = vf_zero();
    for (int64_t c = 0; c < classes; c += VF_LANES)
        most = vf_max(most, vf_keep(vf_load_first(logits + c, classes - c), 0, classes - c, most));
    const float peak = vf_reduce_max(most);
    const float at_target = logits[target] - peak;
    for (int64_t c = 0; c < classes; c += VF_LANES) {
        const vf e = vf_exp(vf_sub(vf_load_first(logits + c, classes - c), vf_set1(peak)));
        sum = vf_add(sum, vf_keep(e, 0, classes - c, vf_zero()));
        vf_store_first(logits + c, e, classes - c);
    }
    const float total = vf_reduce_add(sum);
    const vf factor = vf_set1(scale / total);
    for (int64_t c = 0; c < classes; c += VF_LANES)
        vf_store_first(logits + c, vf_mul(factor, vf_load_first(logits + c, classes - c)),
                       classes - c);
    logits[target] -= scale;
    return log((double)total) - (double)at_target;
}

static double entropy(int64_t rows, int64_t classes, const int32_t *targets, float scale,
                      float *logits) {
    double loss = 0;
    for (int64_t r = 0; r < rows; r++, logits += classes) {
        if (targets[r] >= 0)
            loss += entropy_row(classes, targets[r], scale, logits);
        else
            for (int64_t c = 0; c < classes; c++) logits[c] = 0.0f;
    }
    return loss;
}

#endif
