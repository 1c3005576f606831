/* simd/bits128.h: four lanes: SSE4.2, NEON and WASM's SIMD128. */
#ifndef ATTN_SIMD_BITS128_H
#define ATTN_SIMD_BITS128_H

#include "simd/half.h"

typedef __m128 vf;
enum { VF_LANES = 4 };
#define VF_(operation) _mm_##operation##_ps

ATTN_RARE_STEP vf vf_load_few_(const float *p, int64_t n) {
    float lanes[4] = {0};
    for (int64_t l = 0; l < n; l++) lanes[l] = p[l];
    return _mm_loadu_ps(lanes);
}
ATTN_RARE_STEP void vf_store_few_(float *p, vf v, int64_t n) {
    float lanes[4];
    _mm_storeu_ps(lanes, v);
    for (int64_t l = 0; l < n; l++) p[l] = lanes[l];
}
ATTN_INLINE vf vf_load_first(const float *p, int64_t n) {
    return n < VF_LANES ? vf_load_few_(p, n) : _mm_loadu_ps(p);
}
ATTN_INLINE void vf_store_first(float *p, vf v, int64_t n) {
    if (n < VF_LANES)
        vf_store_few_(p, v, n);
    else
        _mm_storeu_ps(p, v);
}
/* The floats of four at p, of which there is one. */
ATTN_INLINE vf vf_load_quarters_(const float *p, int64_t stride) {
    (void)stride;
    return _mm_loadu_ps(p);
}

/* Four numbers of 16 bits, each in the lower half of a lane. */
ATTN_INLINE __m128i vf_halves_(const uint16_t *p) {
    return _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p),
                              _mm_setzero_si128());
}
ATTN_INLINE vf vf_load_bf16(const uint16_t *p) {
    return _mm_castsi128_ps(_mm_slli_epi32(vf_halves_(p), 16));
}
#if defined(__aarch64__)
ATTN_INLINE vf vf_load_f16(const uint16_t *p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
#else
/* As f16_to_float() has it (simd/half.h). */
ATTN_INLINE vf vf_load_f16(const uint16_t *p) {
    const __m128i half = vf_halves_(p), rest = _mm_and_si128(half, _mm_set1_epi32(0x7fff));
    const __m128i sign = _mm_slli_epi32(_mm_xor_si128(half, rest), 16);
    const __m128i special =
        _mm_and_si128(_mm_cmpgt_epi32(rest, _mm_set1_epi32(0x7bff)), _mm_set1_epi32(0x7f800000));
    const __m128i denormal = _mm_cmplt_epi32(rest, _mm_set1_epi32(0x400));
    const __m128i rebiased = _mm_add_epi32(_mm_slli_epi32(rest, 13), _mm_set1_epi32(0x38000000));
    const __m128i leading = _mm_and_si128(denormal, _mm_set1_epi32(0x00800000));
    const vf lost = _mm_and_ps(_mm_castsi128_ps(denormal), _mm_set1_ps(0x1p-14f));
    const vf size = _mm_sub_ps(_mm_castsi128_ps(_mm_add_epi32(rebiased, leading)), lost);
    return _mm_or_ps(size, _mm_castsi128_ps(_mm_or_si128(sign, special)));
}
#endif
/* One at a time, but for what NEON has. */
ATTN_INLINE void vf_store_f16(uint16_t *p, vf v) {
#if defined(__aarch64__)
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v)));
#else
    float lanes[4];
    _mm_storeu_ps(lanes, v);
    for (int l = 0; l < VF_LANES; l++) p[l] = float_to_f16(lanes[l]);
