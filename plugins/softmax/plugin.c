/* softmax: exact attention, A = D^-1 exp(S), O = A V: the driver of core/flash/ without a pattern. */
#include "softmax.h"

#include "attn/ext/params.h"
#include "attn/pairs.h"
#include "flash/backward.h"
#include "stream/cached.h"

#include <string.h>

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const flash_plan_t *plan = (const flash_plan_t *)base;
    attn_flash_cost(plan, attn_problem_pairs(&plan->problem), cost);
    cost->form = "n m (d + dv)";
}

uint64_t attn_softmax_plan_bytes(const attn_backend_plan_t *plan) {
    (void)plan; /* all alike */
    return sizeof(flash_plan_t);
}

static attn_status_t make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error) {
    const attn_cached_t cached = {.host = host,
                                  .backend = &attn_softmax_backend,
                                  .problem = problem,
                                  .plan_bytes = attn_softmax_plan_bytes,
                                  .period = 1};
    (void)values;
    return attn_cached_stream(&cached, stream, error);
}

static const void *get_extension(const char *id) {
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_params_t params = {.struct_size = sizeof params, .count = 0};
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams, .create = make_stream};
    if (ATTN_GRADIENTS && strcmp(id, ATTN_EXT_BACKWARD) == 0) return &attn_flash_backward;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &attn_flash_weights;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    return NULL;
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    (void)values;
    return attn_flash_plan("softmax", host, problem, attn_host_allocate(host, sizeof(flash_plan_t)),
                           NULL, result, error);
}

const attn_backend_t attn_softmax_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = FLASH_FEATURES | (ATTN_GRADIENTS ? ATTN_FEATURE_BACKWARD : 0),
    .id = "softmax",
    .name = "Softmax",
    .version = "0.1.0",
#if !ATTN_SMALL /* where nobody asks */
    .description = "Exact attention by the online softmax, in memory linear in n and m.",
    .reference = "A = D^-1 exp(Q K^T / sqrt(d)): arXiv:2310.11685, Eq. 1; online: arXiv:1805.02867",
#endif
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&attn_softmax_backend};
ATTN_PLUGIN(softmax, backends);
