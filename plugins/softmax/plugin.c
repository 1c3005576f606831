/*
 * softmax: exact attention, A = D^-1 exp(S), O = A V, with memory linear in n and m.
 *
 * A plan decides sizes and kernels. A run goes through the key/value heads: pack the head's keys,
 * then let all queries that read them attend, task by task.
 */
#include "softmax.h"

#include "attn/ext/cost.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "kernels.h"

#include <math.h>
#include <string.h>

typedef struct softmax_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const softmax_kernels_t *kernels;
    const decode_kernels_t *decode; /* NULL: too many queries */
    attn_problem_t problem;
    float scale;
} softmax_plan_t;

/* The workspace: one head's packed keys and values, then a scratch for each worker. */
typedef struct workspace {
    float *panels, *values;
    char *scratch;
    uint64_t scratch_size;
} workspace_t;

static int64_t panel_count(const softmax_plan_t *plan) {
    return (plan->problem.keys - 1) / plan->kernels->panel + 1;
}

/* Floats from row to row of copied values: whole cache lines. */
static int64_t values_stride(const attn_problem_t *problem) {
    const int64_t line = ATTN_PIECE_ALIGNMENT / sizeof(float);
    return (problem->value_dim + line - 1) / line * line;
}

static workspace_t lay_out(const softmax_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const uint64_t panel_size = (uint64_t)plan->kernels->panel * (uint64_t)problem->dim;
    attn_arena_t scratch = {.base = NULL};
    plan->kernels->scratch(problem, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    space.panels = attn_arena_take(arena, panel_count(plan), panel_size * sizeof(float));
    space.values =
        attn_arena_take(arena, problem->keys, (uint64_t)values_stride(problem) * sizeof(float));
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

/* The workspace of decoding: partial results of all heads and chunks, then the scratches. */
typedef struct decode_space {
    decode_partial_t *partials; /* [batch * kv_heads][chunks] */
    float *outs;                /* [batch * kv_heads][chunks][rows][out_stride] */
    char *scratch;
    uint64_t scratch_size;
    int64_t chunks, outs_size; /* floats of one chunk's rows */
} decode_space_t;

static decode_space_t lay_out_decode(const softmax_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t rows = problem->heads / problem->kv_heads * problem->queries;
    attn_arena_t scratch = {.base = NULL};
    plan->decode->scratch(problem, &scratch);
    arena->overflow |= scratch.overflow;
    decode_space_t space = {.scratch_size = scratch.used};
    space.chunks = (problem->keys - 1) / DECODE_CHUNK + 1;
    space.outs_size = rows * plan->decode->out_stride(problem);
    const int64_t parts = problem->batch * problem->kv_heads * space.chunks;
    space.partials = attn_arena_take(arena, parts, sizeof(decode_partial_t));
    space.outs = attn_arena_take(arena, parts, (uint64_t)space.outs_size * sizeof(float));
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

/* ---- run -------------------------------------------------------------------------------------- */

typedef struct run {
    const softmax_plan_t *plan;
    workspace_t space;
    softmax_head_t head;
    int64_t tasks; /* of a key/value head */
} run_t;

static run_t begin(const softmax_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .space = lay_out(plan, &arena)};
    run.head.head = (attn_head_t){.problem = &plan->problem, .io = io, .scale = plan->scale};
    run.head.panels = run.space.panels;
    return run;
}

/* Whether every row of a head's values starts on a cache line, so that no vector spans two. */
static int is_aligned(const attn_tensor_t *value, const float *first_row) {
    return (uintptr_t)first_row % ATTN_PIECE_ALIGNMENT == 0 &&
           value->stride[2] * (int64_t)sizeof(float) % ATTN_PIECE_ALIGNMENT == 0;
}

/* Values are read in place where they are aligned rows of f32 with unit stride, else from a copy:
 * copied once, they are read by every tile of queries. */
static void choose_values(run_t *run) {
    softmax_head_t *head = &run->head;
    const attn_tensor_t *value = &head->head.io->value;
    head->copy = NULL;
    head->values = NULL;
    if (!value->data) return;
    if (value->dtype == ATTN_F32 && value->stride[3] == 1) {
        head->values = attn_row(value, head->head.batch, head->head.kv_head, 0);
        head->values_stride = value->stride[2];
        if (is_aligned(value, head->values)) return;
    }
    head->values = head->copy = run->space.values;
    head->values_stride = values_stride(&run->plan->problem);
}

static void pack_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    run->plan->kernels->pack(&run->head, task,
                             run->space.scratch + worker * run->space.scratch_size);
}

static void pack_head(run_t *run, int64_t batch, int64_t kv_head) {
    run->head.head.batch = batch;
    run->head.head.kv_head = kv_head;
    choose_values(run);
    attn_host_parallel_for(run->plan->host, panel_count(run->plan), pack_task, run);
}

/* The last queries first: under a causal mask they see most, and small tasks at the end leave no
 * thread waiting for long. */
static void attend_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const attn_io_t *io = run->head.head.io;
    attn_queries_t queries =
        attn_queries_of(&run->head.head, run->plan->kernels->rows, run->tasks - 1 - task);
    queries.scratch = run->space.scratch + worker * run->space.scratch_size;
    run->plan->kernels->attend(&run->head, &queries);
    if (ATTN_SMALL || !io->scores.data) return;
    run->plan->kernels->scores(
        &run->head, &queries, run->plan->problem.scores,
        attn_row(&io->scores, run->head.head.batch, queries.head, queries.first),
        io->scores.stride[2]);
}

