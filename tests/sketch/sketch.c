/* sketch: seeds, sizes, and everything that follows from its definition without statistics. */
#include "support/fixture.h"
#include "support/test.h"

#include "attn/oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = {"gaussian", "ams", "osnap", "leverage", "srht"};
enum { METHOD_COUNT = 5 };
static const formula_t SOFTMAX = {.form = FORM_SOFTMAX};

static const char *settings(char text[96], const char *method, int64_t size, int64_t seed) {
    snprintf(text, 96, "method=%s,size=%" PRId64 ",seed=%" PRId64, method, size, seed);
    test_label("%s", text);
    return text;
}

static int same_output(const arrays_t *a, const arrays_t *b) {
    return memcmp(a->out.block, b->out.block, a->out.words * sizeof *a->out.block) == 0;
}

static void seed_decides(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 9, 11, 32, 5);
    for (int m = 0; m < METHOD_COUNT; m++) {
        char text[96];
        arrays_t first = arrays_create(&problem, LAYOUT_BHND, 1);
        fixture_solve(context, "sketch", settings(text, METHODS[m], 8, 1), &first);
        for (int64_t seed = 1; seed <= 20; seed++) {
            arrays_t again = arrays_create(&problem, LAYOUT_BHND, 1);
            fixture_solve(context, "sketch", settings(text, METHODS[m], 8, seed), &again);
            if (same_output(&first, &again) != (seed == 1))
                test_fail("seeds 1 and %" PRId64 " give %s outputs", seed,
                          seed == 1 ? "different" : "the same");
            arrays_destroy(&again);
        }
        arrays_destroy(&first);
    }
    attn_context_destroy(context);
}

static const char *text_of(const attn_plan_t *plan, const char *name) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++)
        if (strcmp(fact.name, name) == 0) return fact.text;
    return NULL;
}

static const char *guarantee_of(const attn_plan_t *plan) { return text_of(plan, "guarantee"); }

/** With all features kept nothing is lost: softmax attention within its own bounds. */
static void exact_when_all_is_kept(void **state) {
    (void)state;
    static const int64_t sizes[] = {24, 25, 1000, 65536};
    attn_context_t *context = fixture_context(1);
    for (int m = 0; m < METHOD_COUNT; m++)
        for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
            char text[96];
            attn_problem_t problem = fixture_problem(1, 2, 19, 23, 24, 7);
            problem.causal = (int32_t)(s % 3);
            problem.kv_heads = 1;
            arrays_t arrays = arrays_create(&problem, (layout_t)s, 1);
            attn_plan_t *plan =
                fixture_plan(context, "sketch", &problem, settings(text, METHODS[m], sizes[s], 3));
            assert_true(fixture_fact(plan, "exact", -1) == 1);
            assert_string_equal(text_of(plan, "exact"), "yes");
            assert_true(fixture_fact(plan, "size", -1) == 24);
            arrays_run(&arrays, plan);
            compare_output(&arrays, &SOFTMAX);
            compare_weights(&arrays, plan, &SOFTMAX, 7);
            attn_plan_destroy(plan);
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

/** The size asked for is the size taken; "automatic" follows eps and delta, and is always told. */
static void sizes_are_told(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 4, 4, 4096, 4);
    for (int m = 0; m < METHOD_COUNT; m++) {
        char text[96];
        if (!test_takes_case()) continue;
        attn_plan_t *plan =
            fixture_plan(context, "sketch", &problem, settings(text, METHODS[m], 77, 0));
        assert_true(fixture_fact(plan, "size", -1) == 77);
        assert_true(fixture_fact(plan, "exact", -1) == 0);
        assert_string_equal(text_of(plan, "exact"), "no");
        assert_true(guarantee_of(plan) && strlen(guarantee_of(plan)) > 0);
        attn_plan_destroy(plan);

        double last = 0;
        static const char *const eps[] = {"0.9", "0.6", "0.3"};
        for (size_t e = 0; e < TEST_COUNT(eps); e++) {
            snprintf(text, sizeof text, "method=%s,eps=%s,delta=0.1", METHODS[m], eps[e]);
            test_label("%s", text);
            plan = fixture_plan(context, "sketch", &problem, text);
            const double size = fixture_fact(plan, "size", -1);
            if (!(size > last && size <= 4096)) test_fail("size %g after %g", size, last);
            last = size;
            attn_plan_destroy(plan);
        }
        double more[2];
        static const char *const delta[] = {"0.5", "0.05"};
        for (size_t e = 0; e < 2; e++) {
            snprintf(text, sizeof text, "method=%s,eps=0.8,delta=%s", METHODS[m], delta[e]);
            plan = fixture_plan(context, "sketch", &problem, text);
            more[e] = fixture_fact(plan, "size", -1);
            attn_plan_destroy(plan);
        }
        assert_true(more[1] > more[0]); // a smaller chance of failure costs features
    }
    attn_context_destroy(context);
}

