/* What every backend owes its callers, whatever it computes. */
#include "support/backends.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/** lin's normaliser is a signed sum: entries around 1 keep it away from 0. */
static void fill_for(const subject_t *subject, arrays_t *arrays) {
    if (subject->formula.form != FORM_LINEAR || subject->formula.map == MAP_ELU1) return;
    array_t *inputs[] = {&arrays->query, &arrays->key};
    for (int a = 0; a < 2; a++) {
        const int64_t *shape = inputs[a]->tensor.shape;
        for (int64_t b = 0; b < shape[0]; b++)
            for (int64_t h = 0; h < shape[1]; h++)
                for (int64_t i = 0; i < shape[2]; i++)
                    for (int64_t c = 0; c < shape[3]; c++) {
                        const float x = array_get(inputs[a], b, h, i, c);
                        array_set(inputs[a], b, h, i, c, 1 + 0.2f * x);
                    }
    }
}

static arrays_t arrays_for(const subject_t *subject, const attn_problem_t *problem,
                           layout_t layout) {
    const int with_lse = subject->formula.form != FORM_LINEAR;
    arrays_t arrays = arrays_create(problem, layout, with_lse);
    fill_for(subject, &arrays);
    return arrays;
}

static void label(const subject_t *s, const attn_problem_t *p) {
    test_label("%s %s: B %" PRId64 " H %" PRId64 "/%" PRId64 " n %" PRId64 " m %" PRId64
               " d %" PRId64 " dv %" PRId64 " causal %d",
               s->backend, s->settings, p->batch, p->heads, p->kv_heads, p->queries, p->keys,
               p->dim, p->value_dim, p->causal);
}

static void check_finite(const arrays_t *arrays) {
    if (attn_count_nonfinite(&arrays->out.tensor) != 0) test_fail("out is not finite");
}

static void check_result(const subject_t *subject, const arrays_t *arrays) {
    if (!subject->exact)
        check_finite(arrays);
    else if (compare_output(arrays, &subject->formula) != arrays->report.degenerate_rows)
        test_fail("%" PRId64 " rows are reported as degenerate", arrays->report.degenerate_rows);
}

static void smallest_shapes(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (int code = 0; code < 3 * 81; code++) {
            attn_problem_t problem = fixture_problem(1, 1, 1 + code % 3, 1 + code / 3 % 3,
                                                     1 + code / 9 % 3, 1 + code / 27 % 3);
            problem.causal = code / 81;
            if (!test_takes_case()) continue;
            label(&SUBJECTS[s], &problem);
            arrays_t arrays = arrays_for(&SUBJECTS[s], &problem, (layout_t)(code % LAYOUT_COUNT));
            fixture_solve(context, SUBJECTS[s].backend, SUBJECTS[s].settings, &arrays);
            check_result(&SUBJECTS[s], &arrays);
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

static attn_problem_t middling_problem(int32_t causal) {
    attn_problem_t problem = fixture_problem(2, 4, 150, 171, 24, 21);
    problem.kv_heads = 2;
    problem.causal = causal;
    return problem;
}

static void every_layout(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++)
            for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
                attn_problem_t problem = middling_problem(causal);
                problem.queries = 37, problem.keys = 50;
                if (!test_takes_case()) continue;
                label(&SUBJECTS[s], &problem);
                arrays_t arrays = arrays_for(&SUBJECTS[s], &problem, (layout_t)layout);
                fixture_solve(context, SUBJECTS[s].backend, SUBJECTS[s].settings, &arrays);
                check_result(&SUBJECTS[s], &arrays);
                arrays_destroy(&arrays);
            }
    attn_context_destroy(context);
}

static void repeated_runs_agree(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        const attn_problem_t problem = middling_problem(ATTN_CAUSAL_NONE);
        if (!test_takes_case()) continue;
        label(&SUBJECTS[s], &problem);
        arrays_t a = arrays_for(&SUBJECTS[s], &problem, LAYOUT_BHND);
        arrays_t b = arrays_for(&SUBJECTS[s], &problem, LAYOUT_BHND);
        attn_plan_t *plan =
            fixture_plan(context, SUBJECTS[s].backend, &problem, SUBJECTS[s].settings);
        arrays_run(&a, plan);
        arrays_run(&b, plan);
        arrays_run(&b, plan);
        array_check_same(&a.out, &b.out, "out of two runs");
        attn_plan_destroy(plan);
        arrays_destroy(&a);
        arrays_destroy(&b);
    }
    attn_context_destroy(context);
}

