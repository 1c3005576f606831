/* Compiled once for each tier, under a parent's -march of a machine with all instructions. */
#include "attention/decode_i8.h"
#include "attention/quantise.h"
#include "simd/tiers.h"

#if ATTN_SIMD_BITS < 256 && defined(__AVX__)
#error "a tier below AVX2 is compiled for AVX"
#endif
#if ATTN_SIMD_BITS < 512 && defined(__AVX512F__)
#error "a tier below AVX-512 is compiled for it"
#endif
#if VI_HAS_DOT8 && ATTN_SIMD_BITS < 512
#error "integer dot products without the vectors for them"
#endif

float ATTN_KERNEL(attn_parent_level)(int64_t most, int64_t terms);
float ATTN_KERNEL(attn_parent_level)(int64_t most, int64_t terms) {
    return quantise_level(most, terms);
}
