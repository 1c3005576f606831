/* nn/memory.h: arrays of floats laid out in one block, as attn_arena_t has it: once to count, once with memory. */
#ifndef ATTN_NN_MEMORY_H
#define ATTN_NN_MEMORY_H

#include "attn/support.h"

#include <stdlib.h>

static inline float *nn_take(attn_arena_t *arena, int64_t rows, int64_t columns) {
    return attn_arena_take(arena, rows, (uint64_t)columns * sizeof(float));
}

/** The memory of an arena that was counted, which is free()'s, or NULL. */
static inline void *nn_allocate(const attn_arena_t *counted) {
    if (counted->overflow) return NULL;
    return aligned_alloc(ATTN_ALIGNMENT,
                         (size_t)attn_round_up((int64_t)counted->used, ATTN_ALIGNMENT));
}

#endif
