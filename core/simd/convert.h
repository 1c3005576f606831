/* simd/convert.h: rows of any element type to and from f32. */
#ifndef ATTN_SIMD_CONVERT_H
#define ATTN_SIMD_CONVERT_H

#include "attn/types.h"
#include "simd/half.h"
#include "simd/simd.h"

#include <string.h>

/* Elements [i, i + VF_LANES) of a row, side by side, as f32, and element i. */
ATTN_INLINE vf convert_load_(const void *row, attn_dtype_t dtype, int64_t i) {
    if (ATTN_SMALL || dtype == ATTN_F32) return vf_load((const float *)row + i);
    if (dtype == ATTN_I8) return vf_load_i8((const int8_t *)row + i);
    const uint16_t *half = (const uint16_t *)row + i;
    return dtype == ATTN_F16 ? vf_load_f16(half) : vf_load_bf16(half);
}
ATTN_INLINE float convert_one_(const void *row, attn_dtype_t dtype, int64_t i) {
    if (ATTN_SMALL || dtype == ATTN_F32) return ((const float *)row)[i];
    if (dtype == ATTN_I8) return (float)((const int8_t *)row)[i];
    const uint16_t half = ((const uint16_t *)row)[i];
    return dtype == ATTN_F16 ? f16_to_float(half) : bf16_to_float(half);
}

/** to[i] = factor * element i of a row at `from`, `stride` elements apart. */
ATTN_SHARED_RARE_STEP void convert_row(float *to, const void *from, attn_dtype_t dtype,
                                       int64_t stride, int64_t count, float factor) {
    int64_t i = 0;
    for (; stride == 1 && i + VF_LANES <= count; i += VF_LANES)
        vf_store(to + i, vf_mul(vf_set1(factor), convert_load_(from, dtype, i)));
    for (; i < count; i++) to[i] = factor * convert_one_(from, dtype, i * stride);
}

/** Element i of a row at `to` = factor * from[i], rounded to nearest even. */
ATTN_SHARED_RARE_STEP void convert_back(void *to, attn_dtype_t dtype, int64_t stride,
                                        const float *from, int64_t count, float factor) {
    int64_t i = 0;
    for (; dtype == ATTN_F32 && stride == 1 && i + VF_LANES <= count; i += VF_LANES)
        vf_store((float *)to + i, vf_mul(vf_set1(factor), vf_load(from + i)));
    for (; !ATTN_SMALL && dtype != ATTN_F32 && stride == 1 && i + VF_LANES <= count;
         i += VF_LANES) {
        if (dtype == ATTN_F16)
            vf_store_f16((uint16_t *)to + i, vf_mul(vf_set1(factor), vf_load(from + i)));
        else
            vf_store_bf16((uint16_t *)to + i, vf_mul(vf_set1(factor), vf_load(from + i)));
    }
    for (; i < count; i++) {
        if (ATTN_SMALL || dtype == ATTN_F32) ((float *)to)[i * stride] = factor * from[i];
        if (ATTN_SMALL) continue;
        if (dtype == ATTN_F16) ((uint16_t *)to)[i * stride] = float_to_f16(factor * from[i]);
        if (dtype == ATTN_BF16) ((uint16_t *)to)[i * stride] = float_to_bf16(factor * from[i]);
    }
}

#endif
