/*
 * simd/math.h: exponentials on the vector vocabulary.
 *
 * 2^f on |f| <= 1/2 is the polynomial of degree 5 with constant term 1 that minimises the largest
 * relative error (9.2e-8, found by Lawson's iteration); with rounding the result stays within 2.5 ulp,
 * and within 4 * 2^-24 of the exact value, relative to it.
 */
#ifndef ATTN_SIMD_MATH_H
#define ATTN_SIMD_MATH_H

#include "simd/simd.h"

#define ATTN_LOG2_E 1.44269504088896340736f
#define ATTN_LN_2 0.69314718055994530942f

/* Adding 1.5 * 2^23 rounds to an integer n; with 127 added too, the sum's low bits are the biased
 * exponent of 2^n, which vf_exponent() moves into place. */
#define ATTN_ROUND_BIASED 12583039.0f

ATTN_INLINE vf vf_exp2_fraction_(vf f) {
    vf p = vf_set1(0x1.5bba16p-10f);
    p = vf_mul_add(p, f, vf_set1(0x1.3cea8ap-7f));
    p = vf_mul_add(p, f, vf_set1(0x1.c6b752p-5f));
    p = vf_mul_add(p, f, vf_set1(0x1.ebf9bcp-3f));
    p = vf_mul_add(p, f, vf_set1(0x1.62e42ap-1f));
    return vf_mul_add(p, f, vf_set1(1.0f));
}

/** 2^x for x < 127.5. Below -126.5 the result is 0 (no denormals); NaN gives NaN, -inf gives 0. */
ATTN_INLINE vf vf_exp2(vf x) {
    x = vf_max(vf_set1(-127.0f), x);
    vf rounded = vf_add(x, vf_set1(ATTN_ROUND_BIASED));
    vf fraction = vf_sub(x, vf_sub(rounded, vf_set1(ATTN_ROUND_BIASED)));
    return vf_mul(vf_exp2_fraction_(fraction), vf_exponent(rounded));
}

/**
 * e^x for x < 88.37, with the same ends. x - n ln 2 is taken in two steps (Cody and Waite, 1980), so
 * that the result is as good for large |x| as for small.
 */
ATTN_INLINE vf vf_exp(vf x) {
    x = vf_max(vf_set1(-127.0f * ATTN_LN_2), x);
    vf rounded = vf_mul_add(x, vf_set1(ATTN_LOG2_E), vf_set1(ATTN_ROUND_BIASED));
    vf n = vf_sub(rounded, vf_set1(ATTN_ROUND_BIASED));
    vf rest = vf_mul_add(n, vf_set1(-0x1.62e4p-1f), x); /* 15 bits of ln 2: n times it is exact */
    rest = vf_mul_add(n, vf_set1(-0x1.7f7d1cp-20f), rest);
    vf power = vf_exp2_fraction_(vf_mul(rest, vf_set1(ATTN_LOG2_E)));
    return vf_mul(power, vf_exponent(rounded));
}

#endif
