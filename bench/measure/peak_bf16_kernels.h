/* measure/peak_bf16_kernels.h: the loop of peak.c that multiplies bf16 numbers, compiled for the tiers that do. */
#ifndef ATTN_MEASURE_PEAK_BF16_KERNELS_H
#define ATTN_MEASURE_PEAK_BF16_KERNELS_H

#include "peak_kernels.h"

ATTN_BF16_KERNEL_TABLES(struct peak_variant, peak_bf16_kernels)

#endif
