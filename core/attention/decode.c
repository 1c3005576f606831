/* Decoding: a few queries, one split of the keys that they see at a time, combined at the end. */
#include "attention/span_iterator.h"
#include "attention/units.h"

/* The workspace: partial results of all units and splits, then the scratches. As large for any units: where there are
 * fewer, each has more rows. */
typedef struct workspace {
    span_place_t *starts;       /* [units][most_splits()], of a pattern */
    decode_partial_t *partials; /* [units][splits][rows] */
    float *outs;                /* [units][splits][rows][out_stride] */
    char *scratch;
    uint64_t scratch_size;
    int64_t splits, out_stride;
} workspace_t;

/* As many splits as there may be: each has DECODE_SPLIT keys or DECODE_RUNS runs, between two of which
 * there is a block. */
static int64_t most_splits(const exact_plan_t *plan) {
    const int64_t keys = plan->problem.keys, gathered = plan->pattern ? plan->pattern->gathered : 0;
    const int64_t splits = (keys + gathered - 1) / DECODE_SPLIT + 1;
    if (!plan->pattern) return splits;
    return splits + 1 + (plan->pattern->next ? keys / plan->pattern->block / DECODE_RUNS : 0);
}

static const packed_kernels_t *packed_of(const exact_plan_t *plan) {
    return EXACT_BF16_TIERS ? plan->packed : NULL;
}

static workspace_t lay_out_decode(const exact_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t rows = problem->batch * problem->heads * problem->queries;
    const uint64_t row_size = (uint64_t)plan->decode->out_stride(problem) * sizeof(float);
    attn_arena_t scratch = {.base = NULL}, packed = {.base = NULL};
    plan->decode->scratch(problem, &scratch); /* of scores, too */
    if (packed_of(plan)) packed_of(plan)->scratch(problem, &packed);
    arena->overflow |= scratch.overflow | packed.overflow;
    workspace_t space = {.scratch_size = scratch.used > packed.used ? scratch.used : packed.used};
    space.splits = most_splits(plan);
    space.out_stride = plan->decode->out_stride(problem);
    if (plan->pattern)
        space.starts = attn_arena_take(arena, problem->batch * problem->kv_heads * space.splits,
                                       sizeof(span_place_t));
    space.partials =
        attn_arena_take(arena, rows, (uint64_t)space.splits * sizeof(decode_partial_t));
    space.outs = attn_arena_take(arena, rows, (uint64_t)space.splits * row_size);
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), space.scratch_size);
    return space;
}

void attn_decode_workspace(const exact_plan_t *plan, attn_arena_t *arena) {
    lay_out_decode(plan, arena);
}

typedef struct decode_run {
    const exact_plan_t *plan;
    const attn_io_t *io;
    workspace_t space;
    exact_units_t units;
    int64_t count, rows;      /* of units, and of each */
    int64_t parts, part_rows; /* the rows of a task, and how many tasks share a unit's split */
    int by_split;             /* units take turns with each split */
    int64_t heads, teams;     /* units of a task, and how many of those there are */
} decode_run_t;

static attn_head_t head_of(const decode_run_t *run, int64_t index) {
    return attn_unit(run->plan, run->io, run->units, index);
}

/* ---- splits ---------------------------------------------------------------------------------------- */

/* Queries whose key spans are a unit's: what they see depends on their numbers alone. */
static attn_queries_t queries_of(const attn_head_t *head) {
    attn_queries_t queries = attn_all_queries(head);
    queries.lines = 1;
    return queries;
}

static span_place_t *starts_of(const decode_run_t *run, int64_t head) {
    return run->space.starts + head * most_splits(run->plan);
}

static int take(attn_span_iterator_t *walk, attn_key_span_t *runs) {
    return attn_spans_take(walk, runs, DECODE_RUNS, DECODE_SPLIT, 1);
}

/* Walk over a head's runs once, and set where its splits begin, and all behind the last; returns how many
 * there are. */
static int64_t find_splits(const decode_run_t *run, int64_t index) {
    const attn_head_t head = head_of(run, index);
    const attn_queries_t queries = queries_of(&head);
    span_place_t *starts = starts_of(run, index);
    attn_key_span_t runs[DECODE_RUNS];
    attn_span_iterator_t walk;
    const int64_t most = most_splits(run->plan);
    int64_t splits = 0;
    attn_spans_begin(&walk, run->plan->pattern, &head, &queries, 1);
    while (splits < most) {
        starts[splits] = walk.at;
        if (!take(&walk, runs)) break;
        splits++;
    }
    for (int64_t s = splits + 1; s < most; s++) starts[s] = starts[splits];
    return splits;
}

/* Most splits of a head in this run. */
static int64_t count_splits(const decode_run_t *run) {
    int64_t most = 1;
    if (!run->plan->pattern) return run->space.splits;
    for (int64_t h = 0; h < run->count; h++) {
        const int64_t splits = find_splits(run, h);
        most = splits > most ? splits : most;
    }
    return most;
}

static int runs_of(const decode_run_t *run, int64_t index, int64_t split, attn_key_span_t *runs) {
    if (!run->plan->pattern) {
        runs[0] =
            (attn_key_span_t){.first = split * DECODE_SPLIT, .last = (split + 1) * DECODE_SPLIT};
        return 1;
    }
    const attn_head_t head = head_of(run, index);
    const attn_queries_t queries = queries_of(&head);
    attn_span_iterator_t walk;
    attn_spans_begin(&walk, run->plan->pattern, &head, &queries, 1);
    walk.at = starts_of(run, index)[split];
    return take(&walk, runs);
}

