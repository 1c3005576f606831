/*
 * Exact attention for one head: tiles of queries against packed keys, online softmax
 * (simd/flash.h). Compiled once per tier.
 */
#include "kernels.h"

#include "simd/flash_task.h"

enum { TILES = 8 }; /* tiles of queries a task: they share each block of keys */

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) {
    flash_lay_out(problem, TILES, arena);
}

static void pack(const softmax_head_t *head, int64_t panel) {
    const attn_problem_t *problem = head->head.problem;
    const int64_t first = panel * PANEL, count = tile_min(PANEL, problem->keys - first);
    flash_pack(&head->head, NULL, first, count, head->panels + first * problem->dim,
               head->copy ? head->copy + first * problem->value_dim : NULL);
}

/* Dense attention is one segment; each row sees it up to its causal limit. */
static flash_segment_t show_keys(const softmax_head_t *head, const attn_queries_t *queries,
                                 flash_tile_t *tiles) {
    for (int64_t i = 0; i < queries->count; i++)
        tiles[i / TILE_ROWS].last[i % TILE_ROWS] =
            attn_causal_limit(head->head.problem, queries->first + i);
    return (flash_segment_t){head->panels, head->values, head->values_stride};
}

static void attend(const softmax_head_t *head, const attn_queries_t *queries) {
    attn_arena_t arena = {.base = queries->scratch};
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 1);
    const flash_segment_t keys = show_keys(head, queries, space.tiles);
    flash_attend(space.tiles, tiles, &keys);
    flash_finish(&head->head, queries, &space);
}

static void weights(const softmax_head_t *head, const attn_queries_t *queries, float *rows,
                    int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 0);
    const flash_segment_t keys = show_keys(head, queries, space.tiles);
    flash_attend(space.tiles, tiles, &keys);
    flash_weights(space.tiles, &keys, NULL, rows, stride, queries->count);
}

const softmax_kernels_t ATTN_KERNEL(attn_softmax_kernels) = {
    .name = TILE_NAME,
    .panel = PANEL,
    .rows = TILES * TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = attend,
    .weights = weights,
};
