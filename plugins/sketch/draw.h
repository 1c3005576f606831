/*
 * draw.h: attn_sketch_osnap() for some features at a time, for kernels: loops over counters of
 * attn/random.h are what compilers make vectors of. The backend, which is downloaded, takes one at a time; a test
 * holds both to the same bits.
 */
#ifndef ATTN_SKETCH_DRAW_H
#define ATTN_SKETCH_DRAW_H

#include "attn/random.h"
#include "matrices.h"

#include <math.h>

enum { DRAW_FEATURES = 64, DRAW_WORDS = 4 /* of one draw */ };

typedef uint32_t draw_words_t[DRAW_FEATURES];

/* Words of `count` draws from the first on. */
static inline void draw_bits(uint64_t seed, uint64_t stream, uint64_t first, int64_t count,
                             uint32_t *restrict words) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits[DRAW_WORDS];
        attn_random_bits(seed, stream, first + (uint64_t)i, bits);
        words[DRAW_WORDS * i] = bits[0];
        words[DRAW_WORDS * i + 1] = bits[1];
        words[DRAW_WORDS * i + 2] = bits[2];
        words[DRAW_WORDS * i + 3] = bits[3];
    }
}

/*
 * Step i of Floyd's algorithm, as in matrices.c: a place up to `last`, or `last` where that is taken.
 */
static inline void draw_place(const uint32_t *restrict words, uint32_t last, int64_t i,
                              draw_words_t *restrict places) {
    uint32_t place[DRAW_FEATURES], taken[DRAW_FEATURES] = {0};
    for (int f = 0; f < DRAW_FEATURES; f++)
        place[f] = (uint32_t)((uint64_t)words[f] * ((uint64_t)last + 1) >> 32);
    for (int64_t before = 0; before < i; before++)
        for (int f = 0; f < DRAW_FEATURES; f++) taken[f] |= places[before][f] == place[f];
    for (int f = 0; f < DRAW_FEATURES; f++) places[i][f] = taken[f] ? last : place[f];
}

/* Entries of DRAW_FEATURES features from `first` on, of which `count` are wanted. */
static inline void draw_features(attn_sketch_entry_t *entries, int64_t first, int64_t count,
                                 const attn_sketch_part_t *part, int64_t sparsity) {
    enum { MOST = DRAW_FEATURES * ATTN_SKETCH_MOST_SPARSITY + DRAW_WORDS };
    const float magnitude = (float)(1.0 / sqrt((double)sparsity));
    const uint64_t entry = (uint64_t)(first * sparsity),
                   stream = attn_sketch_stream(ATTN_SKETCH_OSNAP, 0);
    const int64_t ahead = (int64_t)(entry % DRAW_WORDS); /* words of other features */
    uint32_t all[MOST];
    draw_words_t places[ATTN_SKETCH_MOST_SPARSITY], words;
    float weights[ATTN_SKETCH_MOST_SPARSITY][DRAW_FEATURES];
    draw_bits(part->seed, stream, entry / DRAW_WORDS, DRAW_FEATURES / DRAW_WORDS * sparsity + 1,
              all);
    for (int64_t i = 0; i < sparsity; i++) {
        for (int64_t f = 0; f < DRAW_FEATURES; f++) words[f] = all[ahead + f * sparsity + i];
        draw_place(words, (uint32_t)(part->size - sparsity + i), i, places);
        for (int f = 0; f < DRAW_FEATURES; f++)
            weights[i][f] = words[f] & 1 ? magnitude : -magnitude;
    }
    for (int64_t f = 0; f < count; f++)
        for (int64_t i = 0; i < sparsity; i++)
            entries[f * sparsity + i] = (attn_sketch_entry_t){(int32_t)places[i][f], weights[i][f]};
}

/* attn_sketch_osnap(). */
static inline void draw_embedding(attn_sketch_entry_t *entries, const attn_sketch_part_t *part,
                                  int64_t sparsity) {
    for (int64_t first = 0; first < part->count; first += DRAW_FEATURES) {
        const int64_t left = part->count - first;
        draw_features(entries + first * sparsity, part->first + first,
                      left < DRAW_FEATURES ? left : DRAW_FEATURES, part, sparsity);
    }
}

#endif
