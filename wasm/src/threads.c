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

struct attnjs_team {
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

static void take_tasks(attnjs_team_t *team, uint32_t worker) {
    for (;;) {
        const int64_t task = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (task >= team->tasks) return;
        team->task(team->data, task, worker);
    }
}

static void parallel_for(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    attnjs_team_t *team = pool;
    if (tasks < 2) {
        for (int64_t t = 0; t < tasks; t++) task(data, t, 0);
        return;
    }
    team->task = task;
    team->data = data;
    team->tasks = tasks;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    atomic_store(&team->working, (int32_t)team->threads.workers - 1);
    atomic_fetch_add(&team->job, 1); /* publishes what is above */
    wake(&team->job);
    take_tasks(team, 0);
    for (int i = 0; i < SPINS && atomic_load(&team->working) != 0; i++) continue;
    for (int32_t left; (left = atomic_load(&team->working)) != 0;)
        if (team->may_sleep) sleep_while(&team->working, left, NAP);
}

attnjs_team_t *attnjs_team_create(uint32_t workers, int32_t may_sleep) {
    attnjs_team_t *team = calloc(1, sizeof *team);
    if (!team) return NULL;
    team->may_sleep = may_sleep;
    team->threads = (attn_ext_threads_t){.struct_size = sizeof team->threads,
                                         .workers = workers,
                                         .pool = team,
                                         .parallel_for = parallel_for};
    return team;
}

const attn_ext_threads_t *attnjs_team_threads(const attnjs_team_t *team) { return &team->threads; }

void attnjs_team_stop(attnjs_team_t *team) {
    atomic_store(&team->stop, 1);
    atomic_fetch_add(&team->job, 1);
    wake(&team->job);
}

/* No job ends before all workers have been at it: one that starts late misses none. */
void attnjs_work(void *pool, double number) {
    attnjs_team_t *team = pool;
    for (int32_t seen = 0;;) {
        for (int i = 0; i < SPINS && atomic_load(&team->job) == seen; i++) continue;
        while (atomic_load(&team->job) == seen) sleep_while(&team->job, seen, -1);
        if (atomic_load(&team->stop)) return;
        seen++;
        take_tasks(team, (uint32_t)number);
        if (atomic_fetch_sub(&team->working, 1) == 1) wake(&team->working);
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
