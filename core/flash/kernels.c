/*
 * Exact attention for one head: tiles of queries against packed keys, online softmax
 * (simd/flash.h). Compiled once per tier.
 */
#include "flash/kernels.h"

#include "simd/flash_task.h"

enum { TILES = 8 }; /* tiles of queries a task: they share each block of keys */

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) {
    flash_lay_out(problem, TILES, arena);
}

static void pack(const attn_head_t *head, const attn_segment_t *segment, int64_t panel,
                 void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const flash_scratch_t space = flash_lay_out(head->problem, TILES, &arena);
    flash_pack(head, segment, panel, space.rows);
}

/* ---- what a row sees ------------------------------------------------------------------------------ */

/* Dense attention is one segment, of which each row sees a range. */
static int32_t range_count(const flash_head_t *head) {
    return ATTN_SMALL || !head->pattern ? 1 : head->pattern->ranges;
}

static attn_range_t range_of(const flash_head_t *head, int64_t keys, int64_t query, int32_t index) {
    const attn_problem_t *problem = head->head.problem;
    attn_range_t range;
    if (!ATTN_SMALL && head->pattern)
        return head->pattern->range(head->pattern, problem, keys, query, index);
    attn_key_range(problem, keys, query, &range.first, &range.last);
    return range;
}

/* Show range number `index` of each row to the tiles; returns the segment that it is of. */
static const attn_segment_t *show(const flash_head_t *head, const attn_queries_t *queries,
                                  flash_tile_t *tiles, int32_t index) {
    const int64_t keys = attn_keys_of(head->head.problem, head->head.io, head->head.batch);
    for (int64_t i = 0; i < tile_round_up(queries->count, TILE_ROWS); i++) {
        flash_tile_t *tile = &tiles[i / TILE_ROWS];
        const int64_t query = queries->first + tile_min(i, queries->count - 1);
        const attn_range_t seen = range_of(head, keys, query, index);
        tile->first[i % TILE_ROWS] = seen.first;
        tile->last[i % TILE_ROWS] = seen.last;
    }
    const int gathered = !ATTN_SMALL && head->pattern && index >= head->pattern->in_place;
    return &head->segments[gathered ? FLASH_GATHERED : FLASH_ALL];
}

static void attend_ranges(const flash_head_t *head, const attn_queries_t *queries,
                          flash_tile_t *tiles, int64_t count) {
    for (int32_t index = 0; index < range_count(head); index++) {
        const attn_segment_t *segment = show(head, queries, tiles, index);
        flash_attend(tiles, count, segment);
    }
}

static void attend(const flash_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 1);
    attend_ranges(head, queries, space.tiles, tiles);
    flash_finish(&head->head, queries, &space);
}

/* ---- scores --------------------------------------------------------------------------------------- */

static void fill(float *rows, int64_t count, int64_t stride, int64_t keys, float value) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < keys; j++) rows[i * stride + j] = value;
}

static void write_scores(const attn_segment_t *segment, flash_tile_t *tiles, int64_t count,
                         int32_t stage, float *rows, int64_t stride) {
    for (int64_t t = 0; t < count; t++)
        flash_scores(&tiles[t], segment, stage, rows + t * TILE_ROWS * stride, stride);
}

/* Logits before masking: of all keys. */
static void write_logits(const flash_head_t *head, flash_tile_t *tiles, int64_t count,
                         int32_t stage, float *rows, int64_t stride) {
    const int64_t keys = head->head.problem->keys;
    for (int64_t t = 0; t < count; t++)
        for (int r = 0; r < TILE_ROWS; r++) tiles[t].first[r] = 0, tiles[t].last[r] = keys;
    write_scores(&head->segments[FLASH_ALL], tiles, count, stage, rows, stride);
}

static void scores(const flash_head_t *head, const attn_queries_t *queries, int32_t stage,
                   float *rows, int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    const int weights = stage == ATTN_SCORES_WEIGHTS;
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 0);
    if (!weights && stage != ATTN_SCORES_MASKED) {
        write_logits(head, space.tiles, tiles, stage, rows, stride);
        return;
    }
    fill(rows, queries->count, stride, head->head.problem->keys, weights ? 0.0f : -INFINITY);
    if (weights) attend_ranges(head, queries, space.tiles, tiles);
    for (int32_t index = 0; index < range_count(head); index++) {
        const attn_segment_t *segment = show(head, queries, space.tiles, index);
        write_scores(segment, space.tiles, tiles, stage, rows, stride);
    }
}

const flash_kernels_t ATTN_KERNEL(attn_flash_kernels) = {
    .name = TILE_NAME,
    .panel = PANEL,
    .rows = TILES * TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = attend,
    .scores = ATTN_SMALL ? NULL : scores,
};
