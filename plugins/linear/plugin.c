/*
 * linear: attention through feature maps, with cost linear in n and m and a state that does not
 * grow.
 */
#include "attn/ext/cost.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "plan.h"

#include <math.h>
#include <string.h>

/* ---- extensions --------------------------------------------------------------------------------- */

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_arena_t arena = {.base = io->workspace};
    const attn_head_t keys =
        attn_linear_head(plan, io, batch, head / (plan->problem.heads / plan->problem.kv_heads));
    const attn_queries_t queries = {
        .head = head,
        .first = first,
        .count = count,
        .scratch = attn_linear_space(plan, &arena).scratch,
    };
    (void)error;
    plan->kernels->weights(&keys, plan->map, &queries, rows, row_stride);
    return ATTN_OK;
}

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const attn_problem_t *problem = &((const linear_plan_t *)base)->problem;
    const double heads = (double)problem->batch * (double)problem->heads;
    const double kv_heads = (double)problem->batch * (double)problem->kv_heads;
    const double queries = (double)problem->queries, keys = (double)problem->keys;
    const double dim = (double)problem->dim, value_dim = (double)problem->value_dim;
    cost->pairs = attn_problem_pairs(problem);
    cost->flops = 2.0 * heads * queries * dim * (value_dim + 1) +
                  kv_heads * keys * dim * (2.0 * value_dim + 1);
    cost->bytes = sizeof(float) * (dim + value_dim) * (heads * queries + kv_heads * keys);
    cost->form = "(n + m) d dv";
}

#define NAME(NAME, name, help, phi) name,
#define HELP(NAME, name, help, phi) " " name " " help ";"
static const char *const maps[] = {LINEAR_MAPS(NAME) NULL};
static const char maps_help[] = "phi:" LINEAR_MAPS(HELP) " applied to queries and keys";
#undef NAME
#undef HELP

static const attn_param_info_t params[] = {
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_CHOICE,
        .name = "feature_map",
        .label = "feature map",
        .help = maps_help,
        .unit = "",
        .minimum = 0,
        .maximum = LINEAR_EXP,
        .initial = LINEAR_ELU1,
        .choices = maps,
    },
};

static const void *get_extension(const char *id) {
    static const attn_ext_params_t declared = {
        .struct_size = sizeof declared,
        .count = sizeof params / sizeof params[0],
        .params = params,
    };
    static const attn_ext_weights_t weights = {.struct_size = sizeof weights, .rows = weight_rows};
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams,
                                              .create = attn_linear_stream};
    if (strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &declared;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((linear_plan_t *)base)->host, base);
}

attn_status_t attn_linear_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    linear_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "linear: no memory for the plan");
    *plan = (linear_plan_t){
        .host = host,
        .kernels = attn_linear_kernels(attn_host_tier(host)),
        .problem = attn_problem_copy(problem),
        .scale = isnan(problem->scale) ? 1.0f : problem->scale,
        .map = (linear_map_t)values[0].integer,
    };
    attn_arena_t arena = {.base = NULL};
    attn_linear_space(plan, &arena);
    if (arena.overflow) {
        attn_host_release(host, plan);
        return attn_fail(error, ATTN_ERROR_MEMORY, "linear: the workspace would not fit in memory");
    }
    plan->base = (attn_backend_plan_t){
        .struct_size = sizeof plan->base,
        .workspace_size = arena.used,
        .kernel = plan->kernels->name,
        .run = attn_linear_run,
        .destroy = destroy,
    };
    *result = &plan->base;
    return ATTN_OK;
}

static const attn_backend_t linear_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS,
    .id = "linear",
    .name = "Linear",
    .version = "0.1.0",
    .description =
        "Weights from feature maps: cost linear in the length, a state that does not grow.",
    .reference = "elu1: arXiv:2006.16236, Eq. 7; lin: arXiv:2310.11685, Def. 3.2",
    .plan = attn_linear_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&linear_backend};
ATTN_PLUGIN(linear, backends);
