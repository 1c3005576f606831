/* Quantising and the products of core/gemm/dots.h as functions on arrays, one table for each tier. */
#ifndef ATTN_TESTS_GEMM_DOTS_KERNELS_H
#define ATTN_TESTS_GEMM_DOTS_KERNELS_H

#include "simd/tiers.h"

enum { DOTS_MOST_WORDS = 256 };

typedef struct dots_kernels {
    int64_t rows, panel; /* of a tile */
    int64_t row_words;   /* from word to word of a row: `rows` in whole vectors */
    int has_bytes;       /* whether integers may have one byte; else two */
    int32_t flip;        /* of such in rows */
    float (*level)(int64_t most, int64_t terms);
    /* from[terms][width], whole vectors, to words[words][width] and scales[width]; starts may be NULL. */
    void (*quantise)(int bytes, const float *from, int64_t terms, float level, int32_t flip,
                     int64_t width, int32_t *words, float *scales, int32_t *starts);
    void (*scores)(int bytes, int64_t words, const int32_t *rows, const float *row_scales,
                   const float *shift, const int32_t *columns, const float *scales,
                   const int32_t *starts, float *scores, int64_t stride);
    void (*accumulate)(int bytes, int64_t words, const void *rows, int64_t row_step,
                       const float *row_scales, const float *rescale, const int32_t *columns,
                       const float *scales, float *out, int64_t stride, int64_t count);
    /* A vector's worth of numbers, rounded to integers side by side. */
    int64_t lanes;
    void (*store)(int bytes, void *to, const float *numbers);
    /* Products of a row, rounded to words of a level, with 4 keys one after another; `count`: a multiple of `pair`. */
    int64_t pair;
    float (*word_products)(float *row, int64_t count, float level, const int8_t *keys,
                           float products[4]);
} dots_kernels_t;

ATTN_DOT_KERNEL_TABLES(dots_kernels_t, attn_test_dots)

#endif
