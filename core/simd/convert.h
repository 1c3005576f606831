/* simd/convert.h: rows of any element type to and from f32. */
#ifndef ATTN_SIMD_CONVERT_H
#define ATTN_SIMD_CONVERT_H

#include "attn/types.h"
#include "simd/half.h"
#include "simd/simd.h"

#include <string.h>

/** to[i] = factor * element i of a row at `from`, `stride` elements apart. */
ATTN_SHARED_SMALL_STEP void convert_row(float *to, const void *from, attn_dtype_t dtype,
                                        int64_t stride, int64_t count, float factor) {
    if (dtype == ATTN_F32) { /* rows are short: a call of memcpy() would take as long */
        const float *row = from;
        int64_t whole = stride == 1 ? count - count % VF_LANES : 0;
        for (int64_t i = 0; i < whole; i += VF_LANES)
            vf_store(to + i, vf_mul(vf_set1(factor), vf_load(row + i)));
        for (int64_t i = whole; i < count; i++) to[i] = factor * row[i * stride];
        return;
    }
    if (ATTN_SMALL) return;
    if (dtype == ATTN_I8) {
        const int8_t *row = from;
        for (int64_t i = 0; i < count; i++) to[i] = factor * (float)row[i * stride];
        return;
    }
    const uint16_t *row = from;
    int64_t i = 0;
    for (; stride == 1 && i + VF_LANES <= count; i += VF_LANES)
        vf_store(to + i, dtype == ATTN_F16 ? vf_load_f16(row + i) : vf_load_bf16(row + i));
    for (; i < count; i++)
        to[i] = dtype == ATTN_F16 ? f16_to_float(row[i * stride]) : bf16_to_float(row[i * stride]);
    if (factor != 1.0f)
        for (i = 0; i < count; i++) to[i] *= factor;
}

/** Element i of a row at `to` = from[i], rounded to nearest even. */
ATTN_SHARED_SMALL_STEP void convert_back(void *to, attn_dtype_t dtype, int64_t stride,
                                         const float *from, int64_t count) {
    int64_t i = 0;
    for (; dtype == ATTN_F32 && stride == 1 && i + VF_LANES <= count; i += VF_LANES)
        vf_store((float *)to + i, vf_load(from + i));
    for (; !ATTN_COMPACT && dtype != ATTN_F32 && stride == 1 && i + VF_LANES <= count;
         i += VF_LANES) {
        if (dtype == ATTN_F16)
            vf_store_f16((uint16_t *)to + i, vf_load(from + i));
        else
            vf_store_bf16((uint16_t *)to + i, vf_load(from + i));
    }
    for (; i < count; i++) {
        if (ATTN_SMALL || dtype == ATTN_F32) ((float *)to)[i * stride] = from[i];
        if (ATTN_SMALL) continue;
        if (dtype == ATTN_F16) ((uint16_t *)to)[i * stride] = float_to_f16(from[i]);
        if (dtype == ATTN_BF16) ((uint16_t *)to)[i * stride] = float_to_bf16(from[i]);
    }
}

#endif
