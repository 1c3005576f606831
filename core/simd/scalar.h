/* simd/scalar.h: the vocabulary with one lane, in plain C. */
#ifndef ATTN_SIMD_SCALAR_H
#define ATTN_SIMD_SCALAR_H

#include "simd/half.h"

#include <string.h>

typedef float vf;
enum { VF_LANES = 1 };

ATTN_INLINE vf vf_zero(void) { return 0.0f; }
ATTN_INLINE vf vf_set1(float x) { return x; }
ATTN_INLINE vf vf_load(const float *p) { return *p; }
ATTN_INLINE void vf_store(float *p, vf v) { *p = v; }
ATTN_INLINE vf vf_load_first(const float *p, int64_t n) { return n > 0 ? *p : 0.0f; }
ATTN_INLINE void vf_store_first(float *p, vf v, int64_t n) {
    if (n > 0) *p = v;
}
ATTN_INLINE vf vf_load_f16(const uint16_t *p) { return f16_to_float(*p); }
ATTN_INLINE vf vf_load_bf16(const uint16_t *p) { return bf16_to_float(*p); }
ATTN_INLINE void vf_store_f16(uint16_t *p, vf v) { *p = float_to_f16(v); }
ATTN_INLINE void vf_store_bf16(uint16_t *p, vf v) { *p = float_to_bf16(v); }
ATTN_INLINE vf vf_load_i8(const int8_t *p) { return (float)*p; }
typedef int32_t vi;
ATTN_INLINE vi vi_zero(void) { return 0; }
ATTN_INLINE vi vi_set1(int32_t x) { return x; }
ATTN_INLINE vi vi_load(const int32_t *p) { /* of halves, too */
    vi v;
    memcpy(&v, p, sizeof v);
    return v;
}
ATTN_INLINE vf vi_to_vf(vi v) { return (float)v; }
ATTN_INLINE vi vi_dot16(vi sum, vi a, vi b) {
    const int32_t low = (int16_t)a * (int16_t)b, high = (a >> 16) * (b >> 16);
    return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
}
ATTN_INLINE vi vi_halves_(int32_t low, int32_t high) {
    return (int32_t)((uint32_t)high << 16 | (uint16_t)low);
}
ATTN_INLINE vi vi_load_i8(const int8_t *p) { return vi_halves_(p[0], p[1]); }
ATTN_INLINE void vi_pair(vi a, vi b, vi to[2]) {
    to[0] = vi_halves_(a, b);
    to[1] = vi_halves_(a >> 16, b >> 16);
}
ATTN_INLINE void vf_unpair(vf to[2]) { (void)to; }
ATTN_INLINE void vf_store_low16(uint16_t *p, vf v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    *p = (uint16_t)bits;
}
ATTN_INLINE vf vf_add(vf a, vf b) { return a + b; }
ATTN_INLINE vf vf_sub(vf a, vf b) { return a - b; }
ATTN_INLINE vf vf_mul(vf a, vf b) { return a * b; }
ATTN_INLINE vf vf_div(vf a, vf b) { return a / b; }
ATTN_INLINE vf vf_sqrt(vf v) { return sqrtf(v); }
ATTN_INLINE vf vf_mul_add(vf a, vf b, vf c) { return a * b + c; }
ATTN_INLINE vf vf_max(vf a, vf b) { return a > b ? a : b; }
ATTN_INLINE vf vf_min(vf a, vf b) { return a < b ? a : b; }
ATTN_INLINE vf vf_exponent(vf t) {
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits <<= 23;
    memcpy(&t, &bits, sizeof bits);
    return t;
}
ATTN_INLINE vf vf_keep(vf v, int64_t first, int64_t last, vf fill) {
    return first <= 0 && last > 0 ? v : fill;
}
ATTN_INLINE vf vf_select_positive(vf c, vf a, vf b) { return c > 0.0f ? a : b; }
ATTN_INLINE uint32_t vf_greater(vf a, vf b) { return a > b; }
ATTN_INLINE float vf_reduce_add(vf v) { return v; }
ATTN_INLINE float vf_reduce_max(vf v) { return v; }
ATTN_INLINE void vf_reduce_add4(float *to, const vf v[4]) { memcpy(to, v, 4 * sizeof *to); }
ATTN_INLINE void vf_transpose(int rows, const float *from, int64_t stride, float *to, int64_t width,
                              float factor) {
    for (int j = 0; j < rows; j++)
        for (int k = 0; k < 4; k++) to[k * width + j] = factor * from[j * stride + k];
}

#endif
