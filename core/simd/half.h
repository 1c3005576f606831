/*
 * simd/half.h: numbers of 16 bits one at a time: f16 (IEEE 754 binary16) and bf16 (the upper half of
 * an f32), by arithmetic on the bits.
 */
#ifndef ATTN_SIMD_HALF_H
#define ATTN_SIMD_HALF_H

#include "ieee/ieee.h"

#include <stdint.h>
#include <string.h>

static inline float bits_to_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t float_to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bf16_to_float(uint16_t half) { return bits_to_float((uint32_t)half << 16); }

/* Round to nearest even; NaN stays NaN. */
static inline uint16_t float_to_bf16(float x) {
    const uint32_t bits = float_to_bits(x);
    if (x != x) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* The exponent is rebiased by an addition; a denormal, whose leading bit is not there, gets one and loses it. No step
 * has a denormal float, which processors may be told to take for zero. */
static inline float f16_to_float(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    const uint32_t rebiased = (rest << 13) + 0x38000000u;
    if (rest >= 0x7c00u) return bits_to_float(sign | 0x7f800000u | rebiased);
    if (rest >= 0x0400u) return bits_to_float(sign | rebiased);
    return bits_to_float(sign | float_to_bits(bits_to_float(rebiased + 0x00800000u) - 0x1p-14f));
}

/* Round to nearest even, by adding a number whose last bit is where the result's is to be. */
static inline uint16_t float_to_f16(float x) {
    const uint32_t sign = float_to_bits(x) >> 16 & 0x8000u;
    const float size = bits_to_float(float_to_bits(x) & 0x7fffffffu);
    if (size != size) return (uint16_t)(sign | 0x7e00u);
    if (size >= 65520.0f) return (uint16_t)(sign | 0x7c00u);
    if (size < 0x1p-14f) /* denormal or zero: multiples of 2^-24 */
        return (uint16_t)(sign | (float_to_bits(size + 0.5f) - 0x3f000000u));
    const uint32_t bits = float_to_bits(size);
    return (uint16_t)(sign | ((bits + 0xfffu + (bits >> 13 & 1u) - 0x38000000u) >> 13));
}

#endif
