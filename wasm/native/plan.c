/* plan.c: plans and their runs in this thread. */
#include "addon.h"

#include <string.h>

napi_value addon_plan_create(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const char *backend = addon_texts(&call, 1, 1);
    const double *problem = addon_elements(&call, 2, ATTNJS_INPUTS + 1, sizeof(double));
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

static const char *const names[] = {
    "query", "key", "value", "out", "lse", "bias", "mask", "kvLengths", "sinks", "slopes", "scores",
};

/* Bytes of an array of the list, whose extents are said. */
static double bytes_of(const attn_problem_t *p, int which, const double *numbers) {
    const double batch = (double)p->batch, rows = batch * (double)p->heads * (double)p->queries,
                 keys = (double)p->keys, tokens = batch * (double)p->kv_heads * keys;
    const double *bias = numbers + ATTNJS_BIAS_SHAPE, *mask = numbers + ATTNJS_MASK_SHAPE;
    switch (which) {
    case ATTNJS_QUERY:
        return rows * (double)p->dim * sizeof(float);
    case ATTNJS_KEY:
        return tokens * (double)p->dim * sizeof(float);
    case ATTNJS_VALUE:
        return tokens * (double)p->value_dim * sizeof(float);
    case ATTNJS_OUT:
        return rows * (double)p->value_dim * sizeof(float);
    case ATTNJS_LSE:
        return rows * sizeof(float);
    case ATTNJS_BIAS:
        return bias[0] * bias[1] * bias[2] * keys * sizeof(float);
    case ATTNJS_MASK:
        return mask[0] * mask[1] * mask[2] * keys;
    case ATTNJS_KV_LENGTHS:
        return batch * sizeof(double);
    case ATTNJS_SCORES:
        return rows * keys * sizeof(float);
    default:
        return (double)p->heads * sizeof(float); /* sinks, slopes */
    }
}

static attn_status_t check_array(const attn_problem_t *p, int which, const addon_array_t *array,
                                 const double *numbers, attn_error_t *error) {
    const double wanted = bytes_of(p, which, numbers);
    if (!array->data) return ATTN_OK;
    if (!((double)array->size >= wanted))
        return attn_fail(error, ATTN_ERROR_SHAPE, "%s has %zu bytes, must have %.0f", names[which],
                         array->size, wanted);
    /* Numbers carry the addresses (src/bindings.h); user space ends at 2^52 on all there is. */
    if ((uint64_t)(uintptr_t)array->data >> 53)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "%s lies past address 2^53", names[which]);
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
    return index > ATTNJS_SCORES ? number : 0;
}

attn_status_t addon_run_numbers(addon_call_t *call, size_t index, const attn_plan_t *plan,
                                attnjs_t *js, double *numbers) {
    addon_array_t arrays[ADDON_RUN_NUMBERS];
    attn_status_t status = ATTN_OK;
    for (uint32_t i = 0; i < ADDON_RUN_NUMBERS; i++)
        numbers[i] = entry(call, call->values[index], i, &arrays[i]);
    for (int i = 0; i <= ATTNJS_SCORES && status == ATTN_OK; i++)
        status = check_array(attn_plan_problem(plan), i, &arrays[i], numbers, &js->error);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

napi_value addon_run(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    const int32_t bnhd = addon_number(&call, 2) != 0;
    double numbers[ADDON_RUN_NUMBERS];
    if (call.failed) return NULL;
    attn_status_t status = addon_run_numbers(&call, 3, plan, call.js, numbers);
    if (status == ATTN_OK) status = attnjs_run(call.js, plan, bnhd, numbers);
    return addon_give_number(&call, status);
}

napi_value addon_degenerate_rows(napi_env env, napi_callback_info info) {
    const addon_call_t call = addon_call(env, info);
    return call.failed ? NULL : addon_give_number(&call, attnjs_degenerate_rows(call.js));
}

napi_value addon_weights(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    const int32_t bnhd = addon_number(&call, 2) != 0;
    const double batch = addon_number(&call, 4), head = addon_number(&call, 5),
                 first = addon_number(&call, 6), count = addon_number(&call, 7);
    double numbers[ADDON_RUN_NUMBERS];
    if (call.failed) return NULL;
    float *rows =
        addon_elements(&call, 8, count * (double)attn_plan_problem(plan)->keys, sizeof(float));
    if (call.failed) return NULL;
    attn_status_t status = addon_run_numbers(&call, 3, plan, call.js, numbers);
    if (status == ATTN_OK)
        status = attnjs_weights(call.js, plan, bnhd, numbers, batch, head, first, count, rows);
    return addon_give_number(&call, status);
}

napi_value addon_oracle_error(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attn_plan_t *plan = addon_item(&call, 1, ADDON_PLAN);
    const int32_t bnhd = addon_number(&call, 2) != 0;
    const double stride = addon_number(&call, 4);
    double numbers[ADDON_RUN_NUMBERS];
    if (call.failed) return NULL;
    if (addon_run_numbers(&call, 3, plan, call.js, numbers) != ATTN_OK)
        return addon_give_number(&call, -1);
    return addon_give_number(&call, attnjs_oracle_error(call.js, plan, bnhd, numbers, stride));
}
