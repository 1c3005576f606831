/*
 * simd/simd.h: the vector vocabulary that every kernel is written in.
 *
 * `vf` is a vector of VF_LANES floats of the tier being compiled. The build defines ATTN_TIER (the
 * tier's name), ATTN_SIMD_BITS (0: scalar, one lane) and the shape of the tile for each kernel file,
 * once per tier (tiers.h).
 *
 *     vf_zero() vf_set1(x)                     constants
 *     vf_load(p) vf_store(p, v)                VF_LANES floats, any alignment
 *     vf_load_first(p, n) vf_store_first(..)   the first n lanes, 0 <= n; the others read as zero
 *     vf_load_f16(p) vf_load_bf16(p)           VF_LANES numbers of 16 bits, as f32
 *     vf_store_f16(p, v) vf_store_bf16(p, v)   the same back, rounded to nearest even
 *     vf_load_i8(p)                            VF_LANES signed bytes, as f32
 *     vf_add vf_sub vf_mul vf_div              lane by lane
 *     vf_mul_add(a, b, c)                      a*b + c, fused where the tier has it
 *     vf_sqrt(v)                               correctly rounded
 *     vf_max(a, b) vf_min(a, b)                b where either is NaN
 *     vf_exponent(t)                           the low 9 bits of t as sign and exponent (math.h)
 *     vf_keep(v, first, last, fill)            lanes first <= l < last of v, `fill` elsewhere
 *     vf_select_positive(c, a, b)              a where c > 0, else b
 *     vf_greater(a, b) vf_any_greater(a, b)    bit l: whether a > b in lane l; in any lane
 *     vf_reduce_add(v) vf_reduce_max(v)        over the lanes
 *     vf_reduce_add4(to, v)                    to[i] = the sum over the lanes of v[i], for 4 vectors
 *
 *     vf_pack(p, v, q, w, lanes)               of the floats v to p, of VF_LANES integers at w to q, not behind w, the
 *                                              lanes that have a bit, side by side; behind them the rest of a vector
 *                                              may be written
 *
 *     vi                                       VF_LANES integers of 32 bits
 *     vi_zero() vi_set1(x) vi_load(p)          constants, and VF_LANES of them, any alignment
 *     vi_to_vf(v)                              as floats, rounded to nearest even
 *     vi_dot16(sum, a, b)                      sum + the products of both signed halves of each lane
 *     vi_dot8(sum, a, b)                       sum + the products of a lane's four bytes, unsigned in a (VI_LEFT_SIGNED:
 *                                              signed), signed in b, modulo 2^32; only where VI_HAS_DOT8
 *     vi_load_i8(p)                            2 * VF_LANES signed bytes, as the halves of the lanes
 *     vi_pair(a, b, to)                        to[0] and to[1]: each half of a beside its like of b, in an order
 *                                              of the tier's own; vf_unpair(to) puts their lanes in order
 *     vf_store_low16(p, v) vf_store_low8(p, v) the low bits of VF_LANES floats; the latter VI_HAS_DOT8
 *
 *     vf_dot_bf16(sum, a, b)                   sum + the products of both halves of each lane, bf16 numbers; these
 *                                              only where VF_HAS_BF16, this not where VI_HAS_PAIRS, and denormals
 *                                              may count as zero
 *     vf_cut_bf16(v) vf_nearest_bf16(v)        the nearest bf16 number towards zero; the nearest
 *     vf_store_upper16(p, v)                   VF_LANES floats that are bf16 numbers, as such
 *     vf_store_nearest_bf16(p, v)              vf_store_bf16(), but denormals may become zero
 *     vi_pair_bf16(low, high) vi_store(p, v)   lanes whose halves are two such floats
 *
 *     vf_multiply_bf16(sum, a, b)              lane 2r + c: sum + the products of a's half r and b's half c, four bf16
 *                                              numbers each: two rows by two columns; these only where VI_HAS_PAIRS,
 *                                              and this VF_HAS_BF16
 *     vi_multiply8(sum, a, b)                  the same of eight bytes, unsigned in a, signed in b, modulo 2^32
 *     vi_load_halves(p, q)                     half a vector at p, and behind it half a vector at q, any alignment
 *     vi_interleave(a, b, to)                  lanes of both by turns, to[0] and to[1]
 *     vi_meet(a, b, to) vf_meet(a, b, to)      to[0]: the lower halves of both; to[1]: the upper ones
 *
 *     vf_prefetch(address)                     ask for a cache line, into the second cache
 *     vf_prefetch_bytes(address, bytes)        for all there are, first of all; nothing where VF_FETCHES is 0
 *     vf_transpose(rows, from, stride, to, width, f)   4 columns of 2, 4 or VF_LANES rows, a constant:
 *                                              to[k*width + j] = f * from[j*stride + k]
 *
 * On x86 these are the compiler's own intrinsics. Elsewhere SIMDe spells the 128-bit ones
 * (https://github.com/simd-everywhere/simde), except where the tier has a better instruction.
 */
