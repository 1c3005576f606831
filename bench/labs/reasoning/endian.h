/* reasoning/endian.h: whole numbers as bytes, little-endian. */
#ifndef ATTN_REASONING_ENDIAN_H
#define ATTN_REASONING_ENDIAN_H

#include <stdint.h>

static inline void put_bytes(unsigned char *at, uint64_t value, int count) {
    for (int i = 0; i < count; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t get_bytes(const unsigned char *at, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

#endif
