/* kernels.h: linear attention for one key/value head, as tables of kernels, one per tier. */
#ifndef ATTN_LINEAR_KERNELS_H
#define ATTN_LINEAR_KERNELS_H

#include "maps.h"
#include "simd/task.h"
#include "simd/tiers.h"

/* What keys add up to, for one key/value head. */
typedef struct linear_sums {
    int64_t keys; /* how many; 0: the sums may be NULL */
    float *s;     /* [dim][value_dim]: phi(K)^T V */
    float *z;     /* [dim]: phi(K)^T 1 */
    float *z_abs; /* [dim]: the same of absolute features */
} linear_sums_t;

typedef struct linear_kernels {
    const char *name;
    /* Counts the bytes of attn_queries_t.scratch. */
    void (*scratch)(const attn_problem_t *problem, attn_arena_t *arena);
    /* Output of the queries of `heads` query heads from queries->head on, which share the state: they see the
     * keys of `before` and then those of the head. Returns how many rows were degenerate. */
    int64_t (*attend)(const attn_head_t *head, linear_map_t map, const linear_sums_t *before,
                      const attn_queries_t *queries, int64_t heads);
    /* Add the head's keys to the sums. */
    void (*add)(const attn_head_t *head, linear_map_t map, linear_sums_t *sums, void *scratch);
    /* Weights of the queries: rows[r*stride + j], all of them written. */
    void (*weights)(const attn_head_t *head, linear_map_t map, const attn_queries_t *queries,
                    float *rows, int64_t stride);
} linear_kernels_t;

ATTN_KERNEL_TABLES(linear_kernels_t, attn_linear_kernels)

#endif
