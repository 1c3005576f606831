/*
 * simd/convert.h: rows of any element type to and from f32.
 *
 * AVX2 and AVX-512 convert f16 by instruction; elsewhere by arithmetic on the bits.
 */
#ifndef ATTN_SIMD_CONVERT_H
#define ATTN_SIMD_CONVERT_H

#include "attn/types.h"
#include "simd/simd.h"

#include <string.h>

ATTN_INLINE float bits_to_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

ATTN_INLINE uint32_t float_to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ATTN_INLINE float bf16_to_float(uint16_t half) { return bits_to_float((uint32_t)half << 16); }

/* Round to nearest even; NaN stays NaN. */
ATTN_INLINE uint16_t float_to_bf16(float x) {
    const uint32_t bits = float_to_bits(x);
    if (x != x) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* The exponent is rebiased by a multiplication, which makes denormals right too. */
ATTN_INLINE float f16_to_float(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u) return bits_to_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    return bits_to_float(sign | float_to_bits(bits_to_float(rest << 13) * 0x1p112f));
}

/* Round to nearest even, by adding a number whose last bit is where the result's is to be. */
ATTN_INLINE uint16_t float_to_f16(float x) {
    const uint32_t sign = float_to_bits(x) >> 16 & 0x8000u;
    const float size = bits_to_float(float_to_bits(x) & 0x7fffffffu);
    if (size != size) return (uint16_t)(sign | 0x7e00u);
    if (size >= 65520.0f) return (uint16_t)(sign | 0x7c00u);
    if (size < 0x1p-14f) /* denormal or zero: multiples of 2^-24 */
        return (uint16_t)(sign | (float_to_bits(size + 0.5f) - 0x3f000000u));
    const uint32_t bits = float_to_bits(size);
    return (uint16_t)(sign | ((bits + 0xfffu + (bits >> 13 & 1u) - 0x38000000u) >> 13));
}

ATTN_INLINE int64_t convert_f16_vectors_(float *to, const uint16_t *from, int64_t count) {
    int64_t i = 0;
#if ATTN_SIMD_BITS == 512
    for (; i + 16 <= count; i += 16)
        vf_store(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
#elif ATTN_SIMD_BITS == 256
    for (; i + 8 <= count; i += 8)
        vf_store(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
#else
    (void)to, (void)from, (void)count;
#endif
    return i;
}

/** Bytes of an element; 0 for an unknown type. */
ATTN_INLINE int64_t convert_size(attn_dtype_t dtype) {
    switch (dtype) {
    case ATTN_F32:
        return 4;
    case ATTN_F16:
    case ATTN_BF16:
        return 2;
    case ATTN_I8:
        return 1;
    default:
        return 0;
    }
}

/** to[i] = factor * element i of a row at `from`, `stride` elements apart. */
ATTN_STEP void convert_row(float *to, const void *from, attn_dtype_t dtype, int64_t stride,
                           int64_t count, float factor) {
    if (dtype == ATTN_F32 && stride == 1 && factor == 1.0f) {
        memcpy(to, from, (size_t)count * sizeof(float));
        return;
    }
    if (dtype == ATTN_F32) {
        const float *row = from;
        for (int64_t i = 0; i < count; i++) to[i] = factor * row[i * stride];
        return;
    }
    if (dtype == ATTN_I8) {
        const int8_t *row = from;
        for (int64_t i = 0; i < count; i++) to[i] = factor * (float)row[i * stride];
        return;
    }
    const uint16_t *row = from;
    int64_t i = 0;
    if (dtype == ATTN_F16) {
        if (stride == 1) i = convert_f16_vectors_(to, row, count);
        for (; i < count; i++) to[i] = f16_to_float(row[i * stride]);
    } else if (stride == 1) { /* apart, so that the compiler makes vectors of it */
        for (; i < count; i++) to[i] = bf16_to_float(row[i]);
    } else {
        for (; i < count; i++) to[i] = bf16_to_float(row[i * stride]);
    }
    if (factor != 1.0f)
        for (i = 0; i < count; i++) to[i] *= factor;
}

/** Element i of a row at `to` = from[i], rounded to nearest even. */
ATTN_STEP void convert_back(void *to, attn_dtype_t dtype, int64_t stride, const float *from,
                            int64_t count) {
    if (dtype == ATTN_F32 && stride == 1) {
        memcpy(to, from, (size_t)count * sizeof(float));
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (dtype == ATTN_F32) ((float *)to)[i * stride] = from[i];
        if (dtype == ATTN_F16) ((uint16_t *)to)[i * stride] = float_to_f16(from[i]);
        if (dtype == ATTN_BF16) ((uint16_t *)to)[i * stride] = float_to_bf16(from[i]);
    }
}

#endif
