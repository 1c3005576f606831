/* Prefill: many queries a head, against keys that are packed once for all of them. */
#include "attention/span_iterator.h"
#include "attention/units.h"

/* A unit of keys and values in flight, and where its values are copied to. */
typedef struct slot {
    exact_head_t head;
    float *copies[EXACT_KEY_LISTS];
    attn_range_t visible; /* panels of its keys that some query sees */
} slot_t;

/* The workspace: the heads in flight, each with its packed keys and values, all and gathered; then a scratch for each
 * worker. */
typedef struct workspace {
    slot_t *slots;
    char *scratch;
    uint64_t scratch_size;
} workspace_t;

/* Lists that a head has. */
static int key_list_count(const exact_plan_t *plan) {
    return ATTN_SMALL || !plan->pattern ? 1 : EXACT_KEY_LISTS;
}

/* Whether each pass over a head's keys has a list of its own. */
static int has_lists(const exact_plan_t *plan) {
    return !ATTN_SMALL && plan->pattern && plan->pattern->list;
}

static int64_t pass_count(const exact_plan_t *plan) {
    return has_lists(plan) ? plan->pattern->passes : 1;
}

static int64_t key_count(const exact_plan_t *plan, int key_list) {
    return key_list == EXACT_ALL ? plan->problem.keys : plan->pattern->gathered;
}

static int64_t panel_count(const exact_plan_t *plan, int key_list) {
    return (key_count(plan, key_list) + plan->kernels->panel - 1) / plan->kernels->panel;
}

/* Floats from row to row of copied values: whole cache lines. */
static int64_t values_stride(const attn_problem_t *problem) {
    const int64_t line = ATTN_PIECE_ALIGNMENT / sizeof(float);
    return attn_round_up(problem->value_dim, line);
}

/* Whether panels have values in them. */
static int has_values(const exact_plan_t *plan) {
    return !ATTN_SMALL && plan->kernels->panel_bytes != NULL;
}

static uint64_t panel_size(const exact_plan_t *plan) {
    if (has_values(plan)) return plan->kernels->panel_bytes(&plan->problem);
    return (uint64_t)plan->kernels->panel * (uint64_t)plan->problem.dim * sizeof(float);
}

/* ---- tasks ------------------------------------------------------------------------------------ */

static int has_blocks(const exact_plan_t *plan) {
    return !ATTN_SMALL && plan->pattern && plan->pattern->block > 0;
}

/* Where a pattern has blocks of queries, a task is a block, or an even part of one that is too large. */
static int64_t part_count(const exact_plan_t *plan) {
    return (plan->pattern->block - 1) / plan->kernels->rows + 1;
}

/* Queries of each part but the last. */
static int64_t part_rows(const exact_plan_t *plan) {
    const int64_t tile = plan->kernels->tile;
    return ((plan->pattern->block - 1) / part_count(plan) / tile + 1) * tile;
}

/* Blocks of a head at most: where the first begins depends on the sequence's length. */
static int64_t block_count(const exact_plan_t *plan) {
    return (plan->problem.queries - 1) / plan->pattern->block + 2;
}

/* Positions of a head's first block that lie before its first query. */
static int64_t rows_before(const exact_plan_t *plan, const attn_head_t *head) {
    if (!plan->pattern->by_position) return 0;
    const int64_t block = plan->pattern->block;
    const int64_t keys = attn_keys_of(&plan->problem, head->io, head->batch);
    return (attn_query_position(&plan->problem, keys, 0) % block + block) % block;
}

/* Parts into which the queries of a line are cut, and queries of each but the last: whole tiles. */
static int64_t parts_of_line(const exact_plan_t *plan) {
    return has_blocks(plan) ? block_count(plan) * part_count(plan)
                            : attn_query_blocks(&plan->problem, plan->kernels->rows);
}

static int64_t rows_of_line(const exact_plan_t *plan) {
    const int64_t parts = attn_query_blocks(&plan->problem, plan->kernels->rows);
    return attn_round_up((plan->problem.queries - 1) / parts + 1, plan->kernels->tile);
}

/* Whether lines may be computed together: not where heads see different keys. */
static int shares_tiles(const exact_plan_t *plan) {
    return ATTN_SMALL || !plan->pattern || !plan->pattern->by_head;
}

/*
 * Lines of a task: as many as have room where each has few queries, so that tiles are full. Keys and values are then
 * read once for all of them.
 */
static int64_t lines_of_task(const exact_plan_t *plan, int64_t lines) {
    const int64_t queries = plan->problem.queries;
    const int64_t rows = has_blocks(plan) ? attn_min(part_rows(plan), queries) : queries;
    if (!shares_tiles(plan) || rows > plan->kernels->rows / 2) return 1;
    const int64_t most = plan->kernels->rows / rows;
    return (lines - 1) / ((lines - 1) / most + 1) + 1;
}

