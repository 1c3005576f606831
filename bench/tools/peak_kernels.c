/*
 * tools/peak_kernels.c: the loops. How many independent accumulators it takes to hide the latency of
 * a multiply-add, and how many fit into the registers, differs from tier to tier and from engine to
 * engine: a few numbers are tried, and the best is the peak.
 */
#include "peak_kernels.h"

#include "simd/simd.h"

enum { READERS = 8 };

ATTN_INLINE float sum_of(const vf *sums, int count) {
    vf total = vf_zero();
    for (int i = 0; i < count; i++) total = vf_add(total, sums[i]);
    return vf_reduce_add(total);
}

/* x = x * a + b tends to b / (1 - a), here 1: no overflow, no denormals. */
#define MULTIPLY_ADD(CHAINS)                                                                       \
    static float multiply_add_##CHAINS(int64_t steps) {                                            \
        const vf a = vf_set1(0.5f), b = vf_set1(0.5f);                                             \
        vf sums[CHAINS];                                                                           \
        ATTN_UNROLL                                                                                \
        for (int i = 0; i < CHAINS; i++) sums[i] = vf_set1((float)i);                              \
        for (int64_t step = 0; step < steps; step++) {                                             \
            ATTN_UNROLL                                                                            \
            for (int i = 0; i < CHAINS; i++) sums[i] = vf_mul_add(sums[i], a, b);                  \
        }                                                                                          \
        return sum_of(sums, CHAINS);                                                               \
    }

MULTIPLY_ADD(8)
MULTIPLY_ADD(10)
MULTIPLY_ADD(12)

static float read_all(const float *data, int64_t count) {
    vf sums[READERS];
    ATTN_UNROLL
    for (int i = 0; i < READERS; i++) sums[i] = vf_zero();
    for (int64_t at = 0; at < count; at += READERS * VF_LANES) {
        ATTN_UNROLL
        for (int i = 0; i < READERS; i++)
            sums[i] = vf_add(sums[i], vf_load(data + at + i * VF_LANES));
    }
    return sum_of(sums, READERS);
}

const peak_kernels_t ATTN_KERNEL(peak_kernels) = {
    .multiply_add = {{multiply_add_8, 2 * 8 * VF_LANES},
                     {multiply_add_10, 2 * 10 * VF_LANES},
                     {multiply_add_12, 2 * 12 * VF_LANES}},
    .read = read_all,
};
