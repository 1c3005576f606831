/* session.c: contexts, with the threads and the tier that were asked for. */
#include "addon.h"

#include <stdlib.h>

void addon_session_destroy(addon_session_t *session) {
    attn_context_destroy(session->js.context);
    attn_context_destroy(session->owner);
    free(session->js.workspace);
    free(session);
}

/* Fills a zeroed session. */
static attn_status_t open_contexts(addon_session_t *session, int32_t threads, const char *tier,
                                   attn_error_t *error) {
    const attn_context_options_t owner = {
        .struct_size = sizeof owner, .threads = threads, .cpu = tier};
    const attn_status_t status = attn_context_create(&owner, &session->owner, error);
    if (status != ATTN_OK) return status;
    session->threads = addon_stop_threads(attn_context_threads(session->owner));
    const attn_context_options_t borrower = {
        .struct_size = sizeof borrower, .pool = &session->threads, .cpu = tier};
    return attn_context_create(&borrower, &session->js.context, error);
}

static addon_session_t *open_session(int32_t threads, const char *tier, attn_error_t *error) {
    addon_session_t *session = calloc(1, sizeof *session);
    if (!session) {
        attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a context");
        return NULL;
    }
    if (open_contexts(session, threads, tier, error) == ATTN_OK) return session;
    addon_session_destroy(session);
    return NULL;
}

/* open(threads, tier): tier is a text, or a number for the best there is. */
napi_value addon_open(napi_env env, napi_callback_info info) {
    addon_call_t call = addon_call_any(env, info);
    attn_error_t error = {.status = ATTN_OK};
    const double threads = addon_number(&call, 0);
    const char *tier = addon_array(&call, 1).data ? addon_texts(&call, 1, 1) : NULL;
    if (call.failed) return NULL;
    /* Beyond int32_t the library refuses any number: the nearest will do. */
    const int32_t count = threads >= 0 ? threads < INT32_MAX ? (int32_t)threads : INT32_MAX : -1;
    addon_session_t *session = open_session(count, tier, &error);
    if (session) {
        napi_value handle = addon_handle_create(env, ADDON_SESSION, session, NULL);
        if (handle) return handle;
        addon_session_destroy(session);
        attn_fail(&error, ATTN_ERROR_MEMORY, "no memory for a handle");
    }
    napi_throw_error(env, attn_status_name(error.status), error.message);
    return NULL;
}

/* A session that is closed already is no error. */
napi_value addon_close(napi_env env, napi_callback_info info) { return addon_dispose(env, info); }

static napi_value text_of(const addon_call_t *call, const char *text) {
    napi_value value = NULL;
    if (!call->failed) napi_create_string_utf8(call->env, text, NAPI_AUTO_LENGTH, &value);
    return value;
}

napi_value addon_error_code(napi_env env, napi_callback_info info) {
    const addon_call_t call = addon_call(env, info);
    return call.failed ? NULL : text_of(&call, attnjs_error_code(call.js));
}

napi_value addon_error_message(napi_env env, napi_callback_info info) {
    const addon_call_t call = addon_call(env, info);
    return call.failed ? NULL : text_of(&call, attnjs_error_message(call.js));
}

napi_value addon_about(napi_env env, napi_callback_info info) {
    const addon_call_t call = addon_call(env, info);
    return call.failed ? NULL : addon_give_text(&call, attnjs_about(call.js));
}

napi_value addon_backends(napi_env env, napi_callback_info info) {
    const addon_call_t call = addon_call(env, info);
    return call.failed ? NULL : addon_give_text(&call, attnjs_backends(call.js));
}
