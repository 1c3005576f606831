/* Prefill: many queries a head, against keys that are packed once for all of them. */
#include "flash/driver.h"

/* A key/value head in flight, and where its values are copied to. */
typedef struct slot {
    flash_head_t head;
    float *copies[FLASH_SEGMENTS];
} slot_t;

/* The workspace: the heads in flight, each with its packed keys and values, all and gathered, and what its
 * queries keep from round to round; then a scratch for each worker. */
typedef struct workspace {
    slot_t *slots;
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

/* ---- tasks ------------------------------------------------------------------------------------ */

static int has_blocks(const flash_plan_t *plan) {
    return !ATTN_SMALL && plan->pattern && plan->pattern->block > 0;
}

/* Where a pattern has blocks of queries, a task is a block, or an even part of one that is too large. */
static int64_t part_count(const flash_plan_t *plan) {
    return (plan->pattern->block - 1) / plan->kernels->rows + 1;
}

/* Queries of each part but the last. */
static int64_t part_rows(const flash_plan_t *plan) {
    const int64_t tile = plan->kernels->tile;
    return ((plan->pattern->block - 1) / part_count(plan) / tile + 1) * tile;
}

/* Blocks of a head at most: where the first begins depends on the sequence's length. */
static int64_t block_count(const flash_plan_t *plan) {
    return (plan->problem.queries - 1) / plan->pattern->block + 2;
}

/* Positions of a head's first block that lie before its first query. */
static int64_t rows_before(const flash_plan_t *plan, const attn_head_t *head) {
    if (!plan->pattern->by_position) return 0;
    const int64_t block = plan->pattern->block;
    const int64_t keys = attn_keys_of(&plan->problem, head->io, head->batch);
    return (attn_query_position(&plan->problem, keys, 0) % block + block) % block;
}

/* Of a key/value head. */
static int64_t task_count(const flash_plan_t *plan) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t tasks = has_blocks(plan) ? block_count(plan) * part_count(plan)
                                           : attn_query_blocks(problem, plan->kernels->rows);
    return tasks * (problem->heads / problem->kv_heads);
}

/* ---- key/value heads in flight ---------------------------------------------------------------- */

/*
 * Between packing and attending all threads wait for the last; several heads at once, so that there are tasks
 * enough in between for the wait to be short, also for one whose processor others use, and threads are busy where a
 * head's queries are few.
 */
enum { TASKS_A_WORKER = 64, KEYS_IN_FLIGHT = 1 << 17 };

static int64_t slot_count(const flash_plan_t *plan) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t workers = attn_host_workers(plan->host);
    if (ATTN_SMALL || workers == 1 || rounds_of(plan)) return 1;
    const int64_t wanted = TASKS_A_WORKER * workers / (task_count(plan) + 1) + 1;
    const int64_t most = KEYS_IN_FLIGHT / (problem->keys + 1) + 1;
    return attn_min(problem->batch * problem->kv_heads, attn_min(wanted, most));
}

static void lay_out_segment(const flash_plan_t *plan, int s, slot_t *slot, attn_arena_t *arena) {
    attn_segment_t *segment = &slot->head.segments[s];
    segment->count = key_count(plan, s);
    segment->panels = attn_arena_take(arena, panel_count(plan, s), panel_size(plan));
    if (!has_values(plan))
        slot->copies[s] = attn_arena_take(arena, segment->count,
                                          (uint64_t)values_stride(&plan->problem) * sizeof(float));
    if (!ATTN_SMALL && plan->pattern)
        segment->finite = attn_arena_take(arena, panel_count(plan, s), 1);
    if (s == FLASH_GATHERED) segment->map = plan->pattern->map;
}

static slot_t lay_out_slot(const flash_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    slot_t slot = {.head = {.pattern = plan->pattern}};
    for (int s = 0; s < segment_count(plan); s++) lay_out_segment(plan, s, &slot, arena);
    if (rounds_of(plan) > 1)
        slot.head.kept =
            attn_arena_take(arena, problem->heads / problem->kv_heads * problem->queries,
                            (uint64_t)(problem->value_dim + 2) * sizeof(float));
    return slot;
}

