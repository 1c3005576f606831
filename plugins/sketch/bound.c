#include "bound.h"

#include "barrier.h"
#include "leverage.h"

#include <math.h>

int64_t attn_sketch_rank(const attn_problem_t *problem, int64_t known) {
    const int64_t rows = attn_leverage_rows(problem);
    const int64_t most = rows < problem->dim ? rows : problem->dim;
    return known > 0 && known < most ? known : most;
}

double attn_sketch_bound(const attn_sketch_promise_t *promise, double eps) {
    const double delta = promise->delta;
    switch (promise->method) {
    case ATTN_SKETCH_GAUSSIAN: {
        const double pairs = (double)promise->queries * (double)promise->keys;
        return ceil(2 * log(4 * pairs / delta) / (eps * eps / 2 - eps * eps * eps / 3));
    }
    case ATTN_SKETCH_AMS:
    case ATTN_SKETCH_OSNAP:
    case ATTN_SKETCH_SRHT:
        return ceil(2 / (eps * eps * delta));
    case ATTN_SKETCH_LEVERAGE: {
        const double rank = (double)promise->rank;
        return ceil(3 * rank * log(2 * rank / delta) / (eps * eps));
    }
    case ATTN_SKETCH_DETERMINISTIC:
        return attn_barrier_steps(promise->rank, eps);
    case ATTN_SKETCH_APPROXIMATE:
        return attn_sketch_bound_approximate(promise, promise->factor, promise->sum, eps);
    }
    return INFINITY;
}

double attn_sketch_bound_approximate(const attn_sketch_promise_t *promise, double factor,
                                     double sum, double eps) {
    attn_sketch_promise_t exact = *promise;
    exact.method = ATTN_SKETCH_LEVERAGE;
    exact.delta /= 2;
    /* 1 of exact scores, but for rounding, which is to move no size. */
    const double part = sum / (double)promise->rank;
    return ceil(attn_sketch_bound(&exact, eps) * factor * part * (1 - 0x1p-40));
}

double attn_sketch_attained(const attn_sketch_promise_t *promise, int64_t size) {
    if (promise->method == ATTN_SKETCH_DETERMINISTIC)
        return size > promise->rank ? attn_barrier_distortion(promise->rank, size) : 0.0;
    if (attn_sketch_bound(promise, 1.0) > (double)size) return 0.0;
    double low = 0.0, high = 1.0; /* the bound falls as eps grows */
    for (int step = 0; step < 40; step++) {
        double middle = (low + high) / 2;
        if (attn_sketch_bound(promise, middle) > (double)size)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Whole numbers divided by powers of ten, which are exact to 10^22, are the doubles that their decimals are
 * read as. Not by pow(), which is 1 kB of a module. */
double attn_sketch_round_up(double value, int digits) {
    double least = 1, unit = 1;
    while (--digits) least *= 10;
    while (value * unit < least) unit *= 10;
    double count = floor(value * unit);
    while (count / unit < value) count++;
    return count / unit;
}
