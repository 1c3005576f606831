/*
 * A small thread pool: workers wait for a job, take task numbers from it until none is left, and
 * the caller of parallel_for works along. No more are woken than there are tasks for, and who
 * wakes after the last task was taken is not waited for: a job is closed by then. A pool that is
 * busy with another caller's job is not waited for either: that second caller does its tasks alone.
 *
 * A process that was forked has none of the threads, and finds locks as they were in that moment: there every caller
 * does its tasks alone, and the pool is memory and nothing else.
 *
 * To wake a thread takes as long as a small phase of a run, some 50 us: who has nothing to do looks
 * for as long, letting others have the core, before it sleeps.
 */
#include "internal.h"

#if defined(__wasm__)

attn_status_t attn_pool_create(const attn_context_t *context, uint32_t workers, attn_pool_t **pool,
                               attn_error_t *error) {
    (void)context, (void)pool;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "threads: this build has 1, not %u", workers);
}

void attn_pool_destroy(const attn_context_t *context, attn_pool_t *pool) {
    (void)context, (void)pool;
}

void attn_pool_parallel_for(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    (void)pool;
    for (int64_t t = 0; t < tasks; t++) task(data, t, 0);
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { LOOKS = 200 }; /* before sleep */

typedef struct worker {
    pthread_t thread;
    attn_pool_t *pool;
    uint32_t number;
} worker_t;

struct attn_pool {
    pid_t process;        /* that has the threads */
    pthread_mutex_t busy; /* held by the caller whose job it is */
    pthread_mutex_t lock; /* guards what follows; job and working are looked at without it */
    pthread_cond_t start, done;
    _Atomic uint64_t job;     /* counts jobs; a worker works once on each */
    _Atomic uint32_t working; /* workers on the job */
    bool open;                /* to workers that are not on it yet */
    bool stop;
    attn_task_t *task;
    void *data;
    int64_t tasks;
    _Atomic int64_t next;
    uint32_t started;
    worker_t workers[];
};

static bool has_threads(const attn_pool_t *pool) { return pool->process == getpid(); }

static void wake(attn_pool_t *pool, int64_t workers) {
    if (workers >= pool->started) {
        pthread_cond_broadcast(&pool->start);
        return;
    }
    for (int64_t i = 0; i < workers; i++) pthread_cond_signal(&pool->start);
}

static void work(attn_pool_t *pool, uint32_t number) {
    for (;;) {
        int64_t t = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (t >= pool->tasks) return;
        pool->task(pool->data, t, number);
    }
}

static void *worker_main(void *argument) {
    worker_t *worker = argument;
    attn_pool_t *pool = worker->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && (!pool->open || pool->job == seen))
            pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->stop) break;
        seen = pool->job;
        pool->working++;
        pthread_mutex_unlock(&pool->lock);
        work(pool, worker->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0 && !pool->open) pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < LOOKS && pool->job == seen; i++) sched_yield();
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

attn_status_t attn_pool_create(const attn_context_t *context, uint32_t workers,
                               attn_pool_t **result, attn_error_t *error) {
    attn_pool_t *pool = attn_allocate(context, sizeof *pool + (workers - 1) * sizeof(worker_t));
    if (!pool) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %u threads", workers);
    *pool = (attn_pool_t){.process = getpid()};
    pthread_mutex_init(&pool->busy, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (uint32_t i = 0; i + 1 < workers; i++) {
        worker_t *worker = &pool->workers[i];
        worker->pool = pool;
        worker->number = i + 1;
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            attn_pool_destroy(context, pool);
            return attn_fail(error, ATTN_ERROR_MEMORY, "the system starts no more than %u threads",
                             i + 1);
        }
        pool->started++;
    }
    *result = pool;
    return ATTN_OK;
}

static void stop(attn_pool_t *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->busy);
}

void attn_pool_destroy(const attn_context_t *context, attn_pool_t *pool) {
    if (!pool) return;
    if (has_threads(pool)) stop(pool);
    attn_release(context, pool);
}

void attn_pool_parallel_for(void *data, int64_t tasks, attn_task_t *task, void *task_data) {
    attn_pool_t *pool = data;
    if (!pool || tasks < 2 || !has_threads(pool) || pthread_mutex_trylock(&pool->busy) != 0) {
        for (int64_t t = 0; t < tasks; t++) task(task_data, t, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->data = task_data;
    pool->tasks = tasks;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->open = true;
    pool->job++;
    wake(pool, tasks - 1);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < LOOKS && pool->working; i++) sched_yield();
    pthread_mutex_lock(&pool->lock);
    while (pool->working) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->busy);
}

#endif
