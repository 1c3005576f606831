/*
 * simd/flash_task.h: a task's way from tensors to the tiles of simd/flash.h and back.
 */
#ifndef ATTN_SIMD_FLASH_TASK_H
#define ATTN_SIMD_FLASH_TASK_H

#include "simd/flash.h"
#include "simd/task.h"

/* What a task works in. */
typedef struct flash_scratch {
    flash_tile_t *tiles;
    float *queries; /* [tiles][dim][TILE_ROWS] */
    float *out;     /* [tiles][TILE_ROWS][out_stride] */
    float *scores;  /* [TILE_ROWS][FLASH_KEYS], one tile's at a time */
    int64_t out_stride;
} flash_scratch_t;

ATTN_INLINE flash_scratch_t flash_lay_out(const attn_problem_t *problem, int64_t tiles,
                                          attn_arena_t *arena) {
    const int64_t rows = tiles * TILE_ROWS;
    flash_scratch_t scratch = {.out_stride = tile_round_up(problem->value_dim, VF_LANES)};
    scratch.tiles = attn_arena_take(arena, tiles, sizeof(flash_tile_t));
    scratch.queries = attn_arena_take(arena, problem->dim, (uint64_t)rows * sizeof(float));
    scratch.out = attn_arena_take(arena, scratch.out_stride, (uint64_t)rows * sizeof(float));
    scratch.scores = attn_arena_take(arena, TILE_ROWS * FLASH_KEYS, sizeof(float));
    return scratch;
}

/**
 * Pack keys number first <= j < first + count of the head as one panel, and copy their values to
 * rows of unit stride (NULL: not wanted). Key j stands at position map[j]; without a map, at j.
 */
ATTN_INLINE void flash_pack(const attn_head_t *head, const int64_t *map, int64_t first,
                            int64_t count, float *panel, float *values) {
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *key = &head->io->key, *value = &head->io->value;
    if (!map)
        tile_pack(panel, PANEL, count, problem->dim,
                  attn_row(key, head->batch, head->kv_head, first), key->stride[2], key->stride[3],
                  1.0f);
    for (int64_t j = 0; map && j < PANEL; j++)
        for (int64_t k = 0; k < problem->dim; k++)
            panel[k * PANEL + j] = j < count ? attn_row(key, head->batch, head->kv_head,
                                                        map[first + j])[k * key->stride[3]]
                                             : 0.0f;
    for (int64_t j = 0; values && j < count; j++) {
        const float *row =
            attn_row(value, head->batch, head->kv_head, map ? map[first + j] : first + j);
        for (int64_t c = 0; c < problem->value_dim; c++)
            values[j * problem->value_dim + c] = row[c * value->stride[3]];
    }
}

/**
 * Set up tiles with packed queries, which see nothing yet; returns how many. Without output the
 * tiles only find their normaliser.
 */
ATTN_INLINE int64_t flash_prepare(const attn_head_t *head, const attn_queries_t *queries,
                                  const flash_scratch_t *scratch, int with_output) {
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *query = &head->io->query;
    const int64_t tiles = (queries->count + TILE_ROWS - 1) / TILE_ROWS;
    for (int64_t t = 0; t < tiles; t++) {
        flash_tile_t *tile = &scratch->tiles[t];
        const int64_t done = t * TILE_ROWS;
        float *packed = scratch->queries + done * problem->dim;
        tile_pack(packed, TILE_ROWS, tile_min(TILE_ROWS, queries->count - done), problem->dim,
                  attn_row(query, head->batch, queries->head, queries->first + done),
                  query->stride[2], query->stride[3], head->scale * ATTN_LOG2_E);
        tile->dim = problem->dim;
        tile->value_dim = problem->value_dim;
        tile->query = packed;
        tile->out = with_output ? scratch->out + done * scratch->out_stride : NULL;
        tile->out_stride = scratch->out_stride;
        tile->scores = scratch->scores;
        for (int r = 0; r < TILE_ROWS; r++) tile->first[r] = tile->last[r] = 0;
        flash_begin(tile);
    }
    return tiles;
}

/** Write the tiles' output, and lse where it is wanted. */
ATTN_INLINE void flash_finish(const attn_head_t *head, const attn_queries_t *queries,
                              const flash_scratch_t *scratch) {
    const attn_tensor_t *out = &head->io->out, *lse = &head->io->lse;
    for (int64_t i = 0; i < queries->count; i++) {
        const int64_t row = queries->first + i;
        float row_lse = flash_end(&scratch->tiles[i / TILE_ROWS], (int)(i % TILE_ROWS),
                                  attn_row(out, head->batch, queries->head, row), out->stride[3]);
        if (lse->data) *attn_row(lse, head->batch, queries->head, row) = row_lse;
    }
}

#endif
