/* Gradients of exact attention: parts of heads as tasks, and the order in which their sums are added. */
#include "attention/backward.h"

enum {
    TASKS = 16,     /* heads are cut into parts where there are fewer of them ... */
    PARTS = 8,      /* ... but not into more than these: each has sums for all keys */
    PART_BLOCKS = 3 /* nor into smaller ones: each packs all keys */
};

typedef struct backward_run {
    const exact_plan_t *plan;
    const backward_kernels_t *kernels;
    const attn_io_t *io, *gradients;
    int64_t parts, slots;
    char *scratch;
    uint64_t scratch_size;
    float *key_sums, *value_sums;
    uint8_t *ready;
    double *head_sums;
    int64_t panels;                   /* of a part's sums */
    int64_t key_stride, value_stride; /* floats of a part's sums */
    int64_t group;                    /* query heads a key/value head */
} backward_run_t;

static int64_t kv_heads(const attn_problem_t *problem) {
    return problem->batch * problem->kv_heads;
}

/* Heads with few queries share a block. */
static int64_t blocks_of(const backward_run_t *run) {
    const int64_t heads = attn_max(1, run->kernels->rows / run->plan->problem.queries);
    return attn_query_blocks(&run->plan->problem, run->kernels->rows) *
           ((run->group - 1) / heads + 1);
}

static int64_t parts_of(const backward_run_t *run) {
    const int64_t wanted = (TASKS - 1) / kv_heads(&run->plan->problem) + 1;
    return attn_max(1, attn_min(attn_min(wanted, PARTS), blocks_of(run) / PART_BLOCKS));
}

/* Of the same products as the run's: weights are made anew from its lse, which goes by its logits. */
static const backward_kernels_t *kernels_of(const exact_plan_t *plan) {
    const backward_kernels_t *own = EXACT_BF16_TIERS ? plan->kernels->backward : NULL;
    return own ? own : attn_backward_kernels(attn_host_tier(plan->host));
}

/* A head in one part needs its sums no longer than its task. */
static backward_run_t lay_out_backward(const exact_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t workers = attn_host_workers(plan->host), heads = kv_heads(problem);
    backward_run_t run = {.plan = plan, .kernels = kernels_of(plan)};
    attn_arena_t scratch = {.base = NULL};
    run.kernels->scratch(problem, plan->pattern, &scratch);
    arena->overflow |= scratch.overflow; /* has rows as long as the sums', counted with care */
    if (scratch.overflow) return run;
    run.scratch_size = scratch.used;
    run.group = attn_group(problem);
    run.parts = parts_of(&run);
    run.slots = run.parts == 1 ? workers : heads * run.parts;
    run.scratch = attn_arena_take(arena, workers, scratch.used);
    const int64_t dim = attn_round_up(problem->dim, run.kernels->lanes);
    const int64_t value_dim = attn_round_up(problem->value_dim, run.kernels->lanes);
    run.panels = attn_round_up(problem->keys, run.kernels->panel) / run.kernels->panel;
    const int64_t keys = run.panels * run.kernels->panel;
    run.key_stride = attn_round_up(keys * dim, ATTN_PIECE_ALIGNMENT);
    run.value_stride = attn_round_up(keys * value_dim, ATTN_PIECE_ALIGNMENT);
    run.key_sums = attn_arena_take(arena, run.slots, (uint64_t)run.key_stride * sizeof(float));
    run.value_sums = attn_arena_take(arena, run.slots, (uint64_t)run.value_stride * sizeof(float));
    run.ready = attn_arena_take(arena, run.slots, (uint64_t)run.panels);
    run.head_sums =
        attn_arena_take(arena, heads * run.parts * run.group, BACKWARD_HEAD_SUMS * sizeof(double));
    return run;
}

void attn_backward_workspace(const exact_plan_t *plan, attn_arena_t *arena) {
    lay_out_backward(plan, arena);
}

static backward_sums_t sums_of(const backward_run_t *run, int64_t slot, int64_t task) {
    return (backward_sums_t){.key = run->key_sums + slot * run->key_stride,
                             .value = run->value_sums + slot * run->value_stride,
                             .ready = run->ready + slot * run->panels,
                             .heads = run->head_sums + task * run->group * BACKWARD_HEAD_SUMS};
}

static backward_task_t task_of(const backward_run_t *run, int64_t head) {
    const attn_problem_t *problem = &run->plan->problem;
    return (backward_task_t){.head = {.problem = problem,
                                      .io = run->io,
                                      .batch = head / problem->kv_heads,
                                      .kv_head = head % problem->kv_heads,
                                      .batches = 1,
                                      .heads = run->group,
                                      .scale = run->plan->scale},
                             .gradients = run->gradients,
                             .pattern = run->plan->pattern};
}

