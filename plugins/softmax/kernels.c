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

static void pack(const softmax_head_t *head, int64_t panel, void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const attn_problem_t *problem = head->head.problem;
    const flash_scratch_t space = flash_lay_out(problem, TILES, &arena);
    const int64_t first = panel * PANEL, count = tile_min(PANEL, problem->keys - first);
    flash_pack(&head->head, NULL, first, count, head->panels + first * problem->dim,
               head->copy ? head->copy + first * head->values_stride : NULL, head->values_stride,
               space.rows);
}

/* Dense attention is one segment, of which each row sees a range. */
static flash_segment_t show_keys(const softmax_head_t *head, const attn_queries_t *queries,
                                 flash_tile_t *tiles) {
    const attn_problem_t *problem = head->head.problem;
    const int64_t keys = attn_keys_of(problem, head->head.io, head->head.batch);
    for (int64_t i = 0; i < tile_round_up(queries->count, TILE_ROWS); i++) {
        flash_tile_t *tile = &tiles[i / TILE_ROWS];
        const int64_t r = i % TILE_ROWS, query = queries->first + tile_min(i, queries->count - 1);
        attn_key_range(problem, keys, query, &tile->first[r], &tile->last[r]);
    }
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

static void scores(const softmax_head_t *head, const attn_queries_t *queries, int32_t stage,
                   float *rows, int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    const int64_t keys = head->head.problem->keys;
    const flash_scratch_t space = flash_lay_out(head->head.problem, TILES, &arena);
    const int64_t tiles = flash_prepare(&head->head, queries, &space, 0);
    const flash_segment_t segment = show_keys(head, queries, space.tiles);
    if (stage == ATTN_SCORES_WEIGHTS) {
        for (int64_t i = 0; i < queries->count; i++)
            for (int64_t j = 0; j < keys; j++) rows[i * stride + j] = 0.0f;
        flash_attend(space.tiles, tiles, &segment);
        flash_weights(space.tiles, &segment, NULL, rows, stride, queries->count);
        return;
    }
    for (int64_t t = 0; t < tiles; t++)
        flash_logits(&space.tiles[t], &segment, keys, stage, rows + t * TILE_ROWS * stride, stride);
}

const softmax_kernels_t ATTN_KERNEL(attn_softmax_kernels) = {
    .name = TILE_NAME,
    .panel = PANEL,
    .rows = TILES * TILE_ROWS,
    .scratch = scratch,
    .pack = pack,
    .attend = attend,
    .scores = ATTN_SMALL ? NULL : scores,
};
