/* Compiled once for each tier that multiplies bf16 numbers, like a plugin's kernels. */
#include "bf16_kernels.h"

#include "gemm/bf16.h"

static int64_t words(int64_t terms) { return bf16_words(terms); }

static void split(int parts, const float *from, int64_t count, uint16_t *to, int64_t part_stride) {
    bf16_split_row(parts, from, count, to, part_stride);
}

static void pack(int parts, const float *from, int64_t terms, int64_t count, int32_t *to) {
    bf16_pack(parts, from, PANEL, terms, count, to);
}

static void pack_rows(const uint16_t *from, int64_t stride, int64_t count, int64_t terms,
                      int64_t word_count, int32_t *to) {
    bf16_pack_rows(from, stride, count, terms, word_count, to);
}

/* Of rows and vectors that are constants. */
ATTN_INLINE void multiply_(int rows, int vectors, int64_t count, const uint16_t *left,
                           int64_t stride, const int32_t *panel, float *out) {
    bf16_sums_t sums;
    bf16_begin();
    bf16_zero(rows, vectors, &sums);
    bf16_add(rows, vectors, count, (bf16_rows_t){left, stride, 0}, 0, (bf16_panel_t){panel, 0}, 0,
             &sums);
    bf16_end(&sums);
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            vf_store(out + r * PANEL + v * VF_LANES, bf16_sum(&sums, r, v));
    }
    bf16_finish();
}

static void multiply(int is_few, int is_one, int64_t count, const uint16_t *rows, int64_t stride,
                     const int32_t *panel, float *out) {
    if (is_few && is_one && BF16_HAS_ONE)
        multiply_(BF16_FEW_ROWS, 1, count, rows, stride, panel, out);
    else if (is_few)
        multiply_(BF16_FEW_ROWS, TILE_VECTORS, count, rows, stride, panel, out);
    else if (is_one && BF16_HAS_ONE)
        multiply_(TILE_ROWS, 1, count, rows, stride, panel, out);
    else
        multiply_(TILE_ROWS, TILE_VECTORS, count, rows, stride, panel, out);
}

const bf16_kernels_t ATTN_KERNEL(attn_test_bf16) = {
    .rows = TILE_ROWS,
    .panel = PANEL,
    .lanes = VF_LANES,
    .few = BF16_FEW_ROWS,
    .has_one = BF16_HAS_ONE,
    .words = words,
    .split = split,
    .pack = pack,
    .pack_rows = pack_rows,
    .multiply = multiply,
};
