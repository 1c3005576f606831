/*
 * sparse over the keys of the largest logits: as a mask of all pairs would, which says the same. Queries,
 * keys and what changes logits are small whole numbers and the scale is log 4, the base that kernels
 * compute in, so that logits which are equal are so in floats, too; there are many.
 */
#include "sparse_scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_KEYS = 1024, NONE = -1 };
static const double NEAR = 2e-5; /* natural logits that are nearer are equal ones, rounded */

static scene_t create(const attn_problem_t *problem, uint64_t number, int64_t top) {
    scene_t s = scene_create(problem, number);
    snprintf(s.settings, sizeof s.settings, "pattern=topkeys,top=%" PRId64, top);
    return s;
}

/* ---- the oracle ------------------------------------------------------------------------------------- */

/* Of a row's logits the largest, one after another, of equal ones the first. */
static void choose(scene_t *s, exact_t *exact, int64_t top, const int64_t at[3]) {
    const attn_problem_t *p = &s->problem;
    double logits[MOST_KEYS];
    exact_row(exact, p, &s->io, &EXACT_F64, at[0], at[1], at[2]);
    for (int64_t j = 0; j < p->keys; j++) {
        logits[j] = exact_sees(p, &s->io, at[0], at[1], at[2], j)
                        ? exact_score(exact, ATTN_SCORES_MASKED, j)
                        : -INFINITY;
        typed_set(&s->kept, at[0], at[1], at[2], j, 0);
    }
    for (int64_t t = 0; t < top; t++) {
        int64_t best = 0;
        for (int64_t j = 1; j < p->keys; j++)
            if (logits[j] > logits[best] + NEAR) best = j;
        if (logits[best] < -1e30) return;
        typed_set(&s->kept, at[0], at[1], at[2], best, 1);
        logits[best] = -INFINITY;
    }
}

static void choose_all(scene_t *s, int64_t top) {
    exact_t exact = exact_create(&s->problem);
    FOR_EACH_ROW(&s->problem, at) choose(s, &exact, top, at);
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

static void check(const attn_context_t *context, scene_t *s, int64_t top) {
    choose_all(s, top);
    scene_spoil_values(s);
    scene_check(context, s);
}

static void equals_a_mask(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{70, 70}, {1, 100}, {17, 700}, {40, 13}, {5, 3}, {1, 1}};
    static const int64_t tops[] = {1, 2, 7, 64, 300};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(sizes); n++)
        for (size_t k = 0; k < TEST_COUNT(tops); k++)
            for (int turn = 0; turn < 6; turn++, number++) {
                attn_problem_t problem = scene_problem(number, sizes[n], 9);
                problem.scale = unit_scale();
                if (!test_takes_case()) continue;
                scene_t s = create(&problem, number, tops[k]);
                check(context, &s, tops[k]);
            }
    attn_context_destroy(context);
}

/* Three queries of one number over keys of one, for any number of them that is kept. */
static void check_tops(double (*query)(int64_t), double (*key)(int64_t)) {
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 3, MOST_KEYS, 1, 3);
    problem.scale = 1;
    for (int64_t top = 1; top < 700; top += 1 + top * 2) {
        scene_t s = create(&problem, 1, top);
        for (int64_t i = 0; i < 3; i++) typed_set(&s.query, 0, 0, i, 0, query(i));
        for (int64_t j = 0; j < MOST_KEYS; j++) typed_set(&s.key, 0, 0, j, 0, key(j));
        check(context, &s, top);
    }
    attn_context_destroy(context);
}

static double falls_stays_rises(int64_t query) { return (double)(query - 1); }
static double step(int64_t key) { return (double)(key - MOST_KEYS / 2) / 64; }

/* Logits that rise from key to key, so that each is a candidate, and that fall, so that only the first are;
 * and all equal ones. */
static void orders(void **state) {
    (void)state;
    check_tops(falls_stays_rises, step);
}

static double either_sign(int64_t query) { return query ? 1 : -1; }
static double any_size(int64_t key) { return ldexp(key % 3 ? 1 : -1, (int)(key * 37 % 101) - 10); }

/* Logits of all sizes, so that the search for a bound halves ranges of them, and of their bits; many are equal. */
static void sizes(void **state) {
    (void)state;
    check_tops(either_sign, any_size);
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
            scene_t s = create(&problem, 2, 3);
            for (int64_t i = 0; i < 20; i++) typed_set(&s.query, 0, 0, i, 0, 1);
            for (int64_t k = 0; k < 4; k++) typed_set(&s.value, 0, 0, at, k, NAN);
            for (int64_t k = 0; k < 4; k++)
                typed_set(&s.key, 0, 0, at, k, chosen ? (k ? 0 : NAN) : k ? 0 : -100);
            attn_plan_t *plan = scene_plan(context, &s);
            scene_run(plan, &s);
            for (int64_t i = 0; i < 20; i++)
                assert_int_equal(isnan(typed_get(&s.io.out, 0, 0, i, 1)) != 0, chosen);
            attn_plan_destroy(plan);
            scene_destroy(&s);
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
    plan =
        fixture_plan(context, "sparse", &problem,
                     "pattern=topkeys,top=3,block=65536,local=65536"); /* which it does not read */
    attn_plan_destroy(plan);
    fixture_refuse_plan(context, "sparse", &problem, "pattern=topkeys,top=0", ATTN_ERROR_RANGE,
                        "top|at least 1");
    problem.keys = INT64_C(1) << 31;
    if (sizeof(void *) > 4) /* else there is no memory for as many */
        fixture_refuse_plan(context, "sparse", &problem, "pattern=topkeys,top=1", ATTN_ERROR_RANGE,
                            "topkeys|2147483648 keys|at most 2147483647");
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

TEST_MAIN(cmocka_unit_test(equals_a_mask), cmocka_unit_test(orders), cmocka_unit_test(sizes),
          cmocka_unit_test(poison), cmocka_unit_test(cost_and_facts),
          cmocka_unit_test(no_gradients))
