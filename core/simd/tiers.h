/*
 * simd/tiers.h: the list of tiers, and the tables of kernels that hang on it.
 * core/cmake/kernels.cmake compiles each kernel file once per tier of the build.
 *
 * A plugin describes its kernels as a struct of function pointers and declares one constant table
 * per tier:
 *     ATTN_KERNEL_TABLES(linear_kernels_t, attn_linear_kernels)          (kernels.h)
 *     const linear_kernels_t ATTN_KERNEL(attn_linear_kernels) = {...};   (kernels.c, per tier)
 *     const linear_kernels_t *k = attn_linear_kernels(tier);             (plugin.c)
 */
#ifndef ATTN_SIMD_TIERS_H
#define ATTN_SIMD_TIERS_H

#include "attn/ext/cpu.h"

#include <stddef.h>

/*
 * All tiers, lowest first in each group, as
 *     X(name, NAME, bits, rows, columns, flags, ...)
 * with the width of a vector in bits (0: one float), the shape of the register tile (gemm/tile.h; the
 * comment tells the registers of its sums) and the compiler's flags. kernels.cmake reads these lines.
 */
/* clang-format off */
#define ATTN_TIERS_SCALAR(X, ...)                                                                  \
    X(scalar, SCALAR, 0, 4, 2, "", __VA_ARGS__)
