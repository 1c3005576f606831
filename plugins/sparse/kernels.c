/*
 * Sparse attention for one head: the online softmax of simd/flash.h over the three ranges of keys
 * that a query sees (pattern.h). Compiled once per tier.
 */
#include "kernels.h"

#include "simd/flash_task.h"

enum { TILES = 4 };                    /* tiles of queries a task: neighbours share their band */
enum { BAND, BEFORE, BEHIND, RANGES }; /* the segments of a query, in the order they are seen */

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) {
    flash_lay_out(problem, TILES, arena);
}

static void pack(const attn_head_t *head, const sparse_keys_t *keys, int64_t panel,
                 void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const attn_problem_t *problem = head->problem;
    const flash_scratch_t space = flash_lay_out(problem, TILES, &arena);
    const int64_t first = panel * PANEL, count = tile_min(PANEL, keys->count - first);
    flash_pack(head, keys->map, first, count, keys->panels + first * problem->dim,
               keys->values ? keys->values + first * problem->value_dim : NULL, problem->value_dim,
               space.rows);
}

static const sparse_keys_t *keys_of(const sparse_head_t *head, int range) {
    return range == BAND ? &head->all : &head->global;
}

/* Show the tiles one of the three ranges. */
static flash_segment_t show(const sparse_head_t *head, const attn_queries_t *queries,
                            flash_tile_t *tiles, int range) {
    for (int64_t i = 0; i < tile_round_up(queries->count, TILE_ROWS); i++) {
        const sparse_row_t row =
            attn_sparse_row(head->pattern, queries->first + tile_min(i, queries->count - 1));
        const sparse_range_t seen = range == BAND     ? row.band
                                    : range == BEFORE ? row.before
                                                      : row.behind;
        tiles[i / TILE_ROWS].first[i % TILE_ROWS] = seen.first;
        tiles[i / TILE_ROWS].last[i % TILE_ROWS] = seen.last;
    }
    const sparse_keys_t *keys = keys_of(head, range);
    return (flash_segment_t){keys->panels, keys->values, head->head.problem->value_dim};
}

static void attend_ranges(const sparse_head_t *head, const attn_queries_t *queries,
                          flash_tile_t *tiles, int64_t count) {
    for (int range = 0; range < RANGES; range++) {
        const flash_segment_t segment = show(head, queries, tiles, range);
        flash_attend(tiles, count, &segment);
    }
}

static void attend(const sparse_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 1);
    attend_ranges(head, queries, space.tiles, tiles);
    flash_finish(&head->head, queries, &space);
}

static void weights(const sparse_head_t *head, const attn_queries_t *queries, float *rows,
                    int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 0);
    attend_ranges(head, queries, space.tiles, tiles);
    for (int range = 0; range < RANGES; range++) {
        const flash_segment_t segment = show(head, queries, space.tiles, range);
        flash_weights(space.tiles, &segment, keys_of(head, range)->map, rows, stride,
                      queries->count);
    }
}

const sparse_kernels_t ATTN_KERNEL(attn_sparse_kernels) = {
    .name = TILE_NAME,
    .panel = PANEL,
    .rows = TILES * TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = attend,
    .weights = weights,
};
