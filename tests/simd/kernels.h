/* The vector vocabulary (core/simd/) as functions on arrays, one table for each tier. */
#ifndef ATTN_TESTS_SIMD_KERNELS_H
#define ATTN_TESTS_SIMD_KERNELS_H

#include "attn/types.h"
#include "simd/tiers.h"

enum { SIMD_MOST_LANES = 16 };

typedef struct simd_kernels {
    int64_t lanes;
    /* One vector: arrays of `lanes` floats. */
    void (*unary)(int operation, const float *a, float *result);
    void (*binary)(int operation, const float *a, const float *b, float *result);
    void (*mul_add)(const float *a, const float *b, const float *c, float *result);
    void (*select_positive)(const float *c, const float *a, const float *b, float *result);
    void (*keep)(const float *v, int64_t first, int64_t last, float fill, float *result);
    void (*load_first)(const float *p, int64_t n, float *result);
    void (*store_first)(float *p, const float *v, int64_t n);
    float (*reduce_add)(const float *v);
    float (*reduce_max)(const float *v);
    void (*reduce_add4)(float *to, const float *v); /* v: 4 vectors one after another */
    void (*load_i8)(const int8_t *p, float *result);
    void (*pack_lanes)(float *p, const float *v, int32_t *q, const int32_t *w, uint32_t lanes);
} simd_kernels_t;

enum simd_unary { SIMD_COPY, SIMD_ZERO, SIMD_SET1, SIMD_SQRT, SIMD_EXP4, SIMD_EXP, SIMD_EXPONENT };
enum simd_binary { SIMD_ADD, SIMD_SUB, SIMD_MUL, SIMD_DIV, SIMD_MAX, SIMD_MIN };

ATTN_KERNEL_TABLES(simd_kernels_t, attn_test_simd)

#endif
