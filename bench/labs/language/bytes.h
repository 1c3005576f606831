/*
 * language/bytes.h: text as tokens: byte-pair encoding (arXiv:1508.07909) with a vocabulary of 512, which vocabulary.mjs
 * makes of the corpus. Tokens 0 to 255 are the bytes, so every text has tokens, and they give it back to the byte.
 *
 * No token goes beyond a piece: up to 63 letters with the space before them, or one other byte. Letters are a to z, A
 * to Z and all bytes of other than ASCII.
 */
#ifndef ATTN_LANGUAGE_BYTES_H
#define ATTN_LANGUAGE_BYTES_H

#include <stddef.h>
#include <stdint.h>

enum {
    BYTES_MERGES = 256,
    BYTES_VOCABULARY = 256 + BYTES_MERGES,
    BYTES_MOST = 16, /**< room for the bytes of a token */
};

/** The tokens of a text: at most `size`, for which there is room. Returns how many. */
int64_t bytes_encode(const char *text, size_t size, int32_t *tokens);

/** The bytes of a token in [0, BYTES_VOCABULARY), not ended by a zero; returns how many. */
size_t bytes_of(int32_t token, char bytes[BYTES_MOST]);

/** FNV-1a of the merges: files say which vocabulary they are of. */
uint64_t bytes_hash(void);

#endif
