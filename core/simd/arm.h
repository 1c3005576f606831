/*
 * simd/arm.h: what AArch64 has beside NEON, as far as the tier being compiled has it: products of bytes (FEAT_DotProd,
 * FEAT_I8MM) and of bf16 numbers (FEAT_BF16). Part of bits128.h.
 *
 * BFMMLA, without FEAT_EBF16 or where FPCR.EBF is 0 as Linux has it: products of a lane's terms are exact, two of them are
 * added, and their sum to the lane. Each addition rounds to odd, and so is off by less than 2^-23 of its result; denormal
 * factors, products and sums are zero, NaN is the default NaN, an overflow is infinite. (Arm Architecture Reference Manual,
 * BFDotAdd().) FPCR's rounding and its traps do not count.
 */
#ifndef ATTN_SIMD_ARM_H
#define ATTN_SIMD_ARM_H

#if VI_HAS_DOT8
ATTN_INLINE void vf_store_low8(uint8_t *p, vf v) {
    const uint16x4_t halves = vmovn_u32(vreinterpretq_u32_f32(v));
    const uint8x8_t bytes = vmovn_u16(vcombine_u16(halves, halves));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    __builtin_memcpy(p, &four, sizeof four);
}
#if VI_LEFT_SIGNED
ATTN_INLINE vi vi_dot8(vi sum, vi a, vi b) {
    return vreinterpretq_s64_s32(
        vdotq_s32(vreinterpretq_s32_s64(sum), vreinterpretq_s8_s64(a), vreinterpretq_s8_s64(b)));
}
#else
ATTN_INLINE vi vi_dot8(vi sum, vi a, vi b) {
    return vreinterpretq_s64_s32(
        vusdotq_s32(vreinterpretq_s32_s64(sum), vreinterpretq_u8_s64(a), vreinterpretq_s8_s64(b)));
}
#endif
#endif

#if VI_HAS_PAIRS
ATTN_INLINE vi vi_multiply8(vi sum, vi a, vi b) {
    return vreinterpretq_s64_s32(
        vusmmlaq_s32(vreinterpretq_s32_s64(sum), vreinterpretq_u8_s64(a), vreinterpretq_s8_s64(b)));
}
ATTN_INLINE vi vi_load_halves(const void *p, const void *q) {
    return vreinterpretq_s64_u8(
        vcombine_u8(vld1_u8((const uint8_t *)p), vld1_u8((const uint8_t *)q)));
}
ATTN_INLINE void vi_interleave(vi a, vi b, vi to[2]) {
    const int32x4_t x = vreinterpretq_s32_s64(a), y = vreinterpretq_s32_s64(b);
    to[0] = vreinterpretq_s64_s32(vzip1q_s32(x, y));
    to[1] = vreinterpretq_s64_s32(vzip2q_s32(x, y));
}
ATTN_INLINE void vi_meet(vi a, vi b, vi to[2]) {
    to[0] = vzip1q_s64(a, b);
    to[1] = vzip2q_s64(a, b);
}
ATTN_INLINE void vf_meet(vf a, vf b, vf to[2]) {
    const float64x2_t x = vreinterpretq_f64_f32(a), y = vreinterpretq_f64_f32(b);
    to[0] = vreinterpretq_f32_f64(vzip1q_f64(x, y));
    to[1] = vreinterpretq_f32_f64(vzip2q_f64(x, y));
}
#endif

#if VF_HAS_BF16
ATTN_INLINE void vi_store(int32_t *p, vi v) { vst1q_s32(p, vreinterpretq_s32_s64(v)); }
ATTN_INLINE vf vf_cut_bf16(vf v) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), vdupq_n_u32(0xffff0000u)));
}
ATTN_INLINE vi vi_pair_bf16(vf low, vf high) {
    return vreinterpretq_s64_u32(
        vsriq_n_u32(vreinterpretq_u32_f32(high), vreinterpretq_u32_f32(low), 16));
}
ATTN_INLINE uint16x4_t vf_nearest_halves_(vf v) { return vreinterpret_u16_bf16(vcvt_bf16_f32(v)); }
ATTN_INLINE vf vf_nearest_bf16(vf v) {
    return vreinterpretq_f32_u32(vshll_n_u16(vf_nearest_halves_(v), 16));
}
ATTN_INLINE void vf_store_nearest_bf16(uint16_t *p, vf v) { vst1_u16(p, vf_nearest_halves_(v)); }
ATTN_INLINE void vf_store_upper16(uint16_t *p, vf v) {
    vst1_u16(p, vshrn_n_u32(vreinterpretq_u32_f32(v), 16));
}
ATTN_INLINE vf vf_multiply_bf16(vf sum, vi a, vi b) {
    return vbfmmlaq_f32(sum, vreinterpretq_bf16_s64(a), vreinterpretq_bf16_s64(b));
}
#endif

#endif
