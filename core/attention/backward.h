/*
 * attention/backward.h: gradients of exact attention (attn.backward/1). A task takes a part of the queries
 * that read one key/value head, packs those of that head's keys and values that they see for itself, when
 * the first of them does, and sums up what its queries pass on to them; the sums of a head's parts are then
 * added in order. How a problem is
 * cut into parts does not depend on threads, so neither do the bits.
 */
#ifndef ATTN_ATTENTION_BACKWARD_H
#define ATTN_ATTENTION_BACKWARD_H

#include "attention/plan.h"
#include "attn/arrays.h"
#include "attn/ext/backward.h"

/* What a part of the queries passes on to its head's keys and values, in rows of whole vectors. */
typedef struct backward_sums {
    float *key, *value;
    uint8_t *ready; /* of each panel of keys: whether it has sums */
    double *heads;  /* for each query head of the group: by its sink, and by its slope */
} backward_sums_t;
enum { BACKWARD_SINK, BACKWARD_SLOPE, BACKWARD_HEAD_SUMS };

typedef struct backward_task {
    attn_head_t head;
    const attn_io_t *gradients;
    const attn_pattern_t *pattern; /* NULL: dense */
    attn_range_t queries;          /* of the group, head by head */
    backward_sums_t sums;
    void *scratch;
} backward_task_t;

typedef struct backward_kernels {
    int64_t rows;  /* queries in a block */
    int64_t lanes; /* rows of sums are whole vectors of so many floats */
    int64_t panel; /* and there are whole panels of so many rows */
    /* Counts the bytes of a task's scratch. */
    void (*scratch)(const attn_problem_t *problem, const attn_pattern_t *pattern,
                    attn_arena_t *arena);
    /* dQ of a task's queries, and its sums. */
    void (*attend)(const backward_task_t *task);
    /* dK and dV of the keys [first, last) out of the sums of all parts; the first part's are lost. */
    void (*finish)(const backward_task_t *task, const backward_sums_t *parts, int64_t count,
                   attn_range_t keys);
} backward_kernels_t;

ATTN_KERNEL_TABLES(backward_kernels_t, attn_backward_kernels)
/* By products of bf16 numbers: one for each of floats, three, or six, which only tiles multiply faster than floats. */
ATTN_BF16_KERNEL_TABLES(backward_kernels_t, attn_bf16_backward_kernels)
ATTN_BF16_KERNEL_TABLES(backward_kernels_t, attn_bf16x3_backward_kernels)
ATTN_TILE_KERNEL_TABLES(backward_kernels_t, attn_bf16x6_backward_kernels)

/** Arrays that have gradients. */
#define EXACT_GRADIENTS                                                                            \
    (1u << ATTN_ARRAY_QUERY | 1u << ATTN_ARRAY_KEY | 1u << ATTN_ARRAY_VALUE |                      \
     1u << ATTN_ARRAY_BIAS | 1u << ATTN_ARRAY_SINKS | 1u << ATTN_ARRAY_SLOPES)

/** For `attn.backward/1` of a backend whose plans are exact_plan_t. */
extern const attn_ext_backward_t attn_exact_backward;

/** What a plan for it needs of the workspace; fails where the problem asks for what has no gradient. */
void attn_backward_workspace(const exact_plan_t *plan, attn_arena_t *arena);

#endif
