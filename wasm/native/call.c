/* call.c: see call.h. */
#include "call.h"
#include "memory.h"
#include "session.h"
#include "stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void destroy_plan(void *plan) { attnjs_plan_destroy(plan); }

static void destroy_stream(void *stream) { attnjs_stream_destroy(stream); }

/* ---- arguments ------------------------------------------------------------------------------- */

static bool wrong(const addon_call_t *call, size_t index, const char *wanted) {
    char message[96];
    snprintf(message, sizeof message, "argument %zu is not %s", index, wanted);
    napi_throw_type_error(call->env, "ERR_INVALID_ARG_TYPE", message);
    return false;
}

/* The call's session, which comes first and has no parent, or what is that one's: only that outlives it. */
static addon_handle_t *read_handle(const addon_call_t *call, size_t index,
                                   addon_destroy_t *destroy) {
    addon_handle_t *handle = addon_handle_of(call->env, call->values[index], destroy);
    if (handle && handle->parent == call->session) return handle;
    wrong(call, index, "a handle in use");
    return NULL;
}

static bool read_session(addon_call_t *call, size_t index) {
    call->session = read_handle(call, index, addon_session_destroy);
    if (!call->session) return false;
    call->arguments[index].session = &((addon_session_t *)call->session->item)->js;
    return true;
}

static bool read_plan(addon_call_t *call, size_t index) {
    call->plan = read_handle(call, index, destroy_plan);
    if (!call->plan) return false;
    call->arguments[index].plan = call->plan->item;
    call->scope = attnjs_plan_scope(call->plan->item);
    return true;
}

static bool read_stream(addon_call_t *call, size_t index) {
    const addon_handle_t *stream = read_handle(call, index, destroy_stream);
    if (!stream) return false;
    call->arguments[index].stream = stream->item;
    call->scope = attnjs_stream_scope(stream->item);
    return true;
}

static bool read_number(addon_call_t *call, size_t index) {
    double *number = &call->arguments[index].number;
    return napi_get_value_double(call->env, call->values[index], number) == napi_ok ||
           wrong(call, index, "a number");
}

/* Of the plan, or the stream, before it. What computes has a workspace. */
static bool read_arrays(addon_call_t *call, size_t index) {
    attnjs_t *js = call->arguments[0].session;
    double *list = call->lists[index - ADDON_FIRST_LIST];
    call->arguments[index].list = list;
    if (call->status == ATTN_OK)
        call->status = addon_list(call->env, call->values[index], &call->scope, list, &js->error);
    if (call->plan) addon_workspace_reserve(js, call->plan->item);
    return true;
}

static bool read_problem(addon_call_t *call, size_t index) {
    const addon_memory_t memory = addon_memory(call->env, call->values[index]);
    call->arguments[index].list = memory.data;
    return (memory.data && memory.size >= ATTNJS_NUMBERS * sizeof(double)) ||
           wrong(call, index, "a problem");
}

static size_t count_texts(addon_memory_t memory) {
    const char *text = memory.data;
    size_t count = 0;
    for (size_t i = 0; i < memory.size; i++) count += text[i] == 0;
    return count;
}

static bool read_text(addon_call_t *call, size_t index) {
    const addon_memory_t memory = addon_memory(call->env, call->values[index]);
    call->arguments[index].text = memory.data;
    return count_texts(memory) > 0 || wrong(call, index, "a text");
}

/* Whether it is one, and long enough, its length says, which is the next argument. */
static bool read_array(addon_call_t *call, size_t index) {
    call->arguments[index].data = addon_memory(call->env, call->values[index]).data;
    return true;
}

/* How many elements, or pairs, an argument of this kind has at most. */
static size_t capacity(const addon_call_t *call, size_t index, addon_kind_t kind) {
    const addon_memory_t memory = addon_memory(call->env, call->values[index]);
    if (kind == ADDON_PAIRS) return count_texts(memory) / 2;
    return kind == ADDON_FLOATS ? memory.size / sizeof(float) : memory.size;
}

static bool read_length(addon_call_t *call, size_t index, addon_kind_t before) {
    if (!read_number(call, index)) return false;
    const double length = call->arguments[index].number;
    if (!(length >= 0 && length <= (double)capacity(call, index - 1, before)))
        return wrong(call, index - 1, "an array of so many elements");
    call->arguments[index].length = (size_t)length;
    return true;
}

