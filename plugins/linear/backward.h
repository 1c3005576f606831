/*
 * backward.h: gradients of linear attention (attn.backward/1). One task is a key/value head with the query heads
 * that read it, so what tasks write is their own, and no number of threads changes a bit.
 */
#ifndef ATTN_LINEAR_BACKWARD_H
#define ATTN_LINEAR_BACKWARD_H

#include "attn/ext/backward.h"
#include "plan.h"

/* A key/value head on its way back. */
typedef struct linear_back {
    const attn_head_t *head;
    const linear_form_t *form;
    const attn_io_t *gradients;
    float *decay, *beta; /* [keys][decays] and [keys]: gradients of gates, where they are wanted */
    int64_t decays;      /* columns of decay: the features, or 1 for all */
    void *scratch;
} linear_back_t;

typedef struct linear_backward {
    /* Counts the bytes of a task's scratch. */
    void (*scratch)(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena);
    /* Writes all gradients of the head. */
    void (*run)(const linear_back_t *back);
} linear_backward_t;

ATTN_KERNEL_TABLES(linear_backward_t, attn_linear_backward)       /* of the plain rule */
ATTN_KERNEL_TABLES(linear_backward_t, attn_linear_backward_rules) /* of the others */

/** For `attn.backward/1`. */
extern const attn_ext_backward_t attn_linear_backward_extension;

/** What gradients need of the workspace. */
void attn_linear_backward_space(const linear_plan_t *plan, attn_arena_t *arena);

#endif