/* The last queries first: under a causal mask they see most. */
static void attend_task(void *data, int64_t index, uint32_t worker) {
    const backward_run_t *run = data;
    const int64_t heads = kv_heads(&run->plan->problem), part = run->parts - 1 - index / heads;
    const int64_t head = index % heads, number = head * run->parts + part;
    const int64_t queries = run->plan->problem.queries * run->group;
    backward_task_t task = task_of(run, head);
    task.queries = (attn_range_t){part * queries / run->parts, (part + 1) * queries / run->parts};
    task.sums = sums_of(run, run->parts == 1 ? (int64_t)worker : number, number);
    task.scratch = run->scratch + worker * run->scratch_size;
    run->kernels->attend(&task);
    if (run->parts == 1)
        run->kernels->finish(&task, &task.sums, 1, (attn_range_t){0, run->plan->problem.keys});
}

static void finish_task(void *data, int64_t index, uint32_t worker) {
    const backward_run_t *run = data;
    const int64_t keys = run->plan->problem.keys, head = index / run->parts;
    const int64_t part = index % run->parts;
    const backward_task_t task = task_of(run, head);
    backward_sums_t parts[PARTS];
    (void)worker;
    for (int64_t p = 0; p < run->parts; p++)
        parts[p] = sums_of(run, head * run->parts + p, head * run->parts + p);
    run->kernels->finish(&task, parts, run->parts,
                         (attn_range_t){part * keys / run->parts, (part + 1) * keys / run->parts});
}

/* ---- gradients that heads share ---------------------------------------------------------------------- */

static void clear_bias(const attn_tensor_t *bias) {
    for (int64_t b = 0; b < bias->shape[0]; b++)
        for (int64_t h = 0; h < bias->shape[1]; h++)
            for (int64_t i = 0; i < bias->shape[2]; i++)
                for (int64_t j = 0; j < bias->shape[3]; j++)
                    attn_row(bias, b, h, i)[j * bias->stride[3]] = 0.0f;
}

/* Whether tasks add to the same elements: then one after another, so that the order is always the same. */
static int is_shared(const backward_run_t *run) {
    const attn_tensor_t *bias = &run->gradients->bias;
    const attn_problem_t *problem = &run->plan->problem;
    return bias->data && (bias->shape[0] < problem->batch || bias->shape[1] < problem->heads ||
                          (bias->shape[2] < problem->queries && run->parts > 1));
}

static void attend_all(void *data, int64_t index, uint32_t worker) {
    const backward_run_t *run = data;
    (void)index;
    for (int64_t t = 0; t < kv_heads(&run->plan->problem) * run->parts; t++)
        attend_task(data, t, worker);
}

/* Sums of the tasks, for each query head, over batch and parts. */
static void write_heads(const backward_run_t *run, const attn_tensor_t *tensor, int which) {
    const attn_problem_t *problem = &run->plan->problem;
    for (int64_t h = 0; tensor->data && h < problem->heads; h++) {
        double sum = 0.0;
        for (int64_t b = 0; b < problem->batch; b++)
            for (int64_t p = 0; p < run->parts; p++) {
                const int64_t head = b * problem->kv_heads + h / run->group;
                const backward_sums_t sums = sums_of(run, 0, head * run->parts + p);
                sum += sums.heads[h % run->group * BACKWARD_HEAD_SUMS + which];
            }
        *attn_row(tensor, 0, h, 0) = (float)sum;
    }
}

static attn_status_t backward(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const exact_plan_t *plan = (const exact_plan_t *)base;
    attn_arena_t arena = {.base = io->workspace};
    backward_run_t run = lay_out_backward(plan, &arena);
    const int64_t tasks = kv_heads(&plan->problem) * run.parts;
    (void)error;
    run.io = io;
    run.gradients = gradients;
    if (gradients->bias.data) clear_bias(&gradients->bias);
    if (is_shared(&run))
        attn_host_parallel_for(plan->host, 1, attend_all, &run);
    else
        attn_host_parallel_for(plan->host, tasks, attend_task, &run);
    if (run.parts > 1) attn_host_parallel_for(plan->host, tasks, finish_task, &run);
    write_heads(&run, &gradients->sinks, BACKWARD_SINK);
    write_heads(&run, &gradients->slopes, BACKWARD_SLOPE);
    return ATTN_OK;
}

const attn_ext_backward_t attn_exact_backward = {
    .struct_size = sizeof attn_exact_backward,
    .arrays = EXACT_GRADIENTS,
    .backward = backward,
};
