/* measure/measure.c: see measure.h. */
#include "measure/measure.h"

#include <stdlib.h>
#include <time.h>

enum { MAX_SAMPLES = 1000 };          /* 2^-1000 is still a normal double */
static const double shortest = 50e-6; /* a sample, against the clock's resolution */

double measure_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double measure_processor_clock(void) {
#ifndef __wasm__
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
    return measure_clock();
}

typedef double clock_now_t(void);

static int compare_times(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Largest k with P(Binomial(count, 1/2) < k) <= 2.5%: the k-th smallest and the k-th largest time
 * then hold the median between them 95 times of 100. 0 when there is none. */
static int64_t interval_rank(int64_t count) {
    double probability = 1, below = 0;
    for (int64_t i = 0; i < count; i++) probability /= 2;
    for (int64_t k = 0; k < count; k++) {
        below += probability;
        if (below > 0.025) return k;
        probability *= (double)(count - k) / (double)(k + 1);
    }
    return 0;
}

measure_t measure_interval(double *times, int64_t count) {
    qsort(times, (size_t)count, sizeof *times, compare_times);
    const int64_t rank = interval_rank(count), k = rank > 0 ? rank : 1;
    return (measure_t){.median = (times[(count - 1) / 2] + times[count / 2]) / 2,
                       .low = times[k - 1],
                       .high = times[count - k],
                       .samples = count};
}

/* Warms up, and returns how many calls a sample is to consist of. */
static attn_status_t warm_up(clock_now_t *now, measure_call_t *call, void *data, double until,
                             int64_t *group) {
    double last = 0;
    do {
        const double start = now();
        attn_status_t status = call(data);
        if (status) return status;
        last = now() - start;
    } while (now() < until);
    *group = last >= shortest ? 1 : last > shortest / 1000 ? (int64_t)(shortest / last) + 1 : 1000;
    return ATTN_OK;
}

static attn_status_t repeat(clock_now_t *now, measure_call_t *call, void *data, double budget,
                            measure_t *result) {
    const double start = now();
    double times[MAX_SAMPLES];
    int64_t count = 0, group = 1;
    attn_status_t status = warm_up(now, call, data, start + budget / 10, &group);
    if (status) return status;
    do {
        const double begin = now();
        for (int64_t i = 0; i < group; i++)
            if ((status = call(data))) return status;
        times[count++] = (now() - begin) / (double)group;
    } while (count < MAX_SAMPLES && now() < start + budget);
    *result = measure_interval(times, count);
    return ATTN_OK;
}

attn_status_t measure_repeat(measure_call_t *call, void *data, double budget, measure_t *result) {
    return repeat(measure_clock, call, data, budget, result);
}

attn_status_t measure_repeat_processor(measure_call_t *call, void *data, double budget,
                                       measure_t *result) {
    return repeat(measure_processor_clock, call, data, budget, result);
}
