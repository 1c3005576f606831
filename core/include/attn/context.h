/*
 * attn/context.h: contexts, and the backends that they have. Part of attn/attn.h, which
 * has the rules of errors, threads and structs.
 */
#ifndef ATTN_CONTEXT_H
#define ATTN_CONTEXT_H

#include "attn/api.h"
#include "attn/arrays.h"
#include "attn/ext/memory.h"
#include "attn/ext/params.h"
#include "attn/ext/threads.h"
#include "attn/plugin.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- context --------------------------------------------------------------------------------- */

/** All optional: zero means the default. */
typedef struct attn_context_options {
    uint32_t struct_size;
    int32_t threads;                /**< workers of the context's own pool; 0 and 1: none. An idle
                                       worker looks for work for about 50 us, then sleeps. A child
                                       of fork() has no workers: there the context's plans and
                                       streams work in the calling thread; you may destroy them */
    const char *cpu;                /**< highest tier to use; NULL: the environment's ATTN_CPU */
    const attn_ext_threads_t *pool; /**< the embedder's threads instead; must outlive the context */
    const attn_ext_memory_t *memory; /**< the embedder's allocator; must outlive the context */
    void (*log)(void *user, const char *line); /**< called with what plugins say; NULL: dropped */
    void *log_user;
} attn_context_options_t;

/**
 * Make a context with the built-in backends registered. `options` may be NULL. You own *context
 * and destroy it with attn_context_destroy(). [any thread]
 * Errors:
 * - ATTN_ERROR_NOT_FOUND: no tier has the name options->cpu, or that in the environment.
 * - ATTN_ERROR_UNSUPPORTED: this machine or this build lacks the tier, or has no threads.
 * - ATTN_ERROR_RANGE: threads is below 0 or above 1024.
 * - ATTN_ERROR_ARGUMENT: `pool` or `memory` lacks a function.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_context_create(const attn_context_options_t *options,
                                           attn_context_t **context, attn_error_t *error);

/**
 * Destroy a context and unload its plugins; NULL is fine. Destroy all its plans and streams before.
 * [one thread per context]
 */
ATTN_API void attn_context_destroy(attn_context_t *context);

/** The tier that plans of this context use. [any thread] */
ATTN_API attn_tier_t attn_context_tier(const attn_context_t *context);

/**
 * The context's threads, which other contexts may share (`pool` in their options). They live as
 * long as the context. [any thread]
 */
ATTN_API const attn_ext_threads_t *attn_context_threads(const attn_context_t *context);

/**
 * The tiers that this machine can run and this build contains, lowest first. Returns how many.
 * Writes at most `capacity` of them to `tiers`, which may be NULL. [any thread]
 */
ATTN_API uint32_t attn_available_tiers(attn_tier_t *tiers, uint32_t capacity);

/* ---- registry -------------------------------------------------------------------------------- */

/** How many backends are registered. [any thread] */
ATTN_API uint32_t attn_backend_count(const attn_context_t *context);

/**
 * Backend number `index`, or NULL past the last. Its plugin owns it; it lives as long as the
 * context. [any thread]
 */
ATTN_API const attn_backend_t *attn_backend_at(const attn_context_t *context, uint32_t index);

/** The backend with this id, or NULL. [any thread] */
ATTN_API const attn_backend_t *attn_backend_find(const attn_context_t *context, const char *id);

/** Where backend number `index` came from: "built-in", or the path of its plugin. [any thread] */
ATTN_API const char *attn_backend_origin(const attn_context_t *context, uint32_t index);

/**
 * Parameter number `index` of a backend (attn/ext/params.h), in the order of declaration. Returns 0
 * past the last. You set info->struct_size; texts are static. [any thread]
 */
ATTN_API int32_t attn_backend_param(const attn_backend_t *backend, uint32_t index,
                                    attn_param_info_t *info);

/**
 * Array number `number` of a run with this backend (attn/arrays.h): the members of attn_io_t, then
 * from ATTN_ARRAY_OWN on backend-specific tensors. Returns 0 past the last. A backend of NULL has
 * no backend-specific tensors. You set info->struct_size; texts are static. [any thread]
 */
ATTN_API int32_t attn_backend_array(const attn_backend_t *backend, uint32_t number,
                                    attn_array_info_t *info);

/** The member of *io that is array number `number`; NULL from ATTN_ARRAY_OWN on. [any thread] */
ATTN_API attn_tensor_t *attn_io_array(attn_io_t *io, uint32_t number);

/**
 * Load a plugin's shared object and register its backends: all of them or, on an error, none.
 * [one thread per context]
 * Errors:
 * - ATTN_ERROR_PLUGIN: there is no such file, it is no plugin, or one of its ids is taken.
 * - ATTN_ERROR_ABI: the plugin has another major version of the ABI.
 * - ATTN_ERROR_MEMORY: out of memory.
 * - ATTN_ERROR_UNSUPPORTED: this build cannot load plugins.
 */
ATTN_API attn_status_t attn_plugin_load(attn_context_t *context, const char *path,
                                        attn_error_t *error);

/**
 * Register a plugin that is linked into the program. `entry` must outlive the context. `origin` is
 * copied; NULL means "linked". [one thread per context]
 * Errors:
 * - ATTN_ERROR_PLUGIN: it is no plugin, or one of its ids is taken.
 * - ATTN_ERROR_ABI: the plugin has another major version of the ABI.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_plugin_register(attn_context_t *context,
                                            const attn_plugin_entry_t *entry, const char *origin,
                                            attn_error_t *error);

/**
 * Undo attn_plugin_register(): the context loses the backends of `entry`, and you may free `entry`.
 * Destroy all their plans and streams before. [one thread per context]
 * Errors:
 * - ATTN_ERROR_NOT_FOUND: `entry` is not registered.
 */
ATTN_API attn_status_t attn_plugin_unregister(attn_context_t *context,
                                              const attn_plugin_entry_t *entry,
                                              attn_error_t *error);

/**
 * All backends with their parameters and arrays as JSON:
 *
 *     [{"id", "name", "version", "description", "reference", "origin", "features": [...],
 *       "params": [{"name", "label", "help", "unit", "type", "min", "max", "default", "automatic",
 *                   "choices"}],
 *       "arrays": [{"name", "role", "presence", "dtype", "axes", "broadcast", "own", "replaces",
 *                   "help"}]}]
 *
 * `arrays` are those that the backend has the feature for, in the order of their numbers. Writes at
 * most `size` bytes, the terminating zero included; `buffer` may be NULL when `size` is 0. Returns
 * the length of the whole text without the zero. [any thread]
 */
ATTN_API size_t attn_describe(const attn_context_t *context, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