static void run_prefill(const softmax_plan_t *plan, const attn_io_t *io) {
    const attn_problem_t *problem = &plan->problem;
    run_t run = begin(plan, io);
    run.tasks =
        attn_query_blocks(problem, plan->kernels->rows) * (problem->heads / problem->kv_heads);
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->kv_heads; h++) {
            pack_head(&run, b, h);
            attn_host_parallel_for(plan->host, run.tasks, attend_task, &run);
        }
}

typedef struct decode_run {
    const softmax_plan_t *plan;
    const attn_io_t *io;
    decode_space_t space;
} decode_run_t;

/* Key/value head number `index`, over batch and heads. */
static attn_head_t decode_head(const decode_run_t *run, int64_t index) {
    const attn_problem_t *problem = &run->plan->problem;
    return (attn_head_t){
        .problem = problem,
        .io = run->io,
        .batch = index / problem->kv_heads,
        .kv_head = index % problem->kv_heads,
        .scale = run->plan->scale,
    };
}

static void decode_task(void *data, int64_t task, uint32_t worker) {
    const decode_run_t *run = data;
    const decode_space_t *space = &run->space;
    const attn_head_t head = decode_head(run, task / space->chunks);
    run->plan->decode->attend(&head, task % space->chunks * DECODE_CHUNK, &space->partials[task],
                              space->outs + task * space->outs_size,
                              space->scratch + worker * space->scratch_size);
}

static void run_decode(const softmax_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    decode_run_t run = {.plan = plan, .io = io, .space = lay_out_decode(plan, &arena)};
    const int64_t heads = plan->problem.batch * plan->problem.kv_heads, chunks = run.space.chunks;
    attn_host_parallel_for(plan->host, heads * chunks, decode_task, &run);
    for (int64_t h = 0; h < heads; h++) {
        const attn_head_t head = decode_head(&run, h);
        plan->decode->merge(&head, chunks, run.space.partials + h * chunks,
                            run.space.outs + h * chunks * run.space.outs_size);
    }
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const softmax_plan_t *plan = (const softmax_plan_t *)base;
    (void)error;
    if (!ATTN_SMALL && plan->decode && !io->scores.data)
        run_decode(plan, io);
    else
        run_prefill(plan, io);
    return ATTN_OK;
}

