/* handle.c: see handle.h. */
#include "handle.h"

#include <stdlib.h>

/* The item goes when it is disposed and unused, the handle when it is also collected. */
static void settle(addon_handle_t *handle) {
    addon_handle_t *parent = handle->parent;
    if (!handle->disposed || handle->users > 0) return;
    const bool goes = handle->item != NULL;
    if (goes) handle->destroy(handle->item);
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

napi_value addon_handle_create(napi_env env, addon_destroy_t *destroy, void *item,
                               addon_handle_t *parent) {
    addon_handle_t *handle = calloc(1, sizeof *handle);
    napi_value external;
    if (handle) *handle = (addon_handle_t){.destroy = destroy, .item = item, .parent = parent};
    if (!handle || napi_create_external(env, handle, collect, NULL, &external) != napi_ok) {
        free(handle);
        destroy(item);
        return NULL;
    }
    if (parent) addon_handle_hold(parent);
    return external;
}

addon_handle_t *addon_handle_any(napi_env env, napi_value value) {
    void *data = NULL;
    return napi_get_value_external(env, value, &data) == napi_ok ? data : NULL;
}

addon_handle_t *addon_handle_of(napi_env env, napi_value value, addon_destroy_t *destroy) {
    addon_handle_t *handle = addon_handle_any(env, value);
    const bool fits =
        handle && handle->destroy == destroy && handle->item != NULL && !handle->disposed;
    return fits ? handle : NULL;
}