#ifndef ATTN_SIMD_SIMD_H
#define ATTN_SIMD_SIMD_H

#include "ieee/ieee.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#if !defined(ATTN_TIER) || !defined(ATTN_SIMD_BITS)
#error "compile kernel files through attn_add_kernels() (core/cmake/kernels.cmake)"
#endif

/* Accumulator arrays must be unrolled into registers; gcc does so only when told. The loops over
 * features and keys take several turns at a time (ATTN_UNROLL_8, _4), as processors foresee the end
 * of a loop of few turns, not of one of many; in a module, which is downloaded, one at a time. With a
 * sanitizer's checks around each operation nothing is: it would compile for minutes. */
#if defined(__SANITIZE_ADDRESS__)
#define ATTN_UNROLL
#define ATTN_UNROLL_8
#define ATTN_UNROLL_4
#elif defined(__wasm__)
#define ATTN_UNROLL _Pragma("clang loop unroll(full)")
#define ATTN_UNROLL_8
#define ATTN_UNROLL_4
#elif defined(__clang__)
#define ATTN_UNROLL _Pragma("clang loop unroll(full)")
#define ATTN_UNROLL_8 _Pragma("clang loop unroll_count(8)")
#define ATTN_UNROLL_4 _Pragma("clang loop unroll_count(4)")
#else
#define ATTN_UNROLL _Pragma("GCC unroll 16")
#define ATTN_UNROLL_8 _Pragma("GCC unroll 8")
#define ATTN_UNROLL_4 _Pragma("GCC unroll 4")
#endif

/* Memory is read behind this, not before it: what a compiler reads early it keeps in a register. */
#if defined(__GNUC__)
#define ATTN_READ_ANEW __asm__ volatile("" ::: "memory")
#else
#define ATTN_READ_ANEW ((void)0)
#endif

/* A vector that is loaded once and stays in its register: gcc would load it anew for each multiply-add that takes it,
 * and with more loads than multiply-adds a loop waits for loads. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && ATTN_SIMD_BITS > 0 &&       \
    !defined(ATTN_EMULATED_AVX512)
#define ATTN_LOADED(v) __asm__("" : "+v"(v))
#else
#define ATTN_LOADED(v) ((void)0)
#endif

#define ATTN_INLINE static inline __attribute__((always_inline))

/* Steps that many kernels take, each worth far more than a call. A module is downloaded: there they
 * are functions, which the linker merges over all files; elsewhere they are inlined. */
#if defined(__wasm__) || defined(__SANITIZE_ADDRESS__)
#define ATTN_STEP static __attribute__((noinline, unused))
#else
#define ATTN_STEP ATTN_INLINE
#endif

/* Steps that are taken seldom, or are worth little beside what they are taken for: in a module small
 * rather than fast, elsewhere as compilers see fit. Inlined wherever they are taken they make files
 * slow to compile, and run no faster. */
#if defined(__wasm__) && defined(__clang__)
#define ATTN_RARE_STEP static __attribute__((noinline, unused, minsize))
#else
#define ATTN_RARE_STEP static __attribute__((unused))
#endif

/* Steps of many files that compilers would shape for each of them: in a module the linker takes one for all.
 * Not the products of tiles, which are faster shaped. */
#if defined(__wasm__) && defined(__clang__)
#define ATTN_SHARED_STEP __attribute__((noinline, weak))
#define ATTN_SHARED_RARE_STEP __attribute__((noinline, weak, minsize))
#pragma clang diagnostic ignored "-Wmissing-prototypes" /* they are not static */
#else
#define ATTN_SHARED_STEP ATTN_STEP
#define ATTN_SHARED_RARE_STEP ATTN_STEP
#endif

