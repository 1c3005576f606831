/*
 * sparse over the keys of the largest logits: as a mask of all pairs would, which says the same. Queries,
 * keys and what changes logits are small whole numbers and the scale is log 4, the base that kernels
 * compute in, so that logits which are equal are so in floats, too; there are many.
 */
#include "support/fixture.h"
#include "support/test.h"
#include "support/typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 1024, NONE = -1 };
static const double NEAR = 2e-5; /* natural logits that are nearer are equal ones, rounded */

typedef struct scene {
    attn_problem_t problem, masked; /* as it is, and with the mask that says which keys are kept */
    int64_t top;
    typed_t query, key, value, out, lse, scores, kept;
    typed_t mask, bias, slopes, sinks, lengths, key_scales, value_scales;
    attn_io_t io;
} scene_t;

static typed_t draw(attn_dtype_t dtype, const int64_t shape[4], uint64_t from, int64_t count,
                    double least, double step) {
    typed_t array = typed_create(dtype, LAYOUT_BHND, shape);
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t k = 0; k < shape[3]; k++)
                    typed_set(&array, b, h, i, k,
                              least + step * (double)fixture_draw(from++, count));
    typed_seal(&array);
    return array;
}

#define SHAPE(b, h, n, k) ((int64_t[]){b, h, n, k})

static void draw_options(scene_t *s, uint64_t number) {
    const attn_problem_t *p = &s->problem;
    const uint64_t from = 1000 * number;
    if (p->inputs & ATTN_INPUT_MASK)
        s->mask = draw(ATTN_BOOL, SHAPE(p->batch, 1, p->queries, p->keys), from, 2, 0, 1);
    if (p->inputs & ATTN_INPUT_BIAS)
        s->bias = draw(ATTN_F32, SHAPE(1, p->heads, p->queries, p->keys), from + 1, 3, -1, 1);
    if (p->inputs & ATTN_INPUT_SLOPES)
        s->slopes = draw(ATTN_F32, SHAPE(1, p->heads, 1, 1), from + 2, 3, 0, 0.25);
    if (p->inputs & ATTN_INPUT_SINKS)
        s->sinks = draw(ATTN_F32, SHAPE(1, p->heads, 1, 1), from + 3, 5, -2, 2);
    if (p->inputs & ATTN_INPUT_KV_LENGTHS)
        s->lengths = draw(ATTN_I64, SHAPE(p->batch, 1, 1, 1), from + 4, p->keys + 1, 0, 1);
    if (p->kv_dtype != ATTN_I8) return;
    s->key_scales = draw(ATTN_F32, SHAPE(p->batch, p->kv_heads, p->keys, 1), from + 5, 2, 1, 1);
    s->value_scales = draw(ATTN_F32, SHAPE(p->batch, p->kv_heads, p->keys, 1), from + 6, 2, 1, 1);
}

static scene_t create(const attn_problem_t *p, uint64_t number) {
    const uint64_t from = 100 * number;
    scene_t s = {.problem = *p, .masked = *p};
    s.masked.inputs |= ATTN_INPUT_MASK;
    s.query = draw(p->dtype, SHAPE(p->batch, p->heads, p->queries, p->dim), from, 3, -1, 1);
    s.key = draw(p->kv_dtype, SHAPE(p->batch, p->kv_heads, p->keys, p->dim), from + 7, 3, -1, 1);
    s.value =
        draw(p->kv_dtype, SHAPE(p->batch, p->kv_heads, p->keys, p->value_dim), from + 9, 9, -4, 1);
    s.out = typed_create(p->dtype, (layout_t)(number % LAYOUT_COUNT),
                         SHAPE(p->batch, p->heads, p->queries, p->value_dim));
    s.lse = typed_create(ATTN_F32, LAYOUT_BHND, SHAPE(p->batch, p->heads, p->queries, 1));
    s.scores = typed_create(ATTN_F32, LAYOUT_BHND, SHAPE(p->batch, p->heads, p->queries, p->keys));
    s.kept = typed_create(ATTN_BOOL, LAYOUT_BHND, SHAPE(p->batch, p->heads, p->queries, p->keys));
    draw_options(&s, number);
    s.io = (attn_io_t){.struct_size = sizeof s.io,
                       .query = s.query.tensor,
                       .key = s.key.tensor,
                       .value = s.value.tensor,
                       .out = s.out.tensor,
                       .lse = s.lse.tensor,
                       .mask = s.mask.tensor,
                       .bias = s.bias.tensor,
                       .slopes = s.slopes.tensor,
                       .sinks = s.sinks.tensor,
                       .kv_lengths = s.lengths.tensor,
                       .key_scales = s.key_scales.tensor,
                       .value_scales = s.value_scales.tensor};
    return s;
}

static void destroy(scene_t *s) {
    typed_t *typed[] = {&s->query,  &s->key,     &s->value,      &s->out,         &s->lse,
                        &s->scores, &s->kept,    &s->mask,       &s->bias,        &s->slopes,
                        &s->sinks,  &s->lengths, &s->key_scales, &s->value_scales};
    for (size_t i = 0; i < TEST_COUNT(typed); i++) typed_destroy(typed[i]);
}

