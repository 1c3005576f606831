/*
 * simd/tiers.h: the list of tiers that a build contains, lowest first, and the tables of kernels
 * that hang on it. core/cmake/kernels.cmake compiles each kernel file once per name in this list.
 *
 * A plugin describes its kernels as a struct of function pointers and declares one constant table
 * per tier:
 *     ATTN_KERNEL_TABLES(softmax_kernels_t, attn_softmax_kernels)          (kernels.h)
 *     const softmax_kernels_t ATTN_KERNEL(attn_softmax_kernels) = {...};   (kernels.c, per tier)
 *     const softmax_kernels_t *k = attn_softmax_kernels(tier);             (plugin.c)
 */
#ifndef ATTN_SIMD_TIERS_H
#define ATTN_SIMD_TIERS_H

#include "attn/ext/cpu.h"

#include <stddef.h>

#if defined(__x86_64__)
#define ATTN_TIERS(X, a, b)                                                                        \
    X(scalar, SCALAR, a, b) X(sse4, SSE4, a, b) X(avx2, AVX2, a, b) X(avx512, AVX512, a, b)
#elif defined(__aarch64__)
#define ATTN_TIERS(X, a, b) X(scalar, SCALAR, a, b) X(neon, NEON, a, b)
#elif defined(__wasm_relaxed_simd__) /* a WASM module is of one tier: engines validate it whole */
#define ATTN_TIERS(X, a, b) X(wasmrelaxed, WASMRELAXED, a, b)
#elif defined(__wasm_simd128__)
#define ATTN_TIERS(X, a, b) X(wasm128, WASM128, a, b)
#else
#define ATTN_TIERS(X, a, b) X(scalar, SCALAR, a, b)
#endif

#define ATTN_JOIN_(a, b) a##_##b
#define ATTN_JOIN(a, b) ATTN_JOIN_(a, b)

/** The name of a symbol in the tier being compiled: ATTN_KERNEL(f) is f_avx2 and so on. */
#define ATTN_KERNEL(name) ATTN_JOIN(name, ATTN_TIER)

#define ATTN_TABLE_DECLARE_(suffix, code, type, name) extern const type name##_##suffix;
#define ATTN_TABLE_PICK_(suffix, code, type, name)                                                 \
    if (!best || (attn_tier_t)ATTN_TIER_##code <= tier) best = &name##_##suffix;

/** Declares name_<tier> for all tiers and name(tier), which picks the best at or below `tier`. */
#define ATTN_KERNEL_TABLES(type, name)                                                             \
    ATTN_TIERS(ATTN_TABLE_DECLARE_, type, name)                                                    \
    static inline const type *name(attn_tier_t tier) {                                             \
        const type *best = NULL;                                                                   \
        ATTN_TIERS(ATTN_TABLE_PICK_, type, name)                                                   \
        return best;                                                                               \
    }

#endif
