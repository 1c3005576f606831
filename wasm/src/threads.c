/*
 * threads.c: the host's thread pool (attn/ext/threads.h) over workers that JavaScript starts, each an
 * instance of the same module in the same memory, with a stack of its own.
 *
 * A worker sleeps in attnjs_work() until there is a job, takes task numbers from it until none is
 * left, and the caller works along. In a browser's window nobody may sleep (Atomics.wait throws), so
 * there the caller spins until the last task is done, which is at most one task's time.
 */
#include "bindings.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    STACK_SIZE = 262144, /* as the main thread has */
    NAP = 50000,         /* ns: Node 20's main thread is not woken, so it looks again by itself */
    SPINS = 4000         /* looks before one sleeps: jobs come in rows, and tasks end together */
};

struct attnjs_pool {
    attn_ext_threads_t threads;
    int32_t may_sleep; /* the caller */
    attn_task_t *task;
    void *data;
    int64_t tasks;
    _Atomic int64_t next;
    _Atomic int32_t job;     /* counts jobs; workers sleep on it */
    _Atomic int32_t working; /* workers not done with the job; the caller sleeps on it */
    _Atomic int32_t stop;
};

static void sleep_while(_Atomic int32_t *number, int32_t value, int64_t nanoseconds) {
    __builtin_wasm_memory_atomic_wait32((int32_t *)number, value, nanoseconds);
}

static void wake(_Atomic int32_t *number) {
    __builtin_wasm_memory_atomic_notify((int32_t *)number, UINT32_MAX);
}

static void take_tasks(attnjs_pool_t *pool, uint32_t worker) {
    for (;;) {
        const int64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (task >= pool->tasks) return;
        pool->task(pool->data, task, worker);
    }
}

static void parallel_for(void *opaque, int64_t tasks, attn_task_t *task, void *data) {
    attnjs_pool_t *pool = opaque;
    if (tasks < 2) {
        for (int64_t t = 0; t < tasks; t++) task(data, t, 0);
        return;
    }
    pool->task = task;
    pool->data = data;
    pool->tasks = tasks;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store(&pool->working, (int32_t)pool->threads.workers - 1);
    atomic_fetch_add(&pool->job, 1); /* publishes what is above */
    wake(&pool->job);
    take_tasks(pool, 0);
    for (int i = 0; i < SPINS && atomic_load(&pool->working) != 0; i++) continue;
    for (int32_t left; (left = atomic_load(&pool->working)) != 0;)
        if (pool->may_sleep) sleep_while(&pool->working, left, NAP);
}

attnjs_pool_t *attnjs_pool_create(uint32_t workers, int32_t may_sleep) {
    attnjs_pool_t *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->may_sleep = may_sleep;
    pool->threads = (attn_ext_threads_t){.struct_size = sizeof pool->threads,
                                         .workers = workers,
                                         .pool = pool,
                                         .parallel_for = parallel_for};
    return pool;
}

const attn_ext_threads_t *attnjs_pool_threads(const attnjs_pool_t *pool) { return &pool->threads; }

void attnjs_pool_stop(attnjs_pool_t *pool) {
    atomic_store(&pool->stop, 1);
    atomic_fetch_add(&pool->job, 1);
    wake(&pool->job);
}

/* No job ends before all workers have been at it: one that starts late misses none. */
void attnjs_work(void *opaque, double number) {
    attnjs_pool_t *pool = opaque;
    for (int32_t seen = 0;;) {
        for (int i = 0; i < SPINS && atomic_load(&pool->job) == seen; i++) continue;
        while (atomic_load(&pool->job) == seen) sleep_while(&pool->job, seen, -1);
        if (atomic_load(&pool->stop)) return;
        seen++;
        take_tasks(pool, (uint32_t)number);
        if (atomic_fetch_sub(&pool->working, 1) == 1) wake(&pool->working);
    }
}

/* Neither is ever freed. 0: no memory. */
void *attnjs_worker_stack(void) {
    char *stack = aligned_alloc(ATTN_ALIGNMENT, STACK_SIZE);
    return stack ? stack + STACK_SIZE : NULL;
}

void *attnjs_worker_local(void) {
    const size_t pieces = __builtin_wasm_tls_size() / ATTN_ALIGNMENT + 1;
    return aligned_alloc(ATTN_ALIGNMENT, pieces * ATTN_ALIGNMENT);
}
