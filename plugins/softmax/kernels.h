/* kernels.h: exact attention for one head, as tables of kernels, one per tier. */
#ifndef ATTN_SOFTMAX_KERNELS_H
#define ATTN_SOFTMAX_KERNELS_H

#include "attn/support.h"
#include "simd/tiers.h"

enum { SOFTMAX_TILES = 8 }; /* tiles of queries in one task: they share each block of keys */

/* One head's keys and values, ready to be read by all its queries. */
typedef struct softmax_head {
    const attn_problem_t *problem;
    const attn_io_t *io;
    int64_t batch, kv_head;
    float scale;         /* of the logits */
    float *panels;       /* keys, packed */
    float *packed;       /* room for [keys][value_dim]: used when value's columns have a stride */
    const float *values; /* rows of unit stride: in place, or `packed` */
    int64_t values_stride;
} softmax_head_t;

/* Consecutive queries of one head. */
typedef struct softmax_task {
    const softmax_head_t *head;
    int64_t query_head, first, count;
    void *scratch;
} softmax_task_t;

typedef struct softmax_kernels {
    const char *name;
    int64_t panel; /* keys a panel */
    int64_t rows;  /* queries that a task should have */
    /* Bytes of softmax_task_t.scratch. */
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    /* Pack panel number `panel` of the head's keys, and its values if they need it. */
    void (*pack)(const softmax_head_t *head, int64_t panel);
    /* Output and lse of the task's queries. */
    void (*attend)(const softmax_task_t *task);
    /* Weights of the task's queries: rows[r*stride + j]. */
    void (*weights)(const softmax_task_t *task, float *rows, int64_t stride);
} softmax_kernels_t;

ATTN_KERNEL_TABLES(softmax_kernels_t, attn_softmax_kernels)

#endif
