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

/* Bytes from a tensor's first element to behind its last; infinite where strides go back. */
static double bytes_of(const attn_tensor_t *tensor) {
    double last = 0;
    for (int k = 0; k < 4; k++) {
        if (tensor->shape[k] < 1) return 0;
        if (tensor->stride[k] < 0) return INFINITY;
        last += (double)(tensor->shape[k] - 1) * (double)tensor->stride[k];
    }
    return (last + 1) * (double)attn_dtype_size(tensor->dtype);
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

/* One entry of the list: an array's address, or a number, which is none. */
static double entry(napi_env env, napi_value list, uint32_t index, addon_memory_t *array) {
    napi_value value;
    double number = 0;
    *array = (addon_memory_t){0};
    if (napi_get_element(env, list, index, &value) != napi_ok) return 0;
    const bool is_address = index > 0 && (index - 1) % ATTNJS_RECORD == ATTNJS_ADDRESS;
    if (is_address)
        *array = addon_memory(env, value);
    else
        napi_get_value_double(env, value, &number);
    return is_address ? (double)(uintptr_t)array->data : number;
}

static attn_status_t read_list(napi_env env, napi_value value, double *list,
                               addon_memory_t memory[ATTNJS_MOST_ARRAYS], attn_error_t *error) {
    addon_memory_t none;
    list[0] = entry(env, value, 0, &none);
    if (!(list[0] >= 0 && list[0] <= ATTNJS_MOST_ARRAYS))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "the arrays are no list");
    for (uint32_t i = 0; i < (uint32_t)list[0]; i++)
        for (uint32_t k = 0, at = 1 + i * ATTNJS_RECORD; k < ATTNJS_RECORD; k++, at++)
            list[at] = entry(env, value, at, k == ATTNJS_ADDRESS ? &memory[i] : &none);
    return ATTN_OK;
}

attn_status_t addon_list(napi_env env, napi_value value, const attnjs_scope_t *scope, double *list,
                         attn_error_t *error) {
    addon_memory_t memory[ATTNJS_MOST_ARRAYS];
    attnjs_arrays_t arrays;
    attn_status_t status = read_list(env, value, list, memory, error);
    if (status == ATTN_OK) status = attnjs_arrays(scope, list, &arrays, error);
    for (uint32_t i = 0; status == ATTN_OK && i < (uint32_t)list[0]; i++) {
        const uint32_t number = (uint32_t)attnjs_integer(list[1 + i * ATTNJS_RECORD]);
        attn_array_info_t info = {.struct_size = sizeof info};
        attn_backend_array(scope->backend, number, &info);
        status = check_array(attnjs_array(&arrays, number), info.name, memory[i].size, error);
    }
    return status;
}