/** Solves in `context` and compares bits with `expected`. */
static void check_same_in(const attn_context_t *context, const subject_t *subject,
                          const arrays_t *expected, const char *what) {
    arrays_t arrays = arrays_for(subject, &expected->problem, LAYOUT_BHND);
    fixture_solve(context, subject->backend, subject->settings, &arrays);
    array_check_same(&expected->out, &arrays.out, what);
    if (expected->lse.block) array_check_same(&expected->lse, &arrays.lse, what);
    assert_int_equal(expected->report.degenerate_rows, arrays.report.degenerate_rows);
    arrays_destroy(&arrays);
}

/** An embedder's pool that runs tasks last to first, each time with another worker number. */
typedef struct backwards {
    uint32_t workers, calls;
} backwards_t;

static void backwards(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    backwards_t *order = pool;
    for (int64_t t = tasks - 1; t >= 0; t--) task(data, t, order->calls++ % order->workers);
}

static attn_ext_threads_t pool_of(backwards_t *order) {
    return (attn_ext_threads_t){.struct_size = sizeof(attn_ext_threads_t),
                                .workers = order->workers,
                                .pool = order,
                                .parallel_for = backwards};
}

static attn_context_t *context_with_pool(const attn_ext_threads_t *pool) {
    const attn_context_options_t options = {.struct_size = sizeof options, .pool = pool};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    return context;
}

static void threads_do_not_matter(void **state) {
    (void)state;
    backwards_t order = {.workers = 5};
    const attn_ext_threads_t pool = pool_of(&order);
    attn_context_t *contexts[] = {
        fixture_context(1),
        context_with_pool(&pool),
#ifndef __wasm__
        fixture_context(2),
        fixture_context(3),
#endif
    };
    int cases = 0;
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal += 2) {
            const attn_problem_t problem = middling_problem(causal);
            if (!test_takes_case()) continue;
            cases++;
            label(&SUBJECTS[s], &problem);
            arrays_t one = arrays_for(&SUBJECTS[s], &problem, LAYOUT_BHND);
            fixture_solve(contexts[0], SUBJECTS[s].backend, SUBJECTS[s].settings, &one);
            check_finite(&one);
            for (size_t c = 1; c < TEST_COUNT(contexts); c++)
                check_same_in(contexts[c], &SUBJECTS[s], &one,
                              c == 1 ? "out with the embedder's pool" : "out with threads");
            arrays_destroy(&one);
        }
    assert_true(order.calls > 0 || cases == 0); // the pool was used
    for (size_t c = 0; c < TEST_COUNT(contexts); c++) attn_context_destroy(contexts[c]);
}

/** Heads of many queries, which threads take a few at a time: of eight by two workers three, three and two. */
static void threads_take_heads_in_groups(void **state) {
    (void)state;
    backwards_t order = {.workers = 2};
    const attn_ext_threads_t pool = pool_of(&order);
    attn_context_t *alone = fixture_context(1), *context = context_with_pool(&pool);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        attn_problem_t problem = fixture_problem(2, 4, 2000, 300, 4, 4);
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (!SUBJECTS[s].exact || SUBJECTS[s].formula.form == FORM_LINEAR || !test_takes_case())
            continue;
        label(&SUBJECTS[s], &problem);
        arrays_t one = arrays_for(&SUBJECTS[s], &problem, LAYOUT_BHND);
        fixture_solve(alone, SUBJECTS[s].backend, SUBJECTS[s].settings, &one);
        check_same_in(context, &SUBJECTS[s], &one, "out of heads in groups");
        arrays_destroy(&one);
    }
    attn_context_destroy(context);
    attn_context_destroy(alone);
}

/** An embedder's pool that stops runs: of another context's threads, but only the first tasks. */
typedef struct brake {
    const attn_ext_threads_t *threads;
    int64_t left;
    attn_task_t *task;
    void *data;
} brake_t;

static void braked(void *data, int64_t task, uint32_t worker) {
    brake_t *brake = data;
    if (brake->left <= 0) return;
    brake->left--;
    brake->task(brake->data, task, worker);
}

static void braking(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    brake_t *brake = pool;
    brake->task = task;
    brake->data = data;
    brake->threads->parallel_for(brake->threads->pool, tasks, braked, brake);
}

/** Runs without asking that anything is written: outputs hold numbers before. */
static void run_stopped(const attn_context_t *context, const subject_t *subject,
                        const attn_problem_t *problem) {
    arrays_t arrays = arrays_for(subject, problem, LAYOUT_BHND);
    attn_plan_t *plan = fixture_plan(context, subject->backend, problem, subject->settings);
    array_fill_normal(&arrays.out, 4, 1);
    if (arrays.lse.block) array_fill_normal(&arrays.lse, 5, 1);
    arrays_give_workspace(&arrays, plan);
    assert_int_equal(attn_run(plan, &arrays.io, NULL), ATTN_OK);
    arrays_check(&arrays);
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
}

