/*
 * blocks.h: who has which part of a memory of 32-bit addresses, up to its last byte.
 *
 * From a first address to the end of the memory there is block behind block, each with a header in
 * front that holds its size and that of the block before it. Free blocks of as many bits in size make a
 * list, and no two neighbours are free. Behind the last one is a header alone, the tail.
 *
 * Near 4 GiB an address plus a size may wrap, so that a request seems to fit where it does not: hence
 * addresses are never compared here. All that is compared are sizes within a block.
 *
 * One thread at a time. malloc.c is the use of it; a test has others. Whoever includes it defines
 *
 *   void *blocks_at(uint32_t address)       where that is
 *   uint32_t blocks_pages(void)             how many pages of 64 KiB the memory has
 *   int blocks_grow(uint32_t pages)         makes it so many pages more; 0: it cannot
 */
#ifndef ATTNJS_BLOCKS_H
#define ATTNJS_BLOCKS_H

#include <stdint.h>

enum {
    BLOCKS_HEADER = 8,
    BLOCKS_UNIT = 16, /* of sizes, and the alignment of what is given out */
    BLOCKS_USED = 1,  /* in a header's size */
    BLOCKS_PAGE = 65536,
    BLOCKS_LISTS = 32
};

typedef struct block {
    uint32_t size;           /* with its header */
    uint32_t before;         /* of the block before; 0: this is the first one */
    uint32_t next, previous; /* addresses of headers, 0 for none: in a free block alone */
} block_t;

typedef struct blocks {
    uint32_t tail; /* 0: not begun */
    uint32_t lists[BLOCKS_LISTS];
} blocks_t;

static inline block_t *blocks_header(uint32_t at) { return blocks_at(at); }

static inline uint32_t *blocks_list(blocks_t *blocks, uint32_t size) {
    return &blocks->lists[31 - __builtin_clz(size)];
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void blocks_link(blocks_t *blocks, uint32_t at) {
    block_t *block = blocks_header(at);
    uint32_t *first = blocks_list(blocks, block->size);
    block->next = *first;
    block->previous = 0;
    if (*first) blocks_header(*first)->previous = at;
    *first = at;
}

static void blocks_unlink(blocks_t *blocks, uint32_t at) {
    const block_t *block = blocks_header(at);
    if (block->next) blocks_header(block->next)->previous = block->previous;
    if (block->previous)
        blocks_header(block->previous)->next = block->next;
    else
        *blocks_list(blocks, block->size) = block->next;
}

/* ---- giving back ----------------------------------------------------------------------------- */

/* The free neighbour at an address, taken out of its list: its size; 0 where it is in use. */
static uint32_t blocks_absorb(blocks_t *blocks, uint32_t at) {
    const uint32_t size = blocks_header(at)->size;
    if (size & BLOCKS_USED) return 0;
    blocks_unlink(blocks, at);
    return size;
}

/* Frees the block whose header is there. */
static void blocks_release(blocks_t *blocks, uint32_t at) {
    const uint32_t own = blocks_header(at)->size & ~(uint32_t)BLOCKS_USED;
    const uint32_t before = blocks_header(at)->before;
    uint32_t size = own + blocks_absorb(blocks, at + own);
    if (before && blocks_absorb(blocks, at - before)) {
        at -= before;
        size += before;
    }
    blocks_header(at)->size = size;
    blocks_header(at + size)->before = size;
    blocks_link(blocks, at);
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* So that what follows the header is aligned. */
static uint32_t blocks_padding(uint32_t at, uint32_t alignment) {
    return -(at + BLOCKS_HEADER) & (alignment - 1);
}

/* The smallest of the first list that has one large enough; 0: there is none. */
static uint32_t blocks_find(const blocks_t *blocks, uint32_t alignment, uint32_t size) {
    uint32_t best = 0, least = UINT32_MAX;
    for (int list = 31 - __builtin_clz(size); list < BLOCKS_LISTS && !best; list++) {
        for (uint32_t at = blocks->lists[list]; at; at = blocks_header(at)->next) {
            const uint32_t there = blocks_header(at)->size, padding = blocks_padding(at, alignment);
            if (padding > there || size > there - padding || there >= least) continue;
            best = at;
            least = there;
        }
    }
    return best;
}

/* All memory behind the tail becomes free. */
static void blocks_extend(blocks_t *blocks) {
    const uint32_t at = blocks->tail, end = blocks_pages() * BLOCKS_PAGE; /* 2^32 is 0 */
    blocks->tail = end - BLOCKS_HEADER;
    blocks_header(at)->size = blocks->tail - at;
    blocks_header(blocks->tail)->size = BLOCKS_USED;
    blocks_release(blocks, at);
}

/* Makes so much room at the end. */
static int blocks_make_room(blocks_t *blocks, uint32_t alignment, uint32_t size) {
    uint32_t at = blocks->tail;
    const uint32_t before = blocks_header(at)->before;
    if (before && !(blocks_header(at - before)->size & BLOCKS_USED)) at -= before;
    const uint64_t wanted = (uint64_t)blocks_padding(at, alignment) + size - (blocks->tail - at);
    if (!blocks_grow((uint32_t)((wanted + BLOCKS_PAGE - 1) / BLOCKS_PAGE))) return 0;
    blocks_extend(blocks);
    return 1;
}

/* Cuts a block in use in two; returns the second one. */
static uint32_t blocks_cut(uint32_t at, uint32_t size) {
    const uint32_t rest = (blocks_header(at)->size & ~(uint32_t)BLOCKS_USED) - size;
    blocks_header(at)->size = size | BLOCKS_USED;
    blocks_header(at + size)->size = rest | BLOCKS_USED;
    blocks_header(at + size)->before = size;
    blocks_header(at + size + rest)->before = rest;
    return at + size;
}

/** Begins with the memory from `first` on. */
static void blocks_begin(blocks_t *blocks, uint32_t first) {
    const uint32_t at = first + (-first & (BLOCKS_UNIT - 1)) + BLOCKS_UNIT - BLOCKS_HEADER;
    blocks->tail = at;
    blocks_header(at)->before = 0;
    blocks_extend(blocks);
}

/** So many bytes at a multiple of `alignment`, a power of two; 0: there are none. */
static uint32_t blocks_take(blocks_t *blocks, uint32_t alignment, uint32_t bytes) {
    if (bytes > UINT32_MAX - 2 * BLOCKS_UNIT || (alignment & (alignment - 1))) return 0;
    const uint32_t size = (bytes + BLOCKS_HEADER + BLOCKS_UNIT - 1) & -(uint32_t)BLOCKS_UNIT;
    if (alignment < BLOCKS_UNIT) alignment = BLOCKS_UNIT;
    uint32_t at = blocks_find(blocks, alignment, size);
    if (!at && blocks_make_room(blocks, alignment, size)) at = blocks_find(blocks, alignment, size);
    if (!at) return 0;

    blocks_unlink(blocks, at);
    blocks_header(at)->size |= BLOCKS_USED;
    const uint32_t padding = blocks_padding(at, alignment);
    if (padding) {
        const uint32_t front = at;
        at = blocks_cut(front, padding);
        blocks_release(blocks, front);
    }
    if (blocks_header(at)->size - size >= BLOCKS_UNIT) blocks_release(blocks, blocks_cut(at, size));
    return at + BLOCKS_HEADER;
}

/** Gives back what blocks_take() gave. */
static void blocks_give(blocks_t *blocks, uint32_t address) {
    blocks_release(blocks, address - BLOCKS_HEADER);
}

#endif
