/*
 * attention/f32_pack.h: keys, values and queries packed for products of floats (f32_products.h).
 */
#ifndef ATTN_ATTENTION_F32_PACK_H
#define ATTN_ATTENTION_F32_PACK_H

#include "attention/operands.h"

ATTN_INLINE void exact_lay_out_operands(exact_scratch_t *scratch, const attn_problem_t *problem,
                                        int64_t tiles, attn_arena_t *arena) {
    scratch->queries =
        attn_arena_take(arena, problem->dim, (uint64_t)tiles * TILE_ROWS * sizeof(float));
    scratch->rows =
        attn_arena_take(arena, problem->dim, attn_max(PANEL, TILE_ROWS) * sizeof(float));
}

/** Pack panel number `panel` of a key list of the head, and copy its values in f32 where they are wanted.
 */
ATTN_RARE_STEP void exact_pack(const attn_head_t *head, const attn_key_rows_t *key_list,
                               int64_t panel, const exact_scratch_t *scratch) {
    float *rows = scratch->rows;
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *key = &head->io->key, *value = &head->io->value;
    const int64_t dim = problem->dim, value_dim = problem->value_dim;
    const int64_t first = panel * PANEL, count = attn_min(PANEL, key_list->count - first);
    const int64_t *map = ATTN_SMALL ? NULL : key_list->map;
    float *packed = key_list->panels + first * dim;
    exact_fetch(key, head, map, first, count);
    if (value->data) exact_fetch(value, head, map, first, count);
    if (!map && key->dtype == ATTN_F32) {
        tile_pack(packed, PANEL, count, dim, attn_row(key, head->batch, head->kv_head, first),
                  key->stride[2], key->stride[3], 1.0f);
    } else {
        for (int64_t j = 0; j < count; j++) {
            const int64_t at = map ? map[first + j] : first + j;
            convert_row(rows + j * dim,
                        exact_at(key, attn_offset(key, head->batch, head->kv_head, at)), key->dtype,
                        key->stride[3], dim, exact_token_scale(&head->io->key_scales, head, at));
        }
        tile_pack(packed, PANEL, count, dim, rows, dim, 1, 1.0f);
    }
    for (int64_t j = first; key_list->copy && j < first + count; j++) {
        const int64_t at = map ? map[j] : j;
        convert_row(key_list->copy + j * key_list->values_stride,
                    exact_at(value, attn_offset(value, head->batch, head->kv_head, at)),
                    value->dtype, value->stride[3], value_dim,
                    exact_token_scale(&head->io->value_scales, head, at));
    }
    if (!ATTN_SMALL && key_list->finite)
        key_list->finite[panel] =
            !key_list->values || tile_all_finite(key_list->values + first * key_list->values_stride,
                                                 key_list->values_stride, count, value_dim);
}

/* Whether a tile's queries, one after another, stand so in memory, in f32. */
ATTN_INLINE int exact_follow(const attn_head_t *head, const exact_tile_t *tile) {
    const attn_place_t *first = &tile->places[0], *last = &tile->places[TILE_ROWS - 1];
    return head->io->query.dtype == ATTN_F32 && first->head == last->head &&
           first->batch == last->batch;
}

/* The queries of tile number `t`. */
ATTN_INLINE void exact_pack_queries(const attn_head_t *head, const exact_scratch_t *scratch,
                                    int64_t t, int follow) {
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *query = &head->io->query;
    const float factor = head->scale * ATTN_LOG4_E;
    exact_tile_t *tile = &scratch->tiles[t];
    float *packed = scratch->queries + t * TILE_ROWS * problem->dim;
    tile->query = packed;
    if (follow) {
        const attn_place_t first = tile->places[0];
        tile_pack(packed, TILE_ROWS, tile->rows, problem->dim,
                  attn_row(query, first.batch, first.head, first.query), query->stride[2],
                  query->stride[3], factor);
        return;
    }
    for (int64_t r = 0; r < tile->rows; r++)
        exact_read_query(head, tile->places[r], scratch->rows + r * problem->dim, factor);
    tile_pack(packed, TILE_ROWS, tile->rows, problem->dim, scratch->rows, problem->dim, 1, 1.0f);
}

#endif
