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

/** Layer normalisation of rows of `width`. */
typedef struct nn_norm {
    int64_t rows, width;
    const float *gain, *bias;
} nn_norm_t;

enum { NN_DROPOUT_EACH = 8 }; /**< elements that are drawn together */

/** Dropped elements are a function of (seed, stream, first + i / NN_DROPOUT_EACH, i % NN_DROPOUT_EACH) alone. */
typedef struct nn_dropout {
    float rate; /**< 0: nothing is dropped; taken to a multiple of 2^-16 */
    uint64_t seed, stream;
} nn_dropout_t;

/** AdamW (arXiv:1711.05101) at one step. */
typedef struct nn_adamw {
    float rate, beta1, beta2, epsilon, decay;
    float correction1, correction2; /**< 1 - beta^t */
} nn_adamw_t;

typedef struct nn_kernels {
    int64_t tile_rows, panel; /**< the register tile: for nn_product_scratch() */

    /** Needs nn_product_scratch() floats. `out` overlaps nothing. */
    void (*product)(const nn_product_t *product, float *scratch);

    /** out = (x - mean) / deviation * gain + bias; stats[2 r], [2 r + 1]: mean and 1 / deviation. */
    void (*norm)(const nn_norm_t *norm, const float *x, float *out, float *stats);
    /** dx += ..., dgain += ..., dbias += ... */
    void (*norm_backward)(const nn_norm_t *norm, const float *x, const float *stats,
                          const float *dout, float *dx, float *dgain, float *dbias);

    /** out = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) (arXiv:1606.08415) */
    void (*gelu)(int64_t count, const float *x, float *out);
    /** d *= the derivative at x */
    void (*gelu_backward)(int64_t count, const float *x, float *d);

    /**
     * Cross-entropy of rows of logits whose target is not negative, added up. `logits` become scale times its
     * gradient; 0 in other rows.
     */
    double (*entropy)(int64_t rows, int64_t classes, const int32_t *targets, float scale,
                      float *logits);

    /** x[i] = 0 or x[i] / (1 - rate): also the way back, of gradients. */
    void (*dropout)(const nn_dropout_t *dropout, uint64_t first, int64_t count, float *x);

    /** x += y */
    void (*add)(int64_t count, const float *y, float *x);
    /** out[c] += sum_r x[r width + c] */
    void (*add_rows)(int64_t rows, int64_t width, const float *x, float *out);

    /** One step on weights with first and second moments. */
    void (*adamw)(const nn_adamw_t *adamw, int64_t count, const float *gradient, float *weights,
                  float *first, float *second);
} nn_kernels_t;

ATTN_KERNEL_TABLES(nn_kernels_t, attn_nn_kernels)

/** Floats of scratch that product() needs for these sizes, or smaller ones. */
int64_t nn_product_scratch(const nn_kernels_t *kernels, int64_t depth, int64_t columns);

#endif
