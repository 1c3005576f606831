/*
 * attention/plan.h: exact softmax attention over the keys that a pattern keeps, for the backends that
 * differ in the pattern alone. All of a problem's rules, types and outputs are dealt with here; a backend
 * adds what is its own: parameters, the pattern, facts and cost.
 *
 * Prefill goes through the key/value heads, one at a time or, where threads share the work, a few: pack
 * their keys, and once more those that the pattern gathers, then let all queries that read them attend, task by
 * task. A few queries are decoded: the keys that they see are read once, in place.
 */
#ifndef ATTN_ATTENTION_PLAN_H
#define ATTN_ATTENTION_PLAN_H

#include "attention/kernels.h"
#include "attn/ext/cost.h"
#include "attn/ext/weights.h"

/** What it can do, for any pattern. */
#define EXACT_FEATURES                                                                             \
    (ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_LSE | ATTN_FEATURE_PAST |     \
     ATTN_FEATURE_WINDOW | ATTN_FEATURE_SOFTCAP | ATTN_FEATURE_BIAS | ATTN_FEATURE_MASK |          \
     ATTN_FEATURE_KV_LENGTHS | ATTN_FEATURE_SINKS | ATTN_FEATURE_SLOPES |                          \
     (ATTN_SMALL ? 0 : ATTN_FEATURE_SCORES | ATTN_FEATURE_HALF | ATTN_FEATURE_INT8))

/* First member of a backend's plan. */
typedef struct exact_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const exact_kernels_t *kernels;
    const decode_kernels_t *decode; /* NULL: too many queries */
    const packed_kernels_t *packed; /* what attends in decoding; NULL: those kernels themselves */
    const attn_pattern_t *pattern;  /* NULL: dense */
    attn_problem_t problem;
    float scale;
    int integers; /* attn_head_t has them */
} exact_plan_t;

/**
 * Make a plan of `memory`, which the backend `id` took from the host; NULL says that there was none,
 * and a pattern stands in the same memory. A plan that cannot be made gives the memory back.
 *
 * `kernels` may be others than the host's own in f32 (NULL). Those of a pattern are for any number of queries. Those of
 * other precisions are for many; few are decoded all the same, and where integers are asked for (quantised.h), keys and
 * values in i8 are then multiplied as such.
 */
attn_status_t attn_exact_plan(const char *id, const attn_host_t *host,
                              const attn_problem_t *problem, exact_plan_t *memory,
                              const attn_pattern_t *pattern, const exact_kernels_t *kernels,
                              attn_backend_plan_t **result, attn_error_t *error);

/** What products are of, at least: values of a backend's parameter `precision`, and their names. */
enum exact_precision {
    EXACT_AUTO, /* f32; bf16 where queries, keys and values are in bf16 */
    EXACT_F32,
    EXACT_BF16_ONE,
    EXACT_BF16_THREE,
    EXACT_INT16, /* dense attention's alone (quantised.h) */
    EXACT_INT8,
    EXACT_PRECISION_COUNT
};
#define EXACT_PRECISION_HELP                                                                       \
    "what products are of, at least: f32; bf16, or three of them for each (bf16x3), where the "    \
    "processor multiplies those faster; integers with scales, which sparse takes for f32; auto: "  \
    "bf16 for inputs that are all bf16, else f32"
extern const char *const attn_exact_precisions[EXACT_PRECISION_COUNT + 1]; /* NULL behind them */

/** Kernels for floats of such a precision; NULL: those in f32, also where the processor multiplies nothing else faster. */
attn_status_t attn_exact_choose(const char *id, const attn_host_t *host,
                                const attn_problem_t *problem, int64_t precision,
                                const exact_kernels_t **kernels, attn_error_t *error);

/** For `attn.weights/1` of a backend whose plans these are. */
extern const attn_ext_weights_t attn_exact_weights;

/** What `pairs` kept pairs cost, with queries and output, and of each key/value head so many keys and values. */
void attn_exact_cost(const exact_plan_t *plan, double pairs, double keys, double values,
                     attn_cost_t *cost);

/* The two ways of a run, attn_backend_plan_t.run: prefill.c and decode.c. Counting a workspace takes an arena without
 * memory. Weights are those of `count` queries from `at` on. */
void attn_prefill_workspace(const exact_plan_t *plan, attn_arena_t *arena);
attn_status_t attn_prefill_run(const attn_backend_plan_t *base, const attn_io_t *io,
                               attn_error_t *error);
void attn_prefill_weights(const exact_plan_t *plan, const attn_io_t *io, attn_place_t at,
                          int64_t count, float *rows, int64_t row_stride);
/* Whether a problem is decoded, where a task has so many rows, and whether others have rows enough for integers
 * (quantised.h). */
int attn_decode_fits(const attn_problem_t *problem, const attn_pattern_t *pattern, int64_t rows);
int attn_quantised_fits(const attn_problem_t *problem);
void attn_decode_workspace(const exact_plan_t *plan, attn_arena_t *arena);
attn_status_t attn_decode_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error);
void attn_decode_scores(const exact_plan_t *plan, const attn_io_t *io);
void attn_decode_weights(const exact_plan_t *plan, const attn_io_t *io, attn_place_t at,
                         int64_t count, float *rows, int64_t row_stride);

#endif
