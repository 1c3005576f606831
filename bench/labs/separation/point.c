/* labs/separation/point.c: a point's parameters as the networks take them (separation.h). */
#include "labs/separation/lab.h"

#include <math.h>

double separation_least_factor(enum separation_net net) {
    return 1 / (net == SEPARATION_REGRESSION ? log(2) : log(4.0 / 3));
}

/* m, which follows n and delta unless it is set (0: it is not), by a factor or as the paper's figures have it. */
static double width_of(const lab_point_t *point, enum separation_net net) {
    const double *values = point->values;
    const double n = values[SEPARATION_N], delta = values[SEPARATION_DELTA];
    if (values[SEPARATION_M] > 0) return floor(values[SEPARATION_M]);
    if (values[SEPARATION_FACTOR] > 0) return ceil(values[SEPARATION_FACTOR] * log(n / delta));
    if (net == SEPARATION_REGRESSION) return floor(log(n));
    if (net == SEPARATION_CROSS) return floor(log(n / delta));
    return floor(fmax(log(n / delta), 15));
}

static double threshold_of(const separation_t *what) {
    if (what->net == SEPARATION_REGRESSION) return 0.25; /* Lemma 5.2 */
    if (what->net == SEPARATION_CROSS) return 0.9;
    return (what->c + 0.1) * sqrt(log((double)what->n));
}

static int64_t queries_of(const separation_t *what) {
    const int64_t kinds = what->d - 2;
    if (!what->distinct) return what->n;
    if (what->net != SEPARATION_SELF) return 2; /* the marked row, and any other */
    return (kinds < what->n ? kinds : what->n) + 1;
}

/* b, which follows c unless it is set. */
static double block_size(const double *values, enum separation_net net) {
    const double c = values[SEPARATION_C];
    if (values[SEPARATION_B] > 0) return values[SEPARATION_B];
    return net == SEPARATION_SELF ? sqrt(fmax(0, 1 - c * c)) : 1 - c;
}

separation_t separation_of(const lab_point_t *point) {
    const double *values = point->values;
    separation_t what = {
        .net = (enum separation_net)values[SEPARATION_NET],
        .n = (int64_t)values[SEPARATION_N],
        .d = (int64_t)values[SEPARATION_D],
        .a = {values[SEPARATION_A0], values[SEPARATION_A1]},
        .b = block_size(values, (enum separation_net)values[SEPARATION_NET]),
        .c = values[SEPARATION_C],
        .trials = (int64_t)values[SEPARATION_TRIALS],
        .distinct = values[SEPARATION_ROWS] != 0,
    };
    what.m = (int64_t)width_of(point, what.net);
    what.stride = what.net == SEPARATION_REGRESSION
                      ? what.m
                      : (what.m + SEPARATION_BLOCK - 1) / SEPARATION_BLOCK * SEPARATION_BLOCK;
    what.tau = threshold_of(&what);
    what.queries = queries_of(&what);
    return what;
}
