/* kernels.h: sparse attention for one head, as tables of kernels, one per tier. */
#ifndef ATTN_SPARSE_KERNELS_H
#define ATTN_SPARSE_KERNELS_H

#include "pattern.h"
#include "simd/task.h"
#include "simd/tiers.h"

/* Keys side by side: all of a head's, or the global ones gathered from among them. */
typedef struct sparse_keys {
    int64_t count;
    const int64_t *map; /* their positions; NULL: 0, 1, 2, ... */
    float *panels;
    float *values; /* NULL when only weights are wanted */
} sparse_keys_t;

typedef struct sparse_head {
    attn_head_t head;
    const sparse_pattern_t *pattern;
    sparse_keys_t all, global;
} sparse_head_t;

typedef struct sparse_kernels {
    const char *name;
    int64_t panel; /* keys a panel */
    int64_t rows;  /* queries that a task should have */
    /* Counts the bytes of attn_queries_t.scratch. */
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    /* Pack panel number `panel` of these keys, and their values. */
    void (*pack)(const attn_head_t *head, const sparse_keys_t *keys, int64_t panel, void *scratch);
    /* Output and lse of the queries. */
    void (*attend)(const sparse_head_t *head, const attn_queries_t *queries);
    /* Weights of the queries: rows[r*stride + j] where they see key j; elsewhere left alone. */
    void (*weights)(const sparse_head_t *head, const attn_queries_t *queries, float *rows,
                    int64_t stride);
} sparse_kernels_t;

ATTN_KERNEL_TABLES(sparse_kernels_t, attn_sparse_kernels)

#endif
