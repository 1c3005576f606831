/* threads.h: the thread pool behind a context, in the build that has threads. */
#ifndef ATTNJS_THREADS_H
#define ATTNJS_THREADS_H

#include "attn/ext/threads.h"

typedef struct attnjs_pool attnjs_pool_t;

/** `workers` counts the caller, who may sleep or not. NULL: no memory. */
attnjs_pool_t *attnjs_pool_create(uint32_t workers, int32_t may_sleep);
const attn_ext_threads_t *attnjs_pool_threads(const attnjs_pool_t *pool);
/** Ends all workers. The pool stays, because they may still look at it. */
void attnjs_pool_stop(attnjs_pool_t *pool);

#endif
