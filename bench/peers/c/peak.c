/*
 * peers/peak.c: what this machine can do at most, as a contender beside those of a row: a call does `amount`
 * multiplications and additions of floats from registers (task->peak: flops), reads as many bytes (read), or reads and
 * writes them together (state), by as many threads at once as the task has. What the row's minute allows, these get, too.
 */
#include "worker.h"

#include <attn/attn.h>
#include <measure/measure.h>
#include <measure/peak_kernels.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 8, UNIT = 128 /* floats: see peak_order */ };

static const peak_kernels_t *kernels;
static attn_tier_t tier;
static int chosen;     /* of the kernels that do the same: the fastest */
static int64_t amount; /* of a thread: operations, or floats */
static float *data[MOST_THREADS];
static volatile float sink; /* so that no loop is dropped as useless */

typedef void work_t(float *mine);

static void multiply_add(float *mine) {
    (void)mine;
    const struct peak_variant *variant = &kernels->multiply_add[chosen];
    sink = variant->run(amount / variant->flops_per_step);
}

static void read_all(float *mine) { sink = kernels->read[chosen].run(mine, amount); }

static void update(float *mine) { kernels->update(mine, amount); }

static void tell_chain(about_t *about) {
    snprintf(about->text, sizeof about->text, "multiply-adds, %s, loop %d of %d",
             attn_tier_name(tier), chosen + 1, PEAK_VARIANTS);
}

static void tell_order(about_t *about) {
    const struct peak_order *order = &kernels->read[chosen];
    snprintf(about->text, sizeof about->text, "reading, %s, %d side by side, %d bytes ahead%s",
             attn_tier_name(tier), order->stretches, order->ahead,
             order->once ? ", non-temporal" : "");
}

static void tell_update(about_t *about) {
    snprintf(about->text, sizeof about->text, "reading and writing, %s", attn_tier_name(tier));
}

/* How each is done: by the fastest of `choices`, on arrays of a float for each so many bytes of what is asked for. */
static const struct kind {
    const char *name;
    work_t *work;
    int choices;
    int64_t bytes_per_float; /* 0: it has no array */
    void (*tell)(about_t *about);
} kinds[] = {
    {"flops", multiply_add, PEAK_VARIANTS, 0, tell_chain},
    {"read", read_all, PEAK_READS, sizeof(float), tell_order},
    {"state", update, 1, 2 * sizeof(float), tell_update},
};
static const struct kind *kind;

static const struct kind *find_kind(const char *name) {
    for (size_t i = 0; name && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, kinds[i].name) == 0) return &kinds[i];
    return NULL;
}

static int find_tier(about_t *about) {
    attn_context_t *context; /* which minds ATTN_CPU */
    attn_error_t error = {0};
    if (attn_context_create(NULL, &context, &error)) {
        snprintf(about->text, sizeof about->text, "%s", error.message);
        return 1;
    }
    tier = attn_context_tier(context);
    kernels = peak_kernels(tier);
    attn_context_destroy(context);
    return 0;
}

/* A part of what is asked for, and its array, for each thread. */
static int divide(const task_t *task, about_t *about) {
    amount = task->amount / task->threads;
    if (kind->bytes_per_float == 0) return 0;
    amount = amount / kind->bytes_per_float / UNIT * UNIT;
    snprintf(about->text, sizeof about->text, "no memory for %lld bytes, or too few of them",
             (long long)task->amount);
    for (int64_t i = 0; i < task->threads; i++) {
        data[i] = amount > 0 ? task_floats(amount) : NULL;
        if (!data[i]) return 1;
        for (int64_t j = 0; j < amount; j++) data[i][j] = 1; /* update() keeps it */
    }
    return 0;
}

static int compare(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Seconds of the second of two calls: what others left in caches is no part of it. */
static int time_call(const task_t *task, about_t *about, double *seconds) {
    if (contender_run(task, about)) return 1;
    const double start = measure_clock();
    const int failed = contender_run(task, about);
    *seconds = measure_clock() - start;
    return failed;
}

/* All of them by turns, seven and half a second of them at least: the one whose median is least. */
static int choose(const task_t *task, about_t *about) {
    enum { LEAST = 7, MOST = 101 };
    static double times[PEAK_READS][MOST];
    const double begin = measure_clock(), enough = 0.5;
    int turns = 0;
    for (; turns < LEAST || (turns < MOST && measure_clock() < begin + enough); turns++)
        for (chosen = 0; chosen < kind->choices; chosen++)
            if (time_call(task, about, &times[chosen][turns])) return 1;
    int best = 0;
    for (int i = 0; i < kind->choices; i++) {
        qsort(times[i], (size_t)turns, sizeof times[i][0], compare);
        if (times[i][turns / 2] < times[best][turns / 2]) best = i;
    }
    chosen = best;
    return 0;
}

static int has_threads(const task_t *task) {
    int threads = 0;
#pragma omp parallel num_threads((int)task->threads)
    {
#pragma omp single
        threads = omp_get_num_threads();
    }
    return threads == task->threads;
}

int contender_open(const task_t *task, about_t *about) {
    kind = find_kind(task->peak);
    if (!kind || task->threads > MOST_THREADS) {
        snprintf(about->text, sizeof about->text,
                 "peak=%.40s: flops, read or state, by at most %d threads",
                 task->peak ? task->peak : "", MOST_THREADS);
        return 1;
    }
    if (!has_threads(task)) {
        snprintf(about->text, sizeof about->text, "OpenMP gives it fewer than %d threads",
                 (int)task->threads);
        return 1;
    }
    if (find_tier(about) || divide(task, about) || choose(task, about)) return 1;
    kind->tell(about);
    return 0;
}

int contender_run(const task_t *task, about_t *about) {
    (void)about;
    if (task->threads == 1) { /* a state's update takes less than a microsecond */
        kind->work(data[0]);
        return 0;
    }
#pragma omp parallel for num_threads((int)task->threads) schedule(static, 1)
    for (int64_t i = 0; i < task->threads; i++) kind->work(data[i]);
    return 0;
}
