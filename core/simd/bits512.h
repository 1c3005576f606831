/* simd/bits512.h: sixteen lanes: AVX-512 F, BW, DQ, VL. */
#ifndef ATTN_SIMD_BITS512_H
#define ATTN_SIMD_BITS512_H

typedef __m512 vf;
enum { VF_LANES = 16 };
#define VF_(operation) _mm512_##operation##_ps

/* Bits first <= l < last; both may lie outside [0, VF_LANES]. */
ATTN_INLINE __mmask16 vf_lanes_(int64_t first, int64_t last) {
    uint32_t from = (uint32_t)(first < 0 ? 0 : first > VF_LANES ? VF_LANES : first);
    uint32_t to = (uint32_t)(last < 0 ? 0 : last > VF_LANES ? VF_LANES : last);
    return (__mmask16)(((1u << to) - 1u) & ~((1u << from) - 1u));
}
ATTN_INLINE vf vf_load_first(const float *p, int64_t n) {
    return _mm512_maskz_loadu_ps(vf_lanes_(0, n), p);
}
ATTN_INLINE void vf_store_first(float *p, vf v, int64_t n) {
    _mm512_mask_storeu_ps(p, vf_lanes_(0, n), v);
}
ATTN_INLINE vf vf_load_f16(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
ATTN_INLINE vf vf_load_bf16(const uint16_t *p) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16));
}
ATTN_INLINE void vf_store_f16(uint16_t *p, vf v) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
/* As float_to_bf16() has it (simd/half.h), in the upper half. */
ATTN_INLINE vf vf_round_bf16(vf v) {
    const __m512i bits = _mm512_castps_si512(v), half = _mm512_set1_epi32((int32_t)0xffff0000);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i all = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), bits,
                                             _mm512_set1_epi32(0x400000));
    return _mm512_castsi512_ps(_mm512_and_si512(all, half));
}
ATTN_INLINE void vf_store_upper16(uint16_t *p, vf v) {
    _mm256_storeu_si256((__m256i *)p,
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(v), 16)));
}
ATTN_INLINE void vf_store_bf16(uint16_t *p, vf v) { vf_store_upper16(p, vf_round_bf16(v)); }
ATTN_INLINE vf vf_load_i8(const int8_t *p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}
typedef __m512i vi;
ATTN_INLINE vi vi_zero(void) { return _mm512_setzero_si512(); }
ATTN_INLINE vi vi_set1(int32_t x) { return _mm512_set1_epi32(x); }
ATTN_INLINE vi vi_load(const int32_t *p) { return _mm512_loadu_si512(p); }
/* Not straight to memory, which takes processors that do it in microcode 100 times as long. */
ATTN_INLINE void vf_pack(float *p, vf v, int32_t *q, const int32_t *w, uint32_t lanes) {
    const vi integers = _mm512_maskz_compress_epi32((__mmask16)lanes, vi_load(w));
    _mm512_storeu_ps(p, _mm512_maskz_compress_ps((__mmask16)lanes, v));
    _mm512_storeu_si512(q, integers);
}
ATTN_INLINE vf vi_to_vf(vi v) { return _mm512_cvtepi32_ps(v); }
#if VI_HAS_DOT8
ATTN_INLINE vi vi_dot16(vi sum, vi a, vi b) { return _mm512_dpwssd_epi32(sum, a, b); }
ATTN_INLINE vi vi_dot8(vi sum, vi a, vi b) { return _mm512_dpbusd_epi32(sum, a, b); }
#else
ATTN_INLINE vi vi_dot16(vi sum, vi a, vi b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
#endif
ATTN_INLINE vi vi_load_i8(const int8_t *p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p));
}
ATTN_INLINE void vi_pair(vi a, vi b, vi to[2]) {
    to[0] = _mm512_unpacklo_epi16(a, b);
    to[1] = _mm512_unpackhi_epi16(a, b);
}
/* Quarters of both by turns. */
ATTN_INLINE void vf_unpair(vf to[2]) {
    const vf even = _mm512_shuffle_f32x4(to[0], to[1], 0x44);
    const vf odd = _mm512_shuffle_f32x4(to[0], to[1], 0xee);
    to[0] = _mm512_shuffle_f32x4(even, even, 0xd8);
    to[1] = _mm512_shuffle_f32x4(odd, odd, 0xd8);
}
ATTN_INLINE void vf_store_low16(uint16_t *p, vf v) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_castps_si512(v)));
}
ATTN_INLINE void vf_store_low8(uint8_t *p, vf v) {
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(_mm512_castps_si512(v)));
}
#if VF_HAS_BF16
ATTN_INLINE void vi_store(int32_t *p, vi v) { _mm512_storeu_si512(p, v); }
ATTN_INLINE vf vf_cut_bf16(vf v) {
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32((int32_t)0xffff0000)));
}
ATTN_INLINE vi vi_pair_bf16(vf low, vf high) {
    return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(low), 16),
                           _mm512_castps_si512(high));
}
#if defined(ATTN_EMULATED_BF16)
ATTN_INLINE vf vf_nearest_bf16(vf v) { return vf_round_bf16(v); }
ATTN_INLINE void vf_store_nearest_bf16(uint16_t *p, vf v) { vf_store_bf16(p, v); }
ATTN_INLINE vf vf_dot_bf16(vf sum, vi a, vi b) {
    const vf odd = _mm512_fmadd_ps(vf_cut_bf16(_mm512_castsi512_ps(a)),
                                   vf_cut_bf16(_mm512_castsi512_ps(b)), sum);
    return _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)),
                           _mm512_castsi512_ps(_mm512_slli_epi32(b, 16)), odd);
}
#else
ATTN_INLINE vf vf_nearest_bf16(vf v) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(v)), 16));
}
ATTN_INLINE void vf_store_nearest_bf16(uint16_t *p, vf v) {
    _mm256_storeu_si256((__m256i *)p, (__m256i)_mm512_cvtneps_pbh(v));
}
ATTN_INLINE vf vf_dot_bf16(vf sum, vi a, vi b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
#endif
#endif
ATTN_INLINE vf vf_mul_add(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
ATTN_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
ATTN_INLINE vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
ATTN_INLINE vf vf_exponent(vf t) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(t), 23));
}
ATTN_INLINE vf vf_keep(vf v, int64_t first, int64_t last, vf fill) {
    return _mm512_mask_mov_ps(fill, vf_lanes_(first, last), v);
}
ATTN_INLINE vf vf_select_positive(vf c, vf a, vf b) {
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(c, _mm512_setzero_ps(), _CMP_GT_OQ), a);
}
ATTN_INLINE uint32_t vf_greater(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
/* Floats of four at p, p + stride and so on; the first two of them. */
ATTN_INLINE __m256 vf_load_half_(const float *p, int64_t stride) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride),
                                1);
}
ATTN_INLINE vf vf_load_quarters_(const float *p, int64_t stride) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(vf_load_half_(p, stride)),
                              vf_load_half_(p + 2 * stride, stride), 1);
}
/* Sums of lanes that are 4 apart. */
ATTN_INLINE __m128 vf_quarter_(vf v) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
ATTN_INLINE float vf_reduce_add(vf v) { return _mm512_reduce_add_ps(v); }
ATTN_INLINE float vf_reduce_max(vf v) { return _mm512_reduce_max_ps(v); }

#endif
