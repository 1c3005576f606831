/* cli/lab/points.c: see points.h. */
#include "cli/lab/points.h"

#include "cli/cli.h"
#include "cli/lab/stop.h"

#include <stdlib.h>
#include <unistd.h>

#if !defined(__wasm__)
#include <pthread.h>
#include <time.h>
#endif

typedef struct place {
    uint32_t index;
    double cost;
} place_t;

typedef struct points {
    task_t *task;
    checkpoint_t *checkpoint;
    progress_t *progress;
    place_t *order; /* the most expensive first, so that no thread begins a long one at the end */
    uint32_t count, next;
    int status;     /* of the first failure */
    int unwritable; /* the checkpoint; a status */
#if !defined(__wasm__)
    uint32_t working; /* threads */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* working */
#endif
} points_t;

/* ---- the queue ----------------------------------------------------------------------------------- */

static int by_cost(const void *left, const void *right) {
    const place_t *a = left, *b = right;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

/* Those that are missing; the cost of them all. */
static int make_order(points_t *points, double *total) {
    const task_t *task = points->task;
    points->order = malloc(task->run.point_count * sizeof *points->order);
    if (!points->order) return cli_complain(CLI_USAGE, "no memory for the points");
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        if (task->done[i]) continue;
        const place_t place = {.index = i, .cost = lab_run_cost(&task->run, i)};
        points->order[points->count++] = place;
        *total += place.cost;
    }
    qsort(points->order, points->count, sizeof *points->order, by_cost);
    return CLI_OK;
}

static const place_t *take(points_t *points) {
    if (points->status || stop_wanted() || points->next == points->count) return NULL;
    return &points->order[points->next++];
}

typedef struct outcome {
    attn_status_t status;
    attn_error_t error;
} outcome_t;

static void compute(const points_t *points, const place_t *place, outcome_t *outcome) {
    const uint32_t width = points->task->run.panel->column_count;
    double *row = points->task->rows + (size_t)place->index * width;
    outcome->status = lab_run_point(&points->task->run, place->index, row, &outcome->error);
}

static int complain(const points_t *points, const place_t *place, const attn_error_t *error) {
    char name[TASK_NAME], what[TASK_NAME + 48], number[32];
    snprintf(what, sizeof what, "%s, x = %s", task_name(points->task, name),
             lab_number_text(lab_run_x(&points->task->run, place->index), number));
    return cli_reject(what, error);
}

/* Only the first failure is told; points in flight then are kept all the same, where they can be. */
static void keep(points_t *points, const place_t *place, const outcome_t *outcome) {
    task_t *task = points->task;
    if (outcome->status) {
        if (!points->status) points->status = complain(points, place, &outcome->error);
        return;
    }
    if (points->unwritable) return;
    points->unwritable = checkpoint_add(points->checkpoint, place->index);
    if (points->unwritable) {
        points->status = points->unwritable;
        return;
    }
    task->done[place->index] = 1;
    task->finished++;
    progress_add(points->progress, place->cost);
}

/* ---- threads ------------------------------------------------------------------------------------- */

#if defined(__wasm__)

uint32_t points_threads(void) { return 1; }

static int work(points_t *points, uint32_t threads) {
    (void)threads;
    for (const place_t *place; (place = take(points));) {
        outcome_t outcome;
        compute(points, place, &outcome);
        keep(points, place, &outcome);
        progress_draw(points->progress);
    }
    return points->status;
}

#else

uint32_t points_threads(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (uint32_t)count : 1;
}

static void *worker(void *data) {
    points_t *points = data;
    pthread_mutex_lock(&points->lock);
    for (const place_t *place; (place = take(points));) {
        outcome_t outcome;
        pthread_mutex_unlock(&points->lock);
        compute(points, place, &outcome);
        pthread_mutex_lock(&points->lock);
        keep(points, place, &outcome);
    }
    points->working--;
    pthread_cond_signal(&points->changed);
    pthread_mutex_unlock(&points->lock);
    return NULL;
}

/* Four times a second: enough for the time left, and nothing that a measurement would see. */
static void watch(points_t *points) {
    while (points->working) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&points->changed, &points->lock, &until);
        progress_draw(points->progress);
    }
}

static int work(points_t *points, uint32_t threads) {
    pthread_t *handles = malloc(threads * sizeof *handles);
    uint32_t started = 0;
    if (!handles) return cli_complain(CLI_USAGE, "no memory for %u threads", threads);
    pthread_mutex_init(&points->lock, NULL);
    pthread_cond_init(&points->changed, NULL);
    pthread_mutex_lock(&points->lock);
    while (started < threads && !pthread_create(&handles[started], NULL, worker, points)) started++;
    points->working = started;
    if (!started) points->status = cli_complain(CLI_FAILED, "the system starts no thread");
    watch(points);
    pthread_mutex_unlock(&points->lock);
    for (uint32_t i = 0; i < started; i++) pthread_join(handles[i], NULL);
    pthread_cond_destroy(&points->changed);
    pthread_mutex_destroy(&points->lock);
    free(handles);
    return points->status;
}

#endif

/* ---- all of it ----------------------------------------------------------------------------------- */

int points_compute(checkpoint_t *checkpoint, uint32_t threads, progress_t *progress) {
    task_t *task = checkpoint->task;
    points_t points = {.task = task, .checkpoint = checkpoint, .progress = progress};
    double total = 0;
    int status = make_order(&points, &total);
    if (task->run.panel->flags & LAB_SERIAL) threads = 1;
    if (threads > points.count) threads = points.count;
    if (!status && threads > 0) {
        progress_begin(progress, task, total);
        status = work(&points, threads);
        task->seconds = progress_end(progress);
    }
    free(points.order);
    return status;
}
