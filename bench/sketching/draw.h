/*
 * sketching/draw.h: attn_sketch_osnap() for some features at a time, for kernels: loops over counters of
 * attn/random.h are what compilers make vectors of. The backend, which is downloaded, takes one at a time; a test
 * holds both to the same bits.
 */
#ifndef ATTN_SKETCHING_DRAW_H
#define ATTN_SKETCHING_DRAW_H

#include "attn/random.h"
#include "sketch/matrices.h"

#include <math.h>

enum { DRAW_FEATURES = 64, DRAW_WORDS = 4 /* of one draw */ };

/* A word of a draw for each feature. */
typedef uint32_t draw_words_t[DRAW_FEATURES];

/* Draws first, first + 2, ...: one for each feature. */
static inline void draw_bits(uint64_t seed, uint64_t stream, uint64_t first,
                             draw_words_t *restrict words) {
    for (uint32_t f = 0; f < DRAW_FEATURES; f++) {
        uint32_t bits[DRAW_WORDS];
        attn_random_bits(seed, stream, first + 2 * (uint64_t)f, bits);
        words[0][f] = bits[0];
        words[1][f] = bits[1];
        words[2][f] = bits[2];
        words[3][f] = bits[3];
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

/* Entries of DRAW_FEATURES features, of which `count` are wanted, from the first one's draw on. */
static inline void draw_features(attn_sketch_entry_t *entries, int64_t count, uint64_t draw,
                                 const attn_sketch_part_t *part, int64_t sparsity) {
    const float magnitude = (float)(1.0 / sqrt((double)sparsity));
    draw_words_t places[ATTN_SKETCH_MOST_SPARSITY], words[DRAW_WORDS], signs[DRAW_WORDS];
    float weights[ATTN_SKETCH_MOST_SPARSITY][DRAW_FEATURES];
    for (int64_t i = 0; i < sparsity; i++) {
        if (i % DRAW_WORDS == 0) {
            const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_OSNAP, i / DRAW_WORDS);
            draw_bits(part->seed, stream, draw, words);
            draw_bits(part->seed, stream, draw + 1, signs);
        }
        draw_place(words[i % DRAW_WORDS], (uint32_t)(part->size - sparsity + i), i, places);
        for (int f = 0; f < DRAW_FEATURES; f++)
            weights[i][f] = signs[i % DRAW_WORDS][f] & 1 ? magnitude : -magnitude;
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
        draw_features(entries + first * sparsity, left < DRAW_FEATURES ? left : DRAW_FEATURES,
                      2 * (uint64_t)(part->first + first), part, sparsity);
    }
}

#endif
