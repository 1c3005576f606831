/*
 * sparse: softmax attention over the pattern of Eq. 6 (pattern.h), with cost and memory that follow
 * the kept pairs.
 *
 * A plan fixes the pattern and lists the global keys. A run goes through the key/value heads: pack
 * the head's keys, and once more the global ones side by side; then let the queries attend.
 */
#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "kernels.h"

#include <math.h>
#include <string.h>

typedef struct sparse_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const sparse_kernels_t *kernels;
    attn_problem_t problem;
    float scale;
    sparse_pattern_t pattern;
    int64_t globals;      /* how many global keys there are */
    int64_t *global_keys; /* their positions; behind the plan in the same memory */
} sparse_plan_t;

/* The workspace: one head's packed keys and values, all and global, then a scratch a worker. */
typedef struct workspace {
    float *panels, *values, *global_panels, *global_values;
    char *scratch;
    uint64_t scratch_size;
} workspace_t;

static int64_t panel_count(const sparse_plan_t *plan, int64_t keys) {
    return (keys + plan->kernels->panel - 1) / plan->kernels->panel;
}

static workspace_t lay_out(const sparse_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const uint64_t value_size = (uint64_t)problem->value_dim * sizeof(float);
    const uint64_t panel_size =
        (uint64_t)plan->kernels->panel * (uint64_t)problem->dim * sizeof(float);
    attn_arena_t scratch = {.base = NULL};
    plan->kernels->scratch(problem, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    space.panels = attn_arena_take(arena, panel_count(plan, problem->keys), panel_size);
    space.values = attn_arena_take(arena, problem->keys, value_size);
    space.global_panels = attn_arena_take(arena, panel_count(plan, plan->globals), panel_size);
    space.global_values = attn_arena_take(arena, plan->globals, value_size);
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

/* ---- run -------------------------------------------------------------------------------------- */

typedef struct run {
    const sparse_plan_t *plan;
    workspace_t space;
    sparse_head_t head;
} run_t;

static run_t begin(const sparse_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .space = lay_out(plan, &arena)};
    const int with_values = io->value.data != NULL;
    run.head = (sparse_head_t){
        .head = {.problem = &plan->problem, .io = io, .scale = plan->scale},
        .pattern = &plan->pattern,
        .all = {.count = plan->problem.keys,
                .panels = run.space.panels,
                .values = with_values ? run.space.values : NULL},
        .global = {.count = plan->globals,
                   .map = plan->global_keys,
                   .panels = run.space.global_panels,
                   .values = with_values ? run.space.global_values : NULL},
    };
    return run;
}

static void pack_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const int64_t panels = panel_count(run->plan, run->plan->problem.keys);
    void *scratch = run->space.scratch + worker * run->space.scratch_size;
    if (task < panels)
        run->plan->kernels->pack(&run->head.head, &run->head.all, task, scratch);
    else
        run->plan->kernels->pack(&run->head.head, &run->head.global, task - panels, scratch);
}

static void pack_head(run_t *run, int64_t batch, int64_t kv_head) {
    run->head.head.batch = batch;
    run->head.head.kv_head = kv_head;
    attn_host_parallel_for(run->plan->host,
                           panel_count(run->plan, run->plan->problem.keys) +
                               panel_count(run->plan, run->plan->globals),
                           pack_task, run);
}

static void attend_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    attn_queries_t queries = attn_queries_of(&run->head.head, run->plan->kernels->rows, task);
    queries.scratch = run->space.scratch + worker * run->space.scratch_size;
    run->plan->kernels->attend(&run->head, &queries);
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    const int64_t tasks =
        attn_query_blocks(problem, plan->kernels->rows) * (problem->heads / problem->kv_heads);
    run_t run = begin(plan, io);
    (void)error;
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->kv_heads; h++) {
            pack_head(&run, b, h);
            attn_host_parallel_for(plan->host, tasks, attend_task, &run);
        }
    return ATTN_OK;
}

