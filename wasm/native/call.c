/* call.c: arguments from JavaScript, results to it. */
#include "addon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void addon_call_wrong(addon_call_t *call, size_t index, const char *wanted) {
    char message[96];
    if (call->failed) return;
    call->failed = true;
    snprintf(message, sizeof message, "argument %zu is not %s", index, wanted);
    napi_throw_type_error(call->env, "ERR_INVALID_ARG_TYPE", message);
}

addon_call_t addon_call_any(napi_env env, napi_callback_info info) {
    addon_call_t call = {.env = env, .count = ADDON_ARGUMENTS};
    if (napi_get_cb_info(env, info, &call.count, call.values, NULL, NULL) != napi_ok)
        addon_call_wrong(&call, 0, "there");
    return call;
}

addon_call_t addon_call(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call_any(env, info);
    call.session = addon_handle(&call, 0, ADDON_SESSION);
    if (call.session) call.js = &((addon_session_t *)call.session->item)->js;
    return call;
}

double addon_number(addon_call_t *call, size_t index) {
    double number = 0;
    if (!call->failed && napi_get_value_double(call->env, call->values[index], &number) != napi_ok)
        addon_call_wrong(call, index, "a number");
    return number;
}

addon_handle_t *addon_handle(addon_call_t *call, size_t index, addon_kind_t kind) {
    void *data = NULL;
    if (call->failed) return NULL;
    if (napi_get_value_external(call->env, call->values[index], &data) == napi_ok && data) {
        addon_handle_t *handle = data;
        if (handle->kind == kind && handle->item && !handle->disposed) return handle;
    }
    addon_call_wrong(call, index, "a handle in use");
    return NULL;
}

void *addon_item(addon_call_t *call, size_t index, addon_kind_t kind) {
    const addon_handle_t *handle = addon_handle(call, index, kind);
    return handle ? handle->item : NULL;
}

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

addon_array_t addon_array_of(addon_call_t *call, napi_value value) {
    static double nothing; /* where an empty array begins: an address, unlike no array */
    napi_typedarray_type type;
    size_t length;
    void *data;
    bool is_array = false;
    if (call->failed || napi_is_typedarray(call->env, value, &is_array) != napi_ok || !is_array ||
        napi_get_typedarray_info(call->env, value, &type, &length, &data, NULL, NULL) != napi_ok)
        return (addon_array_t){0};
    const size_t size = length * element_size(type);
    return (addon_array_t){size ? data : &nothing, size};
}

addon_array_t addon_array(addon_call_t *call, size_t index) {
    return addon_array_of(call, call->values[index]);
}

void *addon_elements(addon_call_t *call, size_t index, double count, size_t size) {
    const addon_array_t array = addon_array(call, index);
    if (array.data && count >= 0 && count * (double)size <= (double)array.size) return array.data;
    addon_call_wrong(call, index, "an array of so many elements");
    return NULL;
}

const char *addon_texts(addon_call_t *call, size_t index, double count) {
    const addon_array_t array = addon_array(call, index);
    const char *text = array.data;
    double found = 0;
    for (size_t i = 0; i < array.size; i++) found += text[i] == 0;
    if (text && found >= count) return text;
    addon_call_wrong(call, index, "a list of so many texts");
    return NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

napi_value addon_give_number(const addon_call_t *call, double number) {
    napi_value value = NULL;
    if (!call->failed) napi_create_double(call->env, number, &value);
    return value;
}

static napi_value null_of(const addon_call_t *call) {
    napi_value value = NULL;
    napi_get_null(call->env, &value);
    return value;
}

napi_value addon_give_text(const addon_call_t *call, char *text) {
    napi_value value = NULL;
    if (!text) return null_of(call);
    napi_create_string_utf8(call->env, text, NAPI_AUTO_LENGTH, &value);
    free(text);
    return value;
}

napi_value addon_give_handle(addon_call_t *call, addon_kind_t kind, void *item) {
    if (!item) return null_of(call);
    napi_value value = addon_handle_create(call->env, kind, item, call->session);
    if (value) return value;
    if (kind == ADDON_PLAN) attnjs_plan_destroy(item);
    if (kind == ADDON_STREAM) attnjs_stream_destroy(item);
    attnjs_no_memory(call->js, "a handle");
    return null_of(call);
}
