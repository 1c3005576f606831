/* Decoding: a few queries, one split of the keys that they see at a time, combined at the end. */
#include "flash/driver.h"
#include "flash/walk.h"

/* The workspace: partial results of all heads and splits, then the scratches. */
typedef struct workspace {
    flash_place_t *starts;      /* [batch * kv_heads][most_splits()], of a pattern */
    decode_partial_t *partials; /* [batch * kv_heads][splits] */
    float *outs;                /* [batch * kv_heads][splits][rows][out_stride] */
    char *scratch;
    uint64_t scratch_size;
    int64_t splits, outs_size; /* floats of one split's rows */
} workspace_t;

/* As many splits as there may be: each has DECODE_SPLIT keys or DECODE_RUNS runs, between two of which
 * there is a block. */
static int64_t most_splits(const flash_plan_t *plan) {
    const int64_t keys = plan->problem.keys, gathered = plan->pattern ? plan->pattern->gathered : 0;
    const int64_t splits = (keys + gathered - 1) / DECODE_SPLIT + 1;
    if (!plan->pattern) return splits;
    return splits + 1 + (plan->pattern->next ? keys / plan->pattern->block / DECODE_RUNS : 0);
}

static workspace_t lay_out(const flash_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t rows = problem->heads / problem->kv_heads * problem->queries;
    attn_arena_t scratch = {.base = NULL};
    plan->decode->scratch(problem, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    space.splits = most_splits(plan);
    space.outs_size = rows * plan->decode->out_stride(problem);
    const int64_t parts = problem->batch * problem->kv_heads * space.splits;
    if (plan->pattern) space.starts = attn_arena_take(arena, parts, sizeof(flash_place_t));
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
        .integers = run->plan->integers,
    };
}

/* ---- splits ---------------------------------------------------------------------------------------- */

/* The queries of a head's splits, all of its group. */
static attn_queries_t queries_of(const attn_head_t *head) {
    const attn_problem_t *problem = head->problem;
    return (attn_queries_t){.head = head->kv_head * (problem->heads / problem->kv_heads),
                            .count = problem->queries};
}

static flash_place_t *starts_of(const run_t *run, int64_t head) {
    return run->space.starts + head * most_splits(run->plan);
}

static int take(flash_walk_t *walk, attn_run_t *runs) {
    return attn_walk_take(walk, runs, DECODE_RUNS, DECODE_SPLIT, 1);
}

/* Walk over a head's runs once, and set where its splits begin, and all behind the last; returns how many
 * there are. */
static int64_t find_splits(const run_t *run, int64_t index) {
    const attn_head_t head = head_of(run, index);
    const attn_queries_t queries = queries_of(&head);
    flash_place_t *starts = starts_of(run, index);
    attn_run_t runs[DECODE_RUNS];
    flash_walk_t walk;
    const int64_t most = most_splits(run->plan);
    int64_t splits = 0;
    attn_walk_begin(&walk, run->plan->pattern, &head, &queries, 1);
    while (splits < most) {
        starts[splits] = walk.at;
        if (!take(&walk, runs)) break;
        splits++;
    }
    for (int64_t s = splits + 1; s < most; s++) starts[s] = starts[splits];
    return splits;
}

/* Most splits of a head in this run. */
static int64_t count_splits(const run_t *run) {
    const attn_problem_t *problem = &run->plan->problem;
    int64_t most = 1;
    if (!run->plan->pattern) return run->space.splits;
    for (int64_t h = 0; h < problem->batch * problem->kv_heads; h++) {
        const int64_t splits = find_splits(run, h);
        most = splits > most ? splits : most;
    }
    return most;
}

static int runs_of(const run_t *run, int64_t index, int64_t split, attn_run_t *runs) {
    if (!run->plan->pattern) {
        runs[0] = (attn_run_t){.first = split * DECODE_SPLIT, .last = (split + 1) * DECODE_SPLIT};
        return 1;
    }
    const attn_head_t head = head_of(run, index);
    const attn_queries_t queries = queries_of(&head);
    flash_walk_t walk;
    attn_walk_begin(&walk, run->plan->pattern, &head, &queries, 1);
    walk.at = starts_of(run, index)[split];
    return take(&walk, runs);
}

static void attend_split(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const workspace_t *space = &run->space;
    const attn_head_t head = head_of(run, task / space->splits);
    attn_run_t runs[DECODE_RUNS];
    const int count = runs_of(run, task / space->splits, task % space->splits, runs);
    run->plan->decode->attend(&head, run->plan->pattern, runs, count, &space->partials[task],
                              space->outs + task * space->outs_size,
                              space->scratch + worker * space->scratch_size);
}

int attn_decode_fits(const attn_problem_t *problem, const attn_pattern_t *pattern) {
    const int64_t group = problem->heads / problem->kv_heads;
    if (group * problem->queries > DECODE_ROWS) return 0;
    if (!pattern) return 1;
    if (pattern->top || (ATTN_BUCKETS && pattern->rounds)) return 0;
    return !pattern->next || (problem->queries == 1 && (group == 1 || !pattern->by_head));
}

void attn_decode_run(const flash_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .io = io, .space = lay_out(plan, &arena)};
    run.space.splits = count_splits(&run);
    const int64_t heads = plan->problem.batch * plan->problem.kv_heads, splits = run.space.splits;
    attn_host_parallel_for(plan->host, heads * splits, attend_split, &run);
    for (int64_t h = 0; h < heads; h++) {
        const attn_head_t head = head_of(&run, h);
        plan->decode->combine(&head, splits, run.space.partials + h * splits,
                              run.space.outs + h * splits * run.space.outs_size);
    }
}
