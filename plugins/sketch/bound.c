#include "bound.h"

#include <math.h>

double attn_sketch_bound(enum attn_sketch_method method, const attn_problem_t *problem, double eps,
                         double delta) {
    double queries = (double)problem->queries, keys = (double)problem->keys;
    switch (method) {
    case ATTN_SKETCH_GAUSSIAN: {
        double exponent = eps * eps / 2 - eps * eps * eps / 3;
        return ceil(2 * log(4 * queries * keys / delta) / exponent);
    }
    case ATTN_SKETCH_AMS:
    case ATTN_SKETCH_OSNAP:
        return ceil(2 / (eps * eps * delta));
    case ATTN_SKETCH_LEVERAGE: {
        double group = (double)(problem->heads / problem->kv_heads);
        double rank = fmin((double)problem->dim, group * queries + keys);
        return ceil(3 * rank * log(2 * rank / delta) / (eps * eps));
    }
    }
    return INFINITY;
}

double attn_sketch_attained(enum attn_sketch_method method, const attn_problem_t *problem,
                            int64_t size, double delta) {
    if (attn_sketch_bound(method, problem, 1.0, delta) > (double)size) return 0.0;
    double low = 0.0, high = 1.0; /* the bound falls as eps grows */
    for (int step = 0; step < 40; step++) {
        double middle = (low + high) / 2;
        if (attn_sketch_bound(method, problem, middle, delta) > (double)size)
            low = middle;
        else
            high = middle;
    }
    return high;
}
