/*
 * simd/decode.h: products for a few queries whose keys are read once: no packing, a row of keys
 * straight from memory against all query rows, so that the memory's bandwidth is the limit.
 */
#ifndef ATTN_SIMD_DECODE_H
#define ATTN_SIMD_DECODE_H

#include "simd/tile.h"

/* Rows to fetch ahead: the processor's own prefetching starts anew on every page. Measured at d =
 * 128: 8 rows (4 kB) decode 4096 keys 12% faster than none, 16 and 32 rows 0 to 8%. */
enum { DECODE_AHEAD = 8 };

/* The next `keys` keys against `rows` rows, both constants. */
ATTN_INLINE void decode_dot_(int rows, int keys, int64_t dim, const float *query, int64_t width,
                             const float *key, int64_t key_stride, float *scores,
                             int64_t scores_stride) {
    vf sums[TILE_ROWS][4];
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int j = 0; j < keys; j++) sums[r][j] = vf_zero();
    }
    int64_t k = 0;
    for (; k + VF_LANES <= dim; k += VF_LANES) {
        vf column[4];
        ATTN_UNROLL
        for (int j = 0; j < keys; j++)
            vf_prefetch(key + j * key_stride + k, DECODE_AHEAD * key_stride);
        ATTN_UNROLL
        for (int j = 0; j < keys; j++) column[j] = vf_load(key + j * key_stride + k);
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vf row = vf_load(query + r * width + k);
            ATTN_UNROLL
            for (int j = 0; j < keys; j++) sums[r][j] = vf_mul_add(row, column[j], sums[r][j]);
        }
    }
    if (k < dim) {
        ATTN_UNROLL
        for (int j = 0; j < keys; j++) {
            const vf column = vf_load_first(key + j * key_stride + k, dim - k);
            ATTN_UNROLL
            for (int r = 0; r < rows; r++)
                sums[r][j] = vf_mul_add(vf_load(query + r * width + k), column, sums[r][j]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int j = 0; j < keys; j++) scores[r * scores_stride + j] = vf_reduce_add(sums[r][j]);
    }
}

/* All `count` keys, `keys` at a time. */
ATTN_INLINE void decode_dots_(int rows, int keys, int64_t dim, const float *query, int64_t width,
                              const float *key, int64_t key_stride, int64_t count, float *scores,
                              int64_t scores_stride) {
    int64_t j = 0;
    for (; j + keys <= count; j += keys)
        decode_dot_(rows, keys, dim, query, width, key + j * key_stride, key_stride, scores + j,
                    scores_stride);
    for (; j < count; j++)
        decode_dot_(rows, 1, dim, query, width, key + j * key_stride, key_stride, scores + j,
                    scores_stride);
}

/**
 * scores[r*scores_stride + j] = query row r . key j, for `rows` of 1 to TILE_ROWS and `count` keys
 * with rows of unit stride. `query` has rows of `width`: dim rounded up to VF_LANES, zeros behind.
 */
ATTN_INLINE void decode_dots(int64_t rows, int64_t dim, const float *query, int64_t width,
                             const float *key, int64_t key_stride, int64_t count, float *scores,
                             int64_t scores_stride) {
    if (rows == 1)
        decode_dots_(1, 4, dim, query, width, key, key_stride, count, scores, scores_stride);
    else if (rows == 2)
        decode_dots_(2, 4, dim, query, width, key, key_stride, count, scores, scores_stride);
    else if (TILE_ROWS <= 4 || rows <= 4)
        decode_dots_(4, 2, dim, query, width, key, key_stride, count, scores, scores_stride);
    else
        decode_dots_(TILE_ROWS, 1, dim, query, width, key, key_stride, count, scores,
                     scores_stride);
}

/* `vectors` vectors of columns of `rows` rows, both constants. */
ATTN_INLINE void decode_columns_(int rows, int vectors, int64_t tail, float *out,
                                 int64_t out_stride, const float *keep, const float *weights,
                                 int64_t weights_stride, const float *values, int64_t values_stride,
                                 int64_t count) {
    vf sums[TILE_ROWS][8];
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            sums[r][v] = vf_mul(vf_set1(keep[r]), vf_load(out + r * out_stride + v * VF_LANES));
    }
    for (int64_t j = 0; j < count; j++) {
        const float *value = values + j * values_stride;
        vf column[8];
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            vf_prefetch(value + v * VF_LANES, DECODE_AHEAD * values_stride);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            column[v] = tail == VF_LANES ? vf_load(value + v * VF_LANES)
                                         : vf_load_first(value + v * VF_LANES, tail);
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vf weight = vf_set1(weights[r * weights_stride + j]);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++)
                sums[r][v] = vf_mul_add(weight, column[v], sums[r][v]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) vf_store(out + r * out_stride + v * VF_LANES, sums[r][v]);
    }
}

/**
 * tile_accumulate() for one row: as many columns at a time as there are registers, so that values
 * stream through once.
 */
ATTN_STEP void decode_accumulate_row(float *out, const float *keep, const float *weights,
                                     const float *values, int64_t values_stride, int64_t count,
                                     int64_t columns) {
    int64_t c = 0;
    for (; c + 8 * VF_LANES <= columns; c += 8 * VF_LANES)
        decode_columns_(1, 8, VF_LANES, out + c, 0, keep, weights, 0, values + c, values_stride,
                        count);
    for (; c + 4 * VF_LANES <= columns; c += 4 * VF_LANES)
        decode_columns_(1, 4, VF_LANES, out + c, 0, keep, weights, 0, values + c, values_stride,
                        count);
    for (; c + VF_LANES <= columns; c += VF_LANES)
        decode_columns_(1, 1, VF_LANES, out + c, 0, keep, weights, 0, values + c, values_stride,
                        count);
    if (c < columns)
        decode_columns_(1, 1, columns - c, out + c, 0, keep, weights, 0, values + c, values_stride,
                        count);
}

#endif
