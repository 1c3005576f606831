/*
 * cli/inflate.h: the DEFLATE compressed data format (RFC 1951), read from memory into memory.
 */
#ifndef ATTN_CLI_INFLATE_H
#define ATTN_CLI_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/** Whether `in` is the compression of exactly `out_size` bytes, which are then at `out`. */
int inflate(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size);

/** The CRC-32 of ZIP files (ISO 3309). */
uint32_t inflate_crc(const uint8_t *bytes, size_t size);

#endif