/* Of a key/value head that so many lines read. */
static int64_t task_count(const exact_plan_t *plan, int64_t lines) {
    return parts_of_line(plan) * ((lines - 1) / lines_of_task(plan, lines) + 1);
}

/* ---- key/value heads in flight ---------------------------------------------------------------- */

/*
 * Between packing and attending all threads wait for the last; several heads at once, so that there are tasks
 * enough in between for the wait to be short, also for one whose processor others use, and threads are busy where a
 * head's queries are few.
 */
enum { TASKS_A_WORKER = 64, KEYS_IN_FLIGHT = 1 << 17 };

static int64_t slot_count(const exact_plan_t *plan) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t workers = attn_host_workers(plan->host);
    if (ATTN_SMALL || workers == 1 || has_lists(plan)) return 1;
    const int64_t tasks = task_count(plan, attn_group(problem));
    const int64_t wanted = TASKS_A_WORKER * workers / (tasks + 1) + 1;
    const int64_t most = KEYS_IN_FLIGHT / (problem->keys + 1) + 1;
    return attn_min(problem->batch * problem->kv_heads, attn_min(wanted, most));
}

static void lay_out_key_list(const exact_plan_t *plan, int s, slot_t *slot, attn_arena_t *arena) {
    attn_key_rows_t *key_list = &slot->head.key_lists[s];
    key_list->count = key_count(plan, s);
    key_list->panels = attn_arena_take(arena, panel_count(plan, s), panel_size(plan));
    if (!has_values(plan))
        slot->copies[s] = attn_arena_take(arena, key_list->count,
                                          (uint64_t)values_stride(&plan->problem) * sizeof(float));
    if (!ATTN_SMALL && plan->pattern)
        key_list->finite = attn_arena_take(arena, panel_count(plan, s), 1);
    if (s == EXACT_GATHERED) key_list->map = plan->pattern->map;
}

static slot_t lay_out_slot(const exact_plan_t *plan, attn_arena_t *arena) {
    slot_t slot = {.head = {.pattern = plan->pattern}};
    for (int s = 0; s < key_list_count(plan); s++) lay_out_key_list(plan, s, &slot, arena);
    return slot;
}

