/* simd/bits256.h: eight lanes: AVX2 with FMA. */
#ifndef ATTN_SIMD_BITS256_H
#define ATTN_SIMD_BITS256_H

typedef __m256 vf;
enum { VF_LANES = 8 };
#define VF_(operation) _mm256_##operation##_ps

/* All ones in lanes first <= l < last; both may lie outside [0, VF_LANES]. */
ATTN_INLINE __m256i vf_lanes_(int64_t first, int64_t last) {
    int32_t from = (int32_t)(first < 0 ? 0 : first > VF_LANES ? VF_LANES : first);
    int32_t to = (int32_t)(last < 0 ? 0 : last > VF_LANES ? VF_LANES : last);
    __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(from), lane),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32(to), lane));
}
ATTN_INLINE vf vf_load_first(const float *p, int64_t n) {
    return _mm256_maskload_ps(p, vf_lanes_(0, n));
}
/* A whole vector is stored as one: a masked store is some forty steps on Zen. */
ATTN_INLINE void vf_store_first(float *p, vf v, int64_t n) {
    if (n >= VF_LANES)
        _mm256_storeu_ps(p, v);
    else
        _mm256_maskstore_ps(p, vf_lanes_(0, n), v);
}
ATTN_INLINE vf vf_load_f16(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
ATTN_INLINE vf vf_load_bf16(const uint16_t *p) {
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
}
ATTN_INLINE void vf_store_f16(uint16_t *p, vf v) {
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
/* As float_to_bf16() has it (simd/half.h). */
ATTN_INLINE void vf_store_bf16(uint16_t *p, vf v) {
    const __m256i bits = _mm256_castps_si256(v), upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    const __m256i all = _mm256_blendv_epi8(rounded, quiet, nan);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(_mm256_permute4x64_epi64(
                                       _mm256_packus_epi32(all, all), 0x08)));
}
ATTN_INLINE vf vf_load_i8(const int8_t *p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
typedef __m256i vi;
ATTN_INLINE vi vi_zero(void) { return _mm256_setzero_si256(); }
ATTN_INLINE vi vi_set1(int32_t x) { return _mm256_set1_epi32(x); }
ATTN_INLINE vi vi_load(const int32_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
ATTN_INLINE vf vi_to_vf(vi v) { return _mm256_cvtepi32_ps(v); }
ATTN_INLINE vi vi_dot16(vi sum, vi a, vi b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
ATTN_INLINE vi vi_load_i8(const int8_t *p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p));
}
ATTN_INLINE void vi_pair(vi a, vi b, vi to[2]) {
    to[0] = _mm256_unpacklo_epi16(a, b);
    to[1] = _mm256_unpackhi_epi16(a, b);
}
ATTN_INLINE void vf_unpair(vf to[2]) {
    const vf low = to[0];
    to[0] = _mm256_permute2f128_ps(low, to[1], 0x20);
    to[1] = _mm256_permute2f128_ps(low, to[1], 0x31);
}
ATTN_INLINE void vf_store_low16(uint16_t *p, vf v) {
    const __m256i low = _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0xffff));
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(both));
}
ATTN_INLINE vf vf_mul_add(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
ATTN_INLINE vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
ATTN_INLINE vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
ATTN_INLINE vf vf_exponent(vf t) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(t), 23));
}
ATTN_INLINE vf vf_keep(vf v, int64_t first, int64_t last, vf fill) {
    return _mm256_blendv_ps(fill, v, _mm256_castsi256_ps(vf_lanes_(first, last)));
}
ATTN_INLINE vf vf_select_positive(vf c, vf a, vf b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(c, _mm256_setzero_ps(), _CMP_GT_OQ));
}
ATTN_INLINE uint32_t vf_greater(vf a, vf b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
/* Floats of four at p, p + stride and so on. */
ATTN_INLINE vf vf_load_quarters_(const float *p, int64_t stride) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride),
                                1);
}
/* Sums of lanes that are 4 apart. */
ATTN_INLINE __m128 vf_quarter_(vf v) {
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}
ATTN_INLINE float vf_reduce_add(vf v) {
    __m128 half = vf_quarter_(v);
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}
ATTN_INLINE float vf_reduce_max(vf v) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}

#endif