/* ---- extensions --------------------------------------------------------------------------------- */

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    attn_io_t keys_only = *io;
    keys_only.value.data = NULL;
    run_t run = begin(plan, &keys_only);
    (void)error;
    pack_head(&run, batch, head / (plan->problem.heads / plan->problem.kv_heads));
    for (int64_t r = 0; r < count; r++)
        memset(rows + r * row_stride, 0, (size_t)plan->problem.keys * sizeof *rows);
    for (int64_t done = 0; done < count; done += plan->kernels->rows) {
        const int64_t left = count - done;
        const attn_queries_t queries = {
            .head = head,
            .first = first + done,
            .count = left < plan->kernels->rows ? left : plan->kernels->rows,
            .scratch = run.space.scratch,
        };
        plan->kernels->weights(&run.head, &queries, rows + done * row_stride, row_stride);
    }
    return ATTN_OK;
}

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    const double heads = (double)problem->batch * (double)problem->heads;
    const double kv_heads = (double)problem->batch * (double)problem->kv_heads;
    const double width = (double)(problem->dim + problem->value_dim);
    cost->pairs = attn_sparse_pairs(&plan->pattern, problem);
    cost->flops = 2.0 * cost->pairs * width;
    cost->bytes = sizeof(float) * width *
                  (heads * (double)problem->queries + kv_heads * (double)problem->keys);
    cost->form = "n (k B + c m / B) (d + dv)";
}

static int32_t fact(const attn_backend_plan_t *base, uint32_t index, attn_fact_t *fact) {
    const sparse_pattern_t *pattern = &((const sparse_plan_t *)base)->pattern;
    switch (index) {
    case 0:
        fact->name = "block", fact->label = "block size B", fact->number = (double)pattern->block;
        return 1;
    case 1:
        fact->name = "local", fact->label = "local blocks k", fact->number = (double)pattern->local;
        return 1;
    case 2:
        fact->name = "global", fact->label = "global keys a block c";
        fact->number = (double)pattern->global;
        return 1;
    default:
        return 0;
    }
}

static const attn_param_info_t params[] = {
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_INTEGER,
        .name = "block",
        .label = "block size",
        .help = "B of Eq. 6: keys a block",
        .unit = "keys",
        .minimum = 0,
        .maximum = 65536,
        .initial = 0,
        .automatic = "2^floor(log2 sqrt m)",
    },
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_INTEGER,
        .name = "local",
        .label = "local blocks",
        .help = "k of Eq. 6: each query sees the last k*B keys",
        .unit = "blocks",
        .minimum = 1,
        .maximum = 65536,
        .initial = 1,
    },
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_INTEGER,
        .name = "global",
        .label = "global keys",
        .help = "c of Eq. 6: the last c keys of every block are seen by all",
        .unit = "keys",
        .minimum = 0,
        .maximum = 65536,
        .initial = 1,
    },
};
enum { BLOCK, LOCAL, GLOBAL };

static const void *get_extension(const char *id) {
    static const attn_ext_params_t declared = {
        .struct_size = sizeof declared,
        .count = sizeof params / sizeof params[0],
        .params = params,
    };
    static const attn_ext_weights_t weights = {.struct_size = sizeof weights, .rows = weight_rows};
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_facts_t facts = {.struct_size = sizeof facts, .fact = fact};
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &declared;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (strcmp(id, ATTN_EXT_FACTS) == 0) return &facts;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((sparse_plan_t *)base)->host, base);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    const int64_t block =
        values[BLOCK].integer ? values[BLOCK].integer : attn_sparse_block(problem->keys);
    const sparse_pattern_t pattern =
        attn_sparse_pattern(problem, block, values[LOCAL].integer, values[GLOBAL].integer);
    const int64_t globals = attn_sparse_globals(&pattern, problem->keys);
    sparse_plan_t *plan =
        attn_host_allocate(host, sizeof *plan + (size_t)globals * sizeof(int64_t));
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "sparse: no memory for the plan");
    *plan = (sparse_plan_t){
        .host = host,
        .kernels = attn_sparse_kernels(attn_host_tier(host)),
        .problem = *problem,
        .scale = isnan(problem->scale) ? (float)(1.0 / sqrt((double)problem->dim)) : problem->scale,
        .pattern = pattern,
        .globals = globals,
        .global_keys = (int64_t *)(plan + 1),
    };
    for (int64_t g = 0; g < globals; g++)
        plan->global_keys[g] = attn_sparse_global_key(&pattern, g);
    attn_arena_t arena = {.base = NULL};
    lay_out(plan, &arena);
    if (arena.overflow) {
        attn_host_release(host, plan);
        return attn_fail(error, ATTN_ERROR_MEMORY, "sparse: the workspace would not fit in memory");
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

static const attn_backend_t sparse_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_LSE,
    .id = "sparse",
    .name = "Sparse",
    .version = "0.1.0",
    .description = "Softmax over a local band of blocks and the last keys of every block.",
    .reference = "Do Efficient Transformers Really Save Computation?, Eq. 6",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&sparse_backend};
ATTN_PLUGIN(sparse, backends);
