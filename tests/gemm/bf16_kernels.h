/* Splitting, packing and the products of core/gemm/bf16.h as functions on arrays, one table for each tier that has them. */
#ifndef ATTN_TESTS_GEMM_BF16_KERNELS_H
#define ATTN_TESTS_GEMM_BF16_KERNELS_H

#include "simd/tiers.h"

typedef struct bf16_kernels {
    int64_t rows, panel, lanes;
    int64_t few; /* rows that have a product of their own */
    int has_one; /* whether one vector of columns has */
    int64_t (*words)(int64_t terms);
    /* Whole vectors of a row to [parts][part_stride]. */
    void (*split)(int parts, const float *from, int64_t count, uint16_t *to, int64_t part_stride);
    /* from[terms][panel] to [parts][words][panel]. */
    void (*pack)(int parts, const float *from, int64_t terms, int64_t words, int32_t *to);
    /* `count` rows of terms, `stride` apart, to [words][panel]. */
    void (*pack_rows)(const uint16_t *from, int64_t stride, int64_t count, int64_t terms,
                      int64_t words, int32_t *to);
    /* out[rows][panel], of few rows or all, of the first vector of columns or all. */
    void (*multiply)(int is_few, int is_one, int64_t words, const uint16_t *rows, int64_t stride,
                     const int32_t *panel, float *out);
} bf16_kernels_t;

ATTN_BF16_KERNEL_TABLES(bf16_kernels_t, attn_test_bf16)

#endif
