/*
 * sketching/kernels.h: what Algorithm 2 spends its time on, as tables of kernels, one per tier. Without fused
 * operations, and each sum in the order of its terms: every tier gives the same bits, so that the same seed
 * draws the same features on every machine.
 */
#ifndef ATTN_SKETCHING_KERNELS_H
#define ATTN_SKETCHING_KERNELS_H

#include "simd/tiers.h"
#include "sketch/matrices.h"

#include <stdint.h>

/** Numbers of a row of `embedded`: the rows of X, rounded up to whole vectors of any tier. */
static inline int64_t sketching_padded(int64_t rows) { return (rows + 15) / 16 * 16; }

typedef struct sketching_kernels {
    /**
     * embedded[column padded + r] += weight * values[r stride + f] for the entries of each of `width` features,
     * `sparsity` of them; `panel` has room for width * padded numbers.
     */
    void (*embed)(const float *values, int64_t stride, int64_t width, int64_t rows,
                  const attn_sketch_entry_t *entries, int64_t sparsity, float *panel,
                  float *embedded);
    /**
     * squares[f] += sum_c (sum_r values[r stride + f] matrix[r columns + c])^2 for `width` features; `last[c]` is
     * the last r for which there is a term that is not 0, and `columns` a multiple of 4.
     */
    void (*squares)(const float *values, int64_t stride, int64_t width, const float *matrix,
                    const int32_t *last, int64_t columns, double *squares);
} sketching_kernels_t;

ATTN_KERNEL_TABLES(sketching_kernels_t, attn_sketching_kernels)

#endif