/* ---- extensions --------------------------------------------------------------------------------- */

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const softmax_plan_t *plan = (const softmax_plan_t *)base;
    attn_io_t keys_only = *io;
    keys_only.value.data = NULL;
    run_t run = begin(plan, &keys_only);
    (void)error;
    pack_head(&run, batch, head / (plan->problem.heads / plan->problem.kv_heads));
    for (int64_t done = 0; done < count; done += plan->kernels->rows) {
        const int64_t left = count - done;
        const attn_queries_t queries = {
            .head = head,
            .first = first + done,
            .count = left < plan->kernels->rows ? left : plan->kernels->rows,
            .scratch = run.space.scratch,
        };
        plan->kernels->scores(&run.head, &queries, ATTN_SCORES_WEIGHTS, rows + done * row_stride,
                              row_stride);
    }
    return ATTN_OK;
}

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const attn_problem_t *problem = &((const softmax_plan_t *)base)->problem;
    const double heads = (double)problem->batch * (double)problem->heads;
    const double kv_heads = (double)problem->batch * (double)problem->kv_heads;
    const double width = (double)(problem->dim + problem->value_dim);
    cost->pairs = attn_problem_pairs(problem);
    cost->flops = 2.0 * cost->pairs * width;
    cost->bytes =
        width * (heads * (double)problem->queries * (double)attn_dtype_size(problem->dtype) +
                 kv_heads * (double)problem->keys * (double)attn_dtype_size(problem->kv_dtype));
    cost->form = "n m (d + dv)";
}

static const void *get_extension(const char *id) {
    static const attn_ext_weights_t weights = {.struct_size = sizeof weights, .rows = weight_rows};
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_params_t params = {.struct_size = sizeof params, .count = 0};
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((softmax_plan_t *)base)->host, base);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    (void)values;
    softmax_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "softmax: no memory for the plan");
    *plan = (softmax_plan_t){
        .host = host,
        .kernels = attn_softmax_kernels(attn_host_tier(host)),
        .problem = *problem,
        .scale = isnan(problem->scale) ? (float)(1.0 / sqrt((double)problem->dim)) : problem->scale,
    };
    if (!ATTN_SMALL && problem->heads / problem->kv_heads * problem->queries <= DECODE_ROWS)
        plan->decode = attn_decode_kernels(attn_host_tier(host));
    attn_arena_t arena = {.base = NULL}, decode_arena = {.base = NULL};
    lay_out(plan, &arena);
    if (!ATTN_SMALL && plan->decode) lay_out_decode(plan, &decode_arena);
    if (arena.overflow || decode_arena.overflow) {
        attn_host_release(host, plan);
        return attn_fail(error, ATTN_ERROR_MEMORY,
                         "softmax: the workspace would not fit in memory");
    }
    plan->base = (attn_backend_plan_t){
        .struct_size = sizeof plan->base,
        .workspace_size = arena.used > decode_arena.used ? arena.used : decode_arena.used,
        .kernel = plan->kernels->name,
        .run = run,
        .destroy = destroy,
    };
    *result = &plan->base;
    return ATTN_OK;
}

const attn_backend_t attn_softmax_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_LSE |
                ATTN_FEATURE_PAST | ATTN_FEATURE_WINDOW | ATTN_FEATURE_SOFTCAP | ATTN_FEATURE_BIAS |
                ATTN_FEATURE_MASK | ATTN_FEATURE_KV_LENGTHS | ATTN_FEATURE_SINKS |
                ATTN_FEATURE_SLOPES |
                (ATTN_SMALL ? 0 : ATTN_FEATURE_SCORES | ATTN_FEATURE_HALF | ATTN_FEATURE_INT8),
    .id = "softmax",
    .name = "Softmax",
    .version = "0.1.0",
    .description = "Exact attention by the online softmax, in memory linear in n and m.",
    .reference = "A = D^-1 exp(Q K^T / sqrt(d)): arXiv:2310.11685, Eq. 1; online: arXiv:1805.02867",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&attn_softmax_backend};
ATTN_PLUGIN(softmax, backends);
