/*
 * labs/head.h: one head of attention on contiguous arrays, through a plugin of the library.
 */
#ifndef ATTN_LABS_HEAD_H
#define ATTN_LABS_HEAD_H

#include "attn/attn.h"

/** A plan with its workspace. */
typedef struct head {
    attn_problem_t problem;
    attn_plan_t *plan;
    void *workspace;
} head_t;

/** One head: n queries, m keys, d and dv, scale 1, not causal. */
attn_problem_t head_problem(int64_t queries, int64_t keys, int64_t dim, int64_t value_dim);

/** Plan and workspace; on an error nothing is left to destroy. `params` may be NULL for none. */
attn_status_t head_create(const attn_context_t *context, const char *backend,
                          const attn_problem_t *problem, const attn_param_t *params, uint32_t count,
                          head_t *head, attn_error_t *error);

/** Zeroed heads are fine. */
void head_destroy(head_t *head);

/** out (n x dv) and, where not NULL, lse (n). */
attn_status_t head_run(const head_t *head, const float *query, const float *key, const float *value,
                       float *out, float *lse, attn_error_t *error);

/** Rows [first, first + count) of the weights, `count` times m. */
attn_status_t head_weights(const head_t *head, const float *query, const float *key, int64_t first,
                           int64_t count, float *weights, attn_error_t *error);

/** A number that the plan tells of itself, or `otherwise`. */
double head_fact(const head_t *head, const char *name, double otherwise);

#endif
