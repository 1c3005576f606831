/* measure/peak_kernels.h: the loops that peak.c times, compiled once per tier. */
#ifndef ATTN_MEASURE_PEAK_KERNELS_H
#define ATTN_MEASURE_PEAK_KERNELS_H

#include "simd/tiers.h"

#include <stddef.h>
#include <stdint.h>

enum { PEAK_VARIANTS = 3, PEAK_READS = 2 };

typedef struct peak_kernels {
    struct peak_variant {
        /** `steps` rounds of multiply-adds on independent accumulators; what they come to. */
        float (*run)(int64_t steps);
        int64_t flops_per_step;
    } multiply_add[PEAK_VARIANTS];
    /** Sum of data[count], read in order, or as several stretches side by side; count a multiple of
     * 512. */
    float (*read[PEAK_READS])(const float *data, int64_t count);
    /** data[i] = 0.5 data[i] + 0.5 for all of data[count], whole cache lines that begin on one. */
    void (*update)(float *data, int64_t count);
} peak_kernels_t;

ATTN_KERNEL_TABLES(peak_kernels_t, peak_kernels)

#endif
