/* plan.c: plans and their runs in this thread. */
#include "addon.h"

#include <math.h>

napi_value addon_plan_create(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const char *backend = addon_texts(&call, 1, 1);
    const double *problem = addon_elements(&call, 2, ATTNJS_NUMBERS, sizeof(double));
    const double count = addon_number(&call, 4);
    const char *params = addon_texts(&call, 3, 2 * count);
    if (call.failed) return NULL;
    return addon_give_handle(
        &call, ADDON_PLAN, attnjs_plan_create(call.js, backend, problem, params, (uint32_t)count));
}

/* dispose(handle), of any kind. */
napi_value addon_dispose(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call_any(env, info);
    void *handle = NULL;
    if (napi_get_value_external(env, call.values[0], &handle) == napi_ok && handle)
        addon_handle_dispose(handle);
    else
        addon_call_wrong(&call, 0, "a handle");
    return NULL;
}

napi_value addon_plan_describe(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    return call.failed ? NULL : addon_give_text(&call, attnjs_plan_describe(call.js, plan));
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
static double entry(addon_call_t *call, napi_value list, uint32_t index, addon_array_t *array) {
    napi_value value;
    double number = 0;
    *array = (addon_array_t){0};
    if (napi_get_element(call->env, list, index, &value) != napi_ok) return 0;
    *array = addon_array_of(call, value);
    if (array->data) return (double)(uintptr_t)array->data;
    napi_get_value_double(call->env, value, &number);
    return index >= ATTNJS_ARRAYS ? number : 0;
}

attn_status_t addon_list(addon_call_t *call, size_t index, const attn_problem_t *problem,
                         attnjs_t *js, double *list) {
    addon_array_t arrays[ATTNJS_LIST];
    for (uint32_t i = 0; i < ATTNJS_LIST; i++)
        list[i] = entry(call, call->values[index], i, &arrays[i]);
    const attn_io_t io = attnjs_io(problem, list);
    const attn_tensor_t *const tensors[ATTNJS_ARRAYS] = {
        &io.query,      &io.key,          &io.value,      &io.out,   &io.lse,
        &io.bias,       &io.mask,         &io.kv_lengths, &io.sinks, &io.slopes,
        &io.key_scales, &io.value_scales, &io.scores};
    attn_status_t status = ATTN_OK;
    for (int i = 0; i < ATTNJS_ARRAYS && status == ATTN_OK; i++)
        if (tensors[i]->data)
            status = check_array(tensors[i], names[i], arrays[i].size, &js->error);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

napi_value addon_run(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    double list[ATTNJS_LIST];
    if (call.failed) return NULL;
    attn_status_t status = addon_list(&call, 2, attn_plan_problem(plan), call.js, list);
    addon_workspace_reserve(call.js, plan);
    if (status == ATTN_OK) status = attnjs_run(call.js, plan, list);
    return addon_give_number(&call, status);
}

napi_value addon_degenerate_rows(napi_env env, napi_callback_info info) {
    const addon_call_t call = addon_call(env, info);
    return call.failed ? NULL : addon_give_number(&call, attnjs_degenerate_rows(call.js));
}

napi_value addon_weights(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    const double batch = addon_number(&call, 3), head = addon_number(&call, 4),
                 first = addon_number(&call, 5), count = addon_number(&call, 6);
    double list[ATTNJS_LIST];
    if (call.failed) return NULL;
    float *rows =
        addon_elements(&call, 7, count * (double)attn_plan_problem(plan)->keys, sizeof(float));
    if (call.failed) return NULL;
    attn_status_t status = addon_list(&call, 2, attn_plan_problem(plan), call.js, list);
    if (status == ATTN_OK)
        status = attnjs_weights(call.js, plan, list, batch, head, first, count, rows);
    return addon_give_number(&call, status);
}

napi_value addon_oracle_error(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    const double stride = addon_number(&call, 3);
    double list[ATTNJS_LIST];
    if (call.failed) return NULL;
    if (addon_list(&call, 2, attn_plan_problem(plan), call.js, list) != ATTN_OK)
        return addon_give_number(&call, -1);
    return addon_give_number(&call, attnjs_oracle_error(call.js, plan, list, stride));
}
