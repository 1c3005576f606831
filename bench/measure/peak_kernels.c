/*
 * measure/peak_kernels.c: the loops. How many independent accumulators it takes to hide the latency of
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

/* x = x * a + b tends to b / (1 - a), here 1: no overflow, no denormals. None starts there, or the
 * compiler could leave its chain out. */
#define MULTIPLY_ADD(CHAINS)                                                                       \
    static float multiply_add_##CHAINS(int64_t steps) {                                            \
        const vf a = vf_set1(0.5f), b = vf_set1(0.5f);                                             \
        vf sums[CHAINS];                                                                           \
        ATTN_UNROLL                                                                                \
        for (int i = 0; i < CHAINS; i++) sums[i] = vf_set1((float)(i + 2));                        \
        for (int64_t step = 0; step < steps; step++) {                                             \
            ATTN_UNROLL                                                                            \
            for (int i = 0; i < CHAINS; i++) sums[i] = vf_mul_add(sums[i], a, b);                  \
        }                                                                                          \
        return sum_of(sums, CHAINS);                                                               \
    }

MULTIPLY_ADD(8)
MULTIPLY_ADD(10)
MULTIPLY_ADD(12)

/* All of it, as so many (a constant) stretches side by side. */
ATTN_INLINE float read_stretches(int stretches, const float *data, int64_t count) {
    const int64_t part = count / stretches, at_once = READERS / stretches;
    vf sums[READERS];
    ATTN_UNROLL
    for (int i = 0; i < READERS; i++) sums[i] = vf_zero();
    for (int64_t at = 0; at < part; at += at_once * VF_LANES) {
        ATTN_UNROLL
        for (int i = 0; i < READERS; i++) {
            const float *from = data + i / at_once * part + at + i % at_once * VF_LANES;
            sums[i] = vf_add(sums[i], vf_load(from));
        }
    }
    return sum_of(sums, READERS);
}

static float read_in_order(const float *data, int64_t count) {
    return read_stretches(1, data, count);
}

static float read_as_four(const float *data, int64_t count) {
    return read_stretches(4, data, count);
}

static void update(float *data, int64_t count) {
    enum { AT_ONCE = 16 / VF_LANES };
    const vf half = vf_set1(0.5f);
    for (int64_t at = 0; at < count; at += 16) {
        ATTN_UNROLL
        for (int i = 0; i < AT_ONCE; i++) {
            float *place = data + at + i * VF_LANES;
            vf_store(place, vf_mul_add(half, vf_load(place), half));
        }
    }
}

const peak_kernels_t ATTN_KERNEL(peak_kernels) = {
    .multiply_add = {{multiply_add_8, 2 * 8 * VF_LANES},
                     {multiply_add_10, 2 * 10 * VF_LANES},
                     {multiply_add_12, 2 * 12 * VF_LANES}},
    .read = {read_in_order, read_as_four},
    .update = update,
};
