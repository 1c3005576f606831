/* session.h: contexts, with the threads and the tier that were asked for, and scratch for runs. */
#ifndef ATTNJS_SESSION_H
#define ATTNJS_SESSION_H

#include "handle.h"
#include "stop.h"

#include "bindings.h"

/** A context whose tasks can be stopped: it borrows the threads of another one. */
typedef struct addon_session {
    attnjs_t js;
    attn_context_t *owner; /* of the threads */
    attn_ext_threads_t threads;
} addon_session_t;

/** Ends one: what its handle is known by. */
void addon_session_destroy(void *session);

/** A handle of one for so many threads, no higher than a tier where that is not NULL; or it throws. */
napi_value addon_session_open(napi_env env, double threads, const char *tier);

/* ---- workspace.c ----------------------------------------------------------------------------- */

/** Gives the session a workspace for the plan's runs, unless that is large. Without memory it has
 *  none: the run then says so. */
void addon_workspace_reserve(attnjs_t *js, const attn_plan_t *plan);
/** `to` has the larger one of the two from here on, and `from` none. */
void addon_workspace_move(attnjs_t *to, attnjs_t *from);

#endif
