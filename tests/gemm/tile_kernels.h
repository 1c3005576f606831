/* The register tile (core/gemm/tile.h) as functions on arrays, one table for each tier. */
#ifndef ATTN_TESTS_GEMM_TILE_KERNELS_H
#define ATTN_TESTS_GEMM_TILE_KERNELS_H

#include "attn/types.h"
#include "simd/tiers.h"

typedef struct tile_kernels {
    int64_t lanes;
    int64_t rows, panel, one; /* one: lanes that have a product of their own, 0: none */
    void (*pack)(float *panel, int64_t width, int64_t count, int64_t d, const float *source,
                 int64_t row_stride, int64_t column_stride, float factor);
    void (*product)(int64_t count, int64_t first, int64_t last, int64_t d, const float *rows,
                    const float *panel, float *scores, int64_t from, int64_t stride);
    void (*accumulate)(int64_t rows, float *out, int64_t out_stride, const float *weights,
                       int64_t weights_stride, const float *values, int64_t values_stride,
                       int64_t first, int64_t last, int64_t columns);
    void (*accumulate_ranges)(int64_t rows, float *out, int64_t out_stride, const float *weights,
                              int64_t weights_stride, const float *values, int64_t values_stride,
                              const int64_t *first, const int64_t *last, int64_t columns);
    int (*all_finite)(const float *values, int64_t stride, int64_t rows, int64_t columns);
} tile_kernels_t;

ATTN_KERNEL_TABLES(tile_kernels_t, attn_test_tile)

#endif
