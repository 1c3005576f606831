/*
 * measure/peak.h: what this machine can do at most, measured: arithmetic from registers and reading
 * from memory, in one thread where nothing is said. Numbers of kernels are told as a share of these.
 */
#ifndef ATTN_MEASURE_PEAK_H
#define ATTN_MEASURE_PEAK_H

#include "attn/ext/cpu.h"

#include <stddef.h>

/**
 * Size of the array read: several times a core's share of the last cache. (A machine with a 480 MB
 * cache for many cores reads 2 GiB no slower; one that has such a cache to itself reports the
 * cache.)
 */
#define PEAK_BYTES ((size_t)256 << 20)

/**
 * How much of the usual effort a peak is worth beside rows that are timed for so many seconds: 1, and from 0.1 s
 * on less. A `share` below 1 is one of the tries, and of the bytes read, which a cache may then hold.
 */
double peak_share(double seconds);

/** Float multiplications and additions a second, in 1e9, with this tier's instructions. */
double peak_gflops(attn_tier_t tier, double share);

/**
 * The same of whole numbers of `bytes` bytes, 1 or 2, whose products are summed up in 32 bits (gemm/dots.h); NaN where
 * the tier has no instruction for them.
 */
double peak_dot_gops(attn_tier_t tier, int bytes, double share);

/** The same of bf16 numbers, whose products are summed up in f32; NaN where the tier does not multiply them. */
double peak_bf16_gflops(attn_tier_t tier, double share);

/** An order of reading memory, and how fast it is. */
typedef struct peak_read {
    int stretches; /**< parts of the array that are read side by side */
    int ahead;     /**< bytes by which lines are asked for before they are read; 0: they are not */
    int once;      /**< they are asked for as what is not needed again (non-temporal) */
    double gbps;   /**< bytes a second, in 1e9 */
} peak_read_t;
enum { PEAK_MOST_READS = 20 };

/**
 * Reads, with this tier's instructions, an array that no cache holds (PEAK_BYTES; less where there is no
 * memory for it) in all orders by turns, so many times each, and keeps the best of each; the first is in
 * order. Of two `threads` each reads an array of its own at the same time, which share the way to memory.
 * Returns how many there are, 0 when there is no memory at all or no second thread.
 */
int peak_reads(attn_tier_t tier, int threads, int rounds, double share,
               peak_read_t reads[PEAK_MOST_READS]);

/** The best of them by one thread; 0 when there is no memory at all. */
double peak_read_gbps(attn_tier_t tier, double share);

/** In order, from an array of so many bytes (a multiple of 512, at least that) read over and over. */
double peak_read_size_gbps(attn_tier_t tier, size_t bytes, double share);

#endif
