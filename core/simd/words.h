/*
 * simd/words.h: rows of words of 32 bits, as pairs of bf16 numbers are; for tiers of 128 and of 512 bits.
 */
#ifndef ATTN_SIMD_WORDS_H
#define ATTN_SIMD_WORDS_H

#include "simd/simd.h"

/* Four words at p, p + bytes and so on, at any address; the first two of these. */
ATTN_INLINE __m128 words_quarter_(const char *p) {
    return _mm_loadu_ps((const float *)(const void *)p);
}
#if ATTN_SIMD_BITS == 128
ATTN_INLINE vf words_quarters_(const char *p, int64_t bytes) {
    (void)bytes;
    return words_quarter_(p);
}
#else
ATTN_INLINE __m256 words_half_(const char *p, int64_t bytes) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(words_quarter_(p)),
                                words_quarter_(p + bytes), 1);
}
ATTN_INLINE vf words_quarters_(const char *p, int64_t bytes) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(words_half_(p, bytes)),
                              words_half_(p + 2 * bytes, bytes), 1);
}
#endif
ATTN_INLINE void words_store_(int32_t *to, vf v) { vf_store((float *)(void *)to, v); }

/** 4 words of VF_LANES rows, `bytes` apart, at any address: to[k*width + j] is word k of row j. */
ATTN_INLINE void words_transpose(const char *from, int64_t bytes, int32_t *to, int64_t width) {
    const vf a = words_quarters_(from, 4 * bytes), b = words_quarters_(from + bytes, 4 * bytes);
    const vf c = words_quarters_(from + 2 * bytes, 4 * bytes);
    const vf d = words_quarters_(from + 3 * bytes, 4 * bytes);
    const vf ab = VF_(unpacklo)(a, b), cd = VF_(unpacklo)(c, d);
    const vf ab_high = VF_(unpackhi)(a, b), cd_high = VF_(unpackhi)(c, d);
    words_store_(to, VF_(shuffle)(ab, cd, 0x44));
    words_store_(to + width, VF_(shuffle)(ab, cd, 0xee));
    words_store_(to + 2 * width, VF_(shuffle)(ab_high, cd_high, 0x44));
    words_store_(to + 3 * width, VF_(shuffle)(ab_high, cd_high, 0xee));
}

#endif
