/*
 * gemm/bf16_amx.h: the sums of bf16.h in tile registers (amx.h): four of them, of 32 rows and 32 columns, beside two of
 * rows and two of columns.
 */
#ifndef ATTN_GEMM_BF16_AMX_H
#define ATTN_GEMM_BF16_AMX_H

#include "gemm/amx.h"

enum {
    BF16_STEP = AMX_WORDS, /* words that are multiplied at a time */
    BF16_FEW_ROWS = AMX_ROWS,
    BF16_HAS_ONE = 0, /* half a panel of rows would be half a step */
};
_Static_assert(TILE_ROWS == 2 * AMX_ROWS && PANEL == 2 * AMX_WORDS, "sums are four registers");

typedef struct bf16_sums {
    amx_tiles_t tiles;
    float at[TILE_ROWS][PANEL]; /* once they have ended */
} bf16_sums_t;

ATTN_INLINE void bf16_begin(void) { amx_begin(); }
ATTN_INLINE void bf16_finish(void) { amx_end(); }

ATTN_INLINE void bf16_zero(int rows, int vectors, bf16_sums_t *sums) {
    (void)rows, (void)vectors;
    amx_meet_memory();
    amx_zero(&sums->tiles, 0);
    amx_zero(&sums->tiles, 1);
    amx_zero(&sums->tiles, 2);
    amx_zero(&sums->tiles, 3);
}

ATTN_INLINE void bf16_add_part_(int rows, int vectors, int64_t words, const uint16_t *left,
                                int64_t stride, const int32_t *right, bf16_sums_t *sums) {
    amx_tiles_t *tiles = &sums->tiles;
    for (int64_t g = 0; g < words;
         g += AMX_WORDS, left += 2 * AMX_WORDS, right += AMX_WORDS * PANEL) {
        amx_load(tiles, 4, left, 2 * stride);
        amx_load(tiles, 6, right, 4 * PANEL);
        amx_multiply_bf16(tiles, 0, 4, 6);
        if (rows > AMX_ROWS) {
            amx_load(tiles, 5, left + AMX_ROWS * stride, 2 * stride);
            amx_multiply_bf16(tiles, 2, 5, 6);
        }
        if (vectors == 1) continue;
        amx_load(tiles, 7, right + AMX_WORDS, 4 * PANEL);
        amx_multiply_bf16(tiles, 1, 4, 7);
        if (rows > AMX_ROWS) amx_multiply_bf16(tiles, 3, 5, 7);
    }
}

ATTN_INLINE void bf16_end(bf16_sums_t *sums) {
    amx_store(&sums->tiles, 0, sums->at[0], 4 * PANEL);
    amx_store(&sums->tiles, 1, sums->at[0] + AMX_WORDS, 4 * PANEL);
    amx_store(&sums->tiles, 2, sums->at[AMX_ROWS], 4 * PANEL);
    amx_store(&sums->tiles, 3, sums->at[AMX_ROWS] + AMX_WORDS, 4 * PANEL);
    amx_meet_memory();
}
ATTN_INLINE vf bf16_sum(const bf16_sums_t *sums, int r, int v) {
    return vf_load(sums->at[r] + v * VF_LANES);
}

#endif
