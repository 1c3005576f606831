/* plan.h: what a linear plan holds, its runs, and streams of its own. */
#ifndef ATTN_LINEAR_PLAN_H
#define ATTN_LINEAR_PLAN_H

#include "attn/ext/stream.h"
#include "form.h"
#include "kernels.h"
#include "recurrence.h"

enum { LINEAR_PARAMS = 6 };

typedef struct linear_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const linear_kernels_t *kernels;
    const linear_recurrence_t *recurrence;
    attn_problem_t problem;
    linear_form_t form;
    int has_segments; /* its workspace has room for run.c's */
} linear_plan_t;

/* The workspace of run.c: for each worker a count of degenerate rows, a scratch, and where arrays give states, the
 * one that a head begins with. Where a head's segments may be tasks, also states of `size` floats: of each
 * key/value head what its keys come to that are known so far, and for each worker one of each of a segment's
 * chunks, and these chunks' features; and how many segments are claimed, and done of each head. */
typedef struct linear_space {
    int64_t *degenerate;
    char *scratch;
    uint64_t scratch_size;
    linear_state_t state; /* without numbers */
    float *given, *known, *chunks, *features;
    int64_t size;
    _Atomic int64_t *claimed, *done;
} linear_space_t;

linear_space_t attn_linear_space(const linear_plan_t *plan, attn_arena_t *arena);

/** attn_backend_t.plan and attn_backend_plan_t.run. */
attn_status_t attn_linear_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error);
attn_status_t attn_linear_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error);

/**
 * All key/value heads: from states[batch * kv_heads], or where that is NULL from the run's own or none.
 * With `keep` the states are what all tokens come to afterwards, and there are no queries.
 */
attn_status_t attn_linear_run_from(const linear_plan_t *plan, const attn_io_t *io,
                                   linear_state_t *states, int keep, attn_error_t *error);

/** Whether segments of a head are ever tasks. */
int attn_linear_has_segments(const linear_plan_t *plan);

/** A key/value head of a run. */
attn_head_t attn_linear_head(const linear_plan_t *plan, const attn_io_t *io, int64_t batch,
                             int64_t kv_head);

/** attn_ext_stream_t.create. */
attn_status_t attn_linear_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error);

/* ---- rules.c: states, and the other rules, by recurrence.h ------------------------------------------------- */

/* The workspace of these runs: for each head how many rows are degenerate, and a key whose decay is above 0
 * or -1; a state and scratch for each worker. */
typedef struct linear_rules_space {
    int64_t *degenerate, *bad_key;
    char *states, *scratch;
    uint64_t state_size, scratch_size;
} linear_rules_space_t;

linear_rules_space_t attn_linear_rules_space(const linear_plan_t *plan, attn_arena_t *arena);

/** attn_linear_run_from() of the other rules. */
attn_status_t attn_linear_rules_run(const linear_plan_t *plan, const attn_io_t *io,
                                    linear_state_t *states, int keep, attn_error_t *error);

/** Whether no decay of a key/value head is above 0, of a run or an append; else an error that says which. */
attn_status_t attn_linear_check_decay(const linear_plan_t *plan, const attn_io_t *io,
                                      int64_t kv_index, attn_error_t *error);

/** One query of the last tokens behind `states`, of which it adds steps to these (linear_recurrence_t.step). */
void attn_linear_rules_step(const linear_plan_t *plan, const attn_io_t *io, linear_state_t *states);

/** Whether the form and the problem's arrays fit together; else an error that says what does not. */
attn_status_t attn_linear_form_check(const linear_form_t *form, const attn_problem_t *problem,
                                     attn_error_t *error);

/** The state that the run's arrays give a head, and back. */
void attn_linear_state_load(const linear_plan_t *plan, const attn_head_t *head,
                            linear_state_t *state);
void attn_linear_state_store(const linear_plan_t *plan, const attn_head_t *head,
                             const linear_state_t *state);

/** Whether a run's backend-specific tensors fit the form, as far as only they tell. */
attn_status_t attn_linear_arrays_check(const linear_plan_t *plan, const attn_io_t *io,
                                       attn_error_t *error);

/**
 * Performer's directions, [dim][stride] with zeros behind the features: orthogonal in blocks of dim
 * (arXiv:2009.14794, Section 2.4). `block` has room for
 * min(dim, features) rows of dim.
 */
void attn_linear_directions(float *directions, int64_t stride, double *block, int64_t dim,
                            int64_t features, uint64_t seed);

/** Names of maps and rules, in the order of their numbers, ended by NULL. */
extern const char *const attn_linear_maps[], *const attn_linear_rules[];

#endif