static workspace_t lay_out(const flash_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t scratch = {.base = NULL};
    plan->kernels->scratch(&plan->problem, plan->pattern, &scratch);
    arena->overflow |= scratch.overflow;
    workspace_t space = {.scratch_size = scratch.used};
    space.slots = attn_arena_take(arena, slot_count(plan), sizeof *space.slots);
    for (int64_t i = 0; i < slot_count(plan); i++) {
        const slot_t slot = lay_out_slot(plan, arena);
        if (space.slots) space.slots[i] = slot;
    }
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

void attn_prefill_workspace(const flash_plan_t *plan, attn_arena_t *arena) { lay_out(plan, arena); }

typedef struct run {
    const flash_plan_t *plan;
    const attn_io_t *io;
    workspace_t space;
    int64_t panels, tasks; /* of a key/value head */
    int64_t in_place;      /* panels of its keys where they are */
    int64_t round;         /* of buckets */
} run_t;

static run_t begin(const flash_plan_t *plan, const attn_io_t *io) {
    attn_arena_t arena = {.base = io->workspace};
    return (run_t){.plan = plan, .io = io, .space = lay_out(plan, &arena)};
}

/* ---- packing ---------------------------------------------------------------------------------- */

/* Whether every row of a head's values starts on a cache line, so that no vector spans two. */
static int is_aligned(const attn_tensor_t *value, const float *first_row) {
    return (uintptr_t)first_row % ATTN_PIECE_ALIGNMENT == 0 &&
           value->stride[2] * (int64_t)sizeof(float) % ATTN_PIECE_ALIGNMENT == 0;
}

/* Values are read in place where they are aligned rows of f32 with unit stride, else from a copy:
 * copied once, they are read by every tile of queries. */
static void choose_values(const flash_plan_t *plan, slot_t *slot, int s) {
    const attn_head_t *head = &slot->head.head;
    const attn_tensor_t *value = &head->io->value;
    attn_segment_t *segment = &slot->head.segments[s];
    segment->copy = NULL;
    segment->values = NULL;
    if (!value->data || has_values(plan)) return;
    if (s == FLASH_ALL && value->dtype == ATTN_F32 && value->stride[3] == 1) {
        segment->values = attn_row(value, head->batch, head->kv_head, 0);
        segment->values_stride = value->stride[2];
        if (is_aligned(value, segment->values)) return;
    }
    segment->values = segment->copy = slot->copies[s];
    segment->values_stride = values_stride(&plan->problem);
}

/* How many panels of a segment are packed: the keys where they are only if queries, or scores, read them. */
static int64_t packed_count(const run_t *run, int s) {
    const attn_pattern_t *pattern = run->plan->pattern;
    const attn_io_t *io = run->io;
    const int reads_all = ATTN_COMPACT || !pattern || pattern->in_place || io->scores.data ||
                          !io->value.data; /* weights alone */
    return s == FLASH_ALL && !reads_all ? 0 : panel_count(run->plan, s);
}

static void pack_task(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const flash_head_t *head = &run->space.slots[task / run->panels].head;
    const int64_t panel = task % run->panels;
    const int gathered = !ATTN_SMALL && panel >= run->in_place;
    run->plan->kernels->pack(&head->head, &head->segments[gathered],
                             gathered ? panel - run->in_place : panel,
                             run->space.scratch + worker * run->space.scratch_size);
}

#if ATTN_BUCKETS
static attn_buckets_t buckets_of(const flash_head_t *head, int64_t query_head) {
    return head->pattern->buckets(head->pattern, &head->head, query_head);
}
#endif

/* The key/value head number `number`, of all of the batch's, is the slot's from now on. */
static void take_head(const run_t *run, slot_t *slot, int64_t number) {
    const attn_problem_t *problem = &run->plan->problem;
    flash_head_t *head = &slot->head;
    head->head = (attn_head_t){.problem = problem,
                               .io = run->io,
                               .batch = number / problem->kv_heads,
                               .kv_head = number % problem->kv_heads,
                               .scale = run->plan->scale};
    for (int s = 0; s < segment_count(run->plan); s++) choose_values(run->plan, slot, s);
#if ATTN_BUCKETS
    if (rounds_of(run->plan))
        head->segments[FLASH_GATHERED].map =
            buckets_of(head, head->head.kv_head * (problem->heads / problem->kv_heads)).key_order +
            run->round * problem->keys;
#endif
}

/* Heads from number `first` on. */
static void pack_heads(run_t *run, int64_t first, int64_t count) {
    run->in_place = run->panels = packed_count(run, FLASH_ALL);
    if (segment_count(run->plan) > 1) run->panels += packed_count(run, FLASH_GATHERED);
    for (int64_t i = 0; i < count; i++) take_head(run, &run->space.slots[i], first + i);
    attn_host_parallel_for(run->plan->host, count * run->panels, pack_task, run);
}

/* ---- attending -------------------------------------------------------------------------------- */

/* Queries from `from` on, as many as are in one part of a block. */
static attn_queries_t part_of(const flash_plan_t *plan, const attn_head_t *head, int64_t from) {
    const int64_t block = plan->pattern->block, rows = part_rows(plan);
    const int64_t in_block = (from + rows_before(plan, head)) % block;
    const int64_t end = attn_min((in_block / rows + 1) * rows, block);
    return (attn_queries_t){.first = from,
                            .count = attn_min(plan->problem.queries - from, end - in_block)};
}

/* Task number `task` of a key/value head: it may have no queries. */
static attn_queries_t queries_of(const flash_plan_t *plan, const attn_head_t *head, int64_t task) {
    if (!has_blocks(plan)) return attn_queries_of(head, plan->kernels->rows, task);
    const int64_t parts = part_count(plan), tasks = block_count(plan) * parts, at = task % tasks;
    const int64_t block = plan->pattern->block, rows = part_rows(plan),
                  in_block = at % parts * rows;
    const int64_t start = at / parts * block + in_block - rows_before(plan, head);
    attn_queries_t queries = {.count = 0};
    if (in_block < block && start + rows > 0 && start < plan->problem.queries)
        queries = part_of(plan, head, attn_max(start, 0));
    queries.head = head->kv_head * (head->problem->heads / head->problem->kv_heads) + task / tasks;
    return queries;
}

/* Queries by their numbers in the round's order. */
static void attend_round(const run_t *run, const flash_head_t *head, attn_queries_t queries) {
#if ATTN_BUCKETS
    queries.round = run->round;
    queries.order =
        buckets_of(head, queries.head).query_order + run->round * run->plan->problem.queries;
#endif
    run->plan->kernels->attend(head, &queries);
}

/* Of each head those queries first that see most, as small tasks at the end leave no thread waiting for long: the
 * last under a causal mask, else those of a pattern that lets its first queries see all. */
static void attend_task(void *data, int64_t number, uint32_t worker) {
    const run_t *run = data;
    const flash_plan_t *plan = run->plan;
    const flash_head_t *head = &run->space.slots[number / run->tasks].head;
    const int64_t task = number % run->tasks;
    const int is_causal = plan->problem.causal != ATTN_CAUSAL_NONE;
    attn_queries_t queries =
        queries_of(plan, &head->head, is_causal ? run->tasks - 1 - task : task);
    if (!ATTN_SMALL && queries.count <= 0) return;
    queries.scratch = run->space.scratch + worker * run->space.scratch_size;
    if (rounds_of(plan))
        attend_round(run, head, queries);
    else
        plan->kernels->attend(head, &queries);
    if (ATTN_SMALL || !run->io->scores.data || run->round + 1 < rounds_of(plan)) return;
    plan->kernels->scores(head, &queries, plan->problem.scores,
                          attn_row(&run->io->scores, head->head.batch, queries.head, queries.first),
                          run->io->scores.stride[2]);
}

void attn_prefill_run(const flash_plan_t *plan, const attn_io_t *io) {
    const int64_t heads = plan->problem.batch * plan->problem.kv_heads, slots = slot_count(plan);
    const int64_t rounds = attn_max(1, rounds_of(plan));
    run_t run = begin(plan, io);
    run.tasks = task_count(plan);
    for (int64_t first = 0; first < heads; first += slots)
        for (run.round = 0; run.round < rounds; run.round++) {
            const int64_t count = attn_min(slots, heads - first);
            pack_heads(&run, first, count);
            attn_host_parallel_for(plan->host, count * run.tasks, attend_task, &run);
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
    const attn_problem_t *problem = &plan->problem;
    const flash_head_t *slot = &run.space.slots->head;
    pack_heads(&run, batch * problem->kv_heads + head / (problem->heads / problem->kv_heads), 1);
    for (int64_t done = 0; done < count;) {
        attn_queries_t queries = {.first = first + done, .count = plan->kernels->rows};
        if (has_blocks(plan)) queries = part_of(plan, &slot->head, first + done);
        queries.head = head;
        queries.count = attn_min(queries.count, count - done);
        queries.scratch = run.space.scratch;
        plan->kernels->scores(slot, &queries, ATTN_SCORES_WEIGHTS, rows + done * row_stride,
                              row_stride);
        done += queries.count;
    }
    return ATTN_OK;
}

const attn_ext_weights_t attn_flash_weights = {.struct_size = sizeof attn_flash_weights,
                                               .rows = weight_rows};
