/*
 * simd/emulated512.h: the intrinsics of bits512.h on processors without AVX-512, for tests alone (ATTN_EMULATE_AVX512).
 * SIMDe spells them by narrower ones (https://github.com/simd-everywhere/simde); here are those that it lacks, and masked
 * loads and stores, which in SIMDe 0.8.2 touch memory that the mask leaves out.
 */
#ifndef ATTN_SIMD_EMULATED512_H
#define ATTN_SIMD_EMULATED512_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>

ATTN_INLINE __m512 emulated_maskz_loadu_ps_(__mmask16 mask, const float *p) {
    float to[16] = {0};
    for (int l = 0; l < 16; l++)
        if (mask >> l & 1) to[l] = p[l];
    return _mm512_loadu_ps(to);
}
#undef _mm512_maskz_loadu_ps
#define _mm512_maskz_loadu_ps emulated_maskz_loadu_ps_

ATTN_INLINE void emulated_mask_storeu_ps_(float *p, __mmask16 mask, __m512 v) {
    float from[16];
    _mm512_storeu_ps(from, v);
    for (int l = 0; l < 16; l++)
        if (mask >> l & 1) p[l] = from[l];
}
#undef _mm512_mask_storeu_ps
#define _mm512_mask_storeu_ps emulated_mask_storeu_ps_

ATTN_INLINE __m256i emulated_cvtps_ph_(__m512 v) {
    const __m128i low = _mm256_cvtps_ph(_mm512_castps512_ps256(v), _MM_FROUND_TO_NEAREST_INT);
    const __m128i high = _mm256_cvtps_ph(_mm512_extractf32x8_ps(v, 1), _MM_FROUND_TO_NEAREST_INT);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
#undef _mm512_cvtps_ph
#define _mm512_cvtps_ph(v, rounding) emulated_cvtps_ph_(v) /* to nearest is all that is asked for */

ATTN_INLINE __m512i emulated_cvtepi8_epi32_(__m128i v) {
    return _mm512_cvtepi16_epi32(_mm256_cvtepi8_epi16(v));
}
#define _mm512_cvtepi8_epi32 emulated_cvtepi8_epi32_

ATTN_INLINE __m256i emulated_cvtepi32_epi16_(__m512i v) {
    int32_t from[16];
    int16_t to[16];
    _mm512_storeu_si512(from, v);
    for (int l = 0; l < 16; l++) to[l] = (int16_t)(from[l] & 0xffff);
    return _mm256_loadu_si256((const __m256i *)to);
}
#define _mm512_cvtepi32_epi16 emulated_cvtepi32_epi16_

ATTN_INLINE __m128i emulated_cvtepi32_epi8_(__m512i v) {
    const __m256i low = _mm256_and_si256(emulated_cvtepi32_epi16_(v), _mm256_set1_epi16(0xff));
    return _mm_packus_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}
#define _mm512_cvtepi32_epi8 emulated_cvtepi32_epi8_

/* Halves, then quarters and so on, as the instruction's sequence has it. */
ATTN_INLINE float emulated_reduce_add_ps_(__m512 v) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_shuffle_ps(sum, sum, 1)));
}
#define _mm512_reduce_add_ps emulated_reduce_add_ps_

#endif
