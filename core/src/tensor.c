/* Views of memory. */
#include "internal.h"

#include <math.h>

/* The largest number where it is none: sizes that no plan has. */
static int64_t product(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

attn_tensor_t attn_tensor_bhnd(float *data, int64_t batch, int64_t heads, int64_t rows,
                               int64_t columns) {
    return (attn_tensor_t){
        .data = data,
        .dtype = ATTN_F32,
        .shape = {batch, heads, rows, columns},
        .stride = {product(heads, product(rows, columns)), product(rows, columns), columns, 1},
    };
}

attn_tensor_t attn_tensor_bnhd(float *data, int64_t batch, int64_t heads, int64_t rows,
                               int64_t columns) {
    return (attn_tensor_t){
        .data = data,
        .dtype = ATTN_F32,
        .shape = {batch, heads, rows, columns},
        .stride = {product(rows, product(heads, columns)), columns, product(heads, columns), 1},
    };
}

/* In all three types a number is not finite when all bits of its exponent are set. */
static bool is_finite(const void *data, attn_dtype_t dtype, int64_t index) {
    if (dtype == ATTN_F32) return isfinite(((const float *)data)[index]);
    const uint16_t exponent = dtype == ATTN_F16 ? 0x7c00 : 0x7f80;
    return (((const uint16_t *)data)[index] & exponent) != exponent;
}

int64_t attn_count_nonfinite(const attn_tensor_t *tensor) {
    if (!tensor || !tensor->data) return 0;
    const attn_dtype_t dtype = tensor->dtype;
    if (dtype != ATTN_F32 && dtype != ATTN_F16 && dtype != ATTN_BF16) return 0;
    int64_t count = 0;
    for (int64_t b = 0; b < tensor->shape[0]; b++)
        for (int64_t h = 0; h < tensor->shape[1]; h++)
            for (int64_t i = 0; i < tensor->shape[2]; i++)
                for (int64_t c = 0; c < tensor->shape[3]; c++)
                    count += !is_finite(tensor->data, dtype,
                                        b * tensor->stride[0] + h * tensor->stride[1] +
                                            i * tensor->stride[2] + c * tensor->stride[3]);
    return count;
}