static workspace_t lay_out_prefill(const exact_plan_t *plan, attn_arena_t *arena) {
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

void attn_prefill_workspace(const exact_plan_t *plan, attn_arena_t *arena) {
    lay_out_prefill(plan, arena);
}

typedef struct prefill_run {
    const exact_plan_t *plan;
    const attn_io_t *io;
    workspace_t space;
    exact_units_t units;
    int64_t lines, panels, tasks; /* of a unit */
    attn_range_t in_place;        /* panels of keys where they are: those of all units in flight */
    int64_t pass;                 /* of pass_count() */
} prefill_run_t;

static prefill_run_t begin(const exact_plan_t *plan, const attn_io_t *io, exact_units_t units) {
    const int64_t lines = attn_unit_rows(plan, units) / plan->problem.queries;
    attn_arena_t arena = {.base = io->workspace};
    return (prefill_run_t){.plan = plan,
                           .io = io,
                           .space = lay_out_prefill(plan, &arena),
                           .units = units,
                           .lines = lines,
                           .tasks = task_count(plan, lines)};
}

/* ---- packing ---------------------------------------------------------------------------------- */

/* Whether every row of a head's values starts on a cache line, so that no vector spans two. */
static int is_aligned(const attn_tensor_t *value, const float *first_row) {
    return (uintptr_t)first_row % ATTN_PIECE_ALIGNMENT == 0 &&
           value->stride[2] * (int64_t)sizeof(float) % ATTN_PIECE_ALIGNMENT == 0;
}

/* Values are read in place where they are aligned rows of f32 with unit stride, else from a copy:
 * copied once, they are read by every tile of queries. */
static void choose_values(const exact_plan_t *plan, slot_t *slot, int s) {
    const attn_head_t *head = &slot->head.head;
    const attn_tensor_t *value = &head->io->value;
    attn_key_rows_t *key_list = &slot->head.key_lists[s];
    key_list->copy = NULL;
    key_list->values = NULL;
    if (!value->data || has_values(plan)) return;
    if (s == EXACT_ALL && value->dtype == ATTN_F32 && value->stride[3] == 1) {
        key_list->values = attn_row(value, head->batch, head->kv_head, 0);
        key_list->values_stride = value->stride[2];
        if (is_aligned(value, key_list->values)) return;
    }
    key_list->values = key_list->copy = slot->copies[s];
    key_list->values_stride = values_stride(&plan->problem);
}

/* Keys that some query of a unit sees by position: the first ones see the first, the last ones the last. */
static attn_range_t seen_keys(const attn_head_t *head) {
    const attn_problem_t *problem = head->problem;
    attn_range_t visible = {.first = problem->keys, .last = 0};
    for (int64_t b = 0; b < head->batches; b++) {
        const int64_t keys = attn_keys_of(problem, head->io, head->batch + b);
        int64_t first, last, unused;
        attn_key_range(problem, keys, 0, &first, &unused);
        attn_key_range(problem, keys, problem->queries - 1, &unused, &last);
        visible.first = attn_min(visible.first, first);
        visible.last = attn_max(visible.last, last);
    }
    return visible;
}

/* The panels of a unit's keys, where they are, that are packed: those that queries read, and all where scores do. */
static attn_range_t visible_panels(const prefill_run_t *run, const attn_head_t *head) {
    const attn_pattern_t *pattern = run->plan->pattern;
    const attn_io_t *io = run->io;
    const int64_t panel = run->plan->kernels->panel;
    const int is_read = ATTN_SMALL || !pattern || pattern->in_place || io->scores.data ||
                        !io->value.data; /* weights alone */
    if (!is_read) return (attn_range_t){0, 0};
    if (io->scores.data) return (attn_range_t){0, panel_count(run->plan, EXACT_ALL)};
    const attn_range_t keys = seen_keys(head);
    if (keys.first >= keys.last) return (attn_range_t){0, 0};
    return (attn_range_t){keys.first / panel, (keys.last - 1) / panel + 1};
}

static void pack_task(void *data, int64_t task, uint32_t worker) {
    const prefill_run_t *run = data;
    const slot_t *slot = &run->space.slots[task / run->panels];
    const exact_head_t *head = &slot->head;
    const int64_t in_place = run->in_place.last - run->in_place.first;
    const int64_t number = task % run->panels;
    const int gathered = !ATTN_SMALL && number >= in_place;
    const int64_t panel = gathered ? number - in_place : run->in_place.first + number;
    if (!gathered && (panel < slot->visible.first || panel >= slot->visible.last)) return;
    run->plan->kernels->pack(&head->head, &head->key_lists[gathered], panel,
                             run->space.scratch + worker * run->space.scratch_size);
}

/* Unit number `number` is the slot's from now on. */
static void take_head(const prefill_run_t *run, slot_t *slot, int64_t number) {
    exact_head_t *head = &slot->head;
    head->head = attn_unit(run->plan, run->io, run->units, number);
    slot->visible = visible_panels(run, &head->head);
    for (int s = 0; s < key_list_count(run->plan); s++) choose_values(run->plan, slot, s);
    head->pass = run->pass;
    if (!ATTN_SMALL && has_lists(run->plan)) /* else there is no such key list */
        head->key_lists[EXACT_GATHERED].map =
            head->pattern->list(head->pattern, &head->head, run->pass);
}

/* Units from number `first` on. */
static void pack_heads(prefill_run_t *run, int64_t first, int64_t count) {
    attn_range_t *all = &run->in_place;
    for (int64_t i = 0; i < count; i++) {
        slot_t *slot = &run->space.slots[i];
        take_head(run, slot, first + i);
        all->first = i ? attn_min(all->first, slot->visible.first) : slot->visible.first;
        all->last = i ? attn_max(all->last, slot->visible.last) : slot->visible.last;
    }
    run->panels = all->last - all->first;
    if (key_list_count(run->plan) > 1) run->panels += panel_count(run->plan, EXACT_GATHERED);
    if (run->panels) attn_host_parallel_for(run->plan->host, count * run->panels, pack_task, run);
}

/* ---- attending -------------------------------------------------------------------------------- */

/* Queries from `from` on, as many as are in one part of a block. */
static attn_queries_t part_of(const exact_plan_t *plan, const attn_head_t *head, int64_t from) {
    const int64_t block = plan->pattern->block, rows = part_rows(plan);
    const int64_t in_block = (from + rows_before(plan, head)) % block;
    const int64_t end = attn_min((in_block / rows + 1) * rows, block);
    return (attn_queries_t){.first = from,
                            .count = attn_min(plan->problem.queries - from, end - in_block)};
}

/* Part number `part` of a line, where there are blocks: it may have no queries. */
static attn_queries_t part_of_blocks(const exact_plan_t *plan, const attn_head_t *head,
                                     int64_t part) {
    const int64_t parts = part_count(plan), block = plan->pattern->block, rows = part_rows(plan);
    const int64_t in_block = part % parts * rows;
    const int64_t start = part / parts * block + in_block - rows_before(plan, head);
    if (in_block >= block || start + rows <= 0 || start >= plan->problem.queries)
        return (attn_queries_t){.count = 0};
    return part_of(plan, head, attn_max(start, 0));
}

static attn_queries_t part_of_line(const exact_plan_t *plan, const attn_head_t *head,
                                   int64_t part) {
    const int64_t rows = rows_of_line(plan), left = plan->problem.queries - part * rows;
    if (has_blocks(plan)) return part_of_blocks(plan, head, part);
    return (attn_queries_t){.first = part * rows, .count = attn_min(left, rows)};
}

/* Task number `task` of a unit: it may have no queries. */
static attn_queries_t queries_of(const prefill_run_t *run, const attn_head_t *head, int64_t task) {
    const int64_t parts = parts_of_line(run->plan), lines = lines_of_task(run->plan, run->lines);
    const int64_t line = task / parts * lines;
    attn_queries_t queries = part_of_line(run->plan, head, task % parts);
    queries.head = head->kv_head * attn_group(head->problem) + line;
    queries.lines = attn_min(lines, run->lines - line);
    return queries;
}

/* All scores of the queries. */
static void write_scores(const prefill_run_t *run, const exact_head_t *head,
                         const attn_queries_t *queries) {
    float *rows[SPAN_ROWS];
    for (int64_t i = 0; i < attn_row_count(queries); i++) {
        const attn_place_t at = attn_place_of(&head->head, queries, i);
        rows[i] = attn_row(&run->io->scores, at.batch, at.head, at.query);
    }
    run->plan->kernels->scores(head, queries, run->plan->problem.scores, rows);
}

/* Of each head those queries first that see most, as small tasks at the end leave no thread waiting for long: the
 * last under a causal mask, else those of a pattern that lets its first queries see all. */
static void attend_task(void *data, int64_t number, uint32_t worker) {
    const prefill_run_t *run = data;
    const exact_plan_t *plan = run->plan;
    const exact_head_t *head = &run->space.slots[number / run->tasks].head;
    const int64_t task = number % run->tasks;
    const int is_causal = plan->problem.causal != ATTN_CAUSAL_NONE;
    attn_queries_t queries = queries_of(run, &head->head, is_causal ? run->tasks - 1 - task : task);
    if (!ATTN_SMALL && queries.count <= 0) return;
    queries.scratch = run->space.scratch + worker * run->space.scratch_size;
    plan->kernels->attend(head, &queries);
    if (ATTN_SMALL || !run->io->scores.data || run->pass + 1 < pass_count(plan)) return;
    write_scores(run, head, &queries);
}

attn_status_t attn_prefill_run(const attn_backend_plan_t *base, const attn_io_t *io,
                               attn_error_t *error) {
    const exact_plan_t *plan = (const exact_plan_t *)base;
    const exact_units_t units = attn_units_of(plan, io);
    const int64_t heads = attn_unit_count(plan, units), slots = slot_count(plan);
    prefill_run_t run = begin(plan, io, units);
    for (int64_t first = 0; first < heads; first += slots)
        for (run.pass = 0; run.pass < pass_count(plan); run.pass++) {
            const int64_t count = attn_min(slots, heads - first);
            pack_heads(&run, first, count);
            attn_host_parallel_for(plan->host, count * run.tasks, attend_task, &run);
        }
    (void)error;
    return ATTN_OK;
}

void attn_prefill_weights(const exact_plan_t *plan, const attn_io_t *io, attn_place_t at,
                          int64_t count, float *rows, int64_t row_stride) {
    attn_io_t keys_only = attn_io_copy(io);
    keys_only.value.data = NULL;
    prefill_run_t run = begin(plan, &keys_only, attn_single_units());
    const attn_problem_t *problem = &plan->problem;
    const exact_head_t *slot = &run.space.slots->head;
    pack_heads(&run, at.batch * problem->kv_heads + at.head / attn_group(problem), 1);
    for (int64_t done = 0; done < count;) {
        attn_queries_t queries = {.first = at.query + done, .count = plan->kernels->rows};
        if (has_blocks(plan)) queries = part_of(plan, &slot->head, at.query + done);
        float *to[SPAN_ROWS];
        queries.head = at.head;
        queries.lines = 1;
        queries.count = attn_min(queries.count, count - done);
        queries.scratch = run.space.scratch;
        for (int64_t i = 0; i < queries.count; i++) to[i] = rows + (done + i) * row_stride;
        plan->kernels->scores(slot, &queries, ATTN_SCORES_WEIGHTS, to);
        done += queries.count;
    }
}
