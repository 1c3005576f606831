/*
 * features.h: phi of rows of queries and keys, for the tier being compiled: functions of features.c, which a
 * module has once.
 */
#ifndef ATTN_LINEAR_FEATURES_H
#define ATTN_LINEAR_FEATURES_H

#include "attention/task.h"
#include "form.h"
#include "gemm/product.h"
#include "simd/tiers.h"

#include <float.h>
#include <math.h>

/**
 * One over a row's normaliser; 0 where that is too small to have a reciprocal, and the row becomes zeros; NaN where
 * it is not finite.
 */
static inline float row_factor(float normaliser) {
    if (fabsf(normaliser) < FLT_MIN) return 0.0f;
    return fabsf(normaliser) < INFINITY ? 1.0f / normaliser : NAN;
}

/**
 * Whether a normaliser is one: finite, not below float's normal numbers, and not what rounding alone could have
 * made: a sum of N terms is off by about sqrt(N) eps sum |terms| = `rounding`. (Higham and Mary, "A New Approach
 * to Probabilistic Rounding Error Analysis", 2019.)
 */
static inline int is_normaliser(float normaliser, float rounding) {
    const float size = fabsf(normaliser);
    return size > rounding && size >= FLT_MIN && size < INFINITY;
}

/** Whether rows can be read and written where they are, in whole vectors of products. */
static inline int is_plain(const attn_tensor_t *tensor) {
    return tensor->dtype == ATTN_F32 && tensor->stride[3] == 1 &&
           tensor->shape[3] % PRODUCT_WIDTH == 0;
}

#define features_map ATTN_KERNEL(attn_linear_features_map)
#define features_load ATTN_KERNEL(attn_linear_features_load)
#define rows_load ATTN_KERNEL(attn_linear_rows_load)

/** to[r] = phi(from[r]) of an elementwise map, `rows` rows of `count` numbers rounded up to whole vectors. */
void features_map(linear_map_t map, float *to, int64_t to_stride, const float *from,
                  int64_t from_stride, int64_t rows, int64_t count);

/**
 * Rows [first, first + count) of a head to to[all][stride], times `scale`, stride a multiple of PRODUCT_WIDTH; zeros
 * where there is nothing.
 */
void rows_load(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t first,
               int64_t count, float scale, float *to, int64_t stride, int64_t all);

/**
 * phi of the same rows; what is no feature becomes 0. `wide` has room for `all` rows of x and a tile more, at
 * least one, where the map is wide.
 */
void features_load(const linear_form_t *form, const attn_tensor_t *tensor, int64_t batch,
                   int64_t head, int64_t first, int64_t count, float scale, float *to,
                   int64_t stride, int64_t all, float *wide);

#endif
