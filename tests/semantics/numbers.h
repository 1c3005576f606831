/* Element types and tanh (core/simd/convert.h, math.h) as functions, one table for each tier. */
#ifndef ATTN_TESTS_NUMBERS_H
#define ATTN_TESTS_NUMBERS_H

#include "attn/types.h"
#include "simd/tiers.h"

typedef struct numbers_kernels {
    int64_t lanes;
    /* y[i] = tanh(x[i]); `count` is a multiple of `lanes`. */
    void (*tanh)(const float *x, float *y, int64_t count);
    void (*row)(float *to, const void *from, attn_dtype_t dtype, int64_t stride, int64_t count,
                float factor);
    void (*back)(void *to, attn_dtype_t dtype, int64_t stride, const float *from, int64_t count);
} numbers_kernels_t;

ATTN_KERNEL_TABLES(numbers_kernels_t, attn_test_numbers)

#endif
