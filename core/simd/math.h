/*
 * simd/math.h: exponentials on the vector vocabulary.
 *
 * 4^f on |f| <= 1/4 is the polynomial of degree 6 with constant term 1 that minimises the largest
 * relative error (2.0e-9, found by Lawson's iteration); with rounding the result stays within 2 ulp.
 */
#ifndef ATTN_SIMD_MATH_H
#define ATTN_SIMD_MATH_H

#include "simd/simd.h"

#define ATTN_LOG4_E 0.72134752044448170368f
#define ATTN_LN_4 1.38629436111989061883 /* a double */

/* Adding 1.5 * 2^22 rounds to a half, n / 2; with 127 / 2 added too, the sum's low bits are the biased
 * exponent of 4^(n / 2), which vf_exponent() moves into place. */
#define ATTN_ROUND_BIASED 6291519.5f

enum { VF_EXP_DEGREE = 6 };

/* The numbers that an exponential takes: below `least` it is 0; the polynomial's coefficients, highest first. */
typedef struct vf_exp_terms {
    vf least, round, polynomial[VF_EXP_DEGREE + 1];
} vf_exp_terms_t;

/* As they stand in memory. From there, because engines make a constant of a module's code anew wherever it is
 * used, three instructions each, also in a loop. */
typedef struct vf_exp_numbers {
    float least, round, polynomial[VF_EXP_DEGREE + 1];
} vf_exp_numbers_t;

static const vf_exp_numbers_t attn_exp4_numbers = {-63.5f,
                                                   ATTN_ROUND_BIASED,
                                                   {0x1.41fbc0p-7f, 0x1.5f3e54p-5f, 0x1.3b2d4cp-3f,
                                                    0x1.c6aee8p-2f, 0x1.ebfbdcp-1f, 0x1.62e430p0f,
                                                    1.0f}};

/* e^r = 4^f, f = r log4(e): that polynomial in r, whose linear coefficient then is 1. */
static const vf_exp_numbers_t attn_exp_numbers = {
    -88.02969f, /* -63.5 ln 4 */
    ATTN_ROUND_BIASED,
    {0x1.6ae734p-10f, 0x1.126782p-7f, 0x1.555822p-5f, 0x1.555418p-3f, 0x1.fffffcp-2f, 1.0f, 1.0f}};

ATTN_INLINE vf_exp_terms_t vf_exp_terms_(const vf_exp_numbers_t *numbers) {
    vf_exp_terms_t terms;
#if defined(__wasm__)
    __asm__("" : "+r"(numbers)); /* else the compiler would put constants in their place */
#endif
    terms.least = vf_set1(numbers->least);
    terms.round = vf_set1(numbers->round);
    ATTN_UNROLL
    for (int i = 0; i <= VF_EXP_DEGREE; i++) terms.polynomial[i] = vf_set1(numbers->polynomial[i]);
    return terms;
}

ATTN_INLINE vf vf_exp_polynomial_(const vf_exp_terms_t *terms, vf x) {
    vf p = terms->polynomial[0];
    ATTN_UNROLL
    for (int i = 1; i <= VF_EXP_DEGREE; i++) p = vf_mul_add(p, x, terms->polynomial[i]);
    return p;
}

/** What vf_exp4_by() takes: a loop reads it once. */
ATTN_INLINE vf_exp_terms_t vf_exp4_terms(void) { return vf_exp_terms_(&attn_exp4_numbers); }

/** 4^x for x < 63.75. Below -63.25 the result is 0 (no denormals); NaN gives NaN, -inf gives 0. */
ATTN_INLINE vf vf_exp4_by(const vf_exp_terms_t *terms, vf x) {
    x = vf_max(terms->least, x);
    const vf rounded = vf_add(x, terms->round);
    const vf fraction = vf_sub(x, vf_sub(rounded, terms->round));
    return vf_mul(vf_exp_polynomial_(terms, fraction), vf_exponent(rounded));
}

/** The same outside of loops. */
ATTN_INLINE vf vf_exp4(vf x) {
    const vf_exp_terms_t terms = vf_exp4_terms();
    return vf_exp4_by(&terms, x);
}

/**
 * e^x for x < 88.37, with the same ends. x - n/2 ln 4 is taken in two steps (Cody and Waite, 1980), so
 * that the result is as good for large |x| as for small.
 */
ATTN_INLINE vf vf_exp(vf x) {
    const vf_exp_terms_t terms = vf_exp_terms_(&attn_exp_numbers);
    x = vf_max(terms.least, x);
    vf rounded = vf_mul_add(x, vf_set1(ATTN_LOG4_E), terms.round);
    vf n = vf_sub(rounded, terms.round);
    vf rest = vf_mul_add(n, vf_set1(-0x1.62e4p0f), x); /* 15 bits of ln 4: n times it is exact */
    rest = vf_mul_add(n, vf_set1(-0x1.7f7d1cp-19f), rest);
    return vf_mul(vf_exp_polynomial_(&terms, rest), vf_exponent(rounded));
}

/**
 * tanh(x), within 4e-7 relative: near 0 an odd polynomial (degree 11, error 4.4e-9, by the same
 * iteration as above), elsewhere 1 - 2 / (e^2|x| + 1) with x's sign.
 */
ATTN_INLINE vf vf_tanh(vf x) {
    const vf size = vf_max(vf_sub(vf_zero(), x), x), square = vf_mul(x, x);
    vf p = vf_set1(-0x1.75e174p-8f);
    p = vf_mul_add(p, square, vf_set1(0x1.522688p-6f));
    p = vf_mul_add(p, square, vf_set1(-0x1.b83c58p-5f));
    p = vf_mul_add(p, square, vf_set1(0x1.110726p-3f));
    p = vf_mul_add(p, square, vf_set1(-0x1.555532p-2f));
    const vf near = vf_mul_add(vf_mul(p, square), x, x);
    const vf power = vf_exp(vf_min(vf_set1(40.0f), vf_add(size, size)));
    const vf far = vf_sub(vf_set1(1.0f), vf_div(vf_set1(2.0f), vf_add(power, vf_set1(1.0f))));
    const vf signed_far = vf_select_positive(x, far, vf_sub(vf_zero(), far));
    return vf_select_positive(vf_sub(size, vf_set1(0.625f)), signed_far, near);
}

#endif
