/*
 * recurrence.h: the rules that decay or correct, a few tokens a step, and of every rule a stream's few tokens
 * and weights, as tables of kernels, one per tier.
 */
#ifndef ATTN_LINEAR_RECURRENCE_H
#define ATTN_LINEAR_RECURRENCE_H

#include "attention/task.h"
#include "form.h"
#include "simd/tiers.h"
#include "state.h"

typedef struct linear_recurrence {
    const char *name;
    int64_t rows; /* tokens of a step, which a stream leaves beside its state before it adds them */
    /* Room for a state, and so many tokens beside it. */
    linear_state_t (*take_state)(const attn_problem_t *problem, const linear_form_t *form,
                                 int64_t tokens, attn_arena_t *arena);
    /* Counts the bytes of `scratch`. */
    void (*scratch)(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena);
    /*
     * All tokens of a head behind those of the state, and the outputs of all query heads that read it.
     * With `keep` the state is in the end what all tokens come to, else what is left in it is of no use,
     * or, where all tokens are one step, as it was. Returns how many rows were degenerate.
     */
    int64_t (*run)(const attn_head_t *head, const linear_form_t *form, linear_state_t *state,
                   int keep, void *scratch);
    /*
     * One query of each query head that reads the states of `count` key/value heads, from `head` on: it sees them
     * and all keys. These stay beside the states as pending, except that each time when there are `rows` of them,
     * and another, they join these. Returns the same.
     */
    int64_t (*step)(const attn_head_t *head, const linear_form_t *form, linear_state_t *states,
                    int64_t count, void *scratch);
    /*
     * Weights of the queries: rows[r*stride + j], all of them written.
     */
    void (*weights)(const attn_head_t *head, const linear_form_t *form,
                    const attn_queries_t *queries, float *rows, int64_t stride);
} linear_recurrence_t;

ATTN_KERNEL_TABLES(linear_recurrence_t, attn_linear_recurrence)

#endif
