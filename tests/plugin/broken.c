/*
 * A small backend, the mean of the values that a query sees, and one fault in it for each FAULT: the name of
 * the check of `attn check` that is meant to find it. 0: none.
 */
#include "attn/ext/backward.h"
#include "attn/ext/cost.h"
#include "attn/ext/inputs.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "attn/support.h"

#include <math.h>
#include <string.h>

enum fault {
    NONE,
    RUNS,
    GUARDS,
    INPUTS,
    STRIDES,
    CORNERS,
    BATCH,
    AGAIN,
    THREADS,
    HIDDEN,
    GRADIENTS,
    TOLD
};

typedef struct mean_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    attn_problem_t problem;
} mean_plan_t;

static float *at(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    return (float *)t->data + b * t->stride[0] + h * t->stride[1] + i * t->stride[2] +
           c * t->stride[3];
}

typedef struct call {
    const mean_plan_t *plan;
    const attn_io_t *io;
    float kept; /* what the workspace had from a run before */
} call_t;

static float mean(const call_t *call, int64_t b, int64_t h, int64_t seen, int64_t c) {
    const attn_problem_t *p = &call->plan->problem;
    attn_tensor_t value = call->io->value;
    const int64_t head = h / (p->heads / p->kv_heads);
    float sum = 0.0f;
    if (FAULT == STRIDES) value.stride[3] = 1;
    if (FAULT == BATCH) b = 0;
    if (FAULT == CORNERS && seen > 1 && p->queries == 1) seen--;
    const int backwards = FAULT == THREADS && attn_host_workers(call->plan->host) > 1;
    for (int64_t j = 0; j < seen; j++) sum += *at(&value, b, head, backwards ? seen - 1 - j : j, c);
    for (int64_t j = seen; FAULT == HIDDEN && j < p->keys; j++)
        sum += 0.0f * *at(&value, b, head, j, c);
    if (FAULT == AGAIN) sum += call->kept;
    return seen ? sum / (float)seen : 0.0f;
}

static void task(void *data, int64_t number, uint32_t worker) {
    const call_t *call = data;
    const attn_problem_t *p = &call->plan->problem;
    const int64_t i = number % p->queries, h = number / p->queries % p->heads;
    const int64_t b = number / p->queries / p->heads, seen = attn_causal_limit(p, i);
    const int64_t columns = p->value_dim - (FAULT == RUNS && i + 1 == p->queries);
    (void)worker;
    for (int64_t c = 0; c < columns; c++)
        *at(&call->io->out, b, h, i, c) = mean(call, b, h, seen, c);
    if (FAULT == GUARDS && h + 1 == p->heads && b + 1 == p->batch)
        *at(&call->io->out, b, h, p->queries - 1, p->value_dim) = 0.0f;
    if (FAULT == INPUTS) *at(&call->io->query, b, h, i, 0) += 1.0f;
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const mean_plan_t *plan = (const mean_plan_t *)base;
    float *memory = io->workspace;
    call_t call = {plan, io, isfinite(memory[0]) ? memory[0] : 0.0f};
    (void)error;
    attn_host_parallel_for(
        plan->host, plan->problem.batch * plan->problem.heads * plan->problem.queries, task, &call);
    memory[0] = 1.0f;
    return ATTN_OK;
}

static attn_status_t rows(const attn_backend_plan_t *base, const attn_io_t *io, int64_t batch,
                          int64_t head, int64_t first, int64_t count, float *to, int64_t row_stride,
                          attn_error_t *error) {
    const attn_problem_t *p = &((const mean_plan_t *)base)->problem;
    (void)io, (void)batch, (void)head, (void)error;
    for (int64_t r = 0; r < count; r++) {
        const int64_t seen = attn_causal_limit(p, first + r);
        for (int64_t j = 0; j < p->keys; j++)
            to[r * row_stride + j] = j < seen ? 1.0f / (float)seen : 0.0f;
    }
    return ATTN_OK;
}

/* dV_j is the sum over the queries that see key j of dO_i / (how many keys they see). */
static attn_status_t backward(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const attn_problem_t *p = &((const mean_plan_t *)base)->problem;
    const attn_tensor_t *to[] = {&gradients->query, &gradients->key, &gradients->value};
    const int64_t group = p->heads / p->kv_heads;
    (void)io, (void)error;
    for (int a = 0; a < 3; a++)
        for (int64_t k = 0; to[a]->data && k < to[a]->shape[0] * to[a]->shape[1] * to[a]->shape[2];
             k++)
            for (int64_t c = 0; c < to[a]->shape[3]; c++) {
                const int64_t j = k % to[a]->shape[2], h = k / to[a]->shape[2] % to[a]->shape[1];
                const int64_t b = k / to[a]->shape[2] / to[a]->shape[1];
                double sum = 0;
                for (int64_t i = 0; a == 2 && i < group * p->queries; i++)
                    if (j < attn_causal_limit(p, i % p->queries))
                        sum += (double)*at(&gradients->out, b, h * group + i / p->queries,
                                           i % p->queries, c) /
                               (double)attn_causal_limit(p, i % p->queries);
                *at(to[a], b, h, j, c) = (float)(FAULT == GRADIENTS ? 1.1 * sum : sum);
            }
    return ATTN_OK;
}

static void cost(const attn_backend_plan_t *base, attn_cost_t *to) {
    const attn_problem_t *p = &((const mean_plan_t *)base)->problem;
    to->pairs = attn_problem_pairs(p) * (FAULT == TOLD ? 2.0 : 1.0);
    to->flops = to->pairs * (double)p->value_dim;
    to->bytes =
        4.0 * (double)p->batch * (double)p->kv_heads * (double)p->keys * (double)p->value_dim;
    to->form = "n m dv";
}

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((mean_plan_t *)base)->host, base);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    mean_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    (void)values;
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "mean: no memory for the plan");
    *plan = (mean_plan_t){.base = {.struct_size = sizeof plan->base,
                                   .workspace_size = 64,
                                   .kernel = "plain C",
                                   .run = run,
                                   .destroy = destroy},
                          .host = host,
                          .problem = attn_problem_copy(problem)};
    *result = &plan->base;
    return ATTN_OK;
}

static const void *get_extension(const char *id) {
    static const attn_ext_weights_t weights = {sizeof weights, 0, rows};
    static const attn_ext_cost_t costs = {sizeof costs, 0, cost};
    static const attn_ext_backward_t gradients = {
        sizeof gradients, 0, 1u << ATTN_ARRAY_QUERY | 1u << ATTN_ARRAY_KEY | 1u << ATTN_ARRAY_VALUE,
        backward};
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (strcmp(id, ATTN_EXT_BACKWARD) == 0) return &gradients;
    return NULL;
}

static const attn_backend_t mean_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_BACKWARD,
    .id = "org.example.mean",
    .name = "Mean",
    .version = "1",
    .description = "The mean of the values that a query sees.",
    .reference = "none",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&mean_backend};
ATTN_PLUGIN(mean, backends);
