#include "logits.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>

void sketch_logits(const attn_context_t *context, arrays_t *arrays, const char *settings,
                   double *logits) {
    const int64_t n = arrays->problem.queries, m = arrays->problem.keys;
    attn_plan_t *plan = fixture_plan(context, "sketch", &arrays->problem, settings);
    float *weights = malloc((size_t)(n * m) * sizeof *weights);
    assert_non_null(weights);
    arrays_run(arrays, plan);
    assert_int_equal(attn_weights(plan, &arrays->io, 0, 0, 0, n, weights, m, NULL), ATTN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            logits[i * m + j] =
                log((double)weights[i * m + j]) + (double)array_get(&arrays->lse, 0, 0, i, 0);
    free(weights);
    attn_plan_destroy(plan);
}

double exact_logit(const arrays_t *arrays, int64_t i, int64_t j) {
    double dot = 0;
    for (int64_t k = 0; k < arrays->problem.dim; k++)
        dot += (double)array_get(&arrays->query, 0, 0, i, k) *
               (double)array_get(&arrays->key, 0, 0, j, k);
    return dot;
}
