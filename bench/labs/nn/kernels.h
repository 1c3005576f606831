/*
 * nn/kernels.h: what a neural net's layers compute, as tables of kernels, one per tier. Each layer has a file in
 * kernels/, forward and backward beside each other. Arrays are contiguous rows; nothing is allocated.
 */
#ifndef ATTN_NN_KERNELS_H
#define ATTN_NN_KERNELS_H

#include "simd/tiers.h"

#include <stdint.h>

/** A matrix where it lies: element (i, j) at data[i row + j column]. Swapped strides are its transpose. */
typedef struct nn_matrix {
    const float *data;
    int64_t row, column;
} nn_matrix_t;

/** out[r stride + c] (+)= sum_k left(r, k) right(k, c) + bias[c], for rows x columns over `depth`. */
typedef struct nn_product {
    float *out;
    int64_t stride;
    nn_matrix_t left, right;
    int64_t rows, columns, depth;
    const float *bias; /**< or NULL */
    int add;           /**< to what `out` has; else it is overwritten */
} nn_product_t;

typedef struct nn_kernels {
    int64_t tile_rows, panel; /**< the register tile: for nn_product_scratch() */

    /** Needs nn_product_scratch() floats. `out` overlaps nothing. */
    void (*product)(const nn_product_t *product, float *scratch);
} nn_kernels_t;

ATTN_KERNEL_TABLES(nn_kernels_t, attn_nn_kernels)

/** Floats of scratch that product() needs for these sizes, or smaller ones. */
int64_t nn_product_scratch(const nn_kernels_t *kernels, int64_t depth, int64_t columns);

#endif
