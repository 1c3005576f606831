/* reasoning/checksum.h: FNV-1a, over pieces one after another. */
#ifndef ATTN_REASONING_CHECKSUM_H
#define ATTN_REASONING_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t CHECKSUM_BASIS = 0xcbf29ce484222325u;

/** Going on from `hash`. */
static inline uint64_t checksum(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

#endif
