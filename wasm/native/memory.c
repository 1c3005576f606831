/* memory.c: see memory.h. */
#include "memory.h"

#include <math.h>

static size_t element_size(napi_typedarray_type type) {
    switch (type) {
    case napi_int8_array:
    case napi_uint8_array:
        return 1;
    case napi_uint16_array:
        return 2;
    case napi_int32_array:
    case napi_float32_array:
        return 4;
    case napi_float64_array:
    case napi_bigint64_array:
        return 8;
    default:
        return 0;
    }
}

addon_memory_t addon_memory(napi_env env, napi_value value) {
    static double nothing; /* where an empty array begins: an address, unlike no array */
    napi_typedarray_type type;
    size_t length;
    void *data;
    bool is_array = false;
    if (napi_is_typedarray(env, value, &is_array) != napi_ok || !is_array ||
        napi_get_typedarray_info(env, value, &type, &length, &data, NULL, NULL) != napi_ok)
        return (addon_memory_t){0};
    const size_t size = length * element_size(type);
    return (addon_memory_t){size ? data : &nothing, size};
}

/* ---- the list of arrays ---------------------------------------------------------------------- */

static const char *const names[ATTNJS_ARRAYS] = {
    "query",     "key",   "value",  "out",       "lse",         "bias",   "mask",
    "kvLengths", "sinks", "slopes", "keyScales", "valueScales", "scores",
};

/* Bytes from a tensor's first element to behind its last; infinite where strides go back. */
static double bytes_of(const attn_tensor_t *tensor) {
    static const double sizes[] = {[ATTN_F32] = 4, [ATTN_F64] = 8,  [ATTN_F16] = 2, [ATTN_BF16] = 2,
                                   [ATTN_I8] = 1,  [ATTN_BOOL] = 1, [ATTN_I64] = 8};
    double last = 0;
    for (int k = 0; k < 4; k++) {
        if (tensor->shape[k] < 1) return 0;
        if (tensor->stride[k] < 0) return INFINITY;
        last += (double)(tensor->shape[k] - 1) * (double)tensor->stride[k];
    }
    return (last + 1) * sizes[tensor->dtype];
}

static attn_status_t check_array(const attn_tensor_t *tensor, const char *name, size_t size,
                                 attn_error_t *error) {
    const double wanted = bytes_of(tensor);
    if (!((double)size >= wanted))
        return attn_fail(error, ATTN_ERROR_SHAPE, "%s has %zu bytes, must have %.0f", name, size,
                         wanted);
    /* Numbers carry the addresses (src/bindings.h); user space ends at 2^52 on all there is. */
    if ((uint64_t)(uintptr_t)tensor->data >> 53)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "%s lies past address 2^53", name);
    return ATTN_OK;
}

/* One entry of the list: an array's address, or a number. */
static double entry(napi_env env, napi_value list, uint32_t index, addon_memory_t *array) {
    napi_value value;
    double number = 0;
    *array = (addon_memory_t){0};
    if (napi_get_element(env, list, index, &value) != napi_ok) return 0;
    *array = addon_memory(env, value);
    if (array->data) return (double)(uintptr_t)array->data;
    napi_get_value_double(env, value, &number);
    return index >= ATTNJS_ARRAYS ? number : 0;
}

attn_status_t addon_list(napi_env env, napi_value value, const attn_problem_t *problem,
                         double *list, attn_error_t *error) {
    addon_memory_t arrays[ATTNJS_LIST];
    for (uint32_t i = 0; i < ATTNJS_LIST; i++) list[i] = entry(env, value, i, &arrays[i]);
    const attn_io_t io = attnjs_io(problem, list);
    const attn_tensor_t *const tensors[ATTNJS_ARRAYS] = {
        &io.query,      &io.key,          &io.value,      &io.out,   &io.lse,
        &io.bias,       &io.mask,         &io.kv_lengths, &io.sinks, &io.slopes,
        &io.key_scales, &io.value_scales, &io.scores};
    attn_status_t status = ATTN_OK;
    for (int i = 0; i < ATTNJS_ARRAYS && status == ATTN_OK; i++)
        if (tensors[i]->data) status = check_array(tensors[i], names[i], arrays[i].size, error);
    return status;
}
