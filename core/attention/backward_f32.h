/*
 * attention/backward_f32.h: the five products of the way back (backward_block.h), of floats.
 */
#ifndef ATTN_ATTENTION_BACKWARD_F32_H
#define ATTN_ATTENTION_BACKWARD_F32_H

#include "attention/backward_state.h"

/* ---- operands -------------------------------------------------------------------------------------- */

/* Rows are padded to so many floats. */
enum { BACKWARD_WIDTH = PRODUCT_WIDTH };

ATTN_INLINE void backward_lay_out_rows(backward_block_t *block, const attn_problem_t *problem,
                                       attn_arena_t *arena) {
    block->query_panels = attn_arena_take(arena, problem->dim, BACKWARD_ROWS * sizeof(float));
    block->out_panels = attn_arena_take(arena, problem->value_dim, BACKWARD_ROWS * sizeof(float));
    block->panel_rows = attn_arena_take(arena, problem->value_dim, PANEL * sizeof(float));
}

/* `keys` are whole panels. */
ATTN_INLINE void backward_lay_out_keys(backward_keys_t *sides, const attn_problem_t *problem,
                                       int64_t keys, int64_t stride, attn_arena_t *arena) {
    sides->key.panels = attn_arena_take(arena, keys, (uint64_t)problem->dim * sizeof(float));
    sides->value.panels =
        attn_arena_take(arena, keys, (uint64_t)problem->value_dim * sizeof(float));
    sides->key.copy = attn_arena_take(arena, keys, (uint64_t)stride * sizeof(float));
    sides->key.values = sides->key.copy;
    sides->key.values_stride = stride;
}

/* Keys and values from number `first` on, of one panel. */
ATTN_INLINE void backward_pack_panel(const backward_block_t *block, const attn_head_t *head,
                                     const backward_keys_t *sides, int64_t first) {
    const attn_problem_t *problem = head->problem;
    const attn_io_t *io = head->io;
    const int64_t stride = sides->key.values_stride, value_dim = problem->value_dim;
    const int64_t count = attn_min(PANEL, sides->key.count - first);
    float *copy = sides->key.copy + first * stride, *rows = block->panel_rows;
    for (int64_t j = 0; j < count; j++) {
        const int64_t at = sides->key.map ? sides->key.map[first + j] : first + j;
        backward_read_row(copy + j * stride, stride, &io->key, head->batch, head->kv_head, at);
        backward_read_row(rows + j * value_dim, value_dim, &io->value, head->batch, head->kv_head,
                          at);
    }
    tile_pack(sides->key.panels + first * problem->dim, PANEL, count, problem->dim, copy, stride, 1,
              1.0f);
    tile_pack(sides->value.panels + first * value_dim, PANEL, count, value_dim, rows, value_dim, 1,
              1.0f);
}

/* Rows of Q and dO that stand in the block. */
ATTN_INLINE void backward_pack_rows(backward_block_t *block, const attn_head_t *head,
                                    const attn_tensor_t *out_gradient) {
    const attn_problem_t *problem = head->problem;
    const float factor = head->scale * ATTN_LOG4_E;
    (void)out_gradient;
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++) {
        exact_tile_t *tile = &block->tiles[t];
        const int64_t at = t * TILE_ROWS;
        tile->query = block->query_panels + at * problem->dim;
        tile_pack(block->query_panels + at * problem->dim, TILE_ROWS, tile->rows, problem->dim,
                  block->query + at * block->query_stride, block->query_stride, 1, factor);
        tile_pack(block->out_panels + at * problem->value_dim, TILE_ROWS, tile->rows,
                  problem->value_dim, block->out_gradient + at * block->out_stride,
                  block->out_stride, 1, 1.0f);
    }
}

/* ---- products -------------------------------------------------------------------------------------- */

/* dP of tile t for the keys [first, first + width), whole panels, behind so many columns. */
ATTN_INLINE void backward_out_products(backward_block_t *block, int64_t t,
                                       const backward_keys_t *sides, int64_t first, int64_t width,
                                       int64_t column) {
    const exact_tile_t *tile = &block->tiles[t];
    float *logits = block->logits + t * TILE_ROWS * EXACT_KEYS + column;
    for (int64_t j = 0; j < width; j += PANEL)
        tile_panel_part(tile->rows, tile->low - first - j, tile->high - first - j, block->value_dim,
                        block->out_panels + t * TILE_ROWS * block->value_dim,
                        sides->value.panels + (first + j) * block->value_dim, logits + j, 0,
                        EXACT_KEYS);
}

/* What P and dS of a tile have become, for the products to come; all columns but [column, column + width) are zero. */
ATTN_INLINE void backward_keep(backward_block_t *block, int64_t t, int64_t column, int64_t width,
                               int64_t keys) {
    (void)block, (void)t, (void)column, (void)width, (void)keys;
}

/* dQ of tile t: dS times the keys [first, first + seen). */
ATTN_INLINE void backward_add_keys(backward_block_t *block, int64_t t, const backward_keys_t *sides,
                                   int64_t first, int64_t visible, int64_t column) {
    const exact_tile_t *tile = &block->tiles[t];
    int64_t from[TILE_ROWS], to[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; r++) {
        from[r] = attn_max(0, tile->first[r] - first);
        to[r] = attn_min(visible, tile->last[r] - first);
    }
    tile_accumulate_ranges(tile->rows, block->query_sums + t * TILE_ROWS * block->query_stride,
                           block->query_stride, block->logits + t * TILE_ROWS * EXACT_KEYS + column,
                           EXACT_KEYS, sides->key.values + first * sides->key.values_stride,
                           sides->key.values_stride, from, to, tile->offsets != 0, block->dim);
}

/* The keys' sums of weighted rows, where `visible` are the rows of each tile of keys. Columns are outermost, so that all
 * keys find the rows' panel in the first cache; the next tile's sums are asked for meanwhile. */
ATTN_STEP void backward_add_rows_(float *sums, int64_t sums_stride, const float *weights,
                                  const float *rows, int64_t rows_stride,
                                  const attn_range_t *visible, int64_t keys, int64_t columns) {
    for (int64_t c = 0; c < columns; c += PANEL)
        for (int64_t j = 0; j < keys; j += TILE_ROWS) {
            const int64_t first = visible[j / TILE_ROWS].first;
            const int64_t depth = visible[j / TILE_ROWS].last - first;
            float *sum = sums + j * sums_stride + c;
            const int64_t step = sums_stride * (int64_t)sizeof *sum;
            product_ahead_t ahead = {.arrays = {{(uintptr_t)sum + (uintptr_t)(TILE_ROWS * step),
                                                 step, PANEL * (int64_t)sizeof *sum}},
                                     .rows = TILE_ROWS};
            if (depth > 0)
                product_add_transposed(sum, sums_stride, weights + first * EXACT_KEYS + j,
                                       EXACT_KEYS, rows + first * rows_stride + c, rows_stride,
                                       depth, attn_min(TILE_ROWS, keys - j),
                                       attn_min(PANEL, columns - c), &ahead);
        }
}

/* dV and dK of `keys` keys, of a block whose numbers are finite. */
ATTN_INLINE void backward_add_rows(const backward_block_t *block, const backward_sums_to_t *to,
                                   const attn_range_t *visible, int64_t keys) {
    backward_add_rows_(to->value, to->value_dim, block->weights, block->out_gradient,
                       block->out_stride, visible, keys, to->value_dim);
    backward_add_rows_(to->key, to->dim, block->logits, block->query, block->query_stride, visible,
                       keys, to->dim);
}

#endif
