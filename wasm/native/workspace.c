/*
 * workspace.c: scratch for runs. A session keeps that of its last run for the next, whichever thread
 * computes that: malloc would keep one and more for each thread of libuv's pool, all of them cold.
 */
#include "session.h"

#include <stdlib.h>

/* An idle session holds no more; a run that needs more has its own, for as long as it takes. */
enum { KEPT = 16 << 20 };

void addon_workspace_reserve(attnjs_t *js, const attn_plan_t *plan) {
    const size_t size = attn_plan_workspace_size(plan);
    if (size <= js->workspace_size || size > KEPT) return;
    free(js->workspace);
    js->workspace = attnjs_allocate((double)size);
    js->workspace_size = js->workspace ? size : 0;
}

void addon_workspace_move(attnjs_t *to, attnjs_t *from) {
    void *less = from->workspace;
    if (from->workspace_size > to->workspace_size) {
        less = to->workspace;
        to->workspace = from->workspace;
        to->workspace_size = from->workspace_size;
    }
    free(less);
    from->workspace = NULL;
    from->workspace_size = 0;
}
