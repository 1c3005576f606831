/*
 * gemm/dots_pairs.h: products of dots.h, of bytes, where an instruction multiplies two rows by two columns, eight terms of
 * each. Part of dots_vectors.h.
 */
#ifndef ATTN_GEMM_DOTS_PAIRS_H
#define ATTN_GEMM_DOTS_PAIRS_H

_Static_assert(TILE_ROWS % 2 == 0, "rows are pairs");

/* Two words of a row, and those of the next: either words are side by side, or rows are. */
ATTN_INLINE vi dots_rows_(const char *rows, int64_t word_step, int64_t row_step) {
    const char *next = rows + word_step;
    vi both[2];
    if (word_step == 4) return vi_load_halves(rows, rows + row_step);
    vi_interleave(vi_load_halves(rows, rows), vi_load_halves(next, next), both);
    return both[0];
}

/* Vectors of two rows to blocks of two by two, and back. */
ATTN_INLINE void dots_meet_(vi sums[TILE_ROWS][TILE_VECTORS]) {
    ATTN_UNROLL
    for (int r = 0; r < TILE_ROWS; r += 2) {
        ATTN_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++) {
            vi met[2];
            vi_meet(sums[r][v], sums[r + 1][v], met);
            sums[r][v] = met[0], sums[r + 1][v] = met[1];
        }
    }
}

/* dots_product() of bytes for all words but an odd one; returns how many those are. */
ATTN_INLINE int64_t dots_product_pairs_(int64_t words, const char *restrict rows, int64_t word_step,
                                        int64_t row_step, const int32_t *restrict columns,
                                        vi sums[TILE_ROWS][TILE_VECTORS]) {
    int64_t g = 0;
    dots_meet_(sums);
    for (; g + 2 <= words; g += 2) {
        const int32_t *panel = columns + g * PANEL;
        vi column[TILE_VECTORS][2];
        ATTN_UNROLL
        for (int v = 0; v < TILE_VECTORS; v++)
            vi_interleave(vi_load(panel + v * VF_LANES), vi_load(panel + PANEL + v * VF_LANES),
                          column[v]);
        ATTN_UNROLL
        for (int r = 0; r < TILE_ROWS; r += 2) {
            const vi row = dots_rows_(rows + g * word_step + r * row_step, word_step, row_step);
            ATTN_UNROLL
            for (int v = 0; v < TILE_VECTORS; v++) {
                sums[r][v] = vi_multiply8(sums[r][v], row, column[v][0]);
                sums[r + 1][v] = vi_multiply8(sums[r + 1][v], row, column[v][1]);
            }
        }
    }
    dots_meet_(sums);
    return g;
}

#endif