/** The bounds of bound.h once more: features for eps, where [Q; K] has at most this rank. */
static double bound_of(const char *method, const attn_problem_t *problem, double rank, double eps,
                       double delta) {
    if (strcmp(method, "leverage") == 0) return 3 * rank * log(2 * rank / delta) / (eps * eps);
    if (strcmp(method, "gaussian") == 0)
        return 2 * log(4 * (double)problem->queries * (double)problem->keys / delta) /
               (eps * eps / 2 - eps * eps * eps / 3);
    return 2 / (eps * eps * delta);
}

/** What is printed holds: no eps and no probability is better than what the size is enough for. */
static void guarantees_hold_as_printed(void **state) {
    (void)state;
    static const char *const deltas[] = {"0.1", "0.123456", "0.5", "1.2345e-6"};
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 4, 4, 512, 4);
    for (int m = 0; m < METHOD_COUNT; m++)
        for (size_t d = 0; d < TEST_COUNT(deltas); d++) {
            if (!test_takes_case()) continue;
            int promised = 0;
            for (int size = 23; size < 512; size += 41) {
                char text[96];
                snprintf(text, sizeof text, "method=%s,size=%d,delta=%s", METHODS[m], size,
                         deltas[d]);
                test_label("%s", text);
                attn_plan_t *plan = fixture_plan(context, "sketch", &problem, text);
                const char *said = guarantee_of(plan), *at = strpbrk(said, "0123456789");
                const char *with = strstr(said, "with probability ");
                if (strncmp(said, "none", 4) != 0) {
                    promised++;
                    assert_true(at && with);
                    const char *minus = strstr(said, "+- ");
                    const double eps = strtod(minus ? minus + 3 : at, NULL);
                    const double delta = 1 - strtod(with + 17, NULL);
                    const double digit = pow(10, floor(log10(eps)) - 2); // the third
                    if (!(bound_of(METHODS[m], &problem, 8, eps, strtod(deltas[d], NULL)) <= size))
                        test_fail("'%s': more than %d features are needed", said, size);
                    assert_true(delta >=
                                strtod(deltas[d], NULL) -
                                    0x1p-53); // half a unit of doubles below 1, on either side
                    /* No worse than a digit that is rounded, either. */
                    assert_true(bound_of(METHODS[m], &problem, 8, eps - digit,
                                         strtod(deltas[d], NULL)) > size - 1);
                }
                attn_plan_destroy(plan);
            }
            assert_true(promised > 0 || d == 3);
        }
    attn_plan_t *plan =
        fixture_plan(context, "sketch", &problem, "method=ams,eps=0.9591,delta=0.5");
    assert_non_null(strstr(guarantee_of(plan), "<= 0.96 "));
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

/** For Q = K the rank of [Q; K] is n, not 2 n: who says so gets a sketch of half the size. */
static void known_ranks_halve_sizes(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 8, 8, 2048, 4);
    static const char *const ranks[] = {"", ",rank=8", ",rank=16", ",rank=2000000"};
    double sizes[TEST_COUNT(ranks)];
    for (size_t i = 0; i < TEST_COUNT(ranks); i++) {
        char text[96];
        snprintf(text, sizeof text, "method=leverage,eps=0.8%s", ranks[i]);
        attn_plan_t *plan = fixture_plan(context, "sketch", &problem, text);
        sizes[i] = fixture_fact(plan, "size", -1);
        attn_plan_destroy(plan);
    }
    assert_true(sizes[0] == ceil(bound_of("leverage", &problem, 16, 0.8, 0.1)));
    assert_true(sizes[1] == ceil(bound_of("leverage", &problem, 8, 0.8, 0.1)));
    assert_true(sizes[2] == sizes[0] && sizes[3] == sizes[0] && sizes[1] < 0.5 * sizes[0]);
    attn_context_destroy(context);
}

