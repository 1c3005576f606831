/* Prefill: many queries a head, against keys that are packed once for all of them. */
#include "flash/driver.h"

/* The workspace: one head's packed keys and values, all and gathered, what its queries keep from round to
 * round, then a scratch for each worker. */
typedef struct workspace {
    float *panels[FLASH_SEGMENTS], *values[FLASH_SEGMENTS];
    uint8_t *finite[FLASH_SEGMENTS];
    float *kept;
    char *scratch;
    uint64_t scratch_size;
} workspace_t;

/* Segments that a head has. */
static int segment_count(const flash_plan_t *plan) {
    return ATTN_SMALL || !plan->pattern ? 1 : FLASH_SEGMENTS;
}

static int64_t rounds_of(const flash_plan_t *plan) {
    return ATTN_BUCKETS && plan->pattern ? plan->pattern->rounds : 0;
}

static int64_t key_count(const flash_plan_t *plan, int segment) {
    return segment == FLASH_ALL ? plan->problem.keys : plan->pattern->gathered;
}

static int64_t panel_count(const flash_plan_t *plan, int segment) {
    return (key_count(plan, segment) + plan->kernels->panel - 1) / plan->kernels->panel;
}

/* Floats from row to row of copied values: whole cache lines. */
static int64_t values_stride(const attn_problem_t *problem) {
    const int64_t line = ATTN_PIECE_ALIGNMENT / sizeof(float);
    return attn_round_up(problem->value_dim, line);
}

/* Whether panels have values in them. */
static int has_values(const flash_plan_t *plan) {
    return ATTN_QUANTISED && plan->kernels->panel_bytes != NULL;
}

static uint64_t panel_size(const flash_plan_t *plan) {
    if (has_values(plan)) return plan->kernels->panel_bytes(&plan->problem);
    return (uint64_t)plan->kernels->panel * (uint64_t)plan->problem.dim * sizeof(float);
}

static workspace_t lay_out(const flash_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    attn_arena_t scratch = {.base = NULL};
    plan->kernels->scratch(problem, plan->pattern, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    for (int s = 0; s < segment_count(plan); s++) {
        space.panels[s] = attn_arena_take(arena, panel_count(plan, s), panel_size(plan));
        if (!has_values(plan))
            space.values[s] = attn_arena_take(arena, key_count(plan, s),
                                              (uint64_t)values_stride(problem) * sizeof(float));
        if (!ATTN_SMALL && plan->pattern)
            space.finite[s] = attn_arena_take(arena, panel_count(plan, s), 1);
    }
    if (rounds_of(plan) > 1)
        space.kept = attn_arena_take(arena, problem->heads / problem->kv_heads * problem->queries,
                                     (uint64_t)(problem->value_dim + 2) * sizeof(float));
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

void attn_prefill_workspace(const flash_plan_t *plan, attn_arena_t *arena) { lay_out(plan, arena); }

typedef struct run {
    const flash_plan_t *plan;
    workspace_t space;
    flash_head_t head;
    int64_t tasks; /* of a key/value head */
    int64_t round; /* of buckets */
} run_t;

static run_t begin(const flash_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .space = lay_out(plan, &arena)};
    run.head.head = (attn_head_t){.problem = &plan->problem, .io = io, .scale = plan->scale};
    run.head.pattern = plan->pattern;
    run.head.kept = run.space.kept;
    for (int s = 0; s < segment_count(plan); s++) {
        run.head.segments[s].count = key_count(plan, s);
        run.head.segments[s].panels = run.space.panels[s];
        if (!ATTN_SMALL) run.head.segments[s].finite = run.space.finite[s];
        if (s == FLASH_GATHERED) run.head.segments[s].map = plan->pattern->map;
    }
    return run;
}

/* ---- packing ---------------------------------------------------------------------------------- */

/* Whether every row of a head's values starts on a cache line, so that no vector spans two. */
static int is_aligned(const attn_tensor_t *value, const float *first_row) {
    return (uintptr_t)first_row % ATTN_PIECE_ALIGNMENT == 0 &&
           value->stride[2] * (int64_t)sizeof(float) % ATTN_PIECE_ALIGNMENT == 0;
}

/* Values are read in place where they are aligned rows of f32 with unit stride, else from a copy:
 * copied once, they are read by every tile of queries. */
static void choose_values(run_t *run, int s) {
    const attn_head_t *head = &run->head.head;
    const attn_tensor_t *value = &head->io->value;
    attn_segment_t *segment = &run->head.segments[s];
    segment->copy = NULL;
    segment->values = NULL;
    if (!value->data || has_values(run->plan)) return;
    if (s == FLASH_ALL && value->dtype == ATTN_F32 && value->stride[3] == 1) {
        segment->values = attn_row(value, head->batch, head->kv_head, 0);
        segment->values_stride = value->stride[2];
        if (is_aligned(value, segment->values)) return;
    }
    segment->values = segment->copy = run->space.values[s];
    segment->values_stride = values_stride(&run->plan->problem);
}

/* How many panels of a segment are packed: the keys where they are only if queries, or scores, read them. */
static int64_t packed_count(const run_t *run, int s) {
    const attn_pattern_t *pattern = run->plan->pattern;
    const attn_io_t *io = run->head.head.io;
    const int reads_all = ATTN_COMPACT || !pattern || pattern->in_place || io->scores.data ||
                          !io->value.data; /* weights alone */
    return s == FLASH_ALL && !reads_all ? 0 : panel_count(run->plan, s);
}

static void pack_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const int64_t panels = packed_count(run, FLASH_ALL);
    const int gathered = !ATTN_SMALL && task >= panels;
    run->plan->kernels->pack(&run->head.head, &run->head.segments[gathered],
                             gathered ? task - panels : task,
                             run->space.scratch + worker * run->space.scratch_size);
}