static decode_partial_t *partials_of(const decode_run_t *run, int64_t index, int64_t split) {
    return run->space.partials + (index * run->space.splits + split) * run->rows;
}

static float *outs_of(const decode_run_t *run, int64_t index, int64_t split) {
    return run->space.outs +
           (index * run->space.splits + split) * run->rows * run->space.out_stride;
}

/* Parts of a split one after another: its keys are still near. */
static void attend_split(void *data, int64_t number, uint32_t worker) {
    const decode_run_t *run = data;
    const workspace_t *space = &run->space;
    const int64_t first = number % run->parts * run->part_rows;
    const int64_t at = number / run->parts;
    const int64_t split = run->by_split ? at / run->teams : at % space->splits;
    const int64_t team = run->by_split ? at % run->teams : at / space->splits;
    const int64_t index = team * run->heads;
    const attn_head_t head = head_of(run, index);
    attn_key_span_t runs[DECODE_RUNS];
    const decode_task_t task = {
        .head = &head,
        .pattern = run->plan->pattern,
        .heads = run->heads,
        .first = first,
        .count = attn_min(run->part_rows, run->rows - first),
        .runs = runs,
        .run_count = runs_of(run, index, split, runs),
        .step = space->splits * run->rows,
    };
    const packed_kernels_t *packed = packed_of(run->plan);
    (packed ? packed->attend
            : run->plan->decode->attend)(&task, partials_of(run, index, split) + first,
                                         outs_of(run, index, split) + first * space->out_stride,
                                         space->scratch + worker * space->scratch_size);
}

/* Whether a token's heads stand side by side: heads then take turns with each split, whose pages are still near. */
static int are_interleaved(const attn_tensor_t *tensor) {
    return tensor->stride[1] < tensor->stride[2];
}

static int are_read_in_order(const attn_tensor_t *tensor) {
    return are_interleaved(tensor) && tensor->stride[3] == 1;
}

/*
 * How many heads a task has: all of a token where they stand side by side and have several rows each. They then take turns
 * with each block of keys, and memory is read in its order. Of more heads blocks of keys and values, those of now and those
 * that are asked for, would not stay in the second cache; of some heads memory has gaps. One row waits for memory anyway, and
 * longer where its blocks are short. A row comes to the same bits whatever the task has beside it.
 */
static int64_t heads_of_task(const decode_run_t *run) {
    enum { MOST_HEADS = 8, TASKS_A_WORKER = 4 };
    const exact_plan_t *plan = run->plan;
    const attn_pattern_t *pattern = plan->pattern;
    const int64_t all = plan->problem.kv_heads, splits = run->space.splits;
    const int64_t workers = attn_host_workers(plan->host);
    if (run->units.kv_heads > 1 || run->rows == 1 || packed_of(plan)) return 1;
    if (!are_read_in_order(&run->io->key) || !are_read_in_order(&run->io->value)) return 1;
    if (all > MOST_HEADS || all * run->rows > DECODE_ROWS) return 1;
    if (pattern && pattern->next && pattern->by_head) return 1;
    return workers > 1 && run->count / all * splits < TASKS_A_WORKER * workers ? 1 : all;
}

/* Few rows, and keys enough: where there are not many more than queries, a causal query sees half of what decoding
 * reads. */
int attn_decode_fits(const attn_problem_t *problem, const attn_pattern_t *pattern, int64_t rows) {
    enum { FEW = 16, KEYS_A_QUERY = 4 };
    const int64_t group = attn_group(problem);
    if (group * problem->queries > rows) return 0;
    if (problem->queries > FEW && problem->keys / KEYS_A_QUERY < problem->queries) return 0;
    if (!pattern) return 1;
    return !pattern->next || (problem->queries == 1 && (group == 1 || !pattern->by_head));
}

static decode_run_t begin(const exact_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    decode_run_t run = {.plan = plan, .io = io, .space = lay_out_decode(plan, &arena)};
    run.units = attn_units_of(plan, io);
    run.count = attn_unit_count(plan, run.units);
    run.rows = attn_unit_rows(plan, run.units);
    run.parts = (run.rows - 1) / (packed_of(plan) ? packed_of(plan)->rows : DECODE_ROWS) + 1;
    run.part_rows = (run.rows - 1) / run.parts + 1;
    run.space.splits = count_splits(&run);
    run.by_split = are_interleaved(&io->key);
    run.heads = heads_of_task(&run);
    run.teams = run.count / run.heads;
    return run;
}

attn_status_t attn_decode_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error) {
    const exact_plan_t *plan = (const exact_plan_t *)base;
    decode_run_t run = begin(plan, io);
    const int64_t splits = run.space.splits;
    attn_host_parallel_for(plan->host, run.teams * splits * run.parts, attend_split, &run);
    for (int64_t i = 0; i < run.count; i++) {
        const attn_head_t head = head_of(&run, i);
        plan->decode->combine(&head, splits, partials_of(&run, i, 0), outs_of(&run, i, 0));
    }
    if (io->scores.data) attn_decode_scores(plan, io);
    (void)error;
    return ATTN_OK;
}