/** A rank that the data exceed makes the guarantee false: the run says so, and weights do. */
static void known_ranks_are_checked(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 6, 6, 64, 4);
    static const char text[] = "method=leverage,size=32,rank=6";
    for (int equal = 0; equal < 2; equal++) {
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
        for (int64_t h = 0; h < 2 && equal; h++)
            for (int64_t i = 0; i < 6; i++)
                for (int64_t k = 0; k < 64; k++)
                    array_set(&arrays.key, 0, h, i, k, array_get(&arrays.query, 0, h, i, k));
        attn_plan_t *plan = fixture_plan(context, "sketch", &problem, text);
        attn_error_t error = {0};
        float weights[6];
        arrays_give_workspace(&arrays, plan);
        const attn_status_t status = attn_run(plan, &arrays.io, &error);
        if (equal)
            assert_int_equal(status, ATTN_OK);
        else
            fixture_expect(status, &error, ATTN_ERROR_RANGE, "rank|6|12");
        error = (attn_error_t){0};
        const attn_status_t told = attn_weights(plan, &arrays.io, 0, 1, 2, 1, weights, 6, &error);
        assert_int_equal(told, equal ? ATTN_OK : ATTN_ERROR_RANGE);
        attn_plan_destroy(plan);
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

/**
 * With more rows than features the rank is that of all rows, whether the first ones have it already (0), the
 * last ones bring it (1), or none does (2).
 */
static void ranks_count_all_rows(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 20, 20, 8, 4);
    for (int kind = 0; kind < 4; kind++) {
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
        array_t *inputs[] = {&arrays.query, &arrays.key};
        for (int a = 0; a < (kind < 2 ? kind : 2); a++)
            for (int64_t i = 0; i < 20; i++)
                for (int64_t k = 3; k < 8; k++)
                    array_set(inputs[a], 0, 0, i, k, array_get(inputs[a], 0, 0, i, k % 3));
        for (int64_t i = 10; i < 20 && kind == 3; i++) /* a direction of short rows alone */
            for (int64_t k = 0; k < 8; k++)
                array_set(&arrays.query, 0, 0, i, k, k == 3 ? 0x1p-30f : 0);
        attn_plan_t *plan =
            fixture_plan(context, "sketch", &problem, "method=leverage,size=4,rank=3");
        attn_error_t error = {0};
        test_label("kind %d", kind);
        arrays_give_workspace(&arrays, plan);
        const attn_status_t status = attn_run(plan, &arrays.io, &error);
        if (kind == 2)
            assert_int_equal(status, ATTN_OK);
        else
            fixture_expect(status, &error, ATTN_ERROR_RANGE,
                           kind == 3 ? "rank|3|has rank 4" : "rank|3|has rank 8");
        attn_plan_destroy(plan);
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

/** Root of the mean square of the relative error over 16 seeds. */
static double mean_error(const attn_context_t *context, const char *method, int64_t size,
                         arrays_t *arrays) {
    double scratch[40 + 8], sum = 0;
    for (int64_t seed = 0; seed < 16; seed++) {
        char text[96];
        fixture_solve(context, "sketch", settings(text, method, size, seed), arrays);
        const double error = attn_oracle_error(&arrays->problem, &arrays->io, 1, scratch);
        assert_true(isfinite(error));
        sum += error * error;
    }
    return sqrt(sum / 16);
}

static void error_falls_with_size(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 30, 40, 256, 8);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int m = 0; m < METHOD_COUNT; m++) {
        double last = INFINITY;
        if (!test_takes_case()) continue;
        for (int64_t size = 4; size <= 256; size *= 4) {
            const double error = mean_error(context, METHODS[m], size, &arrays);
            print_message("%s, %" PRId64 " of 256 features: error %.3g\n", METHODS[m], size, error);
            if (!(error < last)) test_fail("error %g after %g", error, last);
            last = error;
        }
        compare_output(&arrays, &SOFTMAX); // all 256: exact but for float
    }
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** Row r of head h: weights, and sum_j w_j v_jc with the bound for m rounded terms. */
static void check_weight_row(const arrays_t *arrays, const float *weights, int64_t h, int64_t i) {
    const int64_t m = arrays->problem.keys;
    const double eps = 0x1p-23;
    double total = 0;
    for (int64_t j = 0; j < m; j++) {
        const int seen = reference_sees(&SOFTMAX, &arrays->problem, i, j);
        if (!(weights[j] >= 0) || (!seen && weights[j] != 0))
            test_fail("weight %g of key %" PRId64 " in row %" PRId64, (double)weights[j], j, i);
        total += (double)weights[j];
    }
    // 2 m + 16 roundings of reference.c's s, in the weights and in the output. Both come from the
    // same logits; each can be off by 8 u of the range, which is below 16 for these inputs.
    const double relative = ((double)(2 * m + 16) + 8 * 16) * eps;
    if (attn_causal_limit(&arrays->problem, i) > 0 && fabs(total - 1) > relative)
        test_fail("the weights of row %" PRId64 " add up to %.9g", i, total);
    for (int64_t c = 0; c < arrays->problem.value_dim; c++) {
        double sum = 0, magnitude = 0;
        for (int64_t j = 0; j < m; j++) {
            const double term =
                (double)weights[j] * (double)array_get(&arrays->value, 0, h / 2, j, c);
            sum += term;
            magnitude += fabs(term);
        }
        const int64_t at[4] = {0, h, i, c};
        compare_number((double)array_get(&arrays->out, 0, h, i, c), sum, 2 * relative * magnitude,
                       "weights * value", at);
    }
}

/** Bitwise the same logits in run and weights is not demanded, but the same sketch is. */
static void weights_give_output(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int m = 0; m < METHOD_COUNT; m++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
            char text[96];
            attn_problem_t problem = fixture_problem(1, 4, 21, 17, 32, 6);
            problem.kv_heads = 2;
            problem.causal = causal;
            arrays_t arrays = arrays_create(&problem, (layout_t)(m % LAYOUT_COUNT), 0);
            array_fill_normal(&arrays.query, 1, 0.3);
            attn_plan_t *plan =
                fixture_plan(context, "sketch", &problem, settings(text, METHODS[m], 8, 5));
            arrays_run(&arrays, plan);
            arrays_give_workspace(&arrays, plan);
            for (int64_t h = 0; h < 4; h++)
                for (int64_t i = 0; i < 21; i++) {
                    float weights[17];
                    assert_int_equal(attn_weights(plan, &arrays.io, 0, h, i, 1, weights, 17, NULL),
                                     ATTN_OK);
                    check_weight_row(&arrays, weights, h, i);
                }
            arrays_check(&arrays);
            attn_plan_destroy(plan);
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

/** Leverage sampling of what has no full rank: equal rows, zero features, all zeros. */
static void deficient_inputs(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int kind = 0; kind < 3; kind++)
        for (int wide = 0; wide < 2; wide++) {
            char text[96];
            const attn_problem_t problem = fixture_problem(1, 1, 12, 14, wide ? 64 : 10, 5);
            arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
            array_t *inputs[] = {&arrays.query, &arrays.key};
            for (int a = 0; a < 2; a++)
                for (int64_t i = 0; i < inputs[a]->tensor.shape[2]; i++)
                    for (int64_t k = 0; k < problem.dim; k++) {
                        const float x = array_get(inputs[a], 0, 0, kind == 0 ? 0 : i, k);
                        array_set(inputs[a], 0, 0, i, k, kind == 2 || (kind == 1 && k % 2) ? 0 : x);
                    }
            settings(text, "leverage", 6, 2);
            test_label("leverage, kind %d, d %" PRId64, kind, problem.dim);
            fixture_solve(context, "sketch", text, &arrays);
            assert_int_equal(attn_count_nonfinite(&arrays.out.tensor), 0);
            assert_int_equal(attn_count_nonfinite(&arrays.lse.tensor), 0);
            if (kind == 2) compare_output(&arrays, &SOFTMAX); // all logits are 0, sketched or not
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(seed_decides), cmocka_unit_test(exact_when_all_is_kept),
          cmocka_unit_test(sizes_are_told), cmocka_unit_test(guarantees_hold_as_printed),
          cmocka_unit_test(known_ranks_halve_sizes), cmocka_unit_test(known_ranks_are_checked),
          cmocka_unit_test(ranks_count_all_rows), cmocka_unit_test(error_falls_with_size),
          cmocka_unit_test(weights_give_output), cmocka_unit_test(deficient_inputs))
