/*
 * Where a row's largest logit stands, and how far above the others: the online softmax meets maxima
 * in any order, and its error must not know. Logits are a level that a pattern gives to each key,
 * the highest being 0, plus small products; so logits that count are small, and what a running
 * maximum far away does to them shows against exact.c's bound.
 */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <float.h>
#include <math.h>

/* Keys of the longest block that kernels have, and of three blocks, the last not whole. */
enum { BLOCK = 256, KEYS = 2 * BLOCK + 88, DIM = 4 };

/* Levels in steps, 0 the highest. */
typedef struct pattern {
    const char *name;
    int64_t (*level)(int64_t key, int64_t keys);
} pattern_t;

static int64_t blocks_of(int64_t keys) { return (keys + BLOCK - 1) / BLOCK; }

static int64_t first(int64_t key, int64_t keys) {
    (void)keys;
    return key ? -1 : 0;
}
static int64_t last(int64_t key, int64_t keys) { return key < keys - 1 ? -1 : 0; }
static int64_t climbing(int64_t key, int64_t keys) { return key / BLOCK - blocks_of(keys) + 1; }
static int64_t falling(int64_t key, int64_t keys) {
    (void)keys;
    return -(key / BLOCK);
}
static int64_t climbing_by_key(int64_t key, int64_t keys) { return key - keys + 1; }
static int64_t low_then_high(int64_t key, int64_t keys) { return key < keys / 2 ? -1 : 0; }
static int64_t high_then_low(int64_t key, int64_t keys) { return key < keys / 2 ? 0 : -1; }
static int64_t by_turns(int64_t key, int64_t keys) {
    (void)keys;
    return key % 3 == 1 ? 0 : -1;
}

static const pattern_t PATTERNS[] = {{"the first key is highest", first},
                                     {"the last key is highest", last},
                                     {"climbing block by block", climbing},
                                     {"climbing key by key", climbing_by_key},
                                     {"falling block by block", falling},
                                     {"a low cluster, then a high one", low_then_high},
                                     {"a high cluster, then a low one", high_then_low},
                                     {"two clusters, by turns", by_turns}};

/* Few query rows are decoded, more are not. */
static const int64_t QUERIES[] = {1, 3, 20};

static attn_problem_t problem_of(int64_t queries, int64_t keys) {
    attn_problem_t problem = fixture_problem(1, 1, queries, keys, DIM, 5);
    problem.scale = 1;
    return problem;
}

/* The first feature carries the level: 1 in queries. */
static void set_levels(trial_t *trial, const pattern_t *pattern, double step) {
    const attn_problem_t *p = &trial->problem;
    for (int64_t i = 0; i < p->queries; i++) typed_set(&trial->query, 0, 0, i, 0, 1);
    for (int64_t j = 0; j < p->keys; j++)
        typed_set(&trial->key, 0, 0, j, 0, step * (double)pattern->level(j, p->keys));
}

static void check(const attn_context_t *context, const attn_problem_t *problem,
                  const pattern_t *pattern, double step, double sink) {
    if (!test_takes_case()) return;
    const look_t look = {.layout = LAYOUT_BHND, .lse = 1, .bias_axes = 7};
    trial_t trial = trial_create(problem, &look);
    set_levels(&trial, pattern, step);
    if (problem->inputs & ATTN_INPUT_SINKS) typed_set(&trial.sinks, 0, 0, 0, 0, sink);
    if (problem->inputs & ATTN_INPUT_BIAS)
        for (int64_t j = 0; j < problem->keys; j++) typed_set(&trial.bias, 0, 0, 0, j, 0);
    test_label("%s, %d queries, step %g, sink %g, inputs %x, causal %d", pattern->name,
               (int)problem->queries, step, sink, problem->inputs, problem->causal);
    trial_solve(context, &trial);
    trial_compare(&trial);
    if (!problem->inputs && trial_is_dense()) { /* a stream has no settings */
        trial_run_stream(context, &trial, trial_subject()->settings);
        trial_compare(&trial);
    }
    trial_destroy(&trial);
}

static void any_step(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t p = 0; p < TEST_COUNT(PATTERNS); p++)
            for (int power = -3; power <= 30; power++) {
                const attn_problem_t problem = problem_of(QUERIES[q], KEYS);
                check(context, &problem, &PATTERNS[p], ldexp(1, power), 0);
            }
    attn_context_destroy(context);
}

/* Rules beside the logits take another way through the kernels. */
static void with_rules(void **state) {
    (void)state;
    static const double steps[] = {0.5, 100, 1e4, 1e6, 1e9};
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t p = 0; p < TEST_COUNT(PATTERNS); p++)
            for (size_t s = 0; s < TEST_COUNT(steps); s++) {
                attn_problem_t problem = problem_of(QUERIES[q], KEYS);
                problem.inputs = ATTN_INPUT_BIAS;
                check(context, &problem, &PATTERNS[p], steps[s], 0);
                problem.inputs = ATTN_INPUT_SINKS;
                problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
                check(context, &problem, &PATTERNS[p], steps[s], -steps[s]);
            }
    attn_context_destroy(context);
}

/* A sink is a logit too, and the first that a row meets. Few keys: sums add little to the bound. */
static void any_sink(void **state) {
    (void)state;
    static const double sinks[] = {0, 1, 30, 100, 3000, 1e4, 1e6, 1e9, 1e20, 1e38, (double)FLT_MAX};
    static const pattern_t level = {"all alike", by_turns};
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t s = 0; s < 2 * TEST_COUNT(sinks); s++)
            for (int64_t keys = 1; keys <= 70; keys += 23) {
                attn_problem_t problem = problem_of(QUERIES[q], keys);
                problem.inputs = ATTN_INPUT_SINKS;
                check(context, &problem, &level, 0, s % 2 ? -sinks[s / 2] : sinks[s / 2]);
            }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(any_step), cmocka_unit_test(with_rules), cmocka_unit_test(any_sink))
