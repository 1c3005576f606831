/*
 * attention/bf16_pack.h: keys, values and queries packed for products of bf16 numbers (bf16_products.h).
 */
#ifndef ATTN_ATTENTION_BF16_PACK_H
#define ATTN_ATTENTION_BF16_PACK_H

#include "attention/bf16_products.h"
#include "attention/operands.h"

ATTN_INLINE void exact_lay_out_operands(exact_scratch_t *scratch, const attn_problem_t *problem,
                                        int64_t tiles, attn_arena_t *arena) {
    const int64_t columns = attn_round_up(problem->value_dim, PANEL);
    const int64_t stride = attn_round_up(problem->dim, ATTN_PIECE_ALIGNMENT / sizeof(uint16_t));
    exact_bf16_scratch_t *bf16 = &scratch->bf16;
    bf16->query_stride = stride;
    bf16->rows_stride = attn_max(stride, columns);
    bf16->queries = attn_arena_take(arena, tiles * EXACT_PARTS * TILE_ROWS,
                                    (uint64_t)stride * sizeof(uint16_t));
    bf16->weights = attn_arena_take(arena, EXACT_PARTS * TILE_ROWS, EXACT_KEYS * sizeof(uint16_t));
    bf16->panel = attn_arena_take(arena, problem->dim, PANEL * sizeof(float));
    scratch->rows = attn_arena_take(arena, bf16->rows_stride, PANEL * sizeof(float));
}

/* Keys or values `first` <= j < first + count of a key list as floats in scratch->rows, and zeros behind them, up to whole
 * panels of both. */
ATTN_RARE_STEP void bf16_read_rows_(const attn_head_t *head, const attn_key_rows_t *key_list,
                                    const attn_tensor_t *tensor, const attn_tensor_t *scales,
                                    int64_t first, int64_t count, int64_t width,
                                    const exact_scratch_t *scratch) {
    const int64_t stride = scratch->bf16.rows_stride;
    for (int64_t j = 0; j < PANEL; j++) {
        float *row = scratch->rows + j * stride;
        const int64_t at = j < count && key_list->map ? key_list->map[first + j] : first + j;
        if (j < count)
            convert_row(row, exact_at(tensor, attn_offset(tensor, head->batch, head->kv_head, at)),
                        tensor->dtype, tensor->stride[3], width,
                        exact_token_scale(scales, head, at));
        for (int64_t c = j < count ? width : 0; c < stride; c++) row[c] = 0.0f;
    }
}

/* Whether rows of bf16 numbers are taken as they are: they are their only part. */
ATTN_INLINE int bf16_are_words_(const attn_tensor_t *tensor, const int64_t *map) {
    return EXACT_PARTS == 1 && !map && tensor->dtype == ATTN_BF16 && tensor->stride[3] == 1;
}

ATTN_INLINE const uint16_t *bf16_row_(const attn_tensor_t *tensor, const attn_head_t *head,
                                      int64_t row) {
    return exact_at(tensor, attn_offset(tensor, head->batch, head->kv_head, row));
}

ATTN_RARE_STEP void bf16_pack_keys_(const attn_head_t *head, const attn_key_rows_t *key_list,
                                    int64_t first, int64_t count, const exact_panel_t *panel,
                                    const exact_scratch_t *scratch) {
    const attn_tensor_t *key = &head->io->key;
    const int64_t dim = head->problem->dim, words = bf16_words(dim);
    if (bf16_are_words_(key, key_list->map)) {
        bf16_pack_rows(bf16_row_(key, head, first), key->stride[2], count, dim, words, panel->keys);
        return;
    }
    bf16_read_rows_(head, key_list, key, &head->io->key_scales, first, count, dim, scratch);
    tile_pack(scratch->bf16.panel, PANEL, PANEL, dim, scratch->rows, scratch->bf16.rows_stride, 1,
              1.0f);
    bf16_pack(EXACT_PARTS, scratch->bf16.panel, PANEL, dim, words, panel->keys);
}