#define ATTN_TIERS_X86_64(X, ...)                                                                  \
    X(sse4, SSE4, 128, 6, 8, "-msse4.2", __VA_ARGS__) /* 12 of 16 */                               \
    X(avx2, AVX2, 256, 6, 16, "-mavx2 -mfma -mf16c", __VA_ARGS__) /* 12 of 16 */                   \
    X(avx512, AVX512, 512, 12, 32, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512", __VA_ARGS__) /* 24 of 32 */
/* Tiers that add integer dot products to the one above: compiled only for kernels of those. */
#define ATTN_TIERS_X86_64_DOTS(X, ...)                                                             \
    X(avx512vnni, AVX512VNNI, 512, 12, 32, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c -mprefer-vector-width=512", __VA_ARGS__)
/* Those that multiply bf16 numbers, twice as many as floats: compiled only for kernels of those. */
#define ATTN_TIERS_X86_64_BF16(X, ...)                                                             \
    X(avx512bf16, AVX512BF16, 512, 12, 32, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16 -mfma -mf16c -mprefer-vector-width=512", __VA_ARGS__)
/* Those that multiply more than six times as many. */
#define ATTN_TIERS_X86_64_TILES(X, ...)                                                            \
    X(amx, AMX, 512, 32, 32, "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16 -mamx-tile -mamx-bf16 -mamx-int8 -mfma -mf16c -mprefer-vector-width=512", __VA_ARGS__)
#define ATTN_TIERS_AARCH64(X, ...)                                                                 \
    X(neon, NEON, 128, 8, 12, "", __VA_ARGS__) /* 24 of 32 */
#define ATTN_TIERS_AARCH64_DOTS(X, ...)                                                            \
    X(neondot, NEONDOT, 128, 8, 12, "-march=armv8.2-a+dotprod", __VA_ARGS__)                       \
    X(neoni8mm, NEONI8MM, 128, 8, 12, "-march=armv8.2-a+dotprod+i8mm", __VA_ARGS__)
#define ATTN_TIERS_AARCH64_BF16(X, ...)                                                            \
    X(neonbf16, NEONBF16, 128, 8, 12, "-march=armv8.2-a+dotprod+i8mm+bf16", __VA_ARGS__)
#define ATTN_TIERS_WASM128(X, ...)                                                                 \
    X(wasm128, WASM128, 128, 4, 8, "-msimd128", __VA_ARGS__) /* 8: engines keep registers */
#define ATTN_TIERS_WASMRELAXED(X, ...)                                                             \
    X(wasmrelaxed, WASMRELAXED, 128, 6, 8, "-msimd128 -mrelaxed-simd", __VA_ARGS__) /* 12 of 15 */
/* clang-format on */

#define ATTN_ALL_TIERS(X, ...)                                                                     \
    ATTN_TIERS_SCALAR(X, __VA_ARGS__)                                                              \
    ATTN_TIERS_X86_64(X, __VA_ARGS__)                                                              \
    ATTN_TIERS_X86_64_DOTS(X, __VA_ARGS__)                                                         \
    ATTN_TIERS_X86_64_BF16(X, __VA_ARGS__)                                                         \
    ATTN_TIERS_X86_64_TILES(X, __VA_ARGS__)                                                        \
    ATTN_TIERS_AARCH64(X, __VA_ARGS__)                                                             \
    ATTN_TIERS_AARCH64_DOTS(X, __VA_ARGS__)                                                        \
    ATTN_TIERS_AARCH64_BF16(X, __VA_ARGS__)                                                        \
    ATTN_TIERS_WASM128(X, __VA_ARGS__)                                                             \
    ATTN_TIERS_WASMRELAXED(X, __VA_ARGS__)

/* Those of this build. */
#if defined(__x86_64__)
#define ATTN_TIERS(X, ...) ATTN_TIERS_SCALAR(X, __VA_ARGS__) ATTN_TIERS_X86_64(X, __VA_ARGS__)
#elif defined(__aarch64__)
#define ATTN_TIERS(X, ...) ATTN_TIERS_SCALAR(X, __VA_ARGS__) ATTN_TIERS_AARCH64(X, __VA_ARGS__)
#elif defined(__wasm_relaxed_simd__) /* a WASM module is of one tier: engines validate it whole */
#define ATTN_TIERS(X, ...) ATTN_TIERS_WASMRELAXED(X, __VA_ARGS__)
#elif defined(__wasm_simd128__)
#define ATTN_TIERS(X, ...) ATTN_TIERS_WASM128(X, __VA_ARGS__)
#else
#define ATTN_TIERS(X, ...) ATTN_TIERS_SCALAR(X, __VA_ARGS__)
#endif

#if defined(__x86_64__)
#define ATTN_DOT_TIERS(X, ...) ATTN_TIERS(X, __VA_ARGS__) ATTN_TIERS_X86_64_DOTS(X, __VA_ARGS__)
#define ATTN_TILE_TIERS(X, ...) ATTN_TIERS_X86_64_TILES(X, __VA_ARGS__)
#define ATTN_BF16_TIERS(X, ...)                                                                    \
    ATTN_TIERS_X86_64_BF16(X, __VA_ARGS__) ATTN_TILE_TIERS(X, __VA_ARGS__)
#elif defined(__aarch64__)
#define ATTN_DOT_TIERS(X, ...) ATTN_TIERS(X, __VA_ARGS__) ATTN_TIERS_AARCH64_DOTS(X, __VA_ARGS__)
#define ATTN_TILE_TIERS(X, ...)
#define ATTN_BF16_TIERS(X, ...) ATTN_TIERS_AARCH64_BF16(X, __VA_ARGS__)
#else
#define ATTN_DOT_TIERS(X, ...) ATTN_TIERS(X, __VA_ARGS__)
#define ATTN_TILE_TIERS(X, ...)
#define ATTN_BF16_TIERS(X, ...)
#endif
#define ATTN_EVERY_TIER(X, ...) ATTN_DOT_TIERS(X, __VA_ARGS__) ATTN_BF16_TIERS(X, __VA_ARGS__)

#define ATTN_JOIN_(a, b) a##_##b
#define ATTN_JOIN(a, b) ATTN_JOIN_(a, b)

/** The name of a symbol in the tier being compiled: ATTN_KERNEL(f) is f_avx2 and so on. */
#define ATTN_KERNEL(name) ATTN_JOIN(name, ATTN_TIER)

#define ATTN_TABLE_DECLARE_(suffix, code, bits, rows, columns, flags, type, name)                  \
    extern const type name##_##suffix;
#define ATTN_TABLE_PICK_(suffix, code, bits, rows, columns, flags, type, name)                     \
    if (!best || (attn_tier_t)ATTN_TIER_##code <= tier) best = &name##_##suffix;

#define ATTN_TABLE_PICK_AT_MOST_(suffix, code, bits, rows, columns, flags, type, name)             \
    if ((attn_tier_t)ATTN_TIER_##code <= tier) best = &name##_##suffix;

/** Declares name_<tier> for all tiers and name(tier), which picks the best at or below `tier`; tables of
 * integer dot products have more of them, and those of bf16 products, or of many of these, some alone: NULL below the
 * first. */
#define ATTN_KERNEL_TABLES(type, name) ATTN_TABLES_(ATTN_TIERS, ATTN_TABLE_PICK_, type, name)
#define ATTN_DOT_KERNEL_TABLES(type, name)                                                         \
    ATTN_TABLES_(ATTN_DOT_TIERS, ATTN_TABLE_PICK_, type, name)
#define ATTN_BF16_KERNEL_TABLES(type, name)                                                        \
    ATTN_TABLES_(ATTN_BF16_TIERS, ATTN_TABLE_PICK_AT_MOST_, type, name)
#define ATTN_TILE_KERNEL_TABLES(type, name)                                                        \
    ATTN_TABLES_(ATTN_TILE_TIERS, ATTN_TABLE_PICK_AT_MOST_, type, name)
#define ATTN_TABLES_(TIERS, PICK, type, name)                                                      \
    TIERS(ATTN_TABLE_DECLARE_, type, name)                                                         \
    static inline const type *name(attn_tier_t tier) {                                             \
        const type *best = NULL;                                                                   \
        (void)tier;                                                                                \
        TIERS(PICK, type, name)                                                                    \
        return best;                                                                               \
    }

#endif
