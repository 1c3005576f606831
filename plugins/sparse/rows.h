/* rows.h: rows of queries and keys, of any type, where a pattern looks at them before a run attends. */
#ifndef ATTN_SPARSE_ROWS_H
#define ATTN_SPARSE_ROWS_H

#include "attn/support.h"
#include "simd/half.h"

/** The number at place `at` of the tensor's data, which counts elements. */
static inline float sparse_element(const attn_tensor_t *tensor, int64_t at) {
    switch (tensor->dtype) {
    case ATTN_F16:
        return f16_to_float(((const uint16_t *)tensor->data)[at]);
    case ATTN_BF16:
        return bf16_to_float(((const uint16_t *)tensor->data)[at]);
    case ATTN_I8:
        return ((const int8_t *)tensor->data)[at];
    default:
        return ((const float *)tensor->data)[at];
    }
}

/** sum[k] += factor * element k of the row that begins at `at`. */
static inline void sparse_add_row(float *sum, const attn_tensor_t *tensor, int64_t at, int64_t dim,
                                  float factor) {
    const float *row = (const float *)tensor->data + at;
    const int64_t stride = tensor->stride[3];
    if (tensor->dtype == ATTN_F32 && stride == 1)
        for (int64_t k = 0; k < dim; k++) sum[k] += factor * row[k];
    else
        for (int64_t k = 0; k < dim; k++)
            sum[k] += factor * sparse_element(tensor, at + k * stride);
}

#endif
