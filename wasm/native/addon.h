/*
 * addon.h: what the files of the Node-API addon share.
 *
 * The addon offers the functions of src/bindings.h to js/engine.js. What differs from WebAssembly:
 * arrays are typed arrays, used where they are, and contexts, plans and streams are handles, so that
 * no address ever passes through JavaScript. js/ checks what users give; what is checked here again
 * is what memory safety hangs on: that handles are alive and arrays are long enough.
 */
#ifndef ATTNJS_ADDON_H
#define ATTNJS_ADDON_H

#include "bindings.h"

#define NAPI_VERSION 8 /* Node 20 and newer, whatever is newest */
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- handle.c -------------------------------------------------------------------------------- */

/** What a handle stands for. */
typedef enum addon_kind { ADDON_SESSION, ADDON_PLAN, ADDON_STREAM } addon_kind_t;

/**
 * Something of C's in JavaScript's hands. It goes when it is disposed and nothing is left that needs
 * it: of a session its plans and streams, of a plan the runs under way. All on the thread of its
 * environment.
 */
typedef struct addon_handle {
    addon_kind_t kind;
    void *item;                  /* addon_session_t, attn_plan_t or attnjs_stream_t; NULL: gone */
    struct addon_handle *parent; /* the session; NULL for a session */
    int64_t users;
    bool disposed, collected;
} addon_handle_t;

/** A handle for `item`, which it owns from here on; NULL (and nothing is owned) without memory. */
napi_value addon_handle_create(napi_env env, addon_kind_t kind, void *item, addon_handle_t *parent);
void addon_handle_hold(addon_handle_t *handle);
void addon_handle_release(addon_handle_t *handle);
void addon_handle_dispose(addon_handle_t *handle);

/* ---- session.c ------------------------------------------------------------------------------- */

/** A context whose tasks can be stopped: it borrows the threads of another one. */
typedef struct addon_session {
    attnjs_t js;
    attn_context_t *owner; /* of the threads */
    attn_ext_threads_t threads;
} addon_session_t;

void addon_session_destroy(addon_session_t *session);

napi_value addon_open(napi_env env, napi_callback_info info);
napi_value addon_close(napi_env env, napi_callback_info info);
napi_value addon_error_code(napi_env env, napi_callback_info info);
napi_value addon_error_message(napi_env env, napi_callback_info info);
napi_value addon_about(napi_env env, napi_callback_info info);
napi_value addon_backends(napi_env env, napi_callback_info info);

/* ---- workspace.c ----------------------------------------------------------------------------- */

/** Gives the session a workspace for the plan's runs, unless that is large. Without memory it has
 *  none: the run then says so. */
void addon_workspace_reserve(attnjs_t *js, const attn_plan_t *plan);
/** `to` has the larger one of the two from here on, and `from` none. */
void addon_workspace_move(attnjs_t *to, attnjs_t *from);

/* ---- stop.c ---------------------------------------------------------------------------------- */

/** A flag that any thread may set: not 0 means stop. */
typedef _Atomic int32_t addon_stop_t;

/** Tasks that this thread starts from here on are left out once `stop` is set; NULL: never. */
void addon_stop_watch(const addon_stop_t *stop);

/** `inner`, with an eye on the flag. */
attn_ext_threads_t addon_stop_threads(const attn_ext_threads_t *inner);

/* ---- call.c: arguments and results ------------------------------------------------------------ */

enum { ADDON_ARGUMENTS = 10 };

/** The call of one function. The first thing that is wrong is thrown; the rest is left alone. */
typedef struct addon_call {
    napi_env env;
    size_t count;
    napi_value values[ADDON_ARGUMENTS];
    addon_handle_t *session; /* the first argument */
    attnjs_t *js;            /* its */
    bool failed;
} addon_call_t;

/** The memory of a typed array. */
typedef struct addon_array {
    void *data; /* NULL: there is none */
    size_t size;
} addon_array_t;

/** Reads the arguments, of which the first is a session. */
addon_call_t addon_call(napi_env env, napi_callback_info info);
/** The same for a function whose first argument may be anything. */
addon_call_t addon_call_any(napi_env env, napi_callback_info info);
/** Throws that argument `index` is not `wanted`. */
void addon_call_wrong(addon_call_t *call, size_t index, const char *wanted);

double addon_number(addon_call_t *call, size_t index);
/** NULL when it is not alive or of another kind. */
addon_handle_t *addon_handle(addon_call_t *call, size_t index, addon_kind_t kind);
/** Its item. */
void *addon_item(addon_call_t *call, size_t index, addon_kind_t kind);
/** A typed array; none for a number. */
addon_array_t addon_array(addon_call_t *call, size_t index);
addon_array_t addon_array_of(addon_call_t *call, napi_value value);
/** `count` elements of 4 or so many bytes; NULL and a thrown error when the array is shorter. */
void *addon_elements(addon_call_t *call, size_t index, double count, size_t size);
/** `count` texts one after the other, each ended by a zero. */
const char *addon_texts(addon_call_t *call, size_t index, double count);

napi_value addon_give_number(const addon_call_t *call, double number);
/** A string of a text that is freed; null for NULL. */
napi_value addon_give_text(const addon_call_t *call, char *text);
/** A handle, or null when `item` is NULL. */
napi_value addon_give_handle(addon_call_t *call, addon_kind_t kind, void *item);

/* ---- plan.c, stream.c, data.c, job.c ----------------------------------------------------------- */

/** The list of a call's arrays (src/bindings.h), which are long enough for the problem, as numbers. */
attn_status_t addon_list(addon_call_t *call, size_t index, const attn_problem_t *problem,
                         attnjs_t *js, double *list);

napi_value addon_plan_create(napi_env env, napi_callback_info info);
napi_value addon_dispose(napi_env env, napi_callback_info info);
napi_value addon_plan_describe(napi_env env, napi_callback_info info);
napi_value addon_run(napi_env env, napi_callback_info info);
napi_value addon_degenerate_rows(napi_env env, napi_callback_info info);
napi_value addon_weights(napi_env env, napi_callback_info info);
napi_value addon_oracle_error(napi_env env, napi_callback_info info);

/** start(session, plan, list, stop): a promise of the degenerate rows. */
napi_value addon_start(napi_env env, napi_callback_info info);

napi_value addon_stream_create(napi_env env, napi_callback_info info);
napi_value addon_stream_length(napi_env env, napi_callback_info info);
napi_value addon_stream_memory(napi_env env, napi_callback_info info);
napi_value addon_stream_append(napi_env env, napi_callback_info info);
napi_value addon_stream_query(napi_env env, napi_callback_info info);
napi_value addon_stream_fork(napi_env env, napi_callback_info info);
napi_value addon_stream_truncate(napi_env env, napi_callback_info info);
napi_value addon_stream_save(napi_env env, napi_callback_info info);
napi_value addon_stream_restore(napi_env env, napi_callback_info info);

napi_value addon_count_nonfinite(napi_env env, napi_callback_info info);
napi_value addon_tokens(napi_env env, napi_callback_info info);
napi_value addon_embed(napi_env env, napi_callback_info info);
napi_value addon_read_npy(napi_env env, napi_callback_info info);

#endif
