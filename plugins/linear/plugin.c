/*
 * linear: attention through feature maps, with cost linear in n and m and a state that does not
 * grow. One task is a key/value head's group of query heads, which share the state, or a part of it
 * where that leaves no worker idle.
 */
#include "attn/ext/cost.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "kernels.h"

#include <math.h>
#include <string.h>

typedef struct linear_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const linear_kernels_t *kernels;
    attn_problem_t problem;
    float scale;
    linear_map_t map;
} linear_plan_t;

/* The workspace: a count of degenerate rows for each task, then a scratch for each worker. */
typedef struct workspace {
    int64_t *degenerate;
    char *scratch;
    uint64_t scratch_size;
} workspace_t;

/* How many parts a group is cut into: each builds the state anew. */
static int64_t part_count(const linear_plan_t *plan) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t kv_heads = problem->batch * problem->kv_heads;
    const int64_t group = problem->heads / problem->kv_heads;
    const int64_t parts = (attn_host_workers(plan->host) - 1) / kv_heads + 1;
    return parts < group ? parts : group;
}

static int64_t task_count(const linear_plan_t *plan) {
    return plan->problem.batch * plan->problem.kv_heads * part_count(plan);
}

static workspace_t lay_out(const linear_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t scratch = {.base = NULL};
    plan->kernels->scratch(&plan->problem, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    space.degenerate = attn_arena_take(arena, task_count(plan), sizeof(int64_t));
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

/* ---- run -------------------------------------------------------------------------------------- */

typedef struct run {
    const linear_plan_t *plan;
    const attn_io_t *io;
    workspace_t space;
} run_t;

static attn_head_t head_of(const linear_plan_t *plan, const attn_io_t *io, int64_t batch,
                           int64_t query_head) {
    return (attn_head_t){
        .problem = &plan->problem,
        .io = io,
        .batch = batch,
        .kv_head = query_head / (plan->problem.heads / plan->problem.kv_heads),
        .scale = plan->scale,
    };
}

static void attend_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const attn_problem_t *problem = &plan->problem;
    const int64_t group = problem->heads / problem->kv_heads, parts = part_count(plan);
    const int64_t part = task % parts, kv_head = task / parts % problem->kv_heads;
    const int64_t first = part * group / parts, last = (part + 1) * group / parts;
    const attn_queries_t queries = {
        .head = kv_head * group + first,
        .count = problem->queries,
        .scratch = run->space.scratch + worker * run->space.scratch_size,
    };
    const attn_head_t head = head_of(plan, run->io, task / parts / problem->kv_heads, queries.head);
    run->space.degenerate[task] = plan->kernels->attend(&head, plan->map, &queries, last - first);
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .io = io, .space = lay_out(plan, &arena)};
    (void)error;
    attn_host_parallel_for(plan->host, task_count(plan), attend_task, &run);
    for (int64_t t = 0; io->report && t < task_count(plan); t++)
        io->report->degenerate_rows += run.space.degenerate[t];
    return ATTN_OK;
}

/* ---- extensions --------------------------------------------------------------------------------- */

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_arena_t arena = {.base = io->workspace};
    const attn_head_t keys = head_of(plan, io, batch, head);
    const attn_queries_t queries = {
        .head = head,
        .first = first,
        .count = count,
        .scratch = lay_out(plan, &arena).scratch,
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

static const char *const maps[] = {"elu1", "lin", "relu", NULL};

static const attn_param_info_t params[] = {
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_CHOICE,
        .name = "feature_map",
        .label = "feature map",
        .help = "phi: elu(x)+1, the identity (signed weights), or max(x, 0)",
        .unit = "",
        .minimum = 0,
        .maximum = 2,
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
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &declared;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((linear_plan_t *)base)->host, base);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
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
    lay_out(plan, &arena);
    if (arena.overflow) {
        attn_host_release(host, plan);
        return attn_fail(error, ATTN_ERROR_MEMORY, "linear: the workspace would not fit in memory");
    }
    plan->base = (attn_backend_plan_t){
        .struct_size = sizeof plan->base,
        .workspace_size = arena.used,
        .kernel = plan->kernels->name,
        .run = run,
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
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&linear_backend};
ATTN_PLUGIN(linear, backends);
