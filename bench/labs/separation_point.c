/* labs/separation_point.c: a point's parameters as the networks take them (separation.h). */
#include "labs/separation_lab.h"

#include <math.h>

/* m, which follows n and delta unless it is set (0: it is not). */
static double width_of(const lab_point_t *point, enum separation_net net) {
    const double *values = point->values;
    const double n = values[SEPARATION_N], delta = values[SEPARATION_DELTA];
    if (values[SEPARATION_M] > 0) return floor(values[SEPARATION_M]);
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
    if (what->net == SEPARATION_CROSS) return 2;
    return (kinds < what->n ? kinds : what->n) + 1;
}

separation_t separation_of(const lab_point_t *point) {
    const double *values = point->values;
    separation_t what = {
        .net = (enum separation_net)values[SEPARATION_NET],
        .n = (int64_t)values[SEPARATION_N],
        .d = (int64_t)values[SEPARATION_D],
        .a = {values[SEPARATION_A0], values[SEPARATION_A1]},
        .b = values[SEPARATION_B],
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
