/*
 * A problem of linear attention with all its arrays, and what the oracle (attn/oracle_linear.h) says of it.
 */
#ifndef ATTN_TESTS_LINEAR_TRIAL_H
#define ATTN_TESTS_LINEAR_TRIAL_H

#include "attn/oracle_linear.h"
#include "support/fixture.h"
#include "support/typed.h"

enum { MAPS_COUNT = 7, RULES_COUNT = 4 };
extern const char *const MAPS[MAPS_COUNT], *const RULES[RULES_COUNT];

static inline int is_gated(int rule) {
    return rule == ATTN_ORACLE_RULE_GATED || rule == ATTN_ORACLE_RULE_GATED_DELTA;
}

static inline int is_delta(int rule) {
    return rule == ATTN_ORACLE_RULE_DELTA || rule == ATTN_ORACLE_RULE_GATED_DELTA;
}

/** Whether phi(x) has another length than x, so that decays are by head. */
static inline int is_wide(int map) {
    return map == ATTN_ORACLE_FAVOR || map == ATTN_ORACLE_TAYLOR2;
}

/** The backend-specific tensors, in its order. */
enum { DECAY, BETA, STATE, STATE_Z, STATE_OUT, STATE_Z_OUT, OWN };

/** How decays are given. */
enum { DECAY_BY_COLUMN, DECAY_BY_HEAD, DECAY_FOR_ALL_KEYS, DECAY_RETNET };

typedef struct trial {
    const attn_context_t *context;
    attn_problem_t problem;
    attn_oracle_linear_t form;
    layout_t layout;
    int with_state, decay_by;
    typed_t query, key, value, out, lengths, own[OWN];
    attn_report_t report;
    attn_io_t io;
    const attn_tensor_t *tensors[OWN];
} trial_t;

/** A trial without arrays yet. */
trial_t trial_of(const attn_context_t *context, const attn_problem_t *problem, int map, int rule,
                 int normalise);

/** One by chance, of awkward sizes. */
trial_t trial_draw(const attn_context_t *context, int map, int rule, int normalise,
                   uint64_t number);

/** Fills it: decays around e^-0.3, and betas with which beta |phi(k)|^2 stays below 2. */
void trial_make(trial_t *trial);
void trial_drop(trial_t *trial);

void trial_label(const trial_t *trial);

/** The parameters, as fixture_plan() takes them. */
const char *trial_settings(const trial_t *trial, char text[160]);

/** Plans and runs it, which must succeed. */
attn_plan_t *trial_run(trial_t *trial);

/** Frees what trial_run() made. */
void trial_end(trial_t *trial, attn_plan_t *plan);

/**
 * Fail unless all outputs are within the oracle's bounds: rows and states.
 * Returns how many rows have no value that float can tell.
 */
int64_t trial_compare(const trial_t *trial);

/** The same of a part: rows of `out` that stand for the queries of `io` under `problem`. */
int64_t trial_compare_part(const trial_t *trial, const attn_problem_t *problem, const attn_io_t *io,
                           const attn_tensor_t *out, const attn_tensor_t *state_out,
                           const attn_tensor_t *state_z_out);

/** Rows of an array, or where it has one for all, that one. */
attn_tensor_t trial_rows(const attn_tensor_t *tensor, int64_t first, int64_t count);

/** Appends tokens of the trial with their gates. */
attn_status_t trial_append(const trial_t *trial, attn_stream_t *stream, int64_t first,
                           int64_t count, attn_error_t *error);

#endif
