/*
 * kernels.h: the plain rule for one key/value head, every map, chunk by chunk, as tables of kernels, one per
 * tier.
 */
#ifndef ATTN_LINEAR_KERNELS_H
#define ATTN_LINEAR_KERNELS_H

#include "form.h"
#include "simd/task.h"
#include "simd/tiers.h"
#include "state.h"

typedef struct linear_kernels {
    const char *name;
    int64_t
        chunk; /* keys that are summed up by themselves, before they join the sums of those before */
    /* Counts the bytes of a scratch. */
    void (*scratch)(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena);
    /* The head's keys first <= j < last join the state. */
    void (*add)(const attn_head_t *head, const linear_form_t *form, int64_t first, int64_t last,
                linear_state_t *state, void *scratch);
    /*
     * Output of the queries of `heads` query heads from queries->head on, which share the keys: all of them see
     * the state, which has the keys [0, known) and what came before; its numbers stay as they are. With
     * `all` it becomes a state in the scratch that has all keys. Returns how many rows were degenerate.
     */
    int64_t (*attend)(const attn_head_t *head, const linear_form_t *form, linear_state_t *state,
                      int64_t known, const attn_queries_t *queries, int64_t heads, int all);
} linear_kernels_t;

ATTN_KERNEL_TABLES(linear_kernels_t, attn_linear_kernels)

#endif
