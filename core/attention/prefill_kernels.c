/*
 * Exact attention for one head: tiles of queries against packed keys, online softmax
 * (attention/online_softmax.h). Compiled once per tier.
 */
#include "attention/kernels.h"
#include "attention/span_iterator.h"

#include "attention/key_spans.h"
#include "attention/tile_io.h"

enum { TILES = 8 }; /* tiles of queries a task: they share each block of keys */
_Static_assert(TILES *TILE_ROWS <= WALK_ROWS, "a walk has room for all queries of a task");

static int64_t top_of(const attn_pattern_t *pattern) {
    return ATTN_SMALL || !pattern ? 0 : pattern->top;
}

static void scratch(const attn_problem_t *problem, const attn_pattern_t *pattern,
                    attn_arena_t *arena) {
    flash_lay_out(problem, top_of(pattern), TILES, arena);
}

static void pack(const attn_head_t *head, const attn_segment_t *segment, int64_t panel,
                 void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const flash_scratch_t space = flash_lay_out(head->problem, 0, TILES, &arena);
    flash_pack(head, segment, panel, space.rows);
}

/* ---- patterns: runs of keys ------------------------------------------------------------------------ */

static const attn_segment_t *segment_of(const flash_head_t *head, const attn_run_t *run) {
    return &head->segments[run->range < head->pattern->in_place ? FLASH_ALL : FLASH_GATHERED];
}

/* Runs by runs for all tiles, so that their keys and values are read from the nearest cache by all but
 * the first. */
ATTN_SMALL_STEP void attend_runs(const flash_head_t *head, const attn_queries_t *queries,
                                 flash_tile_t *tiles, int64_t count) {
    flash_walk_t walk;
    attn_run_t runs[RUNS];
    runs_piece_t pieces[RUNS];
    attn_walk_begin(&walk, head->pattern, &head->head, queries, TILE_ROWS);
    for (int taken; (taken = attn_walk_take(&walk, runs, RUNS, FLASH_KEYS, PANEL)) > 0;)
        for (int64_t t = 0; t < count; t++) {
            for (int i = 0; i < taken; i++) {
                pieces[i].segment = segment_of(head, &runs[i]);
                pieces[i].rows = walk.rows[runs[i].range] + t * TILE_ROWS;
                runs_cut(&pieces[i], &runs[i], walk.tiles[runs[i].range][t]);
            }
            runs_step(&tiles[t], pieces, taken);
        }
}

/* ---- buckets: rounds of keys that stand by them -------------------------------------------------- */

static int has_buckets(const flash_head_t *head) {
    return ATTN_BUCKETS && head->pattern && head->pattern->rounds;
}

