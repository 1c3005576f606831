/* Gradients of exact attention for a part of the queries of one head. Compiled once per tier, and for products of bf16 by
 * the files that include it. */
#include "attention/backward.h"
#include "attention/span_iterator.h"

#include "attention/backward_block.h"
#include "attention/key_spans.h"
#include "attention/tile_io.h"

/* ---- what a task works in -------------------------------------------------------------------------- */

typedef struct space {
    backward_keys_t sides[EXACT_KEY_LISTS];
    backward_block_t *block;
} space_t;

static int64_t padded(int64_t columns) { return attn_round_up(columns, PRODUCT_WIDTH); }

/* Rows whose distance is no power of two: those of a panel then find place in the first cache side by side. */
static int64_t apart(int64_t columns) {
    enum { LINE = 16 };
    const int64_t stride = attn_round_up(columns, BACKWARD_WIDTH);
    return stride % (4 * LINE) ? stride : stride + LINE;
}

static float *take_floats(attn_arena_t *arena, int64_t rows, int64_t columns) {
    return attn_arena_take(arena, rows, (uint64_t)columns * sizeof(float));
}

/* The last tile of keys reads weights past the last row's end. */
static float *take_logits(attn_arena_t *arena) {
    return attn_arena_take(arena, BACKWARD_ROWS * EXACT_KEYS + TILE_ROWS, sizeof(float));
}

static void lay_out_block(backward_block_t *block, const attn_problem_t *problem,
                          attn_arena_t *arena) {
    const int64_t dim = apart(problem->dim), value_dim = apart(problem->value_dim);
    backward_block_t parts = {
        .dim = problem->dim,
        .value_dim = problem->value_dim,
        .query_stride = dim,
        .out_stride = value_dim,
        .query = take_floats(arena, BACKWARD_ROWS, dim),
        .out_gradient = take_floats(arena, BACKWARD_ROWS, value_dim),
        .query_sums = take_floats(arena, BACKWARD_ROWS, dim),
        .weights = take_logits(arena),
        .logits = take_logits(arena),
        .factors = attn_has_softcap(problem) ? take_logits(arena) : NULL,
    };
    backward_lay_out_rows(&parts, problem, arena);
    if (block) *block = parts;
}

static void lay_out_keys(backward_keys_t *sides, const attn_problem_t *problem, int64_t count,
                         attn_arena_t *arena) {
    backward_lay_out_keys(sides, problem, attn_round_up(count, PANEL), apart(problem->dim), arena);
    sides->key.count = sides->value.count = count;
    sides->dim = padded(problem->dim);
    sides->value_dim = padded(problem->value_dim);
}

/* Sums of the gathered keys are a task's own: they join those of all keys at its end. */
static space_t lay_out_backward_task(const attn_problem_t *problem, const attn_pattern_t *pattern,
                                     attn_arena_t *arena) {
    space_t space = {.block = attn_arena_take(arena, 1, sizeof *space.block)};
    backward_keys_t *gathered = &space.sides[EXACT_GATHERED];
    lay_out_block(space.block, problem, arena);
    lay_out_keys(&space.sides[EXACT_ALL], problem, problem->keys, arena);
    if (!pattern) return space;
    lay_out_keys(gathered, problem, pattern->gathered, arena);
    gathered->key.map = gathered->value.map = pattern->map;
    const int64_t keys = attn_round_up(pattern->gathered, PANEL);
    gathered->key_sums = take_floats(arena, keys, gathered->dim);
    gathered->value_sums = take_floats(arena, keys, gathered->value_dim);
    gathered->ready = attn_arena_take(arena, keys / PANEL, 1);
    return space;
}

static void scratch(const attn_problem_t *problem, const attn_pattern_t *pattern,
                    attn_arena_t *arena) {
    lay_out_backward_task(problem, pattern, arena);
}

/* ---- a head's keys and values ---------------------------------------------------------------------- */

static int64_t position_of(const int64_t *map, int64_t key) { return map ? map[key] : key; }

/* Which query a row of a block is. */
static attn_place_t place_of(const backward_block_t *block, int64_t row) {
    return block->tiles[row / TILE_ROWS].places[row % TILE_ROWS];
}