#if ATTN_BUCKETS
static attn_buckets_t buckets_of(const run_t *run, int64_t head) {
    const attn_pattern_t *pattern = run->plan->pattern;
    return pattern->buckets(pattern, &run->head.head, head);
}
#endif

static void pack_head(run_t *run, int64_t batch, int64_t kv_head) {
    int64_t panels = 0;
    run->head.head.batch = batch;
    run->head.head.kv_head = kv_head;
    for (int s = 0; s < segment_count(run->plan); s++) {
        choose_values(run, s);
        panels += packed_count(run, s);
    }
#if ATTN_BUCKETS
    if (rounds_of(run->plan))
        run->head.segments[FLASH_GATHERED].map =
            buckets_of(run, kv_head * (run->plan->problem.heads / run->plan->problem.kv_heads))
                .key_order +
            run->round * run->plan->problem.keys;
#endif
    attn_host_parallel_for(run->plan->host, panels, pack_task, run);
}

/* ---- attending -------------------------------------------------------------------------------- */

/*
 * Where a pattern has blocks of queries, a task is a block, or an even part of one that is too large. The
 * first block may have begun before the first query.
 */
typedef struct parts {
    int64_t before; /* positions of the first block that lie before the first query */
    int64_t blocks; /* at most: the position depends on the sequence's length */
    int64_t count;  /* of each block */
    int64_t rows;   /* of each but the last */
} parts_t;

static int has_blocks(const flash_plan_t *plan) {
    return !ATTN_SMALL && plan->pattern && plan->pattern->block > 0;
}

static parts_t parts_of(const run_t *run) {
    const flash_plan_t *plan = run->plan;
    const attn_problem_t *problem = &plan->problem;
    const int64_t block = plan->pattern->block, tile = plan->kernels->tile;
    const int64_t keys = attn_keys_of(problem, run->head.head.io, run->head.head.batch);
    parts_t parts = {.before = 0, .count = (block - 1) / plan->kernels->rows + 1};
    if (plan->pattern->by_position)
        parts.before = (attn_query_position(problem, keys, 0) % block + block) % block;
    parts.blocks = (problem->queries - 1) / block + 2;
    parts.rows = ((block - 1) / parts.count / tile + 1) * tile;
    return parts;
}

/* Queries from `from` on, as many as are in one part. */
static attn_queries_t part_of(const run_t *run, int64_t from) {
    const parts_t parts = parts_of(run);
    const int64_t block = run->plan->pattern->block, in_block = (from + parts.before) % block;
    const int64_t end = attn_min((in_block / parts.rows + 1) * parts.rows, block);
    return (attn_queries_t){.first = from,
                            .count = attn_min(run->plan->problem.queries - from, end - in_block)};
}

