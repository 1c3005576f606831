/* kernels.h: exact attention for one head, as tables of kernels, one per tier. */
#ifndef ATTN_SOFTMAX_KERNELS_H
#define ATTN_SOFTMAX_KERNELS_H

#include "simd/task.h"
#include "simd/tiers.h"

/* One head's keys and values, ready to be read by all its queries. */
typedef struct softmax_head {
    attn_head_t head;
    float *panels;       /* keys, packed */
    float *copy;         /* where pack() copies values to; NULL when they are read in place */
    const float *values; /* rows of unit stride; NULL when only weights are wanted */
    int64_t values_stride;
} softmax_head_t;

typedef struct softmax_kernels {
    const char *name;
    int64_t panel; /* keys a panel */
    int64_t rows;  /* queries that a task should have */
    /* Counts the bytes of attn_queries_t.scratch. */
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    /* Pack panel number `panel` of the head's keys, and its values if they need it. */
    void (*pack)(const softmax_head_t *head, int64_t panel);
    /* Output and lse of the queries. */
    void (*attend)(const softmax_head_t *head, const attn_queries_t *queries);
    /* Weights of the queries: rows[r*stride + j]. */
    void (*weights)(const softmax_head_t *head, const attn_queries_t *queries, float *rows,
                    int64_t stride);
} softmax_kernels_t;

ATTN_KERNEL_TABLES(softmax_kernels_t, attn_softmax_kernels)

#endif
