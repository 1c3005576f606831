/* Views of memory. */
#include "internal.h"

#include <math.h>

attn_tensor_t attn_tensor_bhnd(float *data, int64_t batch, int64_t heads, int64_t rows,
                               int64_t columns) {
    return (attn_tensor_t){
        .data = data,
        .dtype = ATTN_F32,
        .shape = {batch, heads, rows, columns},
        .stride = {heads * rows * columns, rows * columns, columns, 1},
    };
}

attn_tensor_t attn_tensor_bnhd(float *data, int64_t batch, int64_t heads, int64_t rows,
                               int64_t columns) {
    return (attn_tensor_t){
        .data = data,
        .dtype = ATTN_F32,
        .shape = {batch, heads, rows, columns},
        .stride = {rows * heads * columns, columns, heads * columns, 1},
    };
}

int64_t attn_count_nonfinite(const attn_tensor_t *tensor) {
    if (!tensor || !tensor->data || tensor->dtype != ATTN_F32) return 0;
    int64_t count = 0;
    for (int64_t b = 0; b < tensor->shape[0]; b++)
        for (int64_t h = 0; h < tensor->shape[1]; h++)
            for (int64_t i = 0; i < tensor->shape[2]; i++) {
                const float *row = (const float *)tensor->data + b * tensor->stride[0] +
                                   h * tensor->stride[1] + i * tensor->stride[2];
                for (int64_t c = 0; c < tensor->shape[3]; c++)
                    count += !isfinite(row[c * tensor->stride[3]]);
            }
    return count;
}
