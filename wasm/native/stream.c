/* stream.c: streams. */
#include "addon.h"

napi_value addon_stream_create(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const char *backend = addon_texts(&call, 1, 1);
    const double *problem = addon_elements(&call, 2, ATTNJS_NUMBERS, sizeof(double));
    const double max_keys = addon_number(&call, 3);
    if (call.failed) return NULL;
    return addon_give_handle(&call, ADDON_STREAM,
                             attnjs_stream_create(call.js, backend, problem, max_keys));
}

napi_value addon_stream_length(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    return call.failed ? NULL : addon_give_number(&call, attnjs_stream_length(call.js, stream));
}

napi_value addon_stream_memory(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    return call.failed ? NULL : addon_give_number(&call, attnjs_stream_memory(call.js, stream));
}

napi_value addon_stream_append(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    const double tokens = addon_number(&call, 3);
    double list[ATTNJS_LIST];
    if (call.failed) return NULL;
    const attn_problem_t problem = attnjs_stream_call(stream, 1, tokens);
    attn_status_t status = addon_list(&call, 2, &problem, call.js, list);
    if (status == ATTN_OK) status = attnjs_stream_append(call.js, stream, list, tokens);
    return addon_give_number(&call, status);
}

napi_value addon_stream_query(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    const double queries = addon_number(&call, 3);
    double list[ATTNJS_LIST];
    if (call.failed) return NULL;
    const attn_problem_t problem = attnjs_stream_call(stream, queries, 1);
    attn_status_t status = addon_list(&call, 2, &problem, call.js, list);
    if (status == ATTN_OK) status = attnjs_stream_query(call.js, stream, list, queries);
    return addon_give_number(&call, status);
}

napi_value addon_stream_fork(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    if (call.failed) return NULL;
    return addon_give_handle(&call, ADDON_STREAM, attnjs_stream_fork(call.js, stream));
}

napi_value addon_stream_truncate(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    const double length = addon_number(&call, 2);
    if (call.failed) return NULL;
    return addon_give_number(&call, attnjs_stream_truncate(call.js, stream, length));
}

/* save(session, stream, array or 0, size): the size is the array's own. */
napi_value addon_stream_save(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    const addon_array_t bytes = addon_array(&call, 2);
    if (call.failed) return NULL;
    return addon_give_number(&call, attnjs_stream_save(call.js, stream, bytes.data, bytes.size));
}

napi_value addon_stream_restore(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    attnjs_stream_t *stream = addon_item(&call, 1, ADDON_STREAM);
    const addon_array_t bytes = addon_array(&call, 2);
    if (call.failed) return NULL;
    return addon_give_number(&call, attnjs_stream_restore(call.js, stream, bytes.data, bytes.size));
}
