/*
 * attention/operands.h: a task's operands where they are: rows of queries, keys and values of any type, and what packing
 * them works in.
 */
#ifndef ATTN_ATTENTION_OPERANDS_H
#define ATTN_ATTENTION_OPERANDS_H

#include "attention/tile.h"
#include "gemm/product.h"
#include "simd/convert.h"
#include "simd/math.h"

enum {
    EXACT_TILES = TILE_ROWS > 16 ? 4 : 8
}; /* tiles of queries a task: they share each block of keys */

/* The same of bf16_pack.h. */
typedef struct exact_bf16_scratch {
    uint16_t *queries; /* [tiles][parts][TILE_ROWS][query_stride] */
    uint16_t *weights; /* [parts][TILE_ROWS][EXACT_KEYS], one tile's at a time */
    float *panel;      /* [terms][PANEL] */
    int64_t query_stride, rows_stride;
} exact_bf16_scratch_t;

/* What a task works in. */
typedef struct exact_scratch {
    exact_tile_t *tiles;
    float *queries;            /* [tiles][dim][TILE_ROWS] */
    exact_bf16_scratch_t bf16; /* where products are of bf16 */
    float *out;                /* [tiles][TILE_ROWS][out_stride] */
    float *scores;             /* [TILE_ROWS][EXACT_KEYS], one tile's at a time */
    float *rows; /* [PANEL or TILE_ROWS][dim]: of other types or places, before they are packed */
    int64_t out_stride;
} exact_scratch_t;

/* Element `index` of a tensor as an address. */
ATTN_INLINE const void *exact_at(const attn_tensor_t *tensor, int64_t index) {
    return (const char *)tensor->data + index * attn_dtype_size(tensor->dtype);
}

/* The scale of token `row` of key or value; 1 where there is none. */
ATTN_INLINE float exact_token_scale(const attn_tensor_t *scales, const attn_head_t *head,
                                    int64_t row) {
    return scales->data ? *attn_row(scales, head->batch, head->kv_head, row) : 1.0f;
}

/* Ask for a row of a tensor that is read soon. */
ATTN_INLINE void exact_fetch_row(const attn_tensor_t *tensor, int64_t at) {
    const int64_t bytes = tensor->shape[3] * attn_dtype_size(tensor->dtype);
    const uintptr_t row = (uintptr_t)exact_at(tensor, at);
    for (int64_t byte = 0; byte < bytes; byte += 64) vf_prefetch(row + (uintptr_t)byte);
}

/* The same for a head's keys or values, all at once: `count` of a list from number `first` on; NULL: of all rows. */
ATTN_INLINE void exact_fetch(const attn_tensor_t *tensor, const attn_head_t *head,
                             const int64_t *rows, int64_t first, int64_t count) {
    for (int64_t j = first; VF_FETCHES && j < first + count; j++)
        exact_fetch_row(tensor,
                        attn_offset(tensor, head->batch, head->kv_head, rows ? rows[j] : j));
}

/* And for queries. */
ATTN_INLINE void exact_fetch_query(const attn_head_t *head, attn_place_t at) {
    const attn_tensor_t *query = &head->io->query;
    exact_fetch_row(query, attn_offset(query, at.batch, at.head, at.query));
}

ATTN_INLINE void exact_fetch_queries(const attn_head_t *head, const attn_queries_t *queries) {
    for (int64_t i = 0; VF_FETCHES && i < attn_row_count(queries); i++)
        exact_fetch_query(head, attn_place_of(head, queries, i));
}

/* A query in f32, times `factor`. */
ATTN_RARE_STEP void exact_read_query(const attn_head_t *head, attn_place_t at, float *to,
                                     float factor) {
    const attn_tensor_t *query = &head->io->query;
    convert_row(to, exact_at(query, attn_offset(query, at.batch, at.head, at.query)), query->dtype,
                query->stride[3], head->problem->dim, factor);
}

#endif
