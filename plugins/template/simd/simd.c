/*
 * The template's attention by vectors: query i weighs key j by exp(-|i - j| / width), normalised over the keys that it
 * sees. What is asked of a plugin is in ../template.c; here is how kernels (row.c) are written once for all
 * instruction sets, and chosen when a plan is made.
 */
#include "attn/ext/params.h"
#include "attn/support.h"
#include "row.h"

#include <math.h>
#include <string.h>

typedef struct simd_plan {
    attn_backend_plan_t base; /* first: what the host sees of it */
    const attn_host_t *host;
    const row_kernels_t *kernels;
    attn_problem_t problem;
    float width;
} simd_plan_t;

/* What the tasks of a run share. */
typedef struct call {
    const simd_plan_t *plan;
    const attn_io_t *io;
} call_t;

/* A worker's own: the weights of a row, its sums, and a value whose numbers stand apart. */
typedef struct scratch {
    float *weights, *sums, *value;
} scratch_t;

static scratch_t take_scratch(attn_arena_t *arena, const attn_problem_t *p) {
    scratch_t scratch;
    scratch.weights = attn_arena_take(arena, p->keys, sizeof(float));
    scratch.sums = attn_arena_take(arena, p->value_dim, sizeof(float));
    scratch.value = attn_arena_take(arena, p->value_dim, sizeof(float));
    return scratch;
}

static float *row_of(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i) {
    return (float *)t->data + b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
}

/* The row, or a copy of it in `to` where kernels could not read it as it lies. */
static const float *packed(const float *row, int64_t step, int64_t count, float *to) {
    if (step == 1) return row;
    for (int64_t c = 0; c < count; c++) to[c] = row[c * step];
    return to;
}

static void run_row(void *data, int64_t task, uint32_t worker) {
    const simd_plan_t *plan = ((const call_t *)data)->plan;
    const attn_io_t *io = ((const call_t *)data)->io;
    const attn_problem_t *p = &plan->problem;
    attn_arena_t arena = {.base = io->workspace};
    scratch_t scratch = take_scratch(&arena, p);
    for (uint32_t w = 0; w < worker; w++) scratch = take_scratch(&arena, p);
    const int64_t i = task % p->queries, h = task / p->queries % p->heads;
    const int64_t b = task / p->queries / p->heads;
    const int64_t seen = attn_causal_limit(p, i), position = attn_query_position(p, p->keys, i);
    const int64_t nearest = attn_min(position, seen - 1);
    const float largest = -(float)(position - nearest) / plan->width;
    memset(scratch.sums, 0,
           (size_t)p->value_dim * sizeof(float)); /* and so for a row without keys */
    float sum = 0.0f;
    if (seen > 0) sum = plan->kernels->weigh(scratch.weights, seen, position, plan->width, largest);
    for (int64_t j = 0; j < seen; j++) {
        const float *value = row_of(&io->value, b, h / (p->heads / p->kv_heads), j);
        value = packed(value, io->value.stride[3], p->value_dim, scratch.value);
        plan->kernels->add(scratch.sums, value, scratch.weights[j] / sum, p->value_dim);
    }
    float *out = row_of(&io->out, b, h, i);
    for (int64_t c = 0; c < p->value_dim; c++) out[c * io->out.stride[3]] = scratch.sums[c];
    if (io->lse.data) *row_of(&io->lse, b, h, i) = largest + logf(sum);
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const simd_plan_t *plan = (const simd_plan_t *)base;
    const attn_problem_t *p = &plan->problem;
    call_t call = {plan, io};
    (void)error;
    attn_host_parallel_for(plan->host, p->batch * p->heads * p->queries, run_row, &call);
    return ATTN_OK;
}

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((simd_plan_t *)base)->host, base);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *given,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    const attn_problem_t problem = attn_problem_copy(given);
    attn_arena_t arena = {.base = NULL};
    for (uint32_t w = 0; w < attn_host_workers(host); w++) take_scratch(&arena, &problem);
    if (arena.overflow)
        return attn_fail(error, ATTN_ERROR_MEMORY, ATTN_NO_WORKSPACE, "template.simd");
    simd_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "template.simd: no memory for the plan");
    const row_kernels_t *kernels = row_kernels(attn_host_tier(host));
    *plan = (simd_plan_t){
        .base = {.struct_size = sizeof plan->base,
                 .workspace_size = arena.used,
                 .kernel = kernels->tier,
                 .run = run,
                 .destroy = destroy},
        .host = host,
        .kernels = kernels,
        .problem = problem,
        .width = (float)values[0].number,
    };
    *result = &plan->base;
    return ATTN_OK;
}

static const void *get_extension(const char *id) {
    static const attn_param_info_t width = {
        .struct_size = sizeof width,
        .type = ATTN_PARAM_NUMBER,
        .name = "width",
        .label = "width",
        .help = "distance over which a key's weight falls by e",
        .unit = "keys",
        .minimum = 1.0,
        .maximum = 1e6,
        .initial = 16.0,
    };
    static const attn_ext_params_t params = {sizeof params, 1, &width};
    return strcmp(id, ATTN_EXT_PARAMS) == 0 ? &params : NULL;
}

static const attn_backend_t simd_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_LSE,
    .id = "org.libattn.template.simd",
    .name = "Template, by vectors",
    .version = "1.0.0",
    .description = "Attention by position alone: weights fall exponentially with distance.",
    .reference = "the distance term of ALiBi, arXiv:2108.12409",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&simd_backend};
ATTN_PLUGIN(template_simd, backends);
