/* A plan of exact attention: which kernels, which way, what it costs. */
#include "attention/backward.h"
#include "attention/quantised.h"

#include <math.h>

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((exact_plan_t *)base)->host, base);
}

/* As much as a run or its gradients need; 0 where that overflows. */
static int count_workspace(const exact_plan_t *plan, uint64_t *size) {
    attn_arena_t run = {.base = NULL}, gradients = {.base = NULL};
    if (!ATTN_SMALL && plan->decode)
        attn_decode_workspace(plan, &run);
    else
        attn_prefill_workspace(plan, &run);
    if (!ATTN_SMALL && plan->problem.backward) attn_backward_workspace(plan, &gradients);
    *size = run.used > gradients.used ? run.used : gradients.used;
    return !run.overflow && !gradients.overflow;
}

int attn_quantised_fits(const attn_problem_t *problem) {
    return attn_group(problem) * problem->queries >= QUANTISED_ROWS;
}

#if !ATTN_SMALL
const char *const attn_exact_precisions[] = {"auto",  "f32",  "bf16", "bf16x3",
                                             "int16", "int8", NULL};

/* Products of bf16 numbers are exact, and their sums are of f32: such inputs lose nothing but in weights, by as much as
 * the output when it is rounded to its type. */
static int64_t automatic(const attn_problem_t *problem) {
    const int bf16 = problem->dtype == ATTN_BF16 && problem->kv_dtype == ATTN_BF16;
    return bf16 ? EXACT_BF16_ONE : EXACT_F32;
}

attn_status_t attn_exact_choose(const char *id, const attn_host_t *host,
                                const attn_problem_t *problem, int64_t precision,
                                const exact_kernels_t **kernels, attn_error_t *error) {
    const attn_tier_t tier = attn_host_tier(host);
    if (precision == EXACT_AUTO) precision = automatic(problem);
    *kernels = NULL;
    if (precision == EXACT_F32) { /* six products of bf16, where they are faster */
        *kernels = attn_bf16x6_kernels(tier);
        return ATTN_OK;
    }
    if (problem->backward && precision >= EXACT_INT16)
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "%s: precision %s has no gradients; leave 'precision' away, or take bf16 or f32", id,
            attn_exact_precisions[precision]);
    if (precision == EXACT_BF16_ONE) *kernels = attn_bf16_kernels(tier);
    if (precision == EXACT_BF16_THREE) *kernels = attn_bf16x3_kernels(tier);
    return ATTN_OK;
}
#endif

/* Kernels for few rows by the precision's own products, where they pay. */
static const packed_kernels_t *packed_for(const attn_problem_t *problem,
                                          const attn_pattern_t *pattern,
                                          const exact_kernels_t *kernels) {
    if (ATTN_SMALL || !EXACT_BF16_TIERS || !kernels || !kernels->few || pattern) return NULL;
    const packed_kernels_t *few = kernels->few;
    if (attn_group(problem) * problem->queries < few->few_rows) return NULL;
    return attn_decode_fits(problem, pattern, few->rows) ? few : NULL;
}

attn_status_t attn_exact_plan(const char *id, const attn_host_t *host,
                              const attn_problem_t *problem, exact_plan_t *plan,
                              const attn_pattern_t *pattern, const exact_kernels_t *kernels,
                              attn_backend_plan_t **result, attn_error_t *error) {
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "%s: no memory for the plan", id);
    if (!ATTN_SMALL && problem->backward && problem->kv_dtype == ATTN_I8) {
        attn_host_release(host, plan);
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "%s: keys and values in i8 have no gradients", id);
    }
    const int integers = !ATTN_SMALL && kernels && kernels->kind == EXACT_INTEGERS;
    const int own = kernels && kernels->kind == EXACT_OWN;
    const packed_kernels_t *packed = packed_for(problem, pattern, kernels);
    const int few =
        !ATTN_SMALL && !own && (packed || attn_decode_fits(problem, pattern, DECODE_ROWS));
    const int bytes = integers && few && problem->kv_dtype == ATTN_I8;
    const int others = kernels && (!few || packed) && (!integers || attn_quantised_fits(problem));
    *plan = (exact_plan_t){
        .host = host,
        .kernels = others ? kernels : attn_exact_kernels(attn_host_tier(host)),
        .packed = packed,
        .pattern = pattern,
        .problem = attn_problem_copy(problem),
        .scale = isnan(problem->scale) ? (float)(1.0 / sqrt((double)problem->dim)) : problem->scale,
        .integers = bytes,
    };
    if (few) plan->decode = attn_decode_kernels(attn_host_tier(host));
    uint64_t workspace;
    if (!count_workspace(plan, &workspace)) {
        attn_host_release(host, plan);
        return attn_fail(error, ATTN_ERROR_MEMORY, ATTN_NO_WORKSPACE, id);
    }
    plan->base = (attn_backend_plan_t){
        .struct_size = sizeof plan->base,
        .workspace_size = workspace,
        .kernel = few ? (bytes ? kernels : plan->kernels)->decode_name : plan->kernels->name,
        .run = few ? attn_decode_run : attn_prefill_run,
        .destroy = destroy,
    };
    *result = &plan->base;
    return ATTN_OK;
}

void attn_exact_cost(const exact_plan_t *plan, double pairs, double keys, double values,
                     attn_cost_t *cost) {
    const attn_problem_t *problem = &plan->problem;
    const double heads = (double)problem->batch * (double)problem->heads;
    const double kv_heads = (double)problem->batch * (double)problem->kv_heads;
    const double width = (double)(problem->dim + problem->value_dim);
    const double query_size = (double)attn_dtype_size(problem->dtype);
    const double key_size = (double)attn_dtype_size(problem->kv_dtype);
    const double scale = problem->kv_dtype == ATTN_I8 ? (double)sizeof(float) : 0;
    cost->pairs = pairs;
    cost->flops = 2.0 * pairs * width;
    cost->gradient_flops = 2.0 * pairs * (width + (double)(2 * problem->dim + problem->value_dim));
    cost->bytes = heads * (double)problem->queries * width * query_size +
                  kv_heads * keys * ((double)problem->dim * key_size + scale) +
                  kv_heads * values * ((double)problem->value_dim * key_size + scale);
}

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const exact_plan_t *plan = (const exact_plan_t *)base;
    const attn_place_t at = {.batch = batch, .head = head, .query = first};
    (void)error;
    if (!ATTN_SMALL && plan->decode)
        attn_decode_weights(plan, io, at, count, rows, row_stride);
    else
        attn_prefill_weights(plan, io, at, count, rows, row_stride);
    return ATTN_OK;
}

const attn_ext_weights_t attn_exact_weights = {.struct_size = sizeof attn_exact_weights,
                                               .rows = weight_rows};
