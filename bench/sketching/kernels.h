/*
 * sketching/kernels.h: what Algorithm 2 spends its time on, as tables of kernels, one per tier. Without fused
 * operations, and each sum in the order of its terms: every tier gives the same bits, so that the same seed
 * draws the same features on every machine.
 */
#ifndef ATTN_SKETCHING_KERNELS_H
#define ATTN_SKETCHING_KERNELS_H

#include "simd/tiers.h"

#include <stdint.h>

typedef struct sketching_kernels {
    /**
     * squares[f] += sum_c (sum_r values[r stride + f] matrix[r columns + c])^2 for `width` features; `last[c]` is
     * the last r for which there is a term that is not 0, and `columns` a multiple of 4.
     */
    void (*squares)(const float *values, int64_t stride, int64_t width, const float *matrix,
                    const int32_t *last, int64_t columns, double *squares);
} sketching_kernels_t;

ATTN_KERNEL_TABLES(sketching_kernels_t, attn_sketching_kernels)

#endif
