/* Rows of arrays, from any strides to none. */
#include "plan.h"

#include <string.h>

static char *element_of(const attn_tensor_t *tensor, const int64_t at[4]) {
    int64_t offset = 0;
    for (int k = 0; k < 4; k++) offset += tensor->shape[k] > 1 ? at[k] * tensor->stride[k] : 0;
    return (char *)tensor->data + offset * attn_dtype_size(tensor->dtype);
}

/* `widens`: f32, f16 or bf16 becomes f32. */
static void copy_row(const attn_tensor_t *to, const attn_tensor_t *from, int64_t at[4],
                     int widens) {
    const int64_t columns = from->shape[3];
    const size_t size = (size_t)attn_dtype_size(from->dtype), wide = widens ? sizeof(float) : size;
    const int is_whole = from->stride[3] == 1 || columns == 1;
    const int64_t each = is_whole ? columns : 1;
    at[3] = 0;
    char *row = element_of(to, at);
    for (; at[3] < columns; at[3] += each, row += wide * (size_t)each) {
        if (widens)
            attn_to_f32((float *)(void *)row, element_of(from, at), from->dtype, each, NULL);
        else
            memcpy(row, element_of(from, at), size * (size_t)each);
    }
}

static void copy_rows(const attn_tensor_t *to, const attn_tensor_t *from, int widens) {
    const int64_t *shape = from->shape;
    if (!from->data) return;
    for (int64_t at[4] = {0}; at[0] < shape[0]; at[0]++)
        for (at[1] = 0; at[1] < shape[1]; at[1]++)
            for (at[2] = 0; at[2] < shape[2]; at[2]++) copy_row(to, from, at, widens);
}

void attn_mpi_copy(const attn_tensor_t *to, const attn_tensor_t *from) { copy_rows(to, from, 0); }

void attn_mpi_widen(const attn_tensor_t *to, const attn_tensor_t *from) { copy_rows(to, from, 1); }

void attn_mpi_narrow(const attn_tensor_t *to, const attn_tensor_t *from) {
    const int64_t *shape = from->shape, columns = shape[3];
    const int64_t each = to->stride[3] == 1 ? columns : 1;
    for (int64_t at[4] = {0}; at[0] < shape[0]; at[0]++)
        for (at[1] = 0; at[1] < shape[1]; at[1]++)
            for (at[2] = 0; at[2] < shape[2]; at[2]++)
                for (at[3] = 0; at[3] < columns; at[3] += each)
                    attn_from_f32(element_of(to, at), to->dtype,
                                  (const float *)(const void *)element_of(from, at), each, NULL);
}

attn_tensor_t attn_mpi_slice(attn_tensor_t tensor, int axis, int64_t first, int64_t count) {
    if (!tensor.data) return tensor;
    tensor.data =
        (char *)tensor.data + first * tensor.stride[axis] * (int64_t)attn_dtype_size(tensor.dtype);
    tensor.shape[axis] = count;
    return tensor;
}