/* Whether integers of 8 bits are multiplied four at a time; else they are widened to 16. */
#if (ATTN_SIMD_BITS == 512 && defined(__AVX512VNNI__)) || defined(ATTN_EMULATED_VNNI) ||           \
    (ATTN_SIMD_BITS == 128 && defined(__ARM_FEATURE_DOTPROD))
#define VI_HAS_DOT8 1
#else
#define VI_HAS_DOT8 0
#endif

/* Whether two rows by two columns are one instruction. */
#if ATTN_SIMD_BITS == 128 && defined(__ARM_FEATURE_MATMUL_INT8)
#define VI_HAS_PAIRS 1
#else
#define VI_HAS_PAIRS 0
#endif

/* Whether bytes on the left are signed, too: Arm has the mixed products with those of pairs. */
#if VI_HAS_DOT8 && defined(__ARM_FEATURE_DOTPROD) && !VI_HAS_PAIRS
#define VI_LEFT_SIGNED 1
#else
#define VI_LEFT_SIGNED 0
#endif

/* Whether products of bf16 numbers are one instruction; nobody asks for them elsewhere. */
#if (ATTN_SIMD_BITS == 512 && defined(__AVX512BF16__)) || defined(ATTN_EMULATED_BF16) ||           \
    (VI_HAS_PAIRS && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC))
#define VF_HAS_BF16 1
#else
#define VF_HAS_BF16 0
#endif

/* Whether a tile of bf16 products is one instruction (gemm/amx.h). */
#if defined(__AMX_BF16__) || defined(ATTN_EMULATED_AMX)
#define VF_HAS_AMX 1
#else
#define VF_HAS_AMX 0
#endif

/* Whether a processor can be asked for memory ahead. A module has no instruction for it, and compilers would leave it
 * the loops around. */
#if defined(__wasm__)
enum { VF_FETCHES = 0 };
#else
enum { VF_FETCHES = 1 };
#endif

/* The address may lie outside of any array, where a pointer may not point. Not into the first cache:
 * few lines can be on their way there, and loads wait for the same places. */
ATTN_INLINE void vf_prefetch(uintptr_t address) {
#if defined(__wasm__)
    (void)address;
#else
    __builtin_prefetch((const void *)address, 0, 2);
#endif
}

/* All lines of `bytes`, before anything behind this is read: compilers spread these among the loads that follow, and
 * streams from memory then take up to a tenth longer. */
ATTN_INLINE void vf_prefetch_bytes(uintptr_t address, int64_t bytes) {
#if defined(__wasm__)
    (void)address, (void)bytes;
#else
    for (int64_t byte = 0; byte < bytes; byte += 64) vf_prefetch(address + (uintptr_t)byte);
    ATTN_READ_ANEW;
#endif
}

#if ATTN_SIMD_BITS == 0
#include "simd/scalar.h"
#else
#if defined(ATTN_EMULATED_AVX512)
#include "simd/emulated512.h"
#elif defined(__x86_64__)
#include <immintrin.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/sse4.2.h>
#endif
#if ATTN_SIMD_BITS == 128
#include "simd/bits128.h"
#elif ATTN_SIMD_BITS == 256
#include "simd/bits256.h"
#else
#include "simd/bits512.h"
#endif