#if ATTN_BUCKETS
/* The first of list[first .. last) that is at least `least`. */
static int64_t find(const int64_t *list, int64_t first, int64_t last, int64_t least) {
    while (first < last) {
        const int64_t middle = (first + last) / 2;
        if (list[middle] < least)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* What a row sees of its bucket, and where it is itself there. */
ATTN_SMALL_STEP void see_bucket(const attn_head_t *head, flash_tile_t *tile, int r) {
    const attn_buckets_t *buckets = tile->buckets;
    const attn_problem_t *problem = head->problem;
    const int64_t query = tile->places[r].query, round = tile->round;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    const int64_t *list = buckets->key_order + round * buckets->keys;
    const int64_t *starts = buckets->starts + round * (buckets->count + 2) +
                            (int64_t)buckets->query_codes[round * buckets->queries + query];
    int64_t first, last;
    attn_key_range(problem, keys, query, &first, &last);
    tile->first[r] = find(list, starts[0], starts[1], first);
    tile->last[r] = find(list, tile->first[r], starts[1], last);
    tile->own[r] = -1;
    if (buckets->own == 0.0f) return;
    const int64_t position = attn_query_position(problem, keys, query);
    const int64_t own = find(list, starts[0], starts[1], position);
    if (own < starts[1] && list[own] == position) tile->own[r] = own;
}

/* Attend in one round, from what was kept to what is kept. */
ATTN_SMALL_STEP void attend_round(const flash_head_t *head, const attn_queries_t *queries,
                                  const flash_scratch_t *space, int64_t tiles) {
    const attn_problem_t *problem = head->head.problem;
    const attn_buckets_t buckets =
        head->pattern->buckets(head->pattern, &head->head, queries->head);
    const int64_t member = queries->head - head->head.kv_head * attn_group(problem);
    const int64_t offset = member * problem->queries * (problem->value_dim + 2);
    float *kept = head->kept ? head->kept + offset : NULL; /* of a single round nothing is kept */
    for (int64_t t = 0; t < tiles; t++) {
        flash_tile_t *tile = &space->tiles[t];
        tile->buckets = &buckets;
        tile->round = queries->round;
        if (tile->round) flash_resume(tile, kept);
        for (int r = 0; r < TILE_ROWS; r++) see_bucket(&head->head, tile, r);
    }
    flash_attend(space->tiles, tiles, &head->segments[FLASH_GATHERED]);
    if (queries->round + 1 == buckets.rounds)
        flash_finish(&head->head, space->tiles, tiles);
    else
        for (int64_t t = 0; t < tiles; t++) flash_keep(&space->tiles[t], kept);
}
#endif

/* Let rows that see all keys part with those of other buckets. */
ATTN_SMALL_STEP void see_buckets(const flash_head_t *head, flash_tile_t *tiles, int64_t count,
                                 const attn_buckets_t *buckets) {
    const attn_head_t *own = &head->head;
    const int64_t keys = attn_keys_of(own->problem, own->io, own->batch);
    for (int64_t t = 0; t < count; t++) {
        tiles[t].buckets = buckets;
        tiles[t].round = buckets->rounds;
        for (int r = 0; r < TILE_ROWS; r++)
            tiles[t].own[r] = attn_query_position(own->problem, keys, tiles[t].places[r].query);
    }
}

/* Of each lane's columns the one where [y; -y] is largest, the first of equal ones: how large, and its number. */
typedef struct largest {
    vf most, number;
} largest_t;

/* Of `columns` columns those from `first` on; NaN counts as 0. Columns behind the last are 0, and follow those that
 * are there. */
ATTN_SMALL_STEP void enlarge(largest_t *largest, vf y, int64_t first, int64_t columns) {
    float numbers[VF_LANES];
    for (int64_t i = 0; i < VF_LANES; i++) numbers[i] = (float)(first + i);
    const vf sum = vf_select_positive(vf_add(vf_mul(y, y), vf_set1(1.0f)), y, vf_zero());
    const vf negative = vf_sub(vf_zero(), sum), size = vf_max(sum, negative);
    const vf number =
        vf_add(vf_load(numbers), vf_select_positive(negative, vf_set1((float)columns), vf_zero()));
    const vf above = vf_sub(size, largest->most), below = vf_sub(largest->most, size);
    const vf tie = vf_select_positive(below, vf_set1(-1.0f), vf_sub(largest->number, number));
    const vf wins = vf_select_positive(above, vf_set1(1.0f), tie);
    largest->most = vf_max(size, largest->most);
    largest->number = vf_select_positive(wins, number, largest->number);
}

/* The first number of the largest of all lanes. */
ATTN_SMALL_STEP float first_of(const largest_t *largest) {
    const vf most = vf_set1(vf_reduce_max(largest->most));
    const vf far = vf_sub(vf_zero(), vf_set1(FLT_MAX));
    return -vf_reduce_max(
        vf_select_positive(vf_sub(most, largest->most), far, vf_sub(vf_zero(), largest->number)));
}

_Static_assert(ROTATED_LANES % VF_LANES == 0, "columns behind the last are there to be read");

/* Nothing is fused, and terms are added in their order: all tiers choose the same. */
ATTN_SMALL_STEP void rotate(const float *rows, int64_t dim, const attn_rotation_t *rotation,
                            float *codes) {
    largest_t largest[ROTATED];
    for (int i = 0; i < ROTATED; i++) largest[i] = (largest_t){vf_set1(-1.0f), vf_zero()};
    for (int64_t c = 0; c < rotation->columns; c += VF_LANES) {
        vf sums[ROTATED];
        ATTN_UNROLL
        for (int i = 0; i < ROTATED; i++) sums[i] = vf_zero();
        for (int64_t k = 0; k < dim; k++) {
            const vf column = vf_load(rotation->matrix + k * rotation->stride + c);
            ATTN_UNROLL
            for (int i = 0; i < ROTATED; i++)
                sums[i] = vf_add(sums[i], vf_mul(vf_set1(rows[i * dim + k]), column));
        }
        for (int i = 0; i < ROTATED; i++) enlarge(&largest[i], sums[i], c, rotation->columns);
    }
    for (int i = 0; i < ROTATED; i++) codes[i] = first_of(&largest[i]);
}

/* Whether each query sees one range of all keys, or chooses among those, by logits or by buckets. */
static int is_dense(const flash_head_t *head) {
    return ATTN_SMALL || !head->pattern || head->pattern->top || has_buckets(head);
}

ATTN_SMALL_STEP void attend_keys(const flash_head_t *head, const attn_queries_t *queries,
                                 flash_tile_t *tiles, int64_t count) {
    if (!is_dense(head)) {
        attend_runs(head, queries, tiles, count);
        return;
    }
    flash_see_all(&head->head, tiles, count);
    flash_attend(tiles, count, &head->segments[FLASH_ALL]);
    if (top_of(head->pattern))
        for (int64_t t = 0; t < count; t++)
            flash_attend_chosen(&tiles[t], &head->segments[FLASH_ALL]);
}

ATTN_SMALL_STEP void attend(const flash_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const flash_scratch_t space =
        flash_lay_out(head->head.problem, top_of(head->pattern), TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 1);
#if ATTN_BUCKETS
    if (has_buckets(head)) {
        attend_round(head, queries, &space, tiles);
        return;
    }
#endif
    attend_keys(head, queries, space.tiles, tiles);
    flash_finish(&head->head, space.tiles, tiles);
}

/* ---- scores --------------------------------------------------------------------------------------- */

ATTN_SMALL_STEP void write_scores(const attn_segment_t *segment, flash_tile_t *tiles, int64_t count,
                                  int32_t stage, float *const *rows) {
    for (int64_t t = 0; t < count; t++)
        flash_scores(&tiles[t], segment, stage, rows + t * TILE_ROWS);
}

/* Logits before masking: of all keys. */
ATTN_SMALL_STEP void write_logits(const flash_head_t *head, flash_tile_t *tiles, int64_t count,
                                  int32_t stage, float *const *rows) {
    flash_see_hidden(tiles, count, head->head.problem->keys);
    write_scores(&head->segments[FLASH_ALL], tiles, count, stage, rows);
}

/* Scores of all runs. */
ATTN_SMALL_STEP void write_runs(const flash_head_t *head, const attn_queries_t *queries,
                                flash_tile_t *tiles, int64_t count, int32_t stage,
                                float *const *rows) {
    flash_walk_t walk;
    attn_run_t run;
    attn_walk_begin(&walk, head->pattern, &head->head, queries, TILE_ROWS);
    while (attn_walk_take(&walk, &run, 1, INT64_MAX / 2, 1))
        for (int64_t t = 0; t < count; t++) {
            const uint32_t offsets = tiles[t].offsets;
            runs_look(&tiles[t], walk.rows[run.range] + t * TILE_ROWS, &run);
            if (run.full) tiles[t].offsets &= ~(uint32_t)ATTN_INPUT_MASK;
            flash_scores(&tiles[t], segment_of(head, &run), stage, rows + t * TILE_ROWS);
            tiles[t].offsets = offsets;
        }
}

ATTN_SMALL_STEP void scores(const flash_head_t *head, const attn_queries_t *queries, int32_t stage,
                            float *const *rows) {
    attn_arena_t arena = {.base = queries->scratch};
    const int weights = stage == ATTN_SCORES_WEIGHTS;
    const int64_t top = stage == ATTN_SCORES_MASKED || weights ? top_of(head->pattern) : 0;
    const flash_scratch_t space = flash_lay_out(head->head.problem, top, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 0);
    if (!weights && stage != ATTN_SCORES_MASKED) {
        write_logits(head, space.tiles, tiles, stage, rows);
        return;
    }
    const float nothing = weights ? 0.0f : -INFINITY;
    attn_buckets_t buckets;
    if (has_buckets(head)) {
        buckets = head->pattern->buckets(head->pattern, &head->head, queries->head);
        see_buckets(head, space.tiles, tiles, &buckets);
    }
    flash_fill(rows, attn_row_count(queries), head->head.problem->keys, nothing);
    if (weights || top) attend_keys(head, queries, space.tiles, tiles);
    if (is_dense(head)) {
        flash_see_all(&head->head, space.tiles, tiles);
        write_scores(&head->segments[FLASH_ALL], space.tiles, tiles, stage, rows);
        for (int64_t i = 0; top && i < attn_row_count(queries); i++)
            select_drop(&space.select.rows[i], rows[i], head->head.problem->keys, nothing);
    } else {
        write_runs(head, queries, space.tiles, tiles, stage, rows);
    }
}

const flash_kernels_t ATTN_KERNEL(attn_flash_kernels) = {
    .name = TILE_NAME " prefill",
    .decode_name = TILE_NAME " decode",
    .panel = PANEL,
    .rows = TILES * TILE_ROWS,
    .tile = TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = attend,
    .scores = ATTN_SMALL ? NULL : scores,
    .rotate = ATTN_BUCKETS ? rotate : NULL,
};
