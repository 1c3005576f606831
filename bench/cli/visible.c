/* cli/visible.c: see visible.h. */
#include "cli/visible.h"

#include <math.h>

typedef struct counter {
    runner_t *runner;
    const attn_context_t *context;
    parameters_t parameters;
    attn_cost_t sum;
    attn_status_t status; /* no memory */
} counter_t;

static const attn_cost_t untold = {.struct_size = sizeof untold,
                                   .flops = NAN,
                                   .bytes = NAN,
                                   .pairs = NAN,
                                   .computed = NAN,
                                   .gradient_flops = NAN};

static void begin(counter_t *counter, runner_t *runner, const attn_context_t *context,
                  const settings_t *settings) {
    *counter = (counter_t){.runner = runner, .context = context};
    counter->sum = (attn_cost_t){.struct_size = sizeof counter->sum, .form = runner->cost.form};
    settings_parameters(settings, runner->backend, &counter->parameters);
}

/* Of the runner's problem with so many keys, where there are any: else queries and results alone. */
static attn_cost_t cost_of(counter_t *counter, const attn_problem_t *problem) {
    attn_cost_t cost = {.struct_size = sizeof cost};
    attn_plan_t *plan = NULL;
    if (!problem->keys) {
        cost.bytes = (double)attn_dtype_size(problem->dtype) *
                     (double)(problem->batch * problem->heads * problem->queries) *
                     (double)(problem->dim + problem->value_dim);
        return cost;
    }
    const attn_status_t made = attn_plan_create(
        counter->context, counter->runner->backend->id, problem, counter->parameters.params,
        counter->parameters.count, &plan, &counter->runner->error);
    if (made == ATTN_ERROR_MEMORY) counter->status = made;
    const int is_told = !made && !attn_plan_cost(plan, &cost, NULL);
    attn_plan_destroy(plan);
    return is_told ? cost : untold;
}

static void add(counter_t *counter, const attn_cost_t *cost) {
    counter->sum.flops += cost->flops;
    counter->sum.bytes += cost->bytes;
    counter->sum.pairs += cost->pairs;
    counter->sum.computed += cost->computed;
    counter->sum.gradient_flops += cost->gradient_flops;
}

attn_status_t visible_lengths(runner_t *runner, const attn_context_t *context,
                              const settings_t *settings) {
    const attn_tensor_t *lengths = &runner->io.kv_lengths;
    attn_problem_t one = *attn_plan_problem(runner->plan);
    counter_t counter;
    attn_cost_t cost = untold;
    if (!lengths->data) return ATTN_OK;
    begin(&counter, runner, context, settings);
    one.batch = 1;
    for (int64_t b = 0; b < lengths->shape[0]; b++) {
        const int64_t at[4] = {b}, length = *(const int64_t *)(void *)array_element(lengths, at);
        if (!b || length != one.keys) {
            one.keys = length;
            cost = cost_of(&counter, &one);
        }
        add(&counter, &cost);
    }
    runner->cost = counter.sum;
    return counter.status;
}

attn_status_t visible_tokens(runner_t *runner, const attn_context_t *context,
                             const settings_t *settings, int64_t before) {
    attn_problem_t token = *attn_plan_problem(runner->plan);
    const int64_t queries = token.queries;
    counter_t counter;
    begin(&counter, runner, context, settings);
    counter.sum.pairs = runner->cost.pairs;
    counter.sum.computed = runner->cost.computed;
    token.queries = 1;
    token.past = 0;
    token.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    const int keeps_keys = (runner->backend->features & ATTN_FEATURE_LSE) != 0;
    for (int64_t i = 0; keeps_keys && i < queries; i++) {
        token.keys = before + i + 1;
        const attn_cost_t cost = cost_of(&counter, &token);
        counter.sum.flops += cost.flops;
        counter.sum.bytes += cost.bytes;
    }
    if (!keeps_keys) counter.sum.flops = counter.sum.bytes = NAN;
    runner->cost = counter.sum;
    return counter.status;
}