static void read_rows(float *to, int64_t stride, const attn_tensor_t *tensor,
                      const backward_block_t *block) {
    for (int64_t i = 0; i < block->rows; i++) {
        const attn_place_t at = place_of(block, i);
        backward_read_row(to + i * stride, stride, tensor, at.batch, at.head, at.query);
    }
}

static void clear(float *sums, int64_t count) {
    for (int64_t i = 0; i < count; i++) sums[i] = 0.0f;
}

static void clear_panel(const backward_keys_t *sides, int64_t first) {
    clear(sides->key_sums + first * sides->dim, PANEL * sides->dim);
    clear(sides->value_sums + first * sides->value_dim, PANEL * sides->value_dim);
    sides->ready[first / PANEL] = 1;
}

/* What queries see is made ready when the first of them sees it, in the nearest cache; what none of a task's
 * queries sees costs nothing. */
static void make_ready(const backward_task_t *task, const backward_block_t *block,
                       const backward_keys_t *sides, attn_range_t span) {
    for (int64_t first = span.first; first < span.last; first += PANEL) {
        if (sides->ready[first / PANEL]) continue;
        backward_pack_panel(block, &task->head, sides, first);
        clear_panel(sides, first);
    }
}

/* ---- a block of queries ---------------------------------------------------------------------------- */

/* D of a row, and its lse in base 4; whether both are finite. A row that sees no key has any shift. */
static int read_lse(backward_block_t *block, const backward_task_t *task, int64_t r) {
    const attn_tensor_t *out = &task->head.io->out, *lse = &task->head.io->lse;
    const float *gradient = block->out_gradient + r * block->out_stride;
    float *row = block->weights; /* not there yet */
    const attn_place_t at = place_of(block, r);
    const float logit = *attn_row(lse, at.batch, at.head, at.query);
    vf sum = vf_zero();
    backward_read_row(row, block->out_stride, out, at.batch, at.head, at.query);
    for (int64_t c = 0; c < block->out_stride; c += VF_LANES)
        sum = vf_mul_add(vf_load(row + c), vf_load(gradient + c), sum);
    block->dots[r] = vf_reduce_add(sum);
    block->shift[r] = logit == -INFINITY ? 0.0f : logit * ATTN_LOG4_E;
    block->factor[r] = 1.0f;
    return isfinite(block->dots[r]) && isfinite(block->shift[r]);
}

static void read_block(backward_block_t *block, const backward_task_t *task,
                       const attn_queries_t *queries) {
    const attn_head_t *head = &task->head;
    block->rows = attn_row_count(queries);
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++)
        exact_set_queries(&block->tiles[t], head, queries, t * TILE_ROWS);
    read_rows(block->query, block->query_stride, &head->io->query, block);
    read_rows(block->out_gradient, block->out_stride, &task->gradients->out, block);
    block->finite =
        tile_all_finite(block->query, block->query_stride, block->rows, block->query_stride) &&
        tile_all_finite(block->out_gradient, block->out_stride, block->rows, block->out_stride);
    for (int64_t r = 0; r < block->rows; r++) block->finite &= read_lse(block, task, r);
    clear(block->query_sums, BACKWARD_ROWS * block->query_stride);
    backward_pack_rows(block, head, &task->gradients->out);
}

/* ---- gradients of score modifiers ------------------------------------------------------------------- */

typedef struct watch {
    const backward_task_t *task;
    const attn_queries_t *queries;
    const int64_t *map; /* of the keys */
} watch_t;

/* A task's sums for a query head. */
static double *head_sums_of(const backward_task_t *task, int64_t head) {
    return task->sums.heads + head % attn_group(task->head.problem) * BACKWARD_HEAD_SUMS;
}

/* The gradient of a row's bias gets dS, where the row's own, or that of all rows, stands. */
static void watch_bias(const watch_t *watch, attn_place_t at, int64_t key, const float *logits,
                       int64_t keys) {
    const attn_tensor_t *bias = &watch->task->gradients->bias;
    float *sums = (float *)bias->data + attn_broadcast_offset(bias, at.batch, at.head, at.query);
    for (int64_t j = 0; j < keys; j++)
        sums[position_of(watch->map, key + j) * bias->stride[3]] += logits[j];
}

static double slope_of(const watch_t *watch, int64_t position, int64_t key, const float *logits,
                       int64_t keys) {
    double sum = 0.0;
    for (int64_t j = 0; j < keys; j++)
        sum -= (double)logits[j] * fabs((double)(position - position_of(watch->map, key + j)));
    return sum;
}

