/*
 * ieee/ieee.h: this file counts on arithmetic as IEEE 754 has it: on NaN and infinities, on signed zeros, and on sums
 * in the order in which they are written. Included first of all, by every header that numbers go through.
 *
 * The build takes back -ffast-math and its parts (core/cmake/ieee.cmake). This is for those who compile the sources
 * by other means: clang takes them back here, gcc cannot within a file.
 */
#ifndef ATTN_IEEE_H
#define ATTN_IEEE_H

#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#pragma float_control(precise, on)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) ||         \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error                                                                                             \
    "libattn needs NaN, infinities and sums in order: add -fno-fast-math -fno-finite-math-only \
-fno-unsafe-math-optimizations -fno-associative-math -fno-reciprocal-math -fsigned-zeros behind all other flags"
#endif

#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2
#error "libattn needs float and double to be rounded as such: add -msse2 -mfpmath=sse"
#endif

#endif
