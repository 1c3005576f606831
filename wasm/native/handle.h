/* handle.h: something of C's in JavaScript's hands. */
#ifndef ATTNJS_HANDLE_H
#define ATTNJS_HANDLE_H

#define NAPI_VERSION 8 /* Node 20 and newer, whatever is newest */
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a handle stands for is known by what ends it. */
typedef void addon_destroy_t(void *item);

/**
 * It goes when it is disposed and nothing is left that needs it: of a session its plans and streams, of a
 * plan the runs under way. All on the thread of its environment.
 */
typedef struct addon_handle {
    addon_destroy_t *destroy;
    void *item;                  /* NULL: gone */
    struct addon_handle *parent; /* the session; NULL for a session */
    int64_t users;
    bool disposed, collected;
} addon_handle_t;

/** A handle for `item`, which it owns from here on; NULL, and `item` is destroyed, without memory. */
napi_value addon_handle_create(napi_env env, addon_destroy_t *destroy, void *item,
                               addon_handle_t *parent);
/** Of a value; NULL: it is none. */
addon_handle_t *addon_handle_any(napi_env env, napi_value value);
/** The same for one that is in use, and of this kind. */
addon_handle_t *addon_handle_of(napi_env env, napi_value value, addon_destroy_t *destroy);

void addon_handle_hold(addon_handle_t *handle);
void addon_handle_release(addon_handle_t *handle);
void addon_handle_dispose(addon_handle_t *handle);

#endif