static void watch_logits(void *data, const backward_block_t *block, int64_t tile, int64_t base,
                         int64_t column, int64_t keys) {
    const watch_t *watch = data;
    const attn_io_t *gradients = watch->task->gradients;
    const exact_tile_t *rows = &block->tiles[tile];
    for (int64_t r = 0; r < rows->rows; r++) {
        const attn_place_t at = rows->places[r];
        const float *logits = block->logits + (tile * TILE_ROWS + r) * EXACT_KEYS + column;
        if (gradients->bias.data) watch_bias(watch, at, base + column, logits, keys);
        if (gradients->slopes.data)
            head_sums_of(watch->task, at.head)[BACKWARD_SLOPE] +=
                slope_of(watch, rows->mods[r].position, base + column, logits, keys);
    }
}

/* At most 1, however a large lse was rounded. */
static double weight_of(const backward_block_t *block, int64_t r, float logit) {
    const double above = (double)logit - (double)block->shift[r];
    return fmin(1.0, (double)block->factor[r] * exp(above * ATTN_LN_4));
}

/* dL/dsink = -sum_i exp(sink - lse_i) D_i: a key without a value (dP = 0). */
static void add_sinks(const backward_task_t *task, const backward_block_t *block) {
    for (int64_t r = 0; r < block->rows; r++) {
        const int64_t head = place_of(block, r).head;
        const float sink = exact_sink_of(&task->head, head);
        if (sink == -INFINITY) continue;
        head_sums_of(task, head)[BACKWARD_SINK] -=
            weight_of(block, r, sink) * (double)block->dots[r];
    }
}

/* ---- the keys that a block's queries see --------------------------------------------------------------- */

/* What is done with the keys of a key list, for which the block's tiles have their ranges. */
typedef void act_t(const backward_task_t *task, const space_t *space, int key_list, watch_t *data);

/* By a pattern these are key spans, one at a time. */
static void each_run(const backward_task_t *task, const space_t *space, act_t *act, watch_t *data) {
    backward_block_t *block = space->block;
    const uint32_t offsets = block->tiles[0].offsets;
    attn_span_iterator_t walk;
    attn_key_span_t run;
    attn_spans_begin(&walk, task->pattern, &task->head, data->queries, TILE_ROWS);
    while (attn_spans_take(&walk, &run, 1, INT64_MAX / 2, 1)) {
        for (int64_t t = 0; t * TILE_ROWS < block->rows; t++) {
            exact_tile_t *tile = &block->tiles[t];
            span_look(tile, walk.rows[run.range] + t * TILE_ROWS, &run);
            tile->offsets = run.full ? offsets & ~(uint32_t)ATTN_INPUT_MASK : offsets;
        }
        act(task, space, run.range < task->pattern->in_place ? EXACT_ALL : EXACT_GATHERED, data);
    }
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++) block->tiles[t].offsets = offsets;
}

static void each_key_list(const backward_task_t *task, const space_t *space, act_t *act,
                          watch_t *data) {
    if (task->pattern) {
        each_run(task, space, act, data);
        return;
    }
    exact_see_all(&task->head, space->block->tiles, (space->block->rows - 1) / TILE_ROWS + 1);
    act(task, space, EXACT_ALL, data);
}

static void attend_keys(const backward_task_t *task, const space_t *space, int key_list,
                        watch_t *data) {
    const backward_keys_t *sides = &space->sides[key_list];
    const attn_range_t span = backward_span(space->block);
    const int is_watched = task->gradients->bias.data || task->gradients->slopes.data;
    make_ready(task, space->block, sides, span);
    data->map = sides->key.map;
    backward_attend(space->block, sides, span, is_watched ? watch_logits : NULL, data);
}

static void sum_keys(const backward_task_t *task, const space_t *space, int key_list,
                     watch_t *data) {
    backward_block_t *block = space->block;
    const backward_keys_t *sides = &space->sides[key_list];
    (void)data;
    make_ready(task, block, sides, backward_span(block));
    exact_attend(block->tiles, (block->rows + TILE_ROWS - 1) / TILE_ROWS, &sides->key);
}

/* ---- rows of a large lse ------------------------------------------------------------------------------ */