/** A run that is stopped anywhere, also where there is one worker, ends and stays in its bounds. */
static void tasks_can_be_left_out(void **state) {
    (void)state;
    const attn_problem_t problem = middling_problem(ATTN_CAUSAL_TOP_LEFT);
    attn_context_t *owner = fixture_context(1);
    brake_t brake = {.threads = attn_context_threads(owner)};
    const attn_ext_threads_t pool = {.struct_size = sizeof pool,
                                     .workers = brake.threads->workers,
                                     .pool = &brake,
                                     .parallel_for = braking};
    attn_context_t *context = context_with_pool(&pool);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        if (!test_takes_case()) continue;
        label(&SUBJECTS[s], &problem);
        for (int64_t first = 0; first < 4; first++) {
            brake.left = first;
            run_stopped(context, &SUBJECTS[s], &problem);
            assert_int_equal(brake.left, 0);
        }
        arrays_t whole = arrays_for(&SUBJECTS[s], &problem, LAYOUT_BHND);
        fixture_solve(owner, SUBJECTS[s].backend, SUBJECTS[s].settings, &whole);
        brake.left = INT64_MAX;
        check_same_in(context, &SUBJECTS[s], &whole, "out with threads of another context");
        arrays_destroy(&whole);
    }
    attn_context_destroy(context);
    attn_context_destroy(owner);
}

/** NaN and infinity in keys and values that a query may not see do not reach its output. */
static void masked_poison(void **state) {
    (void)state;
    static const float poisons[] = {NAN, INFINITY};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (size_t p = 0; p < TEST_COUNT(poisons); p++) {
            const attn_problem_t problem = middling_problem(ATTN_CAUSAL_TOP_LEFT);
            const int64_t clean = 99; // keys before the poison
            if (!test_takes_case()) continue;
            label(&SUBJECTS[s], &problem);
            arrays_t arrays = arrays_for(&SUBJECTS[s], &problem, LAYOUT_BHND);
            for (int64_t j = clean; j < problem.keys; j += 3) {
                array_set(&arrays.key, 1, 1, j, j % problem.dim, poisons[p]);
                array_set(&arrays.value, 1, 1, j, j % problem.value_dim, poisons[p]);
            }
            fixture_solve(context, SUBJECTS[s].backend, SUBJECTS[s].settings, &arrays);
            if (SUBJECTS[s].exact) compare_output(&arrays, &SUBJECTS[s].formula);
            for (int64_t h = 0; h < problem.heads; h++)
                for (int64_t i = 0; i < clean; i++)
                    for (int64_t c = 0; c < problem.value_dim; c++)
                        if (!isfinite(array_get(&arrays.out, 1, h, i, c)))
                            test_fail("query %" PRId64 " of head %" PRId64 " got %g", i, h,
                                      (double)array_get(&arrays.out, 1, h, i, c));
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

static void queries_without_keys(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        attn_problem_t problem = fixture_problem(1, 2, 30, 4, 8, 7);
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        label(&SUBJECTS[s], &problem);
        arrays_t arrays = arrays_for(&SUBJECTS[s], &problem, LAYOUT_PADDED);
        fixture_solve(context, SUBJECTS[s].backend, SUBJECTS[s].settings, &arrays);
        for (int64_t i = 0; i < 26; i++) {
            for (int64_t c = 0; c < 7; c++)
                if (array_get(&arrays.out, 0, 1, i, c) != 0) test_fail("out is not 0");
            if (arrays.lse.block && array_get(&arrays.lse, 0, 1, i, 0) != -INFINITY)
                test_fail("lse is not -inf");
        }
        if (arrays.report.degenerate_rows) test_fail("rows without keys are counted as degenerate");
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

/** The weights are those of the formula and give the output, asked all at once or row by row. */
static void weights_give_output(void **state) {
    (void)state;
    static const int64_t steps[] = {1, 5, 64};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        if (!SUBJECTS[s].exact) continue; // tests/sketch/
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
            attn_problem_t problem = middling_problem(causal);
            problem.queries = 61, problem.keys = 43;
            if (!test_takes_case()) continue;
            label(&SUBJECTS[s], &problem);
            arrays_t arrays = arrays_for(&SUBJECTS[s], &problem, (layout_t)(s % LAYOUT_COUNT));
            attn_plan_t *plan =
                fixture_plan(context, SUBJECTS[s].backend, &problem, SUBJECTS[s].settings);
            arrays_run(&arrays, plan);
            compare_weights(&arrays, plan, &SUBJECTS[s].formula, steps[causal]);
            attn_plan_destroy(plan);
            arrays_destroy(&arrays);
        }
    }
    attn_context_destroy(context);
}

static attn_cost_t cost_of(const attn_context_t *context, const subject_t *subject,
                           const attn_problem_t *problem) {
    attn_plan_t *plan = fixture_plan(context, subject->backend, problem, subject->settings);
    attn_cost_t cost = {.struct_size = sizeof cost};
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    attn_plan_destroy(plan);
    return cost;
}

/** Pairs that the exact formula's weights are not zero on. */
static double pairs_of(const subject_t *subject, const attn_problem_t *problem) {
    double pairs = 0;
    for (int64_t i = 0; i < problem->queries; i++)
        for (int64_t j = 0; j < problem->keys; j++)
            pairs += reference_sees(&subject->formula, problem, i, j);
    return pairs * (double)(problem->batch * problem->heads);
}

/** Keys that some query keeps. */
static int64_t keys_of(const subject_t *subject, const attn_problem_t *problem) {
    int64_t keys = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        int is_seen = 0;
        for (int64_t i = 0; i < problem->queries && !is_seen; i++)
            is_seen = reference_sees(&subject->formula, problem, i, j);
        keys += is_seen;
    }
    return keys;
}

