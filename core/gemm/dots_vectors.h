/* gemm/dots_vectors.h: the sums of dots.h in vector registers. */
#ifndef ATTN_GEMM_DOTS_VECTORS_H
#define ATTN_GEMM_DOTS_VECTORS_H

#if VI_HAS_PAIRS
#include "gemm/dots_pairs.h"
#endif

/* A thread is always ready for products. */
ATTN_INLINE void dots_begin(void) {}
ATTN_INLINE void dots_end(void) {}

/* Rows at a time. A product and its sum are two instructions where they are not one, and take a register more than a
 * multiply-add, which a tile of relaxed SIMD does not leave. */
#if defined(__wasm_relaxed_simd__)
enum { DOTS_ROWS = TILE_ROWS / 2 };
#else
enum { DOTS_ROWS = TILE_ROWS };
#endif
_Static_assert(TILE_ROWS % DOTS_ROWS == 0, "all rows are multiplied");

/* dots_product() for DOTS_ROWS rows. */
ATTN_INLINE void dots_product_rows_(int bytes, int64_t words, const char *restrict rows,
                                    int64_t word_step, int64_t row_step,
                                    const int32_t *restrict columns,
                                    vi sums[DOTS_ROWS][TILE_VECTORS]) {
    ATTN_UNROLL_4
    for (int64_t g = 0; g < words; g++) {
        vi column[TILE_VECTORS];
        ATTN_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            column[v] = vi_load(columns + g * PANEL + v * VF_LANES);
        ATTN_UNROLL
        for (int r = 0; r < DOTS_ROWS; r++) {
            const vi row = dots_broadcast(rows + g * word_step + r * row_step);
            ATTN_UNROLL
            for (int v = 0; v < TILE_VECTORS; v++)
                sums[r][v] = dots_add(bytes, sums[r][v], row, column[v]);
        }
    }
}

/**
 * sums[r][v] += the dot products of TILE_ROWS rows with TILE_VECTORS vectors of columns over `words`
 * words: word g of row r at rows + g*word_step + r*row_step bytes, of the columns at
 * columns + g*PANEL.
 */
ATTN_INLINE void dots_product(int bytes, int64_t words, const char *restrict rows,
                              int64_t word_step, int64_t row_step, const int32_t *restrict columns,
                              vi sums[TILE_ROWS][TILE_VECTORS]) {
#if VI_HAS_PAIRS
    if (bytes == 1) {
        const int64_t done = dots_product_pairs_(words, rows, word_step, row_step, columns, sums);
        words -= done, rows += done * word_step, columns += done * PANEL;
    }
#endif
    ATTN_UNROLL
    for (int r = 0; r < TILE_ROWS; r += DOTS_ROWS)
        dots_product_rows_(bytes, words, rows + r * row_step, word_step, row_step, columns,
                           sums + r);
}

#endif