#endif
}
ATTN_INLINE void vf_store_bf16(uint16_t *p, vf v) {
    float lanes[4];
    _mm_storeu_ps(lanes, v);
    for (int l = 0; l < VF_LANES; l++) p[l] = float_to_bf16(lanes[l]);
}
ATTN_INLINE vf vf_load_i8(const int8_t *p) {
    int32_t four;
    __builtin_memcpy(&four, p, sizeof four);
    const __m128i twice = _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), _mm_cvtsi32_si128(four));
    return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(twice, twice), 24));
}
typedef __m128i vi;
ATTN_INLINE vi vi_zero(void) { return _mm_setzero_si128(); }
ATTN_INLINE vi vi_set1(int32_t x) { return _mm_set1_epi32(x); }
ATTN_INLINE vi vi_load(const int32_t *p) { return _mm_loadu_si128((const __m128i *)p); }
ATTN_INLINE vf vi_to_vf(vi v) { return _mm_cvtepi32_ps(v); }
ATTN_INLINE vi vi_dot16(vi sum, vi a, vi b) { return _mm_add_epi32(sum, _mm_madd_epi16(a, b)); }
ATTN_INLINE vi vi_load_i8(const int8_t *p) {
    return _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)p));
}
ATTN_INLINE void vi_pair(vi a, vi b, vi to[2]) {
    to[0] = _mm_unpacklo_epi16(a, b);
    to[1] = _mm_unpackhi_epi16(a, b);
}
ATTN_INLINE void vf_unpair(vf to[2]) { (void)to; }
ATTN_INLINE void vf_store_low16(uint16_t *p, vf v) {
    const __m128i low = _mm_and_si128(_mm_castps_si128(v), _mm_set1_epi32(0xffff));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi32(low, low));
}
#if defined(__aarch64__)
#include "simd/arm.h"
#endif
ATTN_INLINE vf vf_mul_add(vf a, vf b, vf c) {
#if defined(__wasm_relaxed_simd__)
    return (vf)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#elif defined(__aarch64__)
    return vfmaq_f32(c, a, b);
#else
    return _mm_add_ps(_mm_mul_ps(a, b), c);
#endif
}
#if defined(__wasm__) /* pmax(x, y) is y where x < y, else x: one instruction with x86's NaN rule */
ATTN_INLINE vf vf_max(vf a, vf b) { return (vf)wasm_f32x4_pmax((v128_t)b, (v128_t)a); }
ATTN_INLINE vf vf_min(vf a, vf b) { return (vf)wasm_f32x4_pmin((v128_t)b, (v128_t)a); }
#else
ATTN_INLINE vf vf_max(vf a, vf b) { return _mm_max_ps(a, b); }
ATTN_INLINE vf vf_min(vf a, vf b) { return _mm_min_ps(a, b); }
#endif
ATTN_INLINE vf vf_exponent(vf t) {
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_castps_si128(t), 23));
}
ATTN_INLINE vf vf_keep(vf v, int64_t first, int64_t last, vf fill) {
    int32_t from = (int32_t)(first < 0 ? 0 : first > VF_LANES ? VF_LANES : first);
    int32_t to = (int32_t)(last < 0 ? 0 : last > VF_LANES ? VF_LANES : last);
    __m128i lane = _mm_set_epi32(3, 2, 1, 0);
    __m128i kept = _mm_andnot_si128(_mm_cmplt_epi32(lane, _mm_set1_epi32(from)),
                                    _mm_cmplt_epi32(lane, _mm_set1_epi32(to)));
    return _mm_blendv_ps(fill, v, _mm_castsi128_ps(kept));
}
ATTN_INLINE vf vf_select_positive(vf c, vf a, vf b) {
    return _mm_blendv_ps(b, a, _mm_cmpgt_ps(c, _mm_setzero_ps()));
}
ATTN_INLINE uint32_t vf_greater(vf a, vf b) {
    return (uint32_t)_mm_movemask_ps(_mm_cmpgt_ps(a, b));
}
ATTN_INLINE __m128 vf_quarter_(vf v) { return v; }
ATTN_INLINE float vf_reduce_add(vf v) {
    vf pairs = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(pairs, _mm_shuffle_ps(pairs, pairs, 1)));
}
ATTN_INLINE float vf_reduce_max(vf v) {
    vf pairs = vf_max(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(vf_max(pairs, _mm_shuffle_ps(pairs, pairs, 1)));
}

#endif
