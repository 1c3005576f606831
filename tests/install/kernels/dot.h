/* One table of kernels for each tier, and the choice among them. */
#include "simd/tiers.h"

#include <stdint.h>

typedef struct dot_kernels {
    const char *tier;
    float (*dot)(const float *a, const float *b, int64_t count);
    void (*exponentials)(float *to, const float *from, int64_t count);
} dot_kernels_t;

ATTN_KERNEL_TABLES(dot_kernels_t, dot_kernels)
