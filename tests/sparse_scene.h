/*
 * A problem whose pattern a run's arrays decide, with all its arrays, and the pairs that an oracle of the
 * test's says are kept: the backend sparse has to do with them what a mask of all pairs would.
 */
#ifndef ATTN_TESTS_SPARSE_SCENE_H
#define ATTN_TESTS_SPARSE_SCENE_H

#include "support/fixture.h"
#include "support/test.h"
#include "support/typed.h"

typedef struct scene {
    attn_problem_t problem;
    uint64_t number;
    char settings[128];
    typed_t query, key, value, out, lse, scores;
    typed_t mask, bias, slopes, sinks, lengths, key_scales, value_scales;
    typed_t kept;   /**< what the oracle sets, of all pairs */
    typed_t offset; /**< added to the bias by the pattern itself; none unless made */
    attn_io_t io;
} scene_t;

/** Small whole numbers, so that sums are exact and many are equal; lengths from 0 to m. Layouts and types go
 * by the number. */
scene_t scene_create(const attn_problem_t *problem, uint64_t number);
void scene_destroy(scene_t *scene);

/** In a quarter of the scenes make values of some tokens NaN, which rows that keep the token have to show, and no
 * others; no weight may be 0. */
void scene_spoil_values(scene_t *scene);

/** Keys that no row keeps, where they choose nothing, may be anything: make them NaN or infinite, their values, too. */
void scene_spoil_keys(scene_t *scene);

/** Number `number` of many problems of these sizes: other types, inputs, causal, past, window, grouped heads. */
attn_problem_t scene_problem(uint64_t number, const int64_t sizes[2], int64_t dim);

/** An array of whole numbers `least` + `step` * one of `count`, sealed. */
typed_t scene_draw(attn_dtype_t dtype, const int64_t shape[4], uint64_t from, int64_t count,
                   double least, double step);

/** A plan of the settings, in a precision that goes by the number. */
attn_plan_t *scene_plan(const attn_context_t *context, const scene_t *scene);

/** A run, which has to succeed, with a guarded workspace. */
void scene_run(const attn_plan_t *plan, scene_t *scene);

/** Fail unless the outputs, lse, scores and one head's weights are exact attention's over the kept pairs. */
void scene_compare(const attn_plan_t *plan, const scene_t *scene);

/** Plan, run, compare, destroy. */
void scene_check(const attn_context_t *context, scene_t *scene);

#define SHAPE(b, h, n, k) ((int64_t[]){b, h, n, k})

#endif
