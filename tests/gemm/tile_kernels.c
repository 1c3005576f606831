/* Compiled once for each tier, like a plugin's kernels. */
#include "tile_kernels.h"

#include "gemm/tile.h"

static void pack(float *panel, int64_t width, int64_t count, int64_t d, const float *source,
                 int64_t row_stride, int64_t column_stride, float factor) {
    tile_pack(panel, width, count, d, source, row_stride, column_stride, factor);
}

static void product(int64_t count, int64_t first, int64_t last, int64_t d, const float *rows,
                    const float *panel, float *scores, int64_t from, int64_t stride) {
    tile_panel_part(count, first, last, d, rows, panel, scores, from, stride);
}

static void accumulate(int64_t rows, float *out, int64_t out_stride, const float *weights,
                       int64_t weights_stride, const float *values, int64_t values_stride,
                       int64_t first, int64_t last, int64_t columns) {
    tile_accumulate(rows, out, out_stride, weights, weights_stride, values, values_stride, first,
                    last, columns);
}

static void accumulate_ranges(int64_t rows, float *out, int64_t out_stride, const float *weights,
                              int64_t weights_stride, const float *values, int64_t values_stride,
                              const int64_t *first, const int64_t *last, int64_t columns) {
    tile_accumulate_ranges(rows, out, out_stride, weights, weights_stride, values, values_stride,
                           first, last, 0, columns);
}

static int all_finite(const float *values, int64_t stride, int64_t rows, int64_t columns) {
    return tile_all_finite(values, stride, rows, columns);
}

const tile_kernels_t ATTN_KERNEL(attn_test_tile) = {
    .lanes = VF_LANES,
    .rows = TILE_ROWS,
    .panel = PANEL,
    .one = TILE_HAS_ONE ? VF_LANES : 0,
    .pack = pack,
    .product = product,
    .accumulate = accumulate,
    .accumulate_ranges = accumulate_ranges,
    .all_finite = all_finite,
};
