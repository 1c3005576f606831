/*
 * gemm/bf16_pairs.h: the sums of bf16.h in vector registers, where an instruction multiplies two rows by two columns, four
 * terms of each. Until sums are asked for, the vectors of two rows are blocks of two by two.
 */
#ifndef ATTN_GEMM_BF16_PAIRS_H
#define ATTN_GEMM_BF16_PAIRS_H

enum {
    BF16_STEP = 2, /* words that are multiplied at a time */
    BF16_FEW_ROWS = TILE_FEW_ROWS,
    BF16_HAS_ONE = TILE_HAS_ONE &&
                   VF_LANES % 4 == 0, /* one vector of a panel's columns: whole steps of rows */
};
_Static_assert(TILE_ROWS % 2 == 0 && TILE_FEW_ROWS % 2 == 0, "rows are pairs");
_Static_assert(PANEL % 4 == 0, "a panel's rows are whole steps");

typedef struct bf16_sums {
    vf at
        [TILE_ROWS]
        [TILE_VECTORS]; /* of rows r and r + 1: the first two columns of a vector, and the others */
} bf16_sums_t;

ATTN_INLINE void bf16_begin(void) {}
ATTN_INLINE void bf16_finish(void) {}

ATTN_INLINE void bf16_zero(int rows, int vectors, bf16_sums_t *sums) {
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) sums->at[r][v] = vf_zero();
    }
}

ATTN_INLINE void bf16_add_part_(int rows, int vectors, int64_t words, const uint16_t *restrict left,
                                int64_t stride, const int32_t *restrict right, bf16_sums_t *sums) {
    for (int64_t g = 0; g < words; g += BF16_STEP, left += 4, right += 2 * PANEL) {
        vi column[TILE_VECTORS][2];
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            vi_interleave(vi_load(right + v * VF_LANES), vi_load(right + PANEL + v * VF_LANES),
                          column[v]);
        ATTN_UNROLL
        for (int r = 0; r < rows; r += 2) {
            const vi row = vi_load_halves(left + r * stride, left + (r + 1) * stride);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++) {
                sums->at[r][v] = vf_multiply_bf16(sums->at[r][v], row, column[v][0]);
                sums->at[r + 1][v] = vf_multiply_bf16(sums->at[r + 1][v], row, column[v][1]);
            }
        }
    }
}

ATTN_INLINE void bf16_end(bf16_sums_t *sums) { (void)sums; }
ATTN_INLINE vf bf16_sum(const bf16_sums_t *sums, int r, int v) {
    vf rows[2];
    vf_meet(sums->at[r & ~1][v], sums->at[r | 1][v], rows);
    return rows[r & 1];
}

#endif
