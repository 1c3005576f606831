/* The kernels of this plugin: one table for each instruction set, and the choice among them. */
#include "simd/tiers.h"

#include <stdint.h>

typedef struct row_kernels {
    const char *tier;
    /** to[j] = exp(-|position - j| / width - largest) for j < count; returns their sum. */
    float (*weigh)(float *to, int64_t count, int64_t position, float width, float largest);
    /** to[c] += weight * from[c] for c < count. */
    void (*add)(float *to, const float *from, float weight, int64_t count);
} row_kernels_t;

ATTN_KERNEL_TABLES(row_kernels_t, row_kernels)
