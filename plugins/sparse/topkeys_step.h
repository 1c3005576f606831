/*
 * topkeys_step.h: tiles whose rows see the keys with their largest logits. First each block of logits is offered to the
 * rows (select.h), then the rows see the keys that they chose. A part of kernels.c, compiled once per tier.
 */
#ifndef ATTN_SPARSE_TOPKEYS_STEP_H
#define ATTN_SPARSE_TOPKEYS_STEP_H

#include "attention/online_softmax.h"
#include "select.h"

_Static_assert((int)EXACT_KEYS <= SELECT_OFFER, "a row takes a block of logits at once");

enum { GATHER_VECTORS = 4 /* of columns at a time, whose sums do not wait for each other */ };

/* Some tiles, and the candidates of their rows. */
typedef struct topkeys {
    exact_tile_t *tiles;
    select_row_t *rows; /* [tiles][TILE_ROWS] */
} topkeys_t;

/* A exact_step_t. */
ATTN_INLINE void topkeys_step(const void *data, exact_tile_t *tile, const attn_key_rows_t *key_list,
                              int64_t base, int64_t keys) {
    const topkeys_t *topkeys = data;
    select_row_t *rows = topkeys->rows + (tile - topkeys->tiles) * TILE_ROWS;
    exact_products(tile, key_list, base, keys, (attn_range_t){tile->low, tile->high});
    exact_shape(tile, key_list, base, keys);
    for (int r = 0; r < tile->rows; r++)
        select_offer(&rows[r], tile->scores + r * EXACT_KEYS, base, keys);
}

/* out += sum weights[i] * row keys[i] of values, for `vectors` (a constant) vectors of
 * columns, of which `columns` are there. */
ATTN_INLINE void topkeys_gather_columns_(int vectors, float *out, const float *weights,
                                         const int32_t *keys, int64_t count, const float *values,
                                         int64_t stride, int64_t columns) {
    vf sums[GATHER_VECTORS];
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++) sums[v] = vf_zero();
    for (int64_t i = 0; i < count; i++) {
        const float *value = values + keys[i] * stride;
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            sums[v] = vf_mul_add(vf_set1(weights[i]),
                                 vectors > 1 ? vf_load(value + v * VF_LANES)
                                             : vf_load_first(value, columns),
                                 sums[v]);
    }
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++)
        vf_store(out + v * VF_LANES, vf_add(vf_load(out + v * VF_LANES), sums[v]));
}

/* A row's weights, of which the first is that of keys[0], times its keys' values. */
ATTN_RARE_STEP void topkeys_gather_(const exact_tile_t *tile, const attn_key_rows_t *key_list,
                                    int r, const int32_t *keys, int64_t count) {
    const float *weights = tile->scores + r * EXACT_KEYS;
    const int64_t columns = tile->value_dim, stride = key_list->values_stride;
    float *out = tile->out + r * tile->out_stride;
    int64_t c = 0;
    for (; c + GATHER_VECTORS * VF_LANES <= columns; c += GATHER_VECTORS * VF_LANES)
        topkeys_gather_columns_(GATHER_VECTORS, out + c, weights, keys, count, key_list->values + c,
                                stride, columns - c);
    for (; c < columns; c += VF_LANES)
        topkeys_gather_columns_(1, out + c, weights, keys, count, key_list->values + c, stride,
                                columns - c);
}

/* Let a tile's rows see EXACT_KEYS of the keys that they chose, `most` at most, from number `from` on. */
ATTN_RARE_STEP void topkeys_see_(exact_tile_t *tile, const select_row_t *rows,
                                 const attn_key_rows_t *key_list, int64_t from, int64_t most) {
    for (int r = 0; r < tile->rows; r++) {
        const float *logits = rows[r].logits + from;
        const int64_t count = rows[r].count - from;
        for (int64_t i = 0; i < EXACT_KEYS; i++)
            tile->scores[r * EXACT_KEYS + i] = i < count ? logits[i] : -INFINITY;
    }
    exact_softmax(tile, attn_min(most - from, EXACT_KEYS));
    for (int r = 0; tile->out && r < tile->rows; r++)
        topkeys_gather_(tile, key_list, r, rows[r].keys + from,
                        attn_min(EXACT_KEYS, rows[r].count - from));
}

/* Let a tile's rows see the keys that they chose. */
ATTN_RARE_STEP void topkeys_see_chosen_(exact_tile_t *tile, select_row_t *rows,
                                        const attn_key_rows_t *key_list) {
    int64_t most = 0;
    for (int r = 0; r < tile->rows; r++) {
        select_narrow(&rows[r], rows[r].top);
        most = attn_max(most, rows[r].count);
    }
    for (int64_t from = 0; from < most; from += EXACT_KEYS)
        topkeys_see_(tile, rows, key_list, from, most);
}

/** Let `count` tiles, whose ranges are set, see the keys of a key list that their rows choose. */
ATTN_RARE_STEP void topkeys_attend(const topkeys_t *topkeys, int64_t count,
                                   const attn_key_rows_t *key_list) {
    exact_attend_by(topkeys_step, topkeys, topkeys->tiles, count, key_list);
    for (int64_t t = 0; t < count; t++)
        topkeys_see_chosen_(&topkeys->tiles[t], topkeys->rows + t * TILE_ROWS, key_list);
}

#endif
