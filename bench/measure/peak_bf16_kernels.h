/* measure/peak_bf16_kernels.h: the loops of peak.c that multiply bf16 numbers, and bytes in tile registers, compiled for
 * the tiers that do. */
#ifndef ATTN_MEASURE_PEAK_BF16_KERNELS_H
#define ATTN_MEASURE_PEAK_BF16_KERNELS_H

#include "peak_kernels.h"

ATTN_BF16_KERNEL_TABLES(struct peak_variant, peak_bf16_kernels)
ATTN_TILE_KERNEL_TABLES(struct peak_variant, peak_bytes_kernels)

#endif
