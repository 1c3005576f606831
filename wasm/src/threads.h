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

/** What a worker does until the team stops; `number` is from 1 to workers - 1. */
void attnjs_work(attnjs_team_t *team, double number);
/** The address behind a new stack, which grows downwards; and thread-local memory. */
void *attnjs_worker_stack(void);
void *attnjs_worker_local(void);

#endif
