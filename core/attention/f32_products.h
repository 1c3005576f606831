/*
 * attention/f32_products.h: the two products of a tile of queries with its keys and values, of floats (products.h).
 */
#ifndef ATTN_ATTENTION_F32_PRODUCTS_H
#define ATTN_ATTENTION_F32_PRODUCTS_H

#include "attention/tile.h"

enum {
    EXACT_HAS_ONE = TILE_HAS_ONE
}; /* whether one vector of a panel's keys is multiplied by itself */

/* A thread is always ready for products. */
ATTN_INLINE void exact_begin_products(void) {}
ATTN_INLINE void exact_end_products(void) {}

/* S of all rows for those of the keys [base, base + keys) that are `visible`: whole panels, or one vector of one. */
ATTN_STEP void exact_products(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                              int64_t keys, attn_range_t visible) {
    const int64_t from = TILE_HAS_ONE ? base % PANEL : 0;
    for (int64_t done = 0; done < keys; done += PANEL) {
        const int64_t panel = base - from + done;
        tile_panel_part(tile->rows, visible.first - panel, visible.last - panel, tile->dim,
                        tile->query, key_list->panels + panel * tile->dim, tile->scores + done,
                        from, EXACT_KEYS);
    }
}

/* Add the values of the keys [base, base + keys) by their weights; `masked`: rows may leave out some of those that they see. */
ATTN_INLINE void exact_add_values(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                                  int64_t keys, int masked) {
    int64_t first[TILE_ROWS], last[TILE_ROWS];
    if (!tile->out) return;
    for (int r = 0; r < TILE_ROWS; r++) {
        first[r] = attn_max(0, tile->first[r] - base);
        last[r] = attn_min(keys, tile->last[r] - base);
    }
    tile_accumulate_ranges(tile->rows, tile->out, tile->out_stride, tile->scores, EXACT_KEYS,
                           key_list->values + base * key_list->values_stride,
                           key_list->values_stride, first, last, masked, tile->value_dim);
}

/* The same of a span, where all values of its panels are known to be finite; else 0. No row has weights for others. */
ATTN_INLINE int exact_add_finite(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                                 int64_t keys, attn_range_t run) {
    const int64_t stride = key_list->values_stride;
    for (int64_t p = base / PANEL; p * PANEL < base + keys; p++)
        if (!key_list->finite[p]) return 0;
    tile_accumulate(tile->rows, tile->out, tile->out_stride, tile->scores, EXACT_KEYS,
                    key_list->values + base * stride, stride, run.first - base, run.last - base,
                    tile->value_dim);
    return 1;
}

#endif
