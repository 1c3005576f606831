/* Decoding: a few queries of dense attention, one split of the keys at a time, combined at the end. */
#include "flash/driver.h"

/* The workspace: partial results of all heads and splits, then the scratches. */
typedef struct workspace {
    decode_partial_t *partials; /* [batch * kv_heads][splits] */
    float *outs;                /* [batch * kv_heads][splits][rows][out_stride] */
    char *scratch;
    uint64_t scratch_size;
    int64_t splits, outs_size; /* floats of one split's rows */
} workspace_t;

static workspace_t lay_out(const flash_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t rows = problem->heads / problem->kv_heads * problem->queries;
    attn_arena_t scratch = {.base = NULL};
    plan->decode->scratch(problem, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    space.splits = (problem->keys - 1) / DECODE_SPLIT + 1;
    space.outs_size = rows * plan->decode->out_stride(problem);
    const int64_t parts = problem->batch * problem->kv_heads * space.splits;
    space.partials = attn_arena_take(arena, parts, sizeof(decode_partial_t));
    space.outs = attn_arena_take(arena, parts, (uint64_t)space.outs_size * sizeof(float));
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

void attn_decode_workspace(const flash_plan_t *plan, attn_arena_t *arena) { lay_out(plan, arena); }

typedef struct run {
    const flash_plan_t *plan;
    const attn_io_t *io;
    workspace_t space;
} run_t;

/* Key/value head number `index`, over batch and heads. */
static attn_head_t head_of(const run_t *run, int64_t index) {
    const attn_problem_t *problem = &run->plan->problem;
    return (attn_head_t){
        .problem = problem,
        .io = run->io,
        .batch = index / problem->kv_heads,
        .kv_head = index % problem->kv_heads,
        .scale = run->plan->scale,
    };
}

static void attend_split(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const workspace_t *space = &run->space;
    const attn_head_t head = head_of(run, task / space->splits);
    run->plan->decode->attend(&head, task % space->splits * DECODE_SPLIT, &space->partials[task],
                              space->outs + task * space->outs_size,
                              space->scratch + worker * space->scratch_size);
}

void attn_decode_run(const flash_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .io = io, .space = lay_out(plan, &arena)};
    const int64_t heads = plan->problem.batch * plan->problem.kv_heads, splits = run.space.splits;
    attn_host_parallel_for(plan->host, heads * splits, attend_split, &run);
    for (int64_t h = 0; h < heads; h++) {
        const attn_head_t head = head_of(&run, h);
        plan->decode->combine(&head, splits, run.space.partials + h * splits,
                              run.space.outs + h * splits * run.space.outs_size);
    }
}
