/*
 * measure/peak.h: what this machine can do at most, measured: arithmetic from registers and reading
 * from memory, both in one thread. Numbers of kernels are told as a share of these.
 */
#ifndef ATTN_MEASURE_PEAK_H
#define ATTN_MEASURE_PEAK_H

#include "attn/ext/cpu.h"

/**
 * Size of the array read: several times a core's share of the last cache. (A machine with a 480 MB
 * cache for many cores reads 2 GiB no slower; one that has such a cache to itself reports the
 * cache.)
 */
#define PEAK_BYTES ((size_t)256 << 20)

/** Float multiplications and additions a second, in 1e9, with this tier's instructions. */
double peak_gflops(attn_tier_t tier);

/**
 * Bytes read a second, in 1e9, with this tier's instructions, from an array that no cache holds
 * (PEAK_BYTES; less where there is no memory for it). 0 when there is no memory at all.
 */
double peak_read_gbps(attn_tier_t tier);

/**
 * Bytes read and bytes written a second, in 1e9, in an array of PEAK_STATE_BYTES each of whose numbers is
 * changed, over and over: 8 states of 64 x 64 floats, as linear attention's decoding changes them.
 */
#define PEAK_STATE_BYTES ((size_t)8 * 64 * 64 * sizeof(float))
double peak_update_gbps(attn_tier_t tier);

#endif
