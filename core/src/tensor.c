/* Views of memory. */
#include "internal.h"

#include <math.h>
#include <string.h>

/* Products of extents that fit in no memory stay at the largest number: a run refuses such a shape. */
static int64_t product(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

/* The constant is cast away here, once: whether the memory may be written is the caller's to know. */
static attn_tensor_t view_of(attn_dtype_t dtype, const void *data) {
    return (attn_tensor_t){.data = (void *)(uintptr_t)data, .dtype = dtype};
}

/* Without gaps; axis `outer`, 1 or 2, steps over the other of them. */
static attn_tensor_t contiguous(attn_dtype_t dtype, const void *data, const int64_t shape[4],
                                int outer) {
    attn_tensor_t tensor = view_of(dtype, data);
    memcpy(tensor.shape, shape, sizeof tensor.shape);
    tensor.stride[3] = 1;
    tensor.stride[3 - outer] = shape[3];
    tensor.stride[outer] = product(shape[3 - outer], shape[3]);
    tensor.stride[0] = product(shape[outer], tensor.stride[outer]);
    return tensor;
}

attn_tensor_t attn_tensor_bhnd_of(attn_dtype_t dtype, const void *data, int64_t batch,
                                  int64_t heads, int64_t rows, int64_t columns) {
    return contiguous(dtype, data, (int64_t[]){batch, heads, rows, columns}, 1);
}

attn_tensor_t attn_tensor_bnhd_of(attn_dtype_t dtype, const void *data, int64_t batch,
                                  int64_t heads, int64_t rows, int64_t columns) {
    return contiguous(dtype, data, (int64_t[]){batch, heads, rows, columns}, 2);
}

attn_tensor_t attn_tensor_bhnd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                               int64_t columns) {
    return attn_tensor_bhnd_of(ATTN_F32, data, batch, heads, rows, columns);
}

attn_tensor_t attn_tensor_bnhd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                               int64_t columns) {
    return attn_tensor_bnhd_of(ATTN_F32, data, batch, heads, rows, columns);
}

attn_tensor_t attn_tensor_lengths(const int64_t *lengths, int64_t batch) {
    return attn_tensor_bhnd_of(ATTN_I64, lengths, batch, 1, 1, 1);
}

attn_tensor_t attn_tensor_heads(const float *numbers, int64_t heads) {
    return attn_tensor_bhnd_of(ATTN_F32, numbers, 1, heads, 1, 1);
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