/* From here on, in base 4, an lse is rounded by more than 2^-20, and so are weights, relatively. */
#define COARSE_LSE 16.0f

static int is_coarse(const backward_block_t *block, int64_t r) {
    return isfinite(block->shift[r]) && fabsf(block->shift[r]) >= COARSE_LSE;
}

/* M and L in place of lse, where they say the same, but for what is rounded. They do not where lse is of more keys than
 * these, those of other machines say, or of logits that the run rounded otherwise: then lse is what counts. */
static void take_sum(backward_block_t *block, int64_t r, float lse) {
    const exact_tile_t *tile = &block->tiles[r / TILE_ROWS];
    const float max = tile->max[r % TILE_ROWS], sum = exact_sum(tile, r % TILE_ROWS);
    const float apart = fabsf(exact_lse(max, sum) - lse);
    if (!(apart <= 4.0f * FLT_EPSILON * fabsf(lse))) return;
    block->shift[r] = max;
    block->factor[r] = exact_normaliser(sum);
}

/* Each row for itself, whatever the others of the block are. */
static void sum_coarse_rows(const backward_task_t *task, const space_t *space, watch_t *data) {
    backward_block_t *block = space->block;
    int64_t coarse = 0;
    for (int64_t r = 0; r < block->rows; r++) coarse += is_coarse(block, r);
    if (!coarse) return;
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++) {
        exact_tile_t *tile = &block->tiles[t];
        tile->out = NULL;
        tile->scores = block->logits; /* not there yet */
        exact_begin(tile);
        for (int64_t r = 0; r < TILE_ROWS; r++)
            exact_sink(tile, r, exact_sink_of(&task->head, tile->places[r].head));
    }
    each_key_list(task, space, sum_keys, data);
    for (int64_t r = 0; r < block->rows; r++) {
        const attn_place_t at = place_of(block, r);
        if (is_coarse(block, r))
            take_sum(block, r, *attn_row(&task->head.io->lse, at.batch, at.head, at.query));
    }
}

/* ---- the table -------------------------------------------------------------------------------------- */

static void write_rows(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t row,
                       const float *values, float factor) {
    convert_back((char *)tensor->data +
                     attn_offset(tensor, batch, head, row) * attn_dtype_size(tensor->dtype),
                 tensor->dtype, tensor->stride[3], values, tensor->shape[3], factor);
}

static void attend_block(const backward_task_t *task, const space_t *space,
                         const attn_queries_t *queries) {
    const attn_io_t *gradients = task->gradients;
    backward_block_t *block = space->block;
    watch_t data = {.task = task, .queries = queries};
    read_block(block, task, queries);
    sum_coarse_rows(task, space, &data);
    each_key_list(task, space, attend_keys, &data);
    if (gradients->sinks.data) add_sinks(task, block);
    for (int64_t r = 0; gradients->query.data && r < block->rows; r++) {
        const attn_place_t at = place_of(block, r);
        write_rows(&gradients->query, at.batch, at.head, at.query,
                   block->query_sums + r * block->query_stride, task->head.scale);
    }
}

/* Queries from number `at` of the group on, in one block of the pattern: of one head, or all of several that see the
 * same keys. */
static attn_queries_t queries_of(const backward_task_t *task, int64_t at) {
    const attn_problem_t *problem = task->head.problem;
    const attn_pattern_t *pattern = task->pattern;
    const int64_t first = at % problem->queries, left = problem->queries - first;
    const int64_t most = pattern ? SPAN_ROWS / TILE_ROWS * TILE_ROWS : BACKWARD_ROWS;
    attn_queries_t queries = {
        .head = task->head.kv_head * attn_group(problem) + at / problem->queries,
        .lines = 1,
        .first = first,
        .count = attn_min(most, attn_min(left, task->queries.last - at)),
    };
    if (pattern && pattern->block > 0) {
        const int64_t keys = attn_keys_of(problem, task->head.io, task->head.batch);
        const int64_t start = pattern->by_position ? attn_query_position(problem, keys, 0) : 0;
        const int64_t in_block = (start % pattern->block + pattern->block + first) % pattern->block;
        queries.count = attn_min(queries.count, pattern->block - in_block);
    }
    if (queries.count == problem->queries && !(pattern && pattern->next && pattern->by_head))
        queries.lines = attn_min(most, task->queries.last - at) / problem->queries;
    return queries;
}

