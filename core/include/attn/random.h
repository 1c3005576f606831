/*
 * attn/random.h: counter-based random numbers. A draw is a pure function of (seed, stream, index):
 * the same on every machine and tier, in any order, on any number of threads.
 *
 * Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).
 */
#ifndef ATTN_RANDOM_H
#define ATTN_RANDOM_H

#include <math.h>
#include <stdint.h>

/** 2^-52 and 2^-32, exactly; C++ has hexadecimal since 2017 only. */
#define ATTN_RANDOM_2_52 2.220446049250313080847263336181640625e-16
#define ATTN_RANDOM_2_32 2.3283064365386962890625e-10

/** 128 random bits for the counter (stream, index) under the key `seed`. */
static inline void attn_random_bits(uint64_t seed, uint64_t stream, uint64_t index,
                                    uint32_t bits[4]) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    uint32_t x0 = (uint32_t)index, x1 = (uint32_t)(index >> 32);
    uint32_t x2 = (uint32_t)stream, x3 = (uint32_t)(stream >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t low = (uint64_t)0xD2511F53u * x0, high = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(high >> 32) ^ x1 ^ key0;
        x1 = (uint32_t)high;
        x2 = (uint32_t)(low >> 32) ^ x3 ^ key1;
        x3 = (uint32_t)low;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    bits[0] = x0, bits[1] = x1, bits[2] = x2, bits[3] = x3;
}

/** 64 random bits. */
static inline uint64_t attn_random_u64(uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t bits[4];
    attn_random_bits(seed, stream, index, bits);
    return (uint64_t)bits[1] << 32 | bits[0];
}

/** Uniform in (0, 1): never 0, never 1. */
static inline double attn_random_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
    return ((double)(attn_random_u64(seed, stream, index) >> 12) + 0.5) * ATTN_RANDOM_2_52;
}

/** Standard normal (Box and Muller, 1958). */
static inline double attn_random_normal(uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t bits[4];
    attn_random_bits(seed, stream, index, bits);
    double u = ((double)bits[0] + 0.5) * ATTN_RANDOM_2_32,
           v = ((double)bits[1] + 0.5) * ATTN_RANDOM_2_32;
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

#endif
