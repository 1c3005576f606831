/*
 * reasoning/draw.h: what the generators of samples share: numbers drawn one after another, and tokens put one after
 * another.
 */
#ifndef ATTN_REASONING_DRAW_H
#define ATTN_REASONING_DRAW_H

#include "attn/random.h"
#include "labs/reasoning/task.h"

typedef struct draw {
    uint64_t seed, stream, next;
    enum reasoning_use use;
} draw_t;

/** Uniform in [0, count); off by 2^-32 of itself at most. */
static inline int32_t draw_below(draw_t *draw, int32_t count) {
    const uint64_t bits = attn_random_u64(draw->seed, draw->stream, draw->next++) >> 32;
    return (int32_t)(bits * (uint64_t)count >> 32);
}

/** Uniform in [low, high]. */
static inline int32_t draw_within(draw_t *draw, int32_t low, int32_t high) {
    return low + draw_below(draw, high - low + 1);
}

/** The first `chosen` of `items` become that many of the `count`, in random order (Fisher and Yates). */
static inline void draw_shuffle(draw_t *draw, int32_t *items, int32_t count, int32_t chosen) {
    for (int32_t i = 0; i < chosen; i++) {
        const int32_t other = draw_within(draw, i, count - 1), item = items[i];
        items[i] = items[other];
        items[other] = item;
    }
}

static inline void sample_put(reasoning_sample_t *sample, int32_t token) {
    sample->tokens[sample->count++] = token;
}

/** The generators: a whole sample of its kind, each with reasoning_make()'s sizes. */
void lis_make(reasoning_task_t *task);
void lis_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample);
void edit_make(reasoning_task_t *task);
void edit_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample);
void arithmetic_make(reasoning_task_t *task);
void arithmetic_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample);
void corpus_task_make(reasoning_task_t *task);
void corpus_task_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample);

/** Their own tokens in text: numbers are the caller's. */
const char *edit_text(int32_t token);
const char *arithmetic_text(int32_t token);

/** Of any token: text has no numbers, and no tokens of all tasks. */
const char *corpus_task_text(int32_t token, char text[16]);

#endif
