/* arrays.c: the arrays of a run, as js/ lists them. */
#include "bindings.h"

/* Where the list says: query, key, value and out; without gaps: all others. */
static attn_tensor_t tensor(const double *list, int which, attn_dtype_t dtype, int64_t batch,
                            int64_t heads, int64_t rows, int64_t columns) {
    void *data = (void *)(uintptr_t)list[which];
    if (!data) return (attn_tensor_t){0};
    attn_tensor_t tensor = attn_tensor_bhnd(data, batch, heads, rows, columns);
    tensor.dtype = dtype;
    for (int k = 0; k < 4 && which <= ATTNJS_OUT; k++)
        tensor.stride[k] = attnjs_integer(list[ATTNJS_STRIDES + 4 * which + k]);
    return tensor;
}

/* Bias or mask. */
static attn_tensor_t grid(const attn_problem_t *p, const double *list, int which, int extents,
                          attn_dtype_t dtype) {
    const double *shape = list + extents;
    return tensor(list, which, dtype, attnjs_integer(shape[0]), attnjs_integer(shape[1]),
                  attnjs_integer(shape[2]), p->keys);
}

attn_io_t attnjs_io(const attn_problem_t *p, const double *list) {
    const int64_t batch = p->batch, heads = p->heads, kv_heads = p->kv_heads;
    return (attn_io_t){
        .struct_size = sizeof(attn_io_t),
        .query = tensor(list, ATTNJS_QUERY, p->dtype, batch, heads, p->queries, p->dim),
        .key = tensor(list, ATTNJS_KEY, p->kv_dtype, batch, kv_heads, p->keys, p->dim),
        .value = tensor(list, ATTNJS_VALUE, p->kv_dtype, batch, kv_heads, p->keys, p->value_dim),
        .out = tensor(list, ATTNJS_OUT, p->dtype, batch, heads, p->queries, p->value_dim),
        .lse = tensor(list, ATTNJS_LSE, ATTN_F32, batch, heads, p->queries, 1),
        .bias = grid(p, list, ATTNJS_BIAS, ATTNJS_BIAS_SHAPE, ATTN_F32),
        .mask = grid(p, list, ATTNJS_MASK, ATTNJS_MASK_SHAPE, ATTN_BOOL),
        .kv_lengths = tensor(list, ATTNJS_KV_LENGTHS, ATTN_I64, batch, 1, 1, 1),
        .sinks = tensor(list, ATTNJS_SINKS, ATTN_F32, 1, heads, 1, 1),
        .slopes = tensor(list, ATTNJS_SLOPES, ATTN_F32, 1, heads, 1, 1),
        .key_scales = tensor(list, ATTNJS_KEY_SCALES, ATTN_F32, batch, kv_heads, p->keys, 1),
        .value_scales = tensor(list, ATTNJS_VALUE_SCALES, ATTN_F32, batch, kv_heads, p->keys, 1),
        .scores = tensor(list, ATTNJS_SCORES, ATTN_F32, batch, heads, p->queries, p->keys),
    };
}
