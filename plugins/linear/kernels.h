/* kernels.h: linear attention for one key/value head, as tables of kernels, one per tier. */
#ifndef ATTN_LINEAR_KERNELS_H
#define ATTN_LINEAR_KERNELS_H

#include "maps.h"
#include "simd/task.h"
#include "simd/tiers.h"

typedef struct linear_kernels {
    const char *name;
    int64_t
        chunk; /* keys that are summed up by themselves, before they join the sums of those before */
    /* Counts the bytes of attn_queries_t.scratch. */
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    /* Floats of what keys add up to, of which the sums of chunks may be added. */
    int64_t (*sums_size)(const attn_problem_t *problem);
    /* The sums of the head's keys first <= j < last. */
    void (*sum)(const attn_head_t *head, linear_map_t map, int64_t first, int64_t last, float *sums,
                void *scratch);
    /* Output of the queries of `heads` query heads from queries->head on, which share the keys: [0, known), all of
     * which they see, by their sums, which stay as they are. Returns how many rows were degenerate. */
    int64_t (*attend)(const attn_head_t *head, linear_map_t map, float *sums, int64_t known,
                      const attn_queries_t *queries, int64_t heads);
} linear_kernels_t;

ATTN_KERNEL_TABLES(linear_kernels_t, attn_linear_kernels)

#endif
