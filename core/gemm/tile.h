/*
 * gemm/tile.h: the register tile, and the two products that all of attention is made of.
 *
 * A tile is TILE_ROWS rows by PANEL = TILE_VECTORS * VF_LANES columns, chosen (simd/tiers.h) so that its
 * sums, one panel's vectors and a broadcast fit the tier's registers. A panel holds PANEL vectors of length d
 * transposed, element k of vector j at panel[k*PANEL + j], so that a product reads it straight.
 * (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008.)
 */
#ifndef ATTN_GEMM_TILE_H
#define ATTN_GEMM_TILE_H

#include "attn/support.h"
#include "simd/simd.h"

enum {
    TILE_ROWS = ATTN_TILE_ROWS,
    PANEL = ATTN_TILE_COLUMNS,
    TILE_VECTORS = PANEL / VF_LANES,
    /* So many rows, and one vector of columns, have kernels of their own: the edges of what is kept. A small
     * build has the code for whole tiles alone. */
    TILE_FEW_ROWS = 4,
    TILE_HAS_FEW = !ATTN_SMALL && TILE_ROWS > 4,
    TILE_HAS_ONE = !ATTN_SMALL && PANEL > VF_LANES,
};
#define TILE_STRING_(x) #x
#define TILE_STRING(x) TILE_STRING_(x)
#define TILE_NAME                                                                                  \
    TILE_STRING(ATTN_TIER) " " TILE_STRING(ATTN_TILE_ROWS) "x" TILE_STRING(ATTN_TILE_COLUMNS)

/* tile_pack() for `rows` rows, a constant that vf_transpose() takes, of unit column stride. */
ATTN_INLINE void tile_pack_rows_(int rows, float *panel, int64_t width, int64_t d,
                                 const float *source, int64_t row_stride, float factor) {
    int64_t k = 0;
    for (; k + 4 <= d; k += 4)
        vf_transpose(rows, source + k, row_stride, panel + k * width, width, factor);
    for (; k < d; k++)
        for (int j = 0; j < rows; j++) panel[k * width + j] = factor * source[j * row_stride + k];
}

/** panel[k*width + j] = factor * source[j*row_stride + k*column_stride]; zero for count <= j. */
ATTN_SHARED_RARE_STEP void tile_pack(float *panel, int64_t width, int64_t count, int64_t d,
                                     const float *source, int64_t row_stride, int64_t column_stride,
                                     float factor) {
    int64_t j = 0;
    const int64_t rows = column_stride == 1 ? count : 0, size = count < width ? d * width : 0;
    for (int64_t i = 0; i < size; i++) panel[i] = 0.0f; /* at once: few in each row are dear */
    for (; VF_LANES > 4 && j + VF_LANES <= rows; j += VF_LANES)
        tile_pack_rows_(VF_LANES, panel + j, width, d, source + j * row_stride, row_stride, factor);
    for (; j + 4 <= rows; j += 4)
        tile_pack_rows_(4, panel + j, width, d, source + j * row_stride, row_stride, factor);
    for (; !ATTN_SMALL && j + 2 <= rows; j += 2)
        tile_pack_rows_(2, panel + j, width, d, source + j * row_stride, row_stride, factor);
    for (; j < count; j++)
        for (int64_t k = 0; k < d; k++)
            panel[k * width + j] = factor * source[j * row_stride + k * column_stride];
}

/** scores[r*stride + j] = sum_k rows[k*TILE_ROWS + r] * panel[k*PANEL + j], for `tile_rows` rows and `vectors` vectors of
 * columns, both constants: TILE_ROWS and TILE_VECTORS are a whole tile. */
ATTN_INLINE void tile_panel_product(int tile_rows, int vectors, int64_t d,
                                    const float *restrict rows, const float *restrict panel,
                                    float *restrict scores, int64_t stride) {
    vf sums[TILE_ROWS][TILE_VECTORS];
    ATTN_UNROLL
    for (int r = 0; r < tile_rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) sums[r][v] = vf_zero();
    }
    ATTN_UNROLL_8
    for (int64_t k = 0; k < d; k++, rows += TILE_ROWS, panel += PANEL) {
        vf column[TILE_VECTORS];
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) column[v] = vf_load(panel + v * VF_LANES);
        ATTN_UNROLL
        for (int r = 0; r < tile_rows; r++) {
            vf row = vf_set1(rows[r]);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++) sums[r][v] = vf_mul_add(row, column[v], sums[r][v]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < tile_rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) vf_store(scores + r * stride + v * VF_LANES, sums[r][v]);
    }
}

