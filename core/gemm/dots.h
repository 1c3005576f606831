/*
 * gemm/dots.h: the register tile (tile.h) in integers, for products of quantised numbers.
 *
 * A number is a scale, which it shares with the others of its column, times an integer of `bytes` bytes
 * (a constant, so that the compiler makes a kernel of each). A word of 32 bits holds `4 / bytes`
 * consecutive terms of a dot product, the first in the low bits; what follows is a tile of words as
 * tile.h's is of floats. Sums are exact: levels (quantise_level()) keep them within 32 bits.
 *
 * Products of bytes take unsigned ones on the left: queries are moved up by 128, and what that
 * adds, 128 times a key's sum, is what the sums of its column begin below zero with. Where they take signed ones
 * (VI_LEFT_SIGNED), queries are as they are, weights are moved down by 128, and sums begin with as much above zero.
 */
#ifndef ATTN_GEMM_DOTS_H
#define ATTN_GEMM_DOTS_H

#include "gemm/tile.h"

#ifndef DOTS_TILES
#define DOTS_TILES 0 /* a kernel file says whether products are of bytes in tile registers */
#endif

/* Added to a number below 2^22 in size, the sum's low bits are that number rounded to nearest even. */
#define DOTS_ROUND 0x1.8p23f

ATTN_INLINE int64_t dots_words(int bytes, int64_t terms) { return (terms * bytes + 3) / 4; }

/* What words of bytes on the left are changed by, of signed numbers, and what a byte of zero is, of unsigned ones. */
enum {
    DOTS_FLIP = VI_LEFT_SIGNED ? 0 : (int32_t)0x80808080,
    DOTS_ZERO = VI_LEFT_SIGNED ? 0x80 : 0
};

ATTN_INLINE vi dots_add(int bytes, vi sum, vi rows, vi columns) {
#if VI_HAS_DOT8
    if (bytes == 1) return vi_dot8(sum, rows, columns);
#endif
    (void)bytes;
    return vi_dot16(sum, rows, columns);
}

/* The low bits of rounded numbers side by side, as whole numbers of `bytes` bytes: unsigned ones for the left. */
ATTN_INLINE void dots_store(int bytes, void *to, vf rounded) {
#if VI_HAS_DOT8
    if (bytes == 1) {
        vf_store_low8(to, VI_LEFT_SIGNED ? vf_sub(rounded, vf_set1(128)) : rounded);
        return;
    }
#endif
    (void)bytes;
    vf_store_low16(to, rounded);
}

ATTN_INLINE vi dots_broadcast(const void *word) {
    int32_t bits;
    __builtin_memcpy(&bits, word, sizeof bits);
    return vi_set1(bits);
}

/* Whether rows are words side by side; else the words of all rows are. */
#if DOTS_TILES
enum { DOTS_BY_ROW = 1 };
#include "gemm/dots_amx.h"
#else
enum { DOTS_BY_ROW = 0 };
#include "gemm/dots_vectors.h"
#endif

/** A panel's columns: their words, scales, and what their sums begin with. */
typedef struct dots_columns {
    const int32_t *words; /* [words][PANEL] */
    const float *scales;
    const int32_t *starts; /* NULL: zero */
} dots_columns_t;

/** scores[r*stride + j] = shift[r] + scales[r] * columns.scales[j] * the dot product of row r, whose words
 * are rows[g*width + r], or rows[r*width + g] (DOTS_BY_ROW), with column j. */
ATTN_INLINE void dots_scores(int bytes, int64_t words, const int32_t *rows, int64_t width,
                             const float *scales, const float *shift, const dots_columns_t *columns,
                             float *restrict scores, int64_t stride) {
    vi sums[TILE_ROWS][TILE_VECTORS];
    ATTN_UNROLL
    for (int r = 0; r < TILE_ROWS; r++) {
        ATTN_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            sums[r][v] =
                bytes == 1 && !VI_LEFT_SIGNED ? vi_load(columns->starts + v * VF_LANES) : vi_zero();
    }
    dots_product(bytes, words, (const char *)rows, DOTS_BY_ROW ? 4 : 4 * width,
                 DOTS_BY_ROW ? 4 * width : 4, columns->words, sums);
    ATTN_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++) {
        const vf scale = vf_load(columns->scales + v * VF_LANES);
        ATTN_UNROLL
        for (int r = 0; r < TILE_ROWS; r++)
            vf_store(scores + r * stride + v * VF_LANES,
                     vf_mul_add(vi_to_vf(sums[r][v]), vf_mul(vf_set1(scales[r]), scale),
                                vf_set1(shift[r])));
    }
}

/* What the sums of dots_accumulate() begin with: 128 times each column's. */
ATTN_INLINE vi dots_start_(int bytes, int64_t words, const int32_t *columns) {
    const vi half = vi_set1(0x40404040); /* of 128, which is no signed byte */
    vi start = vi_zero();
    if (bytes > 1 || !VI_LEFT_SIGNED) return start;
    for (int64_t g = 0; g < words; g++) {
        const vi column = vi_load(columns + g * PANEL);
        start = dots_add(bytes, dots_add(bytes, start, half, column), half, column);
    }
    return start;
}

/** out[r][c] = rescale[r]*out[r][c] + scales[r] * columns.scales[c] * the dot product of row r, whose words
 * are at rows + r*row_step bytes, with column c, for the `count` columns of a panel that are there, up to
 * whole vectors. */
ATTN_INLINE void dots_accumulate(int bytes, int64_t words, const char *rows, int64_t row_step,
                                 const float *scales, const float *rescale,
                                 const dots_columns_t *columns, float *restrict out,
                                 int64_t out_stride, int64_t count) {
    vi sums[TILE_ROWS][TILE_VECTORS], starts[TILE_VECTORS];
    ATTN_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++)
        starts[v] = dots_start_(bytes, words, columns->words + v * VF_LANES);
    ATTN_UNROLL
    for (int r = 0; r < TILE_ROWS; r++) {
        ATTN_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++) sums[r][v] = starts[v];
    }
    dots_product(bytes, words, rows, 4, row_step, columns->words, sums);
    ATTN_UNROLL
    for (int v = 0; v < TILE_VECTORS; v++) {
        if (v * VF_LANES >= count) continue;
        const vf scale = vf_load(columns->scales + v * VF_LANES);
        ATTN_UNROLL
        for (int r = 0; r < TILE_ROWS; r++) {
            float *sum = out + r * out_stride + v * VF_LANES;
            const vf old = vf_mul(vf_set1(rescale[r]), vf_load(sum));
            vf_store(sum, vf_mul_add(vi_to_vf(sums[r][v]), vf_mul(vf_set1(scales[r]), scale), old));
        }
    }
}

#endif
