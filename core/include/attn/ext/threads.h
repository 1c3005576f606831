/*
 * attn.threads/1 (host): run tasks side by side. Embedders can bring their own implementation.
 *
 * Rule for backends: what a task computes depends on its number alone, never on the worker that
 * runs it or on how many there are, so that results do not depend on the number of threads.
 */
#ifndef ATTN_EXT_THREADS_H
#define ATTN_EXT_THREADS_H

#include <stdint.h>

#define ATTN_EXT_THREADS "attn.threads/1"

/** One task: `worker` is below `workers` and not shared by two tasks at a time (for scratch). */
typedef void attn_task_t(void *data, int64_t task, uint32_t worker);

typedef struct attn_ext_threads {
    uint32_t struct_size;
    uint32_t workers; /**< at least 1; fixed for the life of the host */
    void *pool;       /**< handed back to parallel_for */
    /**
     * Run task(data, t, worker) for every t in [0, tasks) and return when all are done. When the
     * pool is busy with another call, the tasks run in the calling thread. [any thread]
     * To stop a run, leave out its tasks from some moment on: it then ends soon, with anything in
     * its outputs.
     */
    void (*parallel_for)(void *pool, int64_t tasks, attn_task_t *task, void *data);
} attn_ext_threads_t;

#endif
