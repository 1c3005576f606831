/*
 * attn.cpu/1 (host): the best instruction set that kernels may use: what this machine has, already
 * lowered by the context's mask (option `cpu` or the environment's ATTN_CPU).
 */
#ifndef ATTN_EXT_CPU_H
#define ATTN_EXT_CPU_H

#include <stdint.h>

#define ATTN_EXT_CPU "attn.cpu/1"

/** Instruction sets, lowest first within an architecture. The numbers are part of the ABI. */
enum attn_tier_code {
    ATTN_TIER_SCALAR = 0,
    ATTN_TIER_SSE4 = 1,        /**< SSE4.2 */
    ATTN_TIER_AVX2 = 2,        /**< AVX2, FMA, F16C */
    ATTN_TIER_AVX512 = 3,      /**< AVX-512 F, BW, DQ, VL */
    ATTN_TIER_AVX512VNNI = 4,  /**< those and VNNI: integer dot products */
    ATTN_TIER_AVX512BF16 = 5,  /**< those and BF16, where its products are twice as fast as f32's */
    ATTN_TIER_AMX = 6,         /**< AVX-512 with VNNI and BF16, and AMX's tiles of bf16 */
    ATTN_TIER_NEON = 16,       /**< AArch64 */
    ATTN_TIER_NEONDOT = 17,    /**< that and FEAT_DotProd: dot products of bytes */
    ATTN_TIER_NEONI8MM = 18,   /**< those and FEAT_I8MM: products of matrices of bytes */
    ATTN_TIER_NEONBF16 = 19,   /**< those and FEAT_BF16: products of matrices of bf16 */
    ATTN_TIER_WASM128 = 32,    /**< SIMD128 */
    ATTN_TIER_WASMRELAXED = 33 /**< SIMD128 and relaxed SIMD */
};
typedef int32_t attn_tier_t;

typedef struct attn_ext_cpu {
    uint32_t struct_size;
    attn_tier_t tier;
} attn_ext_cpu_t;

#endif
