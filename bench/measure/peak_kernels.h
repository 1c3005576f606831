/* measure/peak_kernels.h: the loops of peak.c and peers/peak.c, compiled once per tier. */
#ifndef ATTN_MEASURE_PEAK_KERNELS_H
#define ATTN_MEASURE_PEAK_KERNELS_H

#include "simd/tiers.h"

#include <stddef.h>
#include <stdint.h>

/* WebAssembly has no prefetching. */
#ifdef __wasm__
enum { PEAK_VARIANTS = 3, PEAK_READS = 4 };
#else
enum { PEAK_VARIANTS = 3, PEAK_READS = 20 };
#endif

typedef struct peak_kernels {
    struct peak_variant {
        /** `steps` rounds of multiply-adds on independent accumulators; what they come to. */
        float (*run)(int64_t steps);
        int64_t flops_per_step;
    } multiply_add[PEAK_VARIANTS];
    struct peak_variant
        dots[2]; /**< of numbers of 1 and 2 bytes; run is NULL where there are none */
    struct peak_order {
        int stretches; /**< read side by side */
        int ahead; /**< bytes by which lines are asked for before they are read; 0: they are not */
        int once;  /**< asked for as what is not needed again (non-temporal) */
        /** Sum of data[count]; count a multiple of 128. */
        float (*run)(const float *data, int64_t count);
    } read[PEAK_READS]; /**< the first: in order, nothing asked for */
    /** data[i] = 0.5 data[i] + 0.5 for all of data[count], whole cache lines that begin on one. */
    void (*update)(float *data, int64_t count);
} peak_kernels_t;

ATTN_DOT_KERNEL_TABLES(peak_kernels_t, peak_kernels)

#endif
