/*
 * Contexts and plans with one line of test each; failures end the test.
 */
#ifndef ATTN_TESTS_FIXTURE_H
#define ATTN_TESTS_FIXTURE_H

#include "arrays.h"
#include "compare.h"

/** A context at the tier that ATTN_CPU says, with this many threads (under WASM: one). */
attn_context_t *fixture_context(int threads);

/** Floats in a vector of the context's tier; 4 for the scalar one, so that its lengths mean something. */
int64_t fixture_lanes(const attn_context_t *context);

/** Whether the tier has products of bf16 numbers of its own. */
int fixture_multiplies_bf16(const attn_context_t *context);

/** f32, B batches, H heads over Hkv, self attention's sizes changed by the caller. */
attn_problem_t fixture_problem(int64_t batch, int64_t heads, int64_t queries, int64_t keys,
                               int64_t dim, int64_t value_dim);

/** "name=value,name=value" as parameters, which point into the text: it is cut at commas and equal signs. */
enum { FIXTURE_SETTINGS = 8 };
uint32_t fixture_settings(char *text, attn_param_t params[FIXTURE_SETTINGS]);

/** Parse "name=value,name=value" ("" or NULL: none) and call attn_plan_create(). */
attn_status_t fixture_try_plan(const attn_context_t *context, const char *backend,
                               const attn_problem_t *problem, const char *settings,
                               attn_plan_t **plan, attn_error_t *error);

/** The same of a stream. */
attn_status_t fixture_try_stream(const attn_context_t *context, const char *backend,
                                 const attn_problem_t *problem, const char *settings,
                                 int64_t max_keys, attn_stream_t **stream, attn_error_t *error);

/** Fail unless no plan is made, for this reason: fixture_expect()'s words. */
void fixture_refuse_plan(const attn_context_t *context, const char *backend,
                         const attn_problem_t *problem, const char *settings,
                         attn_status_t expected, const char *words);

/** A plan that must succeed. */
attn_plan_t *fixture_plan(const attn_context_t *context, const char *backend,
                          const attn_problem_t *problem, const char *settings);

/** Plan, run, check guards and destroy the plan: out, lse and report are filled. */
void fixture_solve(const attn_context_t *context, const char *backend, const char *settings,
                   arrays_t *arrays);

/** A number the plan tells of itself, or `otherwise`. */
double fixture_fact(const attn_plan_t *plan, const char *name, double otherwise);

/** Uniform whole number in [0, count), draw `index` of the seed's stream 9. */
int64_t fixture_draw(uint64_t index, int64_t count);

/**
 * Fail unless a call returned `expected` and left the same status with one line of text that has all
 * of `words` (separated by '|') in it.
 */
void fixture_expect(attn_status_t status, const attn_error_t *error, attn_status_t expected,
                    const char *words);

#endif