/* ---- the oracle ------------------------------------------------------------------------------------- */

/* Of a row's logits the largest, one after another, of equal ones the first. */
static void choose(scene_t *s, exact_t *exact, const int64_t at[3]) {
    const attn_problem_t *p = &s->problem;
    double logits[MOST_KEYS];
    exact_row(exact, p, &s->io, &EXACT_F64, at[0], at[1], at[2]);
    for (int64_t j = 0; j < p->keys; j++) {
        logits[j] = exact_sees(p, &s->io, at[0], at[1], at[2], j)
                        ? exact_score(exact, ATTN_SCORES_MASKED, j)
                        : -INFINITY;
        typed_set(&s->kept, at[0], at[1], at[2], j, 0);
    }
    for (int64_t t = 0; t < s->top; t++) {
        int64_t best = 0;
        for (int64_t j = 1; j < p->keys; j++)
            if (logits[j] > logits[best] + NEAR) best = j;
        if (logits[best] < -1e30) return;
        typed_set(&s->kept, at[0], at[1], at[2], best, 1);
        logits[best] = -INFINITY;
    }
}

static void choose_all(scene_t *s) {
    exact_t exact = exact_create(&s->problem);
    FOR_EACH_ROW(&s->problem, at) choose(s, &exact, at);
    exact_destroy(&exact);
}

/* Scores as asked for: those of no kept key are nothing. */
static void compare_scores(const scene_t *s, const exact_t *exact, const int64_t at[3]) {
    const int32_t stage = s->problem.scores;
    const double nothing = stage == ATTN_SCORES_WEIGHTS ? 0.0 : -INFINITY;
    if (!s->io.scores.data) return;
    for (int64_t j = 0; j < s->problem.keys; j++) {
        const double score = typed_get(&s->io.scores, at[0], at[1], at[2], j);
        if (!typed_get(&s->kept.tensor, at[0], at[1], at[2], j) && stage >= ATTN_SCORES_MASKED)
            compare_number(score, nothing, 0, "score", SHAPE(at[0], at[1], at[2], j));
        else
            compare_number(score,
                           stage == ATTN_SCORES_WEIGHTS ? exact->weight[j]
                                                        : exact_score(exact, stage, j),
                           stage == ATTN_SCORES_WEIGHTS ? exact->weight_bound[j]
                                                        : exact_score_bound(exact, stage, j),
                           "score", SHAPE(at[0], at[1], at[2], j));
    }
}

static void compare(const scene_t *s) {
    const attn_problem_t *p = &s->masked;
    exact_t exact = exact_create(p);
    attn_io_t io = s->io;
    io.mask = s->kept.tensor;
    FOR_EACH_ROW(p, at) {
        exact_row(&exact, p, &io, &EXACT_F32, at[0], at[1], at[2]);
        compare_exact_row(&exact, p, &io, at);
        compare_scores(s, &exact, at);
    }
    exact_destroy(&exact);
}

/* ---- runs -------------------------------------------------------------------------------------------- */

/* The scale with which a query of 1 is 1 in base 4, in floats. */
static float unit_scale(void) {
    float scale = 1.3862944f;
    while (scale * 0.72134752044448170368f < 1.0f) scale = nextafterf(scale, 2.0f);
    assert_true(scale * 0.72134752044448170368f == 1.0f);
    return scale;
}

static void run(const attn_context_t *context, scene_t *s) {
    char settings[64];
    attn_error_t error = {0};
    snprintf(settings, sizeof settings, "pattern=topkeys,top=%" PRId64, s->top);
    attn_plan_t *plan = fixture_plan(context, "sparse", &s->problem, settings);
    arrays_t memory = {.io = {.workspace = NULL}};
    arrays_give_workspace(&memory, plan);
    s->io.workspace = memory.io.workspace, s->io.workspace_size = memory.io.workspace_size;
    if (attn_run(plan, &s->io, &error)) test_fail("%s", error.message);
    typed_check(&s->out, "out");
    arrays_destroy(&memory);
    attn_plan_destroy(plan);
}

static void check(const attn_context_t *context, const attn_problem_t *problem, uint64_t number,
                  int64_t top) {
    scene_t s = create(problem, number);
    s.top = top;
    if (number % 3 == 0) s.io.scores = s.scores.tensor;
    test_label("n %" PRId64 " m %" PRId64 " top %" PRId64 " causal %d inputs %x number %" PRIu64,
               problem->queries, problem->keys, top, problem->causal, (unsigned)problem->inputs,
               number);
    choose_all(&s);
    run(context, &s);
    compare(&s);
    destroy(&s);
}

