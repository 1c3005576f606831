/*
 * measure/peak_bf16_kernels.c: the register tile of bf16 products on operands that stay in the nearest cache.
 */
#include "peak_bf16_kernels.h"

#include "gemm/bf16.h"

enum { WORDS = 64, TERMS = 2 * WORDS };

static float multiply(int64_t steps) {
    _Alignas(64) uint16_t rows[TILE_ROWS * TERMS];
    _Alignas(64) int32_t panel[WORDS * PANEL];
    const bf16_rows_t left = {rows, TERMS, 0};
    const bf16_panel_t right = {panel, 0};
    vf total = vf_zero();
    for (int i = 0; i < TILE_ROWS * TERMS; i++) rows[i] = 0x3f80;    /* 1 */
    for (int i = 0; i < WORDS * PANEL; i++) panel[i] = 0x3f80 << 16; /* 0 and 1 */
    bf16_begin();
    for (int64_t step = 0; step < steps; step++) {
        bf16_sums_t sums;
        ATTN_READ_ANEW;
        bf16_zero(TILE_ROWS, TILE_VECTORS, &sums);
        bf16_add(TILE_ROWS, TILE_VECTORS, WORDS, left, 0, right, 0, &sums);
        bf16_end(&sums);
        ATTN_UNROLL
        for (int r = 0; r < TILE_ROWS; r++) {
            ATTN_UNROLL
            for (int v = 0; v < TILE_VECTORS; v++) total = vf_max(total, bf16_sum(&sums, r, v));
        }
    }
    bf16_finish();
    return vf_reduce_max(total);
}

const struct peak_variant ATTN_KERNEL(peak_bf16_kernels) = {multiply,
                                                            (int64_t)2 * TERMS *TILE_ROWS *PANEL};
