/*
 * nn/kernels/sums.h: arrays and rows added up: residuals, the gradients of biases, of embeddings, of a batch's parts.
 */
#ifndef ATTN_NN_KERNELS_SUMS_H
#define ATTN_NN_KERNELS_SUMS_H

#include "simd/simd.h"

static void add(int64_t count, const float *y, float *x) {
    for (int64_t i = 0; i < count; i += VF_LANES)
        vf_store_first(x + i,
                       vf_add(vf_load_first(x + i, count - i), vf_load_first(y + i, count - i)),
                       count - i);
}

static void add_rows(int64_t rows, int64_t width, const float *x, float *out) {
    for (int64_t r = 0; r < rows; r++) add(width, x + r * width, out);
}

#endif