static void add_row(float *sum, const float *part, int64_t count) {
    for (int64_t c = 0; c < count; c += VF_LANES)
        vf_store(sum + c, vf_add(vf_load(sum + c), vf_load(part + c)));
}

static void begin(backward_keys_t *sides) {
    for (int64_t p = 0; p * PANEL < sides->key.count; p++) sides->ready[p] = 0;
}

/* Gathered keys are keys of the head. */
static void join_gathered(const space_t *space) {
    const backward_keys_t *all = &space->sides[EXACT_ALL], *some = &space->sides[EXACT_GATHERED];
    for (int64_t g = 0; g < some->key.count; g++) {
        const int64_t j = some->key.map[g];
        if (!some->ready[g / PANEL]) continue;
        if (!all->ready[j / PANEL]) clear_panel(all, j / PANEL * PANEL);
        add_row(all->key_sums + j * all->dim, some->key_sums + g * all->dim, all->dim);
        add_row(all->value_sums + j * all->value_dim, some->value_sums + g * all->value_dim,
                all->value_dim);
    }
}

static void attend_backward(const backward_task_t *task) {
    const attn_problem_t *problem = task->head.problem;
    attn_arena_t arena = {.base = task->scratch};
    space_t space = lay_out_backward_task(problem, task->pattern, &arena);
    backward_keys_t *all = &space.sides[EXACT_ALL];
    all->key_sums = task->sums.key;
    all->value_sums = task->sums.value;
    all->ready = task->sums.ready;
    begin(all);
    all->key.count = all->value.count = attn_keys_of(problem, task->head.io, task->head.batch);
    if (task->pattern) begin(&space.sides[EXACT_GATHERED]);
    exact_begin_products();
    for (int64_t i = 0; i < attn_group(problem) * BACKWARD_HEAD_SUMS; i++)
        task->sums.heads[i] = 0.0;
    for (int64_t at = task->queries.first; at < task->queries.last;) {
        const attn_queries_t queries = queries_of(task, at);
        attend_block(task, &space, &queries);
        at += attn_row_count(&queries);
    }
    exact_end_products();
    if (task->pattern) join_gathered(&space);
}

/* The sums of key j, those of all parts together: the rows of one of them. */
static backward_sums_t sums_of(const backward_sums_t *parts, int64_t count, int64_t j, int64_t dim,
                               int64_t value_dim) {
    backward_sums_t sums = {.key = NULL};
    for (int64_t p = 0; p < count; p++) {
        float *key = parts[p].key + j * dim, *value = parts[p].value + j * value_dim;
        if (!parts[p].ready[j / PANEL]) continue;
        if (sums.key) {
            add_row(sums.key, key, dim);
            add_row(sums.value, value, value_dim);
        } else {
            sums = (backward_sums_t){.key = key, .value = value};
        }
    }
    if (sums.key) return sums;
    sums = (backward_sums_t){.key = parts->key + j * dim, .value = parts->value + j * value_dim};
    clear(sums.key, dim);
    clear(sums.value, value_dim);
    return sums;
}

static void finish(const backward_task_t *task, const backward_sums_t *parts, int64_t count,
                   attn_range_t keys) {
    const attn_problem_t *problem = task->head.problem;
    const int64_t dim = padded(problem->dim), value_dim = padded(problem->value_dim);
    const attn_tensor_t *key = &task->gradients->key, *value = &task->gradients->value;
    for (int64_t j = keys.first; j < keys.last; j++) {
        const backward_sums_t sums = sums_of(parts, count, j, dim, value_dim);
        if (key->data)
            write_rows(key, task->head.batch, task->head.kv_head, j, sums.key, task->head.scale);
        if (value->data)
            write_rows(value, task->head.batch, task->head.kv_head, j, sums.value, 1.0f);
    }
}

#ifndef EXACT_BACKWARD
#define EXACT_BACKWARD attn_backward_kernels
#endif

const backward_kernels_t ATTN_KERNEL(EXACT_BACKWARD) = {
    .rows = BACKWARD_ROWS,
    .lanes = PRODUCT_WIDTH,
    .panel = PANEL,
    .scratch = scratch,
    .attend = attend_backward,
    .finish = finish,
};
