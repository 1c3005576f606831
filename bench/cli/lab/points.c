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
    place_t *order; /* see by_cost() */
    int collecting; /* only what the store has finished: that is quick, and not stopped */
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

/* The most expensive first, so that no thread begins a long one at the end. */
static int by_cost(const void *left, const void *right) {
    const place_t *a = left, *b = right;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

/* The cheapest first: of what takes hours, much is to be seen soon. */
static int by_cheapness(const void *left, const void *right) { return by_cost(right, left); }

/* Those that are missing; the cost of them all. */
static int make_order(points_t *points, double *total) {
    const task_t *task = points->task;
    const int is_long = (task->run.panel->flags & LAB_LONG) != 0;
    free(points->order);
    points->count = points->next = 0;
    *total = 0;
    points->order = malloc(task->run.point_count * sizeof *points->order);
    if (!points->order) return cli_complain(CLI_USAGE, "no memory for the points");
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        if (task->done[i] || task->spoilt[i]) continue;
        const place_t place = {.index = i, .cost = lab_run_cost(&task->run, i)};
        points->order[points->count++] = place;
        *total += place.cost;
    }
    qsort(points->order, points->count, sizeof *points->order, is_long ? by_cheapness : by_cost);
    return CLI_OK;
}

static const place_t *take(points_t *points) {
    const int stops = !points->collecting && stop_wanted();
    if (points->status || stops || points->next == points->count) return NULL;
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
    if (outcome->status) lab_run_place(&points->task->run, place->index, row);
}

static int complain(const points_t *points, const place_t *place, const attn_error_t *error) {
    char name[TASK_NAME], what[TASK_NAME + LAB_FILE], number[32], file[LAB_FILE];
    lab_run_file(&points->task->run, place->index, file);
    if (file[0])
        return cli_complain(CLI_USAGE, "%s/%s: %s", points->task->folder, file, error->message);
    snprintf(what, sizeof what, "%s, x = %s", task_name(points->task, name),
             lab_number_text(lab_run_x(&points->task->run, place->index), number));
    return cli_reject(what, error);
}

/* The others go on; at the end run.c tells it again. */
static int spoil(points_t *points, const place_t *place, const char *why) {
    const lab_store_t *store = points->task->run.store;
    char name[LAB_FILE];
    lab_run_file(&points->task->run, place->index, name);
    if (store && name[0]) store->tell(store->data, name, why);
    return task_spoil(points->task, place->index, why);
}

/* Only the first failure is told; points in flight then are kept all the same, where they can be. */
static void keep(points_t *points, const place_t *place, const outcome_t *outcome) {
    task_t *task = points->task;
    if (outcome->status == LAB_UNFINISHED) return;
    if (outcome->status == LAB_SPOILT) {
        const int status = spoil(points, place, outcome->error.message);
        if (!points->status) points->status = status;
        return;
    }
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

/* All that are missing, or of them what the store has finished. */
static int pass(points_t *points, uint32_t threads) {
    double total;
    const int status = make_order(points, &total);
    if (threads > points->count) threads = points->count;
    if (status || threads == 0) return status;
    progress_begin(points->progress, points->task, total);
    const int result = work(points, threads);
    points->task->seconds += progress_end(points->progress);
    return result;
}

static int collect(points_t *points, uint32_t threads) {
    lab_run_t *run = &points->task->run;
    const lab_store_t *store = run->store;
    lab_store_t finished = *store;
    finished.finished_only = points->collecting = 1;
    run->store = &finished;
    const int status = pass(points, threads);
    run->store = store;
    points->collecting = 0;
    return status;
}

int points_compute(checkpoint_t *checkpoint, uint32_t threads, progress_t *progress) {
    task_t *task = checkpoint->task;
    points_t points = {.task = task, .checkpoint = checkpoint, .progress = progress};
    int status = CLI_OK;
    if (task->run.panel->flags & LAB_SERIAL) threads = 1;
    if (task->run.lab->file) status = collect(&points, threads);
    if (!status) status = pass(&points, threads);
    free(points.order);
    return status;
}
