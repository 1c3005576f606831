/*
 * gemm/dots_amx.h: the sums of dots.h, of bytes, in tile registers (amx.h): four of them, of 32 rows and 32 columns, beside
 * two of rows and two of columns.
 */
#ifndef ATTN_GEMM_DOTS_AMX_H
#define ATTN_GEMM_DOTS_AMX_H

#include "gemm/amx.h"

#include <string.h>

_Static_assert(TILE_ROWS == 2 * AMX_ROWS && PANEL == 2 * AMX_WORDS, "sums are four registers");

ATTN_INLINE void dots_begin(void) { amx_begin(); }
ATTN_INLINE void dots_end(void) { amx_end(); }

/* AMX_WORDS words of rows and of columns. */
ATTN_INLINE void dots_step_(amx_tiles_t *tiles, const char *rows, int64_t row_step,
                            const int32_t *columns) {
    amx_load(tiles, 4, rows, row_step);
    amx_load(tiles, 5, rows + AMX_ROWS * row_step, row_step);
    amx_load(tiles, 6, columns, 4 * PANEL);
    amx_load(tiles, 7, columns + AMX_WORDS, 4 * PANEL);
    amx_multiply_bytes(tiles, 0, 4, 6);
    amx_multiply_bytes(tiles, 1, 4, 7);
    amx_multiply_bytes(tiles, 2, 5, 6);
    amx_multiply_bytes(tiles, 3, 5, 7);
}

/* The last words, fewer than a register's: beside zeros. */
ATTN_INLINE void dots_last_step_(amx_tiles_t *tiles, int64_t words, const char *rows,
                                 int64_t row_step, const int32_t *columns) {
    int32_t left[TILE_ROWS][AMX_WORDS] = {{0}}, right[AMX_WORDS][PANEL] = {{0}};
    for (int r = 0; r < TILE_ROWS; r++)
        memcpy(left[r], rows + r * row_step, (size_t)words * sizeof(int32_t));
    memcpy(right, columns, (size_t)words * sizeof right[0]);
    amx_meet_memory();
    dots_step_(tiles, (const char *)left, sizeof left[0], right[0]);
    amx_meet_memory();
}

/** As dots.h has it, of bytes, and of rows whose words stand side by side. */
ATTN_INLINE void dots_product(int bytes, int64_t words, const char *rows, int64_t word_step,
                              int64_t row_step, const int32_t *columns,
                              vi sums[TILE_ROWS][TILE_VECTORS]) {
    amx_tiles_t tiles;
    int64_t g = 0;
    (void)bytes, (void)word_step;
    amx_meet_memory();
    amx_load(&tiles, 0, &sums[0][0], 4 * PANEL);
    amx_load(&tiles, 1, &sums[0][1], 4 * PANEL);
    amx_load(&tiles, 2, &sums[AMX_ROWS][0], 4 * PANEL);
    amx_load(&tiles, 3, &sums[AMX_ROWS][1], 4 * PANEL);
    for (; g + AMX_WORDS <= words; g += AMX_WORDS)
        dots_step_(&tiles, rows + 4 * g, row_step, columns + g * PANEL);
    if (g < words) dots_last_step_(&tiles, words - g, rows + 4 * g, row_step, columns + g * PANEL);
    amx_store(&tiles, 0, &sums[0][0], 4 * PANEL);
    amx_store(&tiles, 1, &sums[0][1], 4 * PANEL);
    amx_store(&tiles, 2, &sums[AMX_ROWS][0], 4 * PANEL);
    amx_store(&tiles, 3, &sums[AMX_ROWS][1], 4 * PANEL);
    amx_meet_memory();
}

#endif
