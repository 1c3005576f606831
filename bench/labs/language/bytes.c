/* language/bytes.c: see bytes.h. */
#include "labs/language/bytes.h"

#include "labs/language/merges.h"

#include <string.h>

enum { PIECE = 64 }; /* bytes at most */

/* ---- pairs ----------------------------------------------------------------------------------------- */

enum { SLOTS = 1024, NONE = 0xFFFF };

/* Which merge a pair of tokens is: a table with open addressing. */
typedef struct pairs {
    uint16_t merge[SLOTS];
} pairs_t;

static uint32_t slot_of(int32_t left, int32_t right) {
    return (((uint32_t)left << 9 | (uint32_t)right) * 2654435761u) >> 22;
}

static int is_pair(uint16_t merge, int32_t left, int32_t right) {
    return merges[merge][0] == left && merges[merge][1] == right;
}

static uint16_t find(const pairs_t *pairs, int32_t left, int32_t right) {
    uint32_t slot = slot_of(left, right);
    while (pairs->merge[slot] != NONE && !is_pair(pairs->merge[slot], left, right))
        slot = (slot + 1) % SLOTS;
    return pairs->merge[slot];
}

static void fill(pairs_t *pairs) {
    for (int i = 0; i < SLOTS; i++) pairs->merge[i] = NONE;
    for (uint16_t i = 0; i < BYTES_MERGES; i++) {
        uint32_t slot = slot_of(merges[i][0], merges[i][1]);
        while (pairs->merge[slot] != NONE) slot = (slot + 1) % SLOTS;
        pairs->merge[slot] = i;
    }
}

/* ---- pieces ---------------------------------------------------------------------------------------- */

static int is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Bytes of the piece that a text of one byte or more begins with. */
static size_t piece_size(const char *text, size_t size) {
    const size_t space = text[0] == ' ' && size > 1 && is_letter(text[1]);
    size_t end = space;
    while (end < size && end < space + PIECE - 1 && is_letter(text[end])) end++;
    return end > 0 ? end : 1;
}

/* The earliest merge again and again, its leftmost pair first, as the vocabulary was made. */
static int64_t merge_piece(const pairs_t *pairs, int32_t *tokens, int64_t count) {
    for (;;) {
        uint16_t best = NONE;
        int64_t at = 0;
        for (int64_t i = 0; i + 1 < count; i++) {
            const uint16_t merge = find(pairs, tokens[i], tokens[i + 1]);
            if (merge < best) best = merge, at = i;
        }
        if (best == NONE) return count;
        tokens[at] = 256 + best;
        count--;
        memmove(tokens + at + 1, tokens + at + 2, (size_t)(count - at - 1) * sizeof *tokens);
    }
}

int64_t bytes_encode(const char *text, size_t size, int32_t *tokens) {
    pairs_t pairs;
    int64_t count = 0;
    fill(&pairs);
    for (size_t at = 0, length; at < size; at += length) {
        length = piece_size(text + at, size - at);
        for (size_t i = 0; i < length; i++)
            tokens[count + (int64_t)i] = (unsigned char)text[at + i];
        count += merge_piece(&pairs, tokens + count, (int64_t)length);
    }
    return count;
}

/* ---- back ------------------------------------------------------------------------------------------ */

/* Depth first, the left parts of pairs before the right: what waits is never more than a token has bytes. */
size_t bytes_of(int32_t token, char bytes[BYTES_MOST]) {
    int32_t waiting[BYTES_MOST] = {token};
    size_t size = 0;
    for (int count = 1; count > 0;) {
        const int32_t next = waiting[--count];
        if (next < 256) {
            bytes[size++] = (char)next;
        } else {
            waiting[count++] = merges[next - 256][1];
            waiting[count++] = merges[next - 256][0];
        }
    }
    return size;
}

uint64_t bytes_hash(void) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < BYTES_MERGES; i++)
        for (int side = 0; side < 2; side++) {
            hash = (hash ^ (merges[i][side] & 0xFF)) * 0x100000001b3u;
            hash = (hash ^ (merges[i][side] >> 8)) * 0x100000001b3u;
        }
    return hash;
}
