/*
 * kernels.h: the plain rule for one key/value head, every map, chunk by chunk, as tables of kernels, one per
 * tier.
 */
#ifndef ATTN_LINEAR_KERNELS_H
#define ATTN_LINEAR_KERNELS_H

#include "attention/task.h"
#include "form.h"
#include "simd/tiers.h"
#include "state.h"

/* Tokens of a chunk: all tiers' panels and tiles divide it (AVX-512 takes its last 16 as one vector).
 * Longer ones compute more above and at the diagonal, shorter ones load and store the state more often. */
enum { LINEAR_CHUNK = 48 };

/* Keys that are summed up by themselves, before they join the sums of those before: a chunk's, or, where nothing is
 * a diagonal, twice as many. */
static inline int64_t linear_chunk_keys(const attn_problem_t *problem) {
    return problem->causal == ATTN_CAUSAL_NONE ? 2 * LINEAR_CHUNK : LINEAR_CHUNK;
}

/* Keys [first, last) of a head, at most a chunk, and room for their features. */
typedef struct linear_chunk {
    int64_t first, last;
    float *features;
} linear_chunk_t;

typedef struct linear_kernels {
    const char *name;
    /* Counts the bytes of a scratch. */
    void (*scratch)(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena);
    /* Floats of a chunk's keys' features. */
    int64_t (*chunk_floats)(const attn_problem_t *problem, const linear_form_t *form);
    /* The head's keys first <= j < last join the state. */
    void (*add)(const attn_head_t *head, const linear_form_t *form, int64_t first, int64_t last,
                linear_state_t *state, void *scratch);
    /* A chunk's features, and what its keys come to by themselves: s, z and zabs, no other numbers of the state. */
    void (*sum)(const attn_head_t *head, const linear_form_t *form, const linear_chunk_t *chunk,
                const linear_state_t *state, void *scratch);
    /* A state goes on by a chunk's sums, which become what it was. */
    void (*pass_on)(const linear_state_t *state, float *sums);
    /*
     * Output of the queries of `heads` query heads from queries->head on, which share the keys: all of them see
     * the state, which has the keys [0, known) and what came before; its numbers stay as they are. With
     * `all` it becomes a state in the scratch that has all keys. `chunk`, or NULL, has been summed up. Returns how
     * many rows were degenerate.
     */
    int64_t (*attend)(const attn_head_t *head, const linear_form_t *form, linear_state_t *state,
                      int64_t known, const attn_queries_t *queries, int64_t heads,
                      const linear_chunk_t *chunk, int all);
} linear_kernels_t;

ATTN_KERNEL_TABLES(linear_kernels_t, attn_linear_kernels)

#endif