ATTN_RARE_STEP void bf16_pack_values_(const attn_head_t *head, const attn_key_rows_t *key_list,
                                      int64_t first, int64_t count, const exact_panel_t *panel,
                                      const exact_scratch_t *scratch) {
    const attn_tensor_t *value = &head->io->value;
    const int64_t value_dim = head->problem->value_dim, stride = scratch->bf16.rows_stride;
    if (bf16_are_words_(value, key_list->map)) {
        *panel->finite = bf16_pack_columns(bf16_row_(value, head, first), value->stride[2], count,
                                           value_dim, panel->values);
        return;
    }
    bf16_read_rows_(head, key_list, value, &head->io->value_scales, first, count, value_dim,
                    scratch);
    *panel->finite = tile_all_finite(scratch->rows, stride, PANEL, value_dim);
    for (int64_t c = 0; c < value_dim; c += PANEL)
        bf16_pack(EXACT_PARTS, scratch->rows + c, stride, PANEL, BF16_VALUE_WORDS,
                  panel->values + c * EXACT_PARTS * BF16_VALUE_WORDS);
}

/** Pack panel number `number` of a key list of the head. */
ATTN_RARE_STEP void exact_pack(const attn_head_t *head, const attn_key_rows_t *key_list,
                               int64_t number, const exact_scratch_t *scratch) {
    const attn_io_t *io = head->io;
    const int64_t first = number * PANEL, count = attn_min(PANEL, key_list->count - first);
    const exact_panel_t panel =
        exact_panel_at(key_list, number, head->problem->dim, head->problem->value_dim);
    exact_fetch(&io->key, head, key_list->map, first, count);
    if (io->value.data) exact_fetch(&io->value, head, key_list->map, first, count);
    bf16_pack_keys_(head, key_list, first, count, &panel, scratch);
    if (io->value.data) bf16_pack_values_(head, key_list, first, count, &panel, scratch);
}

/* The largest power of two that is no larger than `factor`: queries times that are as exact as queries, and as finite as
 * scaled ones. */
ATTN_INLINE float bf16_power_(float factor) {
    int exponent;
    const float fraction = frexpf(factor, &exponent);
    if (fraction == 0.0f || !(fabsf(fraction) < 1.0f)) return 1.0f; /* zero, infinite or NaN */
    return ldexpf(1.0f, (int)attn_max(-125, exponent - 1));
}

ATTN_INLINE int exact_follow(const attn_head_t *head, const exact_tile_t *tile) {
    (void)head, (void)tile;
    return 0;
}

ATTN_INLINE int bf16_parts_of_(const attn_tensor_t *tensor) {
    return tensor->dtype == ATTN_BF16 ? 1 : EXACT_PARTS;
}

/* A query times a power of two; zeros where there is none. */
ATTN_INLINE void bf16_pack_query_(const attn_head_t *head, const exact_scratch_t *scratch,
                                  const attn_place_t *at, float power, uint16_t *to) {
    const attn_tensor_t *query = &head->io->query;
    const int64_t dim = head->problem->dim, stride = scratch->bf16.query_stride;
    if (at && bf16_are_words_(query, NULL)) {
        const int64_t row = attn_offset(query, at->batch, at->head, at->query);
        bf16_scale_row(exact_at(query, row), dim, power, stride, to);
        return;
    }
    if (at) exact_read_query(head, *at, scratch->rows, power);
    for (int64_t c = at ? dim : 0; c < stride; c++) scratch->rows[c] = 0.0f;
    bf16_split_row(EXACT_PARTS, scratch->rows, stride, to, TILE_ROWS * stride);
}

/* The queries of tile number `t`, times `factor`: rows that are not there are zero. */
ATTN_INLINE void exact_pack_rows(const attn_head_t *head, const exact_scratch_t *scratch, int64_t t,
                                 float factor) {
    const int64_t stride = scratch->bf16.query_stride, part = TILE_ROWS * stride;
    const float power = bf16_power_(factor);
    exact_tile_t *tile = &scratch->tiles[t];
    uint16_t *packed = scratch->bf16.queries + t * EXACT_PARTS * part;
    for (int64_t r = 0; r < TILE_ROWS; r++)
        bf16_pack_query_(head, scratch, r < tile->rows ? &tile->places[r] : NULL, power,
                         packed + r * stride);
    tile->bf16 = (exact_bf16_t){
        .query = packed,
        .query_stride = stride,
        .factor = factor / power,
        .query_parts = bf16_parts_of_(&head->io->query),
        .key_parts = bf16_parts_of_(&head->io->key),
        .value_parts = bf16_parts_of_(&head->io->value),
        .weights = scratch->bf16.weights,
    };
}

ATTN_INLINE void exact_pack_queries(const attn_head_t *head, const exact_scratch_t *scratch,
                                    int64_t t, int follow) {
    (void)follow;
    exact_pack_rows(head, scratch, t, head->scale * ATTN_LOG4_E);
}

#endif
