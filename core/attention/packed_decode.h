/*
 * attention/packed_decode.h: decoding for kernels that pack keys: some queries of a key/value head over one split of its
 * keys. These are packed a few at a time, as many as stay in the second cache beside the queries, and met by all rows: so
 * keys and values come from memory once, and threads share those of one head. A part of prefill_kernels.c.
 */
#ifndef ATTN_ATTENTION_PACKED_DECODE_H
#define ATTN_ATTENTION_PACKED_DECODE_H

#include "attention/kernels.h"
#include "attention/tile_io.h"

enum {
    PACKED_ROWS = 128, /* rows of a task at most */
    PACKED_TILES = (PACKED_ROWS + TILE_ROWS - 1) / TILE_ROWS,
    PACKED_BYTES = 1 << 18, /* panels at a time, of EXACT_KEYS keys at most */
};

typedef struct packed {
    exact_scratch_t exact;
    attn_key_rows_t key_list;
    int64_t panels; /* that there is room for */
} packed_t;

ATTN_RARE_STEP packed_t packed_lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    const uint64_t size = bf16_panel_bytes(problem->dim, problem->value_dim);
    const int64_t most = EXACT_KEYS / PANEL;
    packed_t space = {.exact = {.out_stride = attn_round_up(problem->value_dim, VF_LANES)}};
    exact_scratch_t *exact = &space.exact;
    exact->tiles = attn_arena_take(arena, PACKED_TILES, sizeof(exact_tile_t));
    exact->out = attn_arena_take(arena, exact->out_stride,
                                 (uint64_t)PACKED_TILES * TILE_ROWS * sizeof(float));
    exact->scores = attn_arena_take(arena, TILE_ROWS * EXACT_KEYS, sizeof(float));
    exact_lay_out_operands(exact, problem, PACKED_TILES, arena);
    space.panels = size > PACKED_BYTES ? 1 : attn_min(most, (int64_t)(PACKED_BYTES / size));
    space.key_list.count = problem->keys;
    space.key_list.panels = attn_arena_take(arena, space.panels, size);
    return space;
}

static void packed_scratch(const attn_problem_t *problem, attn_arena_t *arena) {
    packed_lay_out(problem, arena);
}

/* Tile t of a task's rows, which sees keys of a split alone. Sinks are no split's: results are combined with them. */
ATTN_RARE_STEP void packed_begin_tile(const decode_task_t *task, const packed_t *space, int64_t t) {
    const attn_head_t *head = task->head;
    const attn_queries_t all = attn_all_queries(head);
    const exact_scratch_t *exact = &space->exact;
    exact_tile_t *tile = &exact->tiles[t];
    tile->rows = attn_min(TILE_ROWS, task->count - t * TILE_ROWS);
    for (int64_t r = 0; r < TILE_ROWS; r++)
        tile->places[r] =
            attn_place_of(head, &all, task->first + t * TILE_ROWS + attn_min(r, tile->rows - 1));
    exact_set_rules(tile, head);
    tile->out = exact->out + t * TILE_ROWS * exact->out_stride;
    tile->out_stride = exact->out_stride;
    tile->scores = exact->scores;
    exact_begin(tile);
    exact_pack_queries(head, exact, t, 0);
    exact_see_all(head, tile, 1);
    for (int r = 0; r < TILE_ROWS; r++) {
        tile->first[r] = attn_max(tile->first[r], task->runs->first);
        tile->last[r] = attn_min(tile->last[r], task->runs->last);
    }
    exact_span(tile, &tile->low, &tile->high);
}

/* All tiles over the keys [base, last), which have room together. */
ATTN_RARE_STEP void packed_attend_block(const decode_task_t *task, packed_t *space, int64_t tiles,
                                        int64_t base, int64_t last) {
    attn_key_rows_t *key_list = &space->key_list;
    key_list->first_panel = base / PANEL;
    for (int64_t key = base; key < last; key += PANEL)
        exact_pack(task->head, key_list, key / PANEL, &space->exact);
    for (exact_tile_t *tile = space->exact.tiles; tile < space->exact.tiles + tiles; tile++) {
        const int64_t first = attn_max(base, attn_round_down(tile->low, PANEL));
        const int64_t end = attn_min(last, tile->high);
        if (first < end) exact_step(NULL, tile, key_list, first, attn_round_up(end - first, PANEL));
    }
}

ATTN_RARE_STEP void packed_end_tile(const exact_tile_t *tile, decode_partial_t *partials,
                                    float *out) {
    for (int64_t r = 0; r < tile->rows; r++) {
        const float sum = exact_sum(tile, r);
        partials[r] = (decode_partial_t){.max = sum == 0.0f ? -INFINITY : tile->max[r], .sum = sum};
        memcpy(out + r * tile->out_stride, tile->out + r * tile->out_stride,
               (size_t)tile->out_stride * sizeof *out);
    }
}

static void packed_attend(const decode_task_t *task, decode_partial_t *partials, float *out,
                          void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    packed_t space = packed_lay_out(task->head->problem, &arena);
    const int64_t tiles = (task->count - 1) / TILE_ROWS + 1, keys = space.panels * PANEL;
    int64_t low = INT64_MAX, high = 0;
    for (int64_t t = 0; t < tiles; t++) {
        packed_begin_tile(task, &space, t);
        const exact_tile_t *tile = &space.exact.tiles[t];
        if (tile->low >= tile->high) continue;
        low = attn_min(low, attn_round_down(tile->low, PANEL));
        high = attn_max(high, tile->high);
    }
    exact_begin_products();
    for (int64_t base = low; base < high; base += keys)
        packed_attend_block(task, &space, tiles, base, attn_min(base + keys, high));
    exact_end_products();
    for (int64_t t = 0; t < tiles; t++)
        packed_end_tile(&space.exact.tiles[t], partials + t * TILE_ROWS,
                        out + t * TILE_ROWS * space.exact.out_stride);
}

#endif
