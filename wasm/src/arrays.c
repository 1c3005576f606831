/* arrays.c: the arrays of a run, as js/ lists them. */
#include "bindings.h"

attn_tensor_t *attnjs_array(attnjs_arrays_t *arrays, uint32_t number) {
    const uint32_t index = number - ATTN_ARRAY_OWN;
    if (ATTN_SMALL || number < ATTN_ARRAY_OWN) return attn_io_array(&arrays->io, number);
    return index < ATTN_MOST_OWN_ARRAYS ? &arrays->tensors[index] : NULL;
}

/* One record; it has to be of an array that there is, and that no record before was of. */
static attn_status_t place(const attnjs_scope_t *scope, const double *record,
                           attnjs_arrays_t *arrays, attn_error_t *error) {
    attn_tensor_t declared;
    const uint32_t number = (uint32_t)attnjs_integer(record[ATTNJS_NUMBER]);
    attn_tensor_t *tensor = attnjs_array(arrays, number);
    if (!scope->array(scope->item, number, &declared) || !tensor || tensor->dtype)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "array %u is unknown, or given twice", number);
    tensor->data = (void *)(uintptr_t)record[ATTNJS_ADDRESS];
    tensor->dtype = declared.dtype;
    for (int k = 0; k < 4; k++) {
        tensor->shape[k] = attnjs_integer(record[ATTNJS_SHAPE + k]);
        tensor->stride[k] = attnjs_integer(record[ATTNJS_STRIDES + k]);
    }
    if (!ATTN_SMALL && number >= ATTN_ARRAY_OWN) arrays->own[number - ATTN_ARRAY_OWN] = tensor;
    return ATTN_OK;
}

attn_status_t attnjs_arrays(const attnjs_scope_t *scope, const double *list,
                            attnjs_arrays_t *arrays, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    *arrays = (attnjs_arrays_t){.io = {.struct_size = sizeof arrays->io,
                                       .own = arrays->own,
                                       .own_count = ATTN_MOST_OWN_ARRAYS}};
    for (int64_t i = 0; i < attnjs_integer(*list) && status == ATTN_OK; i++)
        status = place(scope, list + 1 + i * ATTNJS_RECORD, arrays, error);
    return status;
}
