/*
 * measure/peak_bytes_kernels.c: the register tile of bytes, where tile registers multiply it, on operands that stay in the
 * nearest cache.
 */
#define DOTS_TILES 1
#include "peak_bf16_kernels.h"

#include "gemm/dots.h"

enum { WORDS = 64 };

static float multiply(int64_t steps) {
    static const int32_t row = 0x01010101, column = (int32_t)0xff01ff01; /* sums stay 0 */
    _Alignas(64) int32_t rows[TILE_ROWS * WORDS], columns[WORDS * PANEL];
    vi sums[TILE_ROWS][TILE_VECTORS];
    for (int i = 0; i < TILE_ROWS * WORDS; i++) rows[i] = row;
    for (int i = 0; i < WORDS * PANEL; i++) columns[i] = column;
    memset(sums, 0, sizeof sums);
    dots_begin();
    for (int64_t step = 0; step < steps; step++) {
        ATTN_READ_ANEW;
        dots_product(1, WORDS, (const char *)rows, 4, 4 * WORDS, columns, sums);
    }
    dots_end();
    return vf_reduce_add(vi_to_vf(sums[0][0]));
}

const struct peak_variant ATTN_KERNEL(peak_bytes_kernels) = {multiply,
                                                             (int64_t)8 * WORDS *TILE_ROWS *PANEL};
