/*
 * Exact attention for one head: tiles of queries against packed keys, online softmax
 * (simd/flash.h). Compiled once per tier.
 */
#include "flash/kernels.h"
#include "flash/walk.h"

#include "simd/flash_task.h"
#include "simd/runs.h"

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

/* ---- dense attention: one segment, of which each row sees a range -------------------------------- */

ATTN_SMALL_STEP void see_all(const flash_head_t *head, const attn_queries_t *queries,
                             flash_tile_t *tiles) {
    const attn_problem_t *problem = head->head.problem;
    const int64_t keys = attn_keys_of(problem, head->head.io, head->head.batch);
    for (int64_t i = 0; i < tile_round_up(queries->count, TILE_ROWS); i++) {
        flash_tile_t *tile = &tiles[i / TILE_ROWS];
        const int64_t query = queries->first + tile_min(i, queries->count - 1);
        attn_key_range(problem, keys, query, &tile->first[i % TILE_ROWS],
                       &tile->last[i % TILE_ROWS]);
    }
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

/* Whether each query sees one range of all keys, or chooses among those. */
static int is_dense(const flash_head_t *head) {
    return ATTN_SMALL || !head->pattern || head->pattern->top;
}

ATTN_SMALL_STEP void attend_keys(const flash_head_t *head, const attn_queries_t *queries,
                                 flash_tile_t *tiles, int64_t count) {
    if (!is_dense(head)) {
        attend_runs(head, queries, tiles, count);
        return;
    }
    see_all(head, queries, tiles);
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
    attend_keys(head, queries, space.tiles, tiles);
    flash_finish(&head->head, queries, &space);
}

/* ---- scores --------------------------------------------------------------------------------------- */

ATTN_SMALL_STEP void fill(float *rows, int64_t count, int64_t stride, int64_t keys, float value) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < keys; j++) rows[i * stride + j] = value;
}

ATTN_SMALL_STEP void write_scores(const attn_segment_t *segment, flash_tile_t *tiles, int64_t count,
                                  int32_t stage, float *rows, int64_t stride) {
    for (int64_t t = 0; t < count; t++)
        flash_scores(&tiles[t], segment, stage, rows + t * TILE_ROWS * stride, stride);
}

/* Logits before masking: of all keys. */
ATTN_SMALL_STEP void write_logits(const flash_head_t *head, flash_tile_t *tiles, int64_t count,
                                  int32_t stage, float *rows, int64_t stride) {
    const int64_t keys = head->head.problem->keys;
    for (int64_t t = 0; t < count; t++)
        for (int r = 0; r < TILE_ROWS; r++) tiles[t].first[r] = 0, tiles[t].last[r] = keys;
    write_scores(&head->segments[FLASH_ALL], tiles, count, stage, rows, stride);
}

/* Scores of all runs. */
ATTN_SMALL_STEP void write_runs(const flash_head_t *head, const attn_queries_t *queries,
                                flash_tile_t *tiles, int64_t count, int32_t stage, float *rows,
                                int64_t stride) {
    flash_walk_t walk;
    attn_run_t run;
    attn_walk_begin(&walk, head->pattern, &head->head, queries, TILE_ROWS);
    while (attn_walk_take(&walk, &run, 1, INT64_MAX / 2, 1))
        for (int64_t t = 0; t < count; t++) {
            const flash_mods_t mods = tiles[t].mods;
            runs_look(&tiles[t], walk.rows[run.range] + t * TILE_ROWS, &run);
            if (run.full) tiles[t].mods.mask = NULL;
            flash_scores(&tiles[t], segment_of(head, &run), stage, rows + t * TILE_ROWS * stride,
                         stride);
            tiles[t].mods = mods;
        }
}

ATTN_SMALL_STEP void scores(const flash_head_t *head, const attn_queries_t *queries, int32_t stage,
                            float *rows, int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    const int weights = stage == ATTN_SCORES_WEIGHTS;
    const int64_t top = stage == ATTN_SCORES_MASKED || weights ? top_of(head->pattern) : 0;
    const flash_scratch_t space = flash_lay_out(head->head.problem, top, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 0);
    if (!weights && stage != ATTN_SCORES_MASKED) {
        write_logits(head, space.tiles, tiles, stage, rows, stride);
        return;
    }
    const float nothing = weights ? 0.0f : -INFINITY;
    fill(rows, queries->count, stride, head->head.problem->keys, nothing);
    if (weights || top) attend_keys(head, queries, space.tiles, tiles);
    if (is_dense(head)) {
        see_all(head, queries, space.tiles);
        write_scores(&head->segments[FLASH_ALL], space.tiles, tiles, stage, rows, stride);
        for (int64_t i = 0; top && i < queries->count; i++)
            select_drop(&space.select.rows[i], rows + i * stride, head->head.problem->keys,
                        nothing);
    } else {
        write_runs(head, queries, space.tiles, tiles, stage, rows, stride);
    }
}

const flash_kernels_t ATTN_KERNEL(attn_flash_kernels) = {
    .name = TILE_NAME,
    .panel = PANEL,
    .rows = TILES * TILE_ROWS,
    .tile = TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = attend,
    .scores = ATTN_SMALL ? NULL : scores,
};
