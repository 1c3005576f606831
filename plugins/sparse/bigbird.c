/*
 * bigbird: the nearest k blocks, the first c, whose own queries see all, and some drawn at random for
 * each block of queries ("Big Bird: Transformers for Longer Sequences", arXiv:2007.14062). Where
 * queries see no later keys, blocks are drawn from those before.
 */
#include "attn/random.h"
#include "pattern.h"

enum { TRIES = 64 /* a block, after which as many as were found have to do */ };

static void draw(const sparse_pattern_t *pattern, int64_t row, uint8_t *kept) {
    int64_t among = pattern->columns, left = pattern->random;
    if (pattern->is_causal && row < among) among = row;
    for (int64_t t = 0; among > 0 && left > 0 && t < pattern->random * TRIES; t++) {
        const uint64_t bits = attn_random_u64(pattern->seed, (uint64_t)row, (uint64_t)t);
        uint8_t *block = &kept[bits % (uint64_t)among];
        left -= !*block;
        *block = 1;
    }
}

static void mark(const sparse_pattern_t *pattern, int64_t row, uint8_t *kept) {
    for (int64_t c = 0; c < pattern->columns; c++)
        kept[c] = c < pattern->global || row < pattern->global ||
                  (c - row < pattern->local && row - c < pattern->local);
    draw(pattern, row, kept);
}

const sparse_kind_t attn_sparse_bigbird = {.mark = mark, .cost = "n (k + c + random) B (d + dv)"};