/** The same for the first `count` rows and the columns [first, last), which may lie outside; `scores` begin with column
 * `from` of the panel. What else of the tile's scores is written is not said, but where all are in one vector that
 * `from` begins, and TILE_HAS_ONE, it is that vector alone. */
ATTN_INLINE void tile_panel_part(int64_t count, int64_t first, int64_t last, int64_t d,
                                 const float *restrict rows, const float *restrict panel,
                                 float *restrict scores, int64_t from, int64_t stride) {
    const int few = TILE_HAS_FEW && count <= TILE_FEW_ROWS;
    const int64_t low = attn_max(first, 0) / VF_LANES * VF_LANES;
    if (TILE_HAS_ONE && attn_min(last, PANEL) - low <= VF_LANES) {
        if (few)
            tile_panel_product(TILE_FEW_ROWS, 1, d, rows, panel + low, scores + low - from, stride);
        else
            tile_panel_product(TILE_ROWS, 1, d, rows, panel + low, scores + low - from, stride);
    } else if (few) {
        tile_panel_product(TILE_FEW_ROWS, TILE_VECTORS, d, rows, panel, scores - from, stride);
    } else {
        tile_panel_product(TILE_ROWS, TILE_VECTORS, d, rows, panel, scores - from, stride);
    }
}

/* The next `vectors` vectors of columns of tile_accumulate() for `tile_rows` rows, both constants; the
 * last is cut off after `tail` lanes when reading `values`. */
ATTN_INLINE void tile_accumulate_columns_(int tile_rows, int vectors, int64_t tail,
                                          float *restrict out, int64_t out_stride,
                                          const float *restrict weights, int64_t weights_stride,
                                          const float *restrict values, int64_t values_stride,
                                          int64_t count) {
    vf sums[TILE_ROWS][TILE_VECTORS];
    ATTN_UNROLL
    for (int r = 0; r < tile_rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) sums[r][v] = vf_zero();
    }
    ATTN_UNROLL_8
    for (int64_t j = 0; j < count; j++, values += values_stride, weights++) {
        vf column[TILE_VECTORS];
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            column[v] = v + 1 < vectors || tail == VF_LANES
                            ? vf_load(values + v * VF_LANES)
                            : vf_load_first(values + v * VF_LANES, tail);
        ATTN_UNROLL
        for (int r = 0; r < tile_rows; r++) {
            vf weight = vf_set1(weights[r * weights_stride]);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++)
                sums[r][v] = vf_mul_add(weight, column[v], sums[r][v]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < tile_rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            float *sum = out + r * out_stride + v * VF_LANES;
            vf_store(sum, vf_add(vf_load(sum), sums[r][v]));
        }
    }
}

/* tile_accumulate() for `tile_rows` rows, a constant. */
ATTN_INLINE void tile_accumulate_rows_(int tile_rows, float *restrict out, int64_t out_stride,
                                       const float *restrict weights, int64_t weights_stride,
                                       const float *restrict values, int64_t values_stride,
                                       int64_t count, int64_t columns) {
    int64_t c = 0;
    for (; c + PANEL <= columns; c += PANEL)
        tile_accumulate_columns_(tile_rows, TILE_VECTORS, VF_LANES, out + c, out_stride, weights,
                                 weights_stride, values + c, values_stride, count);
    for (; c + VF_LANES <= columns; c += VF_LANES)
        tile_accumulate_columns_(tile_rows, 1, VF_LANES, out + c, out_stride, weights,
                                 weights_stride, values + c, values_stride, count);
    if (c < columns)
        tile_accumulate_columns_(tile_rows, 1, columns - c, out + c, out_stride, weights,
                                 weights_stride, values + c, values_stride, count);
}

