/* memory.h: the memory of typed arrays, which C uses where it is. */
#ifndef ATTNJS_MEMORY_H
#define ATTNJS_MEMORY_H

#include "bindings.h"

#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>

/** The memory of a typed array. */
typedef struct addon_memory {
    void *data; /* NULL: there is none */
    size_t size;
} addon_memory_t;

/** None for a number. */
addon_memory_t addon_memory(napi_env env, napi_value value);

/** The list of a call's arrays (src/bindings.h) as numbers: they are long enough for their shapes, or that
 *  is the error. */
attn_status_t addon_list(napi_env env, napi_value value, const attnjs_scope_t *scope, double *list,
                         attn_error_t *error);

#endif