/** Sketches that look at all queries and keys to choose features, also at keys that no query sees. */
static int chooses_features(const subject_t *subject) {
    static const char *const methods[] = {"leverage", "deterministic", "approximate"};
    for (size_t i = 0; i < TEST_COUNT(methods); i++)
        if (subject->settings && strstr(subject->settings, methods[i])) return 1;
    return 0;
}

static void cost_is_told(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
            const attn_problem_t p = middling_problem(causal);
            label(&SUBJECTS[s], &p);
            const attn_cost_t cost = cost_of(context, &SUBJECTS[s], &p);
            assert_non_null(cost.form);
            assert_true(strlen(cost.form) > 0);
            assert_true(isfinite(cost.flops) && cost.flops > 0);
            const int64_t seen = keys_of(&SUBJECTS[s], &p);
            const int64_t scored = chooses_features(&SUBJECTS[s]) ? p.keys - seen : 0;
            const double bytes =
                4.0 * (double)(p.batch *
                               ((p.heads * p.queries + p.kv_heads * seen) * (p.dim + p.value_dim) +
                                p.kv_heads * scored * p.dim));
            if (cost.bytes != bytes) test_fail("bytes are %.17g, not %.17g", cost.bytes, bytes);
            if (cost.pairs != pairs_of(&SUBJECTS[s], &p))
                test_fail("pairs are %.17g, not %.17g", cost.pairs, pairs_of(&SUBJECTS[s], &p));

            attn_problem_t twice = p;
            twice.batch *= 2;
            assert_true(cost_of(context, &SUBJECTS[s], &twice).flops == 2 * cost.flops);
        }
    attn_context_destroy(context);
}

/** A term of the output takes a product and an addition; the backends on pairs do no less. */
static void flops_follow_the_formula(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        const attn_problem_t p = middling_problem(ATTN_CAUSAL_NONE);
        const attn_cost_t cost = cost_of(context, &SUBJECTS[s], &p);
        label(&SUBJECTS[s], &p);
        if (SUBJECTS[s].exact && SUBJECTS[s].formula.form != FORM_LINEAR) {
            assert_true(cost.flops == 2 * cost.pairs * (double)(p.dim + p.value_dim));
            continue;
        }
        attn_problem_t longer = p; // twice as long: linear costs twice, sketch less than 4 times
        longer.queries *= 2, longer.keys *= 2;
        const double ratio = cost_of(context, &SUBJECTS[s], &longer).flops / cost.flops;
        const double most = SUBJECTS[s].exact ? 2.0 : 4.0;
        if (!(ratio >= 2 && ratio <= most)) test_fail("flops grow by %g", ratio);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(smallest_shapes), cmocka_unit_test(every_layout),
          cmocka_unit_test(repeated_runs_agree), cmocka_unit_test(threads_do_not_matter),
          cmocka_unit_test(threads_take_heads_in_groups), cmocka_unit_test(tasks_can_be_left_out),
          cmocka_unit_test(masked_poison), cmocka_unit_test(queries_without_keys),
          cmocka_unit_test(weights_give_output), cmocka_unit_test(cost_is_told),
          cmocka_unit_test(flops_follow_the_formula))
