/* gemm/bf16_vectors.h: the sums of bf16.h in vector registers. */
#ifndef ATTN_GEMM_BF16_VECTORS_H
#define ATTN_GEMM_BF16_VECTORS_H

enum {
    BF16_STEP = 1, /* words that are multiplied at a time */
    BF16_FEW_ROWS = TILE_FEW_ROWS,
    BF16_HAS_ONE = TILE_HAS_ONE &&
                   VF_LANES % 2 == 0, /* one vector of a panel's columns: whole words of rows */
};

typedef struct bf16_sums {
    vf at[TILE_ROWS][TILE_VECTORS];
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

/* Word `at` of two terms, in all lanes. */
ATTN_INLINE vi bf16_broadcast_(const uint16_t *at) {
    int32_t word;
    memcpy(&word, at, sizeof word);
    return vi_set1(word);
}

ATTN_INLINE void bf16_add_part_(int rows, int vectors, int64_t words, const uint16_t *restrict left,
                                int64_t stride, const int32_t *restrict right, bf16_sums_t *sums) {
    ATTN_UNROLL_4
    for (int64_t g = 0; g < words; g++, left += 2, right += PANEL) {
        vi column[TILE_VECTORS];
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) column[v] = vi_load(right + v * VF_LANES);
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vi row = bf16_broadcast_(left + r * stride);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++)
                sums->at[r][v] = vf_dot_bf16(sums->at[r][v], row, column[v]);
        }
    }
}

ATTN_INLINE void bf16_end(bf16_sums_t *sums) { (void)sums; }
ATTN_INLINE vf bf16_sum(const bf16_sums_t *sums, int r, int v) { return sums->at[r][v]; }

#endif
