/* threads.h: the team of workers behind a context, in the build that has threads. */
#ifndef ATTNJS_THREADS_H
#define ATTNJS_THREADS_H

#include "attn/ext/threads.h"

typedef struct attnjs_team attnjs_team_t;

/** `workers` counts the caller, who may sleep or not. NULL: no memory. */
attnjs_team_t *attnjs_team_create(uint32_t workers, int32_t may_sleep);
const attn_ext_threads_t *attnjs_team_threads(const attnjs_team_t *team);
/** Ends all workers. The team stays, because they may still look at it. */
void attnjs_team_stop(attnjs_team_t *team);

#endif
