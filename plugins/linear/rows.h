/* rows.h: rows of whole vectors, for the tier being compiled. */
#ifndef ATTN_LINEAR_ROWS_H
#define ATTN_LINEAR_ROWS_H

#include "simd/simd.h"

/* to = factor * row; 0 takes all of it, whatever it is. */
ATTN_RARE_STEP void scaled_row(float *to, const float *row, int64_t count, float factor) {
    for (int64_t k = 0; k < count; k += VF_LANES)
        vf_store(to + k, factor == 0.0f ? vf_zero() : vf_mul(vf_set1(factor), vf_load(row + k)));
}

ATTN_RARE_STEP void scale_row(float *row, int64_t count, float factor) {
    scaled_row(row, row, count, factor);
}

/* to += factor * row */
ATTN_RARE_STEP void add_to_row(float *to, const float *row, int64_t count, float factor) {
    for (int64_t k = 0; k < count; k += VF_LANES)
        vf_store(to + k, vf_mul_add(vf_set1(factor), vf_load(row + k), vf_load(to + k)));
}

/* to = before + factor * row; a factor of 0 takes all of the row. */
ATTN_RARE_STEP void sum_row(float *to, const float *before, const float *row, int64_t count,
                            float factor) {
    for (int64_t k = 0; k < count; k += VF_LANES) {
        const vf sum = vf_load(before + k);
        vf_store(to + k, factor == 0.0f ? sum : vf_mul_add(vf_set1(factor), vf_load(row + k), sum));
    }
}

ATTN_STEP float dot_of(const float *a, const float *b, int64_t count) {
    vf sum = vf_zero();
    for (int64_t k = 0; k < count; k += VF_LANES)
        sum = vf_mul_add(vf_load(a + k), vf_load(b + k), sum);
    return vf_reduce_add(sum);
}

#endif