/* Task number `task`: it may have no queries. */
static attn_queries_t queries_of(const run_t *run, int64_t task) {
    const attn_head_t *head = &run->head.head;
    if (!has_blocks(run->plan)) return attn_queries_of(head, run->plan->kernels->rows, task);
    const parts_t parts = parts_of(run);
    const int64_t tasks = parts.blocks * parts.count, at = task % tasks;
    const int64_t start =
        at / parts.count * run->plan->pattern->block + at % parts.count * parts.rows - parts.before;
    attn_queries_t queries = {.count = 0};
    if (at % parts.count * parts.rows < run->plan->pattern->block && start + parts.rows > 0 &&
        start < run->plan->problem.queries)
        queries = part_of(run, attn_max(start, 0));
    queries.head = head->kv_head * (head->problem->heads / head->problem->kv_heads) + task / tasks;
    return queries;
}

/* Queries by their numbers in the round's order. */
static void attend_round(const run_t *run, attn_queries_t queries) {
#if ATTN_BUCKETS
    queries.round = run->round;
    queries.order =
        buckets_of(run, queries.head).query_order + run->round * run->plan->problem.queries;
#endif
    run->plan->kernels->attend(&run->head, &queries);
}

/* Queries that see most first, as small tasks at the end leave no thread waiting for long: the last under a causal
 * mask, else those of a pattern that lets its first queries see all. */
static void attend_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const attn_io_t *io = run->head.head.io;
    const int is_causal = run->plan->problem.causal != ATTN_CAUSAL_NONE;
    attn_queries_t queries = queries_of(run, is_causal ? run->tasks - 1 - task : task);
    if (!ATTN_SMALL && queries.count <= 0) return;
    queries.scratch = run->space.scratch + worker * run->space.scratch_size;
    if (rounds_of(run->plan))
        attend_round(run, queries);
    else
        run->plan->kernels->attend(&run->head, &queries);
    if (ATTN_SMALL || !io->scores.data || run->round + 1 < rounds_of(run->plan)) return;
    run->plan->kernels->scores(
        &run->head, &queries, run->plan->problem.scores,
        attn_row(&io->scores, run->head.head.batch, queries.head, queries.first),
        io->scores.stride[2]);
}

void attn_prefill_run(const flash_plan_t *plan, const attn_io_t *io) {
    const attn_problem_t *problem = &plan->problem;
    run_t run = begin(plan, io);
    run.tasks = attn_query_blocks(problem, plan->kernels->rows);
    if (has_blocks(plan)) {
        const parts_t parts = parts_of(&run);
        run.tasks = parts.blocks * parts.count;
    }
    run.tasks *= problem->heads / problem->kv_heads;
    const int64_t rounds = attn_max(1, rounds_of(plan));
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->kv_heads * rounds; h++) {
            if (ATTN_BUCKETS) run.round = h % rounds;
            pack_head(&run, b, h / rounds);
            attn_host_parallel_for(plan->host, run.tasks, attend_task, &run);
        }
}

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const flash_plan_t *plan = (const flash_plan_t *)base;
    attn_io_t keys_only = attn_io_copy(io);
    keys_only.value.data = NULL;
    run_t run = begin(plan, &keys_only);
    (void)error;
    pack_head(&run, batch, head / (plan->problem.heads / plan->problem.kv_heads));
    for (int64_t done = 0; done < count;) {
        attn_queries_t queries = {.first = first + done, .count = plan->kernels->rows};
        if (has_blocks(plan)) queries = part_of(&run, first + done);
        queries.head = head;
        queries.count = attn_min(queries.count, count - done);
        queries.scratch = run.space.scratch;
        plan->kernels->scores(&run.head, &queries, ATTN_SCORES_WEIGHTS, rows + done * row_stride,
                              row_stride);
        done += queries.count;
    }
    return ATTN_OK;
}

const attn_ext_weights_t attn_flash_weights = {.struct_size = sizeof attn_flash_weights,
                                               .rows = weight_rows};