static void equals_a_mask(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{70, 70}, {1, 100}, {17, 700}, {40, 13}, {5, 3}, {1, 1}};
    static const int64_t tops[] = {1, 2, 7, 64, 300};
    static const attn_dtype_t types[][2] = {{ATTN_F32, ATTN_F32},
                                            {ATTN_F32, ATTN_F32},
                                            {ATTN_F16, ATTN_F16},
                                            {ATTN_BF16, ATTN_BF16},
                                            {ATTN_F32, ATTN_I8}};
    static const uint32_t inputs[] = {0,
                                      ATTN_INPUT_KV_LENGTHS,
                                      ATTN_INPUT_MASK,
                                      ATTN_INPUT_BIAS | ATTN_INPUT_SINKS,
                                      ATTN_INPUT_SLOPES,
                                      ATTN_INPUT_MASK | ATTN_INPUT_BIAS | ATTN_INPUT_KV_LENGTHS,
                                      0};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(sizes); n++)
        for (size_t k = 0; k < TEST_COUNT(tops); k++)
            for (int turn = 0; turn < 6; turn++, number++) {
                attn_problem_t problem =
                    fixture_problem(2, 4, sizes[n][0], sizes[n][1], 9, number % 2 ? 20 : 5);
                problem.kv_heads = number % 3 ? 4 : 2;
                problem.causal = turn % 3;
                problem.dtype = types[number % 5][0], problem.kv_dtype = types[number % 5][1];
                problem.scale = unit_scale();
                problem.inputs = inputs[number % 7];
                problem.scores = (int32_t)(number / 3 % 4);
                if (number % 7 == 6) problem.softcap = 30;
                if (turn == 4) problem.window_left = 17;
                if (turn == 3) problem.past = 11;
                if (test_takes_case()) check(context, &problem, number, tops[k]);
            }
    attn_context_destroy(context);
}

/* Logits that rise from key to key, so that each is a candidate, and that fall, so that only the first are;
 * and all equal ones. */
static void orders(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 3, MOST_KEYS, 1, 3);
    problem.scale = 1;
    for (int64_t top = 1; top < 700; top += 1 + top * 2) {
        scene_t s = create(&problem, 1);
        s.top = top;
        for (int64_t i = 0; i < 3; i++) typed_set(&s.query, 0, 0, i, 0, (double)(i - 1));
        for (int64_t j = 0; j < MOST_KEYS; j++)
            typed_set(&s.key, 0, 0, j, 0, (double)(j - MOST_KEYS / 2) / 64);
        test_label("top %" PRId64, top);
        choose_all(&s);
        run(context, &s);
        compare(&s);
        destroy(&s);
    }
    attn_context_destroy(context);
}

/* ---- numbers that are not finite ---------------------------------------------------------------------- */

/* A NaN is as large as infinity: it is chosen, and tells. A key that is not chosen tells nothing. */
static void poison(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 20, 600, 4, 4);
    problem.scale = 1;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    for (int64_t at = 0; at < 600; at += 150) {
        for (int chosen = 0; chosen < 2; chosen++) {
            scene_t s = create(&problem, 2);
            s.top = 3;
            for (int64_t i = 0; i < 20; i++) typed_set(&s.query, 0, 0, i, 0, 1);
            for (int64_t k = 0; k < 4; k++) typed_set(&s.value, 0, 0, at, k, NAN);
            for (int64_t k = 0; k < 4; k++)
                typed_set(&s.key, 0, 0, at, k, chosen ? (k ? 0 : NAN) : k ? 0 : -100);
            run(context, &s);
            for (int64_t i = 0; i < 20; i++)
                assert_int_equal(isnan(typed_get(&s.io.out, 0, 0, i, 1)) != 0, chosen);
            destroy(&s);
        }
    }
    attn_context_destroy(context);
}

/* ---- what a plan says ---------------------------------------------------------------------------------- */

static void cost_and_facts(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 10, 10, 4, 4);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "pattern=topkeys,top=3");
    attn_cost_t cost = {.struct_size = sizeof cost};
    attn_error_t error = {0};
    assert_int_equal(attn_plan_cost(plan, &cost, &error), ATTN_OK);
    assert_true(cost.pairs == 2 * (1 + 2 + 8 * 3));
    assert_true(fixture_fact(plan, "top", NONE) == 3);
    attn_plan_destroy(plan);
    plan = fixture_plan(context, "sparse", &problem, "pattern=topkeys,top=100");
    assert_true(fixture_fact(plan, "top", NONE) == 10); /* as many as there are */
    attn_plan_destroy(plan);
    fixture_refuse_plan(context, "sparse", &problem, "pattern=topkeys,top=0", ATTN_ERROR_RANGE,
                        "top|at least 1");
    attn_context_destroy(context);
}

/* The way back walks over all keys of a run: where rows choose among them there is none. */
static void no_gradients(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 5, 5, 4, 4);
    problem.backward = 1;
    fixture_refuse_plan(context, "sparse", &problem, "pattern=topkeys,top=2",
                        ATTN_ERROR_UNSUPPORTED, "topkeys|gradients");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask), cmocka_unit_test(orders), cmocka_unit_test(poison),
          cmocka_unit_test(cost_and_facts), cmocka_unit_test(no_gradients))