static bool read_any(addon_call_t *call, size_t index) {
    addon_handle_t *handle = addon_handle_any(call->env, call->values[index]);
    call->arguments[index].handle = handle;
    return handle || wrong(call, index, "a handle");
}

static bool read_maybe(addon_call_t *call, size_t index) {
    const bool there = addon_memory(call->env, call->values[index]).data != NULL;
    call->arguments[index].text = NULL;
    return !there || read_text(call, index);
}

static bool read_flag(addon_call_t *call, size_t index) {
    const addon_memory_t memory = addon_memory(call->env, call->values[index]);
    call->arguments[index].data = memory.size >= sizeof(addon_stop_t) ? memory.data : NULL;
    return true;
}

static bool read_argument(addon_call_t *call, const addon_function_t *function, size_t index) {
    const addon_kind_t *kinds = function->kinds;
    if (function->result == ADDON_GIVE_END) return index > 0 || read_any(call, 0);
    switch (kinds[index]) {
    case ADDON_NONE:
        return true;
    case ADDON_SESSION:
        return read_session(call, index);
    case ADDON_PLAN:
        return read_plan(call, index);
    case ADDON_STREAM:
        return read_stream(call, index);
    case ADDON_PROBLEM:
        return read_problem(call, index);
    case ADDON_ARRAYS:
        return read_arrays(call, index);
    case ADDON_NUMBER:
        return read_number(call, index);
    case ADDON_TEXT:
        return read_text(call, index);
    case ADDON_PAIRS:
    case ADDON_BYTES:
    case ADDON_ROOM:
    case ADDON_FLOATS:
        return read_array(call, index);
    case ADDON_LENGTH:
        return read_length(call, index, kinds[index - 1]);
    case ADDON_MAYBE:
        return read_maybe(call, index);
    case ADDON_FLAG:
        return read_flag(call, index);
    }
    return false;
}

/* ---- results --------------------------------------------------------------------------------- */

static napi_value give_number(napi_env env, double number) {
    napi_value value = NULL;
    napi_create_double(env, number, &value);
    return value;
}

static napi_value null_of(napi_env env) {
    napi_value value = NULL;
    napi_get_null(env, &value);
    return value;
}

static napi_value give_name(napi_env env, const char *name) {
    napi_value value = NULL;
    napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &value);
    return value;
}

static napi_value give_text(napi_env env, char *text) {
    napi_value value = text ? give_name(env, text) : null_of(env);
    free(text);
    return value;
}

static napi_value give_handle(const addon_call_t *call, addon_destroy_t *destroy, void *item) {
    if (!item) return null_of(call->env);
    napi_value value = addon_handle_create(call->env, destroy, item, call->session);
    if (!value) attnjs_no_memory(call->arguments[0].session, "a handle");
    return value ? value : null_of(call->env);
}

static napi_value give(const addon_call_t *call, addon_result_t result) {
    switch (result) {
    case ADDON_GIVE_STATUS:
    case ADDON_GIVE_NUMBER:
        return give_number(call->env, call->result.number);
    case ADDON_GIVE_TEXT:
        return give_text(call->env, call->result.text);
    case ADDON_GIVE_NAME:
        return give_name(call->env, call->result.name);
    case ADDON_GIVE_PLAN:
        return give_handle(call, destroy_plan, call->result.plan);
    case ADDON_GIVE_STREAM:
        return give_handle(call, destroy_stream, call->result.stream);
    case ADDON_GIVE_VALUE:
        return call->result.value;
    case ADDON_GIVE_END:
        break;
    }
    return NULL;
}

napi_value addon_call(napi_env env, napi_callback_info info) {
    addon_call_t call = {.env = env, .count = ADDON_ARGUMENTS};
    void *data;
    if (napi_get_cb_info(env, info, &call.count, call.values, NULL, &data) != napi_ok) return NULL;
    const addon_function_t *function = data;
    for (size_t i = 0; i < ADDON_ARGUMENTS; i++)
        if (!read_argument(&call, function, i)) return NULL;
    if (call.status != ATTN_OK) return give_number(env, -1);
    function->call(&call);
    return give(&call, function->result);
}