/* Where a sum that has come to term `from` of a block ends, to be added to the output: after 64 terms, and then after 192
 * each, so that 128 terms make two sums, and the 256 of a usual block no more. That goes by the place in the block, not
 * by which of its terms are left out. */
ATTN_INLINE int64_t tile_sum_end(int64_t from) { return (from + 128) / 192 * 192 + 64; }

/**
 * out[r][c] += sum_{first<=j<last} weights[r][j] * values[j][c], for the tile's first `rows` rows
 * and `columns` columns; other rows have any. Rows of `out` have room for attn_round_up(columns, VF_LANES) floats; `values` is
 * read only where it has columns. Some terms are summed by themselves and then added: rounding grows with their number
 * and that of such sums, not with the number of terms.
 */
ATTN_STEP void tile_accumulate(int64_t rows, float *restrict out, int64_t out_stride,
                               const float *restrict weights, int64_t weights_stride,
                               const float *restrict values, int64_t values_stride, int64_t first,
                               int64_t last, int64_t columns) {
    for (int64_t count; first < last; first += count) {
        count = attn_min(last, tile_sum_end(first)) - first;
        const float *visible = values + first * values_stride;
        if (TILE_HAS_FEW && rows <= TILE_FEW_ROWS)
            tile_accumulate_rows_(TILE_FEW_ROWS, out, out_stride, weights + first, weights_stride,
                                  visible, values_stride, count, columns);
        else
            tile_accumulate_rows_(TILE_ROWS, out, out_stride, weights + first, weights_stride,
                                  visible, values_stride, count, columns);
    }
}

/** Whether `rows` rows of `columns` floats are all finite. */
ATTN_RARE_STEP int tile_all_finite(const float *values, int64_t stride, int64_t rows,
                                   int64_t columns) {
    vf poison = vf_zero(); /* 0 * x is 0 for finite x, NaN otherwise */
    for (int64_t j = 0; j < rows; j++)
        for (int64_t c = 0; c < columns; c += VF_LANES)
            poison =
                vf_mul_add(vf_zero(), vf_load_first(values + j * stride + c, columns - c), poison);
    return vf_reduce_add(poison) == 0.0f;
}

/**
 * tile_accumulate() over the keys first[r] <= j < last[r] of each row, where the weights of all
 * other keys are zero. A masked value must not reach the output even when it is NaN or infinite
 * (0 * NaN is NaN): keys that no row sees are not read, and where rows differ, or keys are `masked`
 * one by one, and a value is not finite, each row goes alone and leaves out weights of zero.
 */
ATTN_RARE_STEP void tile_accumulate_ranges(int64_t rows, float *restrict out, int64_t out_stride,
                                           const float *restrict weights, int64_t weights_stride,
                                           const float *restrict values, int64_t values_stride,
                                           const int64_t *first, const int64_t *last, int masked,
                                           int64_t columns) {
    int64_t low = INT64_MAX, high = 0, same = !masked;
    for (int r = 0; r < TILE_ROWS; r++) {
        if (first[r] < last[r]) low = attn_min(low, first[r]), high = attn_max(high, last[r]);
        same &= first[r] == first[0] && last[r] == last[0];
    }
    if (low > high) low = high;
    if (same || tile_all_finite(values + low * values_stride, values_stride, high - low, columns)) {
        tile_accumulate(rows, out, out_stride, weights, weights_stride, values, values_stride, low,
                        high, columns);
        return;
    }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int64_t c = 0; c < columns; c += VF_LANES) {
            vf sum = vf_load(out + r * out_stride + c);
            for (int64_t j = first[r], end; j < last[r]; j = end) {
                vf part = vf_zero();
                for (end = tile_sum_end(j); j < attn_min(end, last[r]); j++) {
                    const float weight = weights[r * weights_stride + j];
                    if (masked && weight == 0.0f) continue;
                    const float *value = values + j * values_stride + c;
                    part = vf_mul_add(vf_set1(weight), vf_load_first(value, columns - c), part);
                }
                sum = vf_add(sum, part);
            }
            vf_store(out + r * out_stride + c, sum);
        }
}

#endif
