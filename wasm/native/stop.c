/*
 * stop.c: runs that can be stopped. A backend hands out its work as tasks through the host's threads
 * (attn.threads/1); these leave out the tasks that have not begun when the flag of the run is set.
 * A run that was stopped has written anything, or nothing, to its outputs.
 */
#include "stop.h"

#include <stdatomic.h>

/* Which flag counts for what this thread starts. A backend calls parallel_for from the thread that
 * runs it. */
static _Thread_local const addon_stop_t *watched;

void addon_stop_watch(const addon_stop_t *stop) { watched = stop; }

typedef struct guarded {
    const addon_stop_t *stop;
    attn_task_t *task;
    void *data;
} guarded_t;

static void guarded_task(void *data, int64_t task, uint32_t worker) {
    const guarded_t *guarded = data;
    if (atomic_load_explicit(guarded->stop, memory_order_relaxed) == 0)
        guarded->task(guarded->data, task, worker);
}

static void parallel_for(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    const attn_ext_threads_t *inner = pool;
    guarded_t guarded = {watched, task, data};
    if (watched)
        inner->parallel_for(inner->pool, tasks, guarded_task, &guarded);
    else
        inner->parallel_for(inner->pool, tasks, task, data);
}

attn_ext_threads_t addon_stop_threads(const attn_ext_threads_t *inner) {
    return (attn_ext_threads_t){.struct_size = sizeof(attn_ext_threads_t),
                                .workers = inner->workers,
                                .pool = (void *)(uintptr_t)inner,
                                .parallel_for = parallel_for};
}
