/* data.c: typed text, .npy files, and a look at whether numbers are finite. */
#include "addon.h"
#include "text/embed.h"

napi_value addon_count_nonfinite(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const double count = addon_number(&call, 2);
    float *data = addon_elements(&call, 1, count, sizeof(float));
    return call.failed ? NULL
                       : addon_give_number(&call, attnjs_count_nonfinite(call.js, data, count));
}

napi_value addon_tokens(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const addon_array_t text = addon_array(&call, 1);
    if (call.failed) return NULL;
    return addon_give_text(&call, attnjs_tokens(call.js, text.data, text.size));
}

napi_value addon_embed(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const addon_array_t text = addon_array(&call, 1);
    const double dim = addon_number(&call, 3);
    if (call.failed) return NULL;
    const double tokens = (double)embed_split(text.data, text.size, NULL, 0);
    float *out = addon_elements(&call, 4, tokens * dim, sizeof(float));
    if (call.failed) return NULL;
    return addon_give_number(&call, attnjs_embed(call.js, text.data, text.size, dim, out));
}

napi_value addon_read_npy(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call(env, info);
    const addon_array_t bytes = addon_array(&call, 1);
    if (call.failed) return NULL;
    return addon_give_text(&call, attnjs_read_npy(call.js, bytes.data, bytes.size));
}