/* What is spelled alike at every width: VF_(add) is _mm_add_ps, _mm256_add_ps or _mm512_add_ps. */
ATTN_INLINE vf vf_zero(void) { return VF_(setzero)(); }
ATTN_INLINE vf vf_set1(float x) { return VF_(set1)(x); }
ATTN_INLINE vf vf_load(const float *p) { return VF_(loadu)(p); }
ATTN_INLINE void vf_store(float *p, vf v) { VF_(storeu)(p, v); }
ATTN_INLINE vf vf_add(vf a, vf b) { return VF_(add)(a, b); }
ATTN_INLINE vf vf_sub(vf a, vf b) { return VF_(sub)(a, b); }
ATTN_INLINE vf vf_mul(vf a, vf b) { return VF_(mul)(a, b); }
ATTN_INLINE vf vf_div(vf a, vf b) { return VF_(div)(a, b); }
ATTN_INLINE vf vf_sqrt(vf v) { return VF_(sqrt)(v); }
/* Quarters of vectors of rows that are 4 apart, transposed as quarters are. */
ATTN_INLINE void vf_transpose_whole_(const float *from, int64_t stride, float *to, int64_t width,
                                     float factor) {
    const vf f = vf_set1(factor);
    const vf a = vf_mul(f, vf_load_quarters_(from, 4 * stride));
    const vf b = vf_mul(f, vf_load_quarters_(from + stride, 4 * stride));
    const vf c = vf_mul(f, vf_load_quarters_(from + 2 * stride, 4 * stride));
    const vf d = vf_mul(f, vf_load_quarters_(from + 3 * stride, 4 * stride));
    const vf ab = VF_(unpacklo)(a, b), cd = VF_(unpacklo)(c, d);
    vf_store(to, VF_(shuffle)(ab, cd, 0x44));
    vf_store(to + width, VF_(shuffle)(ab, cd, 0xee));
    const vf ab_high = VF_(unpackhi)(a, b), cd_high = VF_(unpackhi)(c, d);
    vf_store(to + 2 * width, VF_(shuffle)(ab_high, cd_high, 0x44));
    vf_store(to + 3 * width, VF_(shuffle)(ab_high, cd_high, 0xee));
}
ATTN_INLINE void vf_transpose4_(const float *from, int64_t stride, float *to, int64_t width,
                                float factor) {
    const __m128 f = _mm_set1_ps(factor);
    __m128 a = _mm_mul_ps(f, _mm_loadu_ps(from)), b = _mm_mul_ps(f, _mm_loadu_ps(from + stride));
    __m128 c = _mm_mul_ps(f, _mm_loadu_ps(from + 2 * stride));
    __m128 d = _mm_mul_ps(f, _mm_loadu_ps(from + 3 * stride));
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + width, b);
    _mm_storeu_ps(to + 2 * width, c);
    _mm_storeu_ps(to + 3 * width, d);
}
ATTN_INLINE void vf_transpose2_(const float *from, int64_t stride, float *to, int64_t width,
                                float factor) {
    const __m128 f = _mm_set1_ps(factor);
    const __m128 a = _mm_mul_ps(f, _mm_loadu_ps(from));
    const __m128 b = _mm_mul_ps(f, _mm_loadu_ps(from + stride));
    const __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);
    _mm_storel_pi((__m64 *)to, low);
    _mm_storeh_pi((__m64 *)(to + width), low);
    _mm_storel_pi((__m64 *)(to + 2 * width), high);
    _mm_storeh_pi((__m64 *)(to + 3 * width), high);
}
ATTN_INLINE void vf_transpose(int rows, const float *from, int64_t stride, float *to, int64_t width,
                              float factor) {
    if (rows == 2)
        vf_transpose2_(from, stride, to, width, factor);
    else if (rows == 4)
        vf_transpose4_(from, stride, to, width, factor);
    else
        vf_transpose_whole_(from, stride, to, width, factor);
}
ATTN_INLINE void vf_reduce_add4(float *to, const vf v[4]) {
    const vf ab = vf_add(VF_(unpacklo)(v[0], v[1]), VF_(unpackhi)(v[0], v[1]));
    const vf cd = vf_add(VF_(unpacklo)(v[2], v[3]), VF_(unpackhi)(v[2], v[3]));
    const vf abcd = vf_add(VF_(shuffle)(ab, cd, 0x44), VF_(shuffle)(ab, cd, 0xee));
    _mm_storeu_ps(to, vf_quarter_(abcd));
}
#endif

#if ATTN_SIMD_BITS < 512 /* where no instruction does it */
ATTN_INLINE void vf_pack(float *p, vf v, int32_t *q, const int32_t *w, uint32_t lanes) {
    float floats[VF_LANES];
    if (lanes) vf_store(floats, v);
    for (; lanes; lanes &= lanes - 1) {
        const int l = __builtin_ctz(lanes);
        *p++ = floats[l], *q++ = w[l];
    }
}
#endif

ATTN_INLINE int vf_any_greater(vf a, vf b) { return vf_greater(a, b) != 0; }

#endif
