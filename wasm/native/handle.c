/* handle.c: contexts, plans and streams in JavaScript's hands, and when they go. */
#include "addon.h"

#include <stdlib.h>

static void destroy(const addon_handle_t *handle) {
    switch (handle->kind) {
    case ADDON_SESSION:
        addon_session_destroy(handle->item);
        return;
    case ADDON_PLAN:
        attnjs_plan_destroy(handle->item);
        return;
    case ADDON_STREAM:
        attnjs_stream_destroy(handle->item);
        return;
    }
}

/* The item goes when it is disposed and unused, the handle when it is also collected. */
static void settle(addon_handle_t *handle) {
    addon_handle_t *parent = handle->parent;
    if (!handle->disposed || handle->users > 0) return;
    const bool goes = handle->item != NULL;
    if (goes) destroy(handle);
    handle->item = NULL;
    if (handle->collected) free(handle);
    if (goes && parent) addon_handle_release(parent);
}

void addon_handle_hold(addon_handle_t *handle) { handle->users++; }

void addon_handle_release(addon_handle_t *handle) {
    handle->users--;
    settle(handle);
}

void addon_handle_dispose(addon_handle_t *handle) {
    if (handle->disposed) return;
    handle->disposed = true;
    settle(handle);
}

static void collect(napi_env env, void *data, void *hint) {
    addon_handle_t *handle = data;
    (void)env, (void)hint;
    handle->disposed = handle->collected = true;
    settle(handle);
}

napi_value addon_handle_create(napi_env env, addon_kind_t kind, void *item,
                               addon_handle_t *parent) {
    addon_handle_t *handle = calloc(1, sizeof *handle);
    napi_value external;
    if (!handle) return NULL;
    *handle = (addon_handle_t){.kind = kind, .item = item, .parent = parent};
    if (napi_create_external(env, handle, collect, NULL, &external) != napi_ok) {
        free(handle);
        return NULL;
    }
    if (parent) addon_handle_hold(parent);
    return external;
}
