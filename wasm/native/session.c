/* session.c: contexts, with the threads and the tier that were asked for. */
#include "session.h"

#include <stdlib.h>

void addon_session_destroy(void *item) {
    addon_session_t *session = item;
    attn_context_destroy(session->js.context);
    attn_context_destroy(session->owner);
    free(session->js.workspace);
    free(session);
}

#ifdef ADDON_PLUGIN
/* An addon with a backend more, for the tests. */
extern const attn_plugin_entry_t ADDON_PLUGIN;

static attn_status_t add_plugin(attn_context_t *context, attn_error_t *error) {
    return attn_plugin_register(context, &ADDON_PLUGIN, "test", error);
}
#else
static attn_status_t add_plugin(attn_context_t *context, attn_error_t *error) {
    (void)context, (void)error;
    return ATTN_OK;
}
#endif

/* Fills a zeroed session. */
static attn_status_t open_contexts(addon_session_t *session, int32_t threads, const char *tier,
                                   attn_error_t *error) {
    const attn_context_options_t owner = {
        .struct_size = sizeof owner, .threads = threads, .cpu = tier};
    attn_status_t status = attn_context_create(&owner, &session->owner, error);
    if (status != ATTN_OK) return status;
    session->threads = addon_stop_threads(attn_context_threads(session->owner));
    const attn_context_options_t borrower = {
        .struct_size = sizeof borrower, .pool = &session->threads, .cpu = tier};
    status = attn_context_create(&borrower, &session->js.context, error);
    return status == ATTN_OK ? add_plugin(session->js.context, error) : status;
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

napi_value addon_session_open(napi_env env, double threads, const char *tier) {
    attn_error_t error = {.status = ATTN_OK};
    /* Beyond int32_t the library refuses any number: the nearest will do. */
    const int32_t count = threads >= 0 ? threads < INT32_MAX ? (int32_t)threads : INT32_MAX : -1;
    addon_session_t *session = open_session(count, tier, &error);
    if (session) {
        napi_value handle = addon_handle_create(env, addon_session_destroy, session, NULL);
        if (handle) return handle;
        attn_fail(&error, ATTN_ERROR_MEMORY, "no memory for a handle");
    }
    napi_throw_error(env, attn_status_name(error.status), error.message);
    return NULL;
}
