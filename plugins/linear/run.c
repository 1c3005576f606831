/*
 * A run. One task is a key/value head's group of query heads, which share the state, or a part of it where
 * that leaves no worker idle.
 */
#include "plan.h"

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

linear_space_t attn_linear_space(const linear_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t scratch = {.base = NULL};
    plan->kernels->scratch(&plan->problem, &scratch);
    arena->overflow |= scratch.overflow;
    linear_space_t space = {.scratch_size = scratch.used};
    space.degenerate = attn_arena_take(arena, task_count(plan), sizeof(int64_t));
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

attn_head_t attn_linear_head(const linear_plan_t *plan, const attn_io_t *io, int64_t batch,
                             int64_t kv_head) {
    return (attn_head_t){
        .problem = &plan->problem,
        .io = io,
        .batch = batch,
        .kv_head = kv_head,
        .scale = plan->scale,
    };
}

typedef struct run {
    const linear_plan_t *plan;
    const attn_io_t *io;
    linear_space_t space;
    const linear_sums_t *before; /* [batch * kv_heads], or NULL */
    linear_sums_t *sums;
} run_t;

static run_t begin(const linear_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    return (run_t){.plan = plan, .io = io, .space = attn_linear_space(plan, &arena)};
}

static void attend_task(void *data, int64_t task, uint32_t worker) {
    static const linear_sums_t none = {.keys = 0};
    const run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const attn_problem_t *problem = &plan->problem;
    const int64_t group = problem->heads / problem->kv_heads, parts = part_count(plan);
    const int64_t part = task % parts, kv_index = task / parts; /* over batch and heads */
    const int64_t first = part * group / parts, last = (part + 1) * group / parts;
    const attn_head_t head =
        attn_linear_head(plan, run->io, kv_index / problem->kv_heads, kv_index % problem->kv_heads);
    const attn_queries_t queries = {
        .head = head.kv_head * group + first,
        .count = problem->queries,
        .scratch = run->space.scratch + worker * run->space.scratch_size,
    };
    run->space.degenerate[task] = plan->kernels->attend(
        &head, plan->map, run->before ? &run->before[kv_index] : &none, &queries, last - first);
}

void attn_linear_attend(const linear_plan_t *plan, const attn_io_t *io,
                        const linear_sums_t *before) {
    run_t run = begin(plan, io);
    run.before = before;
    attn_host_parallel_for(plan->host, task_count(plan), attend_task, &run);
    for (int64_t t = 0; io->report && t < task_count(plan); t++)
        io->report->degenerate_rows += run.space.degenerate[t];
}

attn_status_t attn_linear_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error) {
    (void)error;
    attn_linear_attend((const linear_plan_t *)base, io, NULL);
    return ATTN_OK;
}

static void add_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const int64_t kv_heads = run->plan->problem.kv_heads;
    const attn_head_t head = attn_linear_head(run->plan, run->io, task / kv_heads, task % kv_heads);
    run->plan->kernels->add(&head, run->plan->map, &run->sums[task],
                            run->space.scratch + worker * run->space.scratch_size);
}

void attn_linear_add(const linear_plan_t *plan, const attn_io_t *io, linear_sums_t *sums) {
    run_t run = begin(plan, io);
    run.sums = sums;
    attn_host_parallel_for(plan->host, plan->problem.batch * plan->problem.kv_heads, add_task,
                           &run);
}
