/*
 * cli/inflate.h: the DEFLATE compressed data format (RFC 1951), read from memory into memory.
 */
#ifndef ATTN_CLI_INFLATE_H
#define ATTN_CLI_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum inflated { INFLATED, INFLATE_DAMAGED, INFLATE_NO_MEMORY };

/** Bytes that one byte can become at most: a match of 258 of them takes two bits. */
#define INFLATE_MOST 1032

/**
 * Unpack `in`, which is to become exactly `out_size` bytes, into *out, memory that the caller frees, after a
 * failure too. It grows with what has been unpacked.
 */
enum inflated inflate(const uint8_t *in, size_t in_size, uint8_t **out, size_t out_size);

/** The CRC-32 of ZIP files (ISO 3309). */
uint32_t inflate_crc(const uint8_t *bytes, size_t size);

#endif
