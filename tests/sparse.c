/* sparse against Eq. 6 of "Do Efficient Transformers Really Save Computation?", pair by pair. */
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static formula_t pattern(int64_t block, int64_t local, int64_t global) {
    return (formula_t){.form = FORM_SPARSE, .block = block, .local = local, .global = global};
}

static const char *const names[PATTERN_COUNT] = {"band",       "fixed",   "strided", "window",
                                                 "longformer", "bigbird", "dilated"};

static const char *settings_of(const formula_t *formula, char text[160]) {
    snprintf(text, 160,
             "pattern=%s,block=%" PRId64 ",local=%" PRId64 ",global=%" PRId64 ",stride=%" PRId64
             ",random=%" PRId64 ",seed=%" PRIu64,
             names[formula->pattern], formula->block, formula->local, formula->global,
             formula->stride, formula->random, formula->seed);
    return text;
}

static void check(const attn_context_t *context, const attn_problem_t *problem, layout_t layout,
                  const formula_t *formula) {
    char settings[160];
    test_label("%s: n %" PRId64 " m %" PRId64 " d %" PRId64 " dv %" PRId64 " causal %d",
               settings_of(formula, settings), problem->queries, problem->keys, problem->dim,
               problem->value_dim, problem->causal);
    arrays_t arrays = arrays_create(problem, layout, 1);
    attn_plan_t *plan = fixture_plan(context, "sparse", problem, settings);
    arrays_run(&arrays, plan);
    compare_output(&arrays, formula);
    compare_weights(&arrays, plan, formula, 16);
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
}

static void all_patterns(void **state) {
    (void)state;
    static const int64_t patterns[][3] = {{1, 1, 0}, {1, 3, 1}, {2, 1, 1},  {4, 1, 0}, {4, 2, 1},
                                          {7, 1, 3}, {8, 3, 2}, {16, 1, 1}, {5, 1, 5}, {64, 1, 1}};
    static const int64_t sizes[][2] = {{33, 33}, {20, 50}, {50, 20}, {1, 9}, {9, 1}};
    attn_context_t *context = fixture_context(1);
    uint64_t number = 0;
    for (size_t p = 0; p < TEST_COUNT(patterns); p++)
        for (size_t s = 0; s < TEST_COUNT(sizes); s++)
            for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
                const formula_t formula = pattern(patterns[p][0], patterns[p][1], patterns[p][2]);
                attn_problem_t problem = fixture_problem(1, 2, sizes[s][0], sizes[s][1], 9, 6);
                problem.kv_heads = 1 + number % 2;
                problem.causal = causal;
                const layout_t layout = (layout_t)(number++ % LAYOUT_COUNT);
                if (test_takes_case()) check(context, &problem, layout, &formula);
            }
    attn_context_destroy(context);
}

/** A pattern of any kind for a problem, with draws from `number` on. */
static formula_t drawn_formula(const attn_problem_t *problem, uint64_t number) {
    formula_t f = {.form = FORM_SPARSE,
                   .pattern = (formula_pattern_t)(number % PATTERN_COUNT),
                   .block = 1 + fixture_draw(8 * number, 20),
                   .local = 1 + fixture_draw(8 * number + 1, 3),
                   .global = fixture_draw(8 * number + 2, 4),
                   .stride = 1 + fixture_draw(8 * number + 3, 5),
                   .random = fixture_draw(8 * number + 4, 4),
                   .seed = number / PATTERN_COUNT,
                   .causal = problem->causal != ATTN_CAUSAL_NONE};
    f.among = (problem->keys - 1) / f.block + 1;
    return f;
}

/** One token, one block, lengths that no block divides, queries without a key. */
static attn_problem_t drawn_problem(uint64_t number) {
    const int64_t most = number % 5 ? 150 : 9;
    attn_problem_t problem =
        fixture_problem(1 + fixture_draw(8 * number + 5, 2), 2, 1 + fixture_draw(9 * number, most),
                        1 + fixture_draw(9 * number + 6, most), 9, 6);
    problem.causal = (int32_t)(number / PATTERN_COUNT % 3);
    problem.kv_heads = 1 + (int64_t)(number % 2);
    if (problem.causal != ATTN_CAUSAL_BOTTOM_RIGHT) problem.past = fixture_draw(9 * number + 7, 30);
    return problem;
}

static void patterns_of_all_kinds(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    for (uint64_t number = 0; number < 60 * PATTERN_COUNT; number++) {
        const attn_problem_t problem = drawn_problem(number);
        const formula_t formula = drawn_formula(&problem, number);
        if (test_takes_case())
            check(context, &problem, (layout_t)(number % LAYOUT_COUNT), &formula);
    }
    attn_context_destroy(context);
}

static void long_sequences(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    attn_problem_t problem = fixture_problem(1, 1, 700, 700, 32, 40);
    for (int32_t causal = 0; causal <= ATTN_CAUSAL_TOP_LEFT; causal++) {
        if (!test_takes_case()) continue;
        const formula_t formula = pattern(16, 2, 1);
        problem.causal = causal;
        check(context, &problem, LAYOUT_BHND, &formula);
    }
    attn_context_destroy(context);
}

/** A few queries over more keys than one split of decoding has, of all patterns; windows of all widths. */
static void few_queries_of_long_sequences(void **state) {
    (void)state;
    static const int64_t blocks[] = {60, 2000, 3000};
    attn_context_t *context = fixture_context(1);
    for (int kind = 0; kind < PATTERN_COUNT; kind++)
        for (size_t b = 0; b < TEST_COUNT(blocks); b++)
            for (int64_t queries = 1; queries <= 7; queries += 6) {
                if (!test_takes_case()) continue;
                attn_problem_t problem = fixture_problem(1, 1, queries, 5001, 4, 3);
                problem.causal = b ? ATTN_CAUSAL_NONE : ATTN_CAUSAL_BOTTOM_RIGHT;
                problem.past = b ? 4100 : 0;
                const formula_t formula = {.form = FORM_SPARSE,
                                           .pattern = (formula_pattern_t)kind,
                                           .block = blocks[b],
                                           .local = 1,
                                           .global = 1,
                                           .stride = 2,
                                           .causal = problem.causal != ATTN_CAUSAL_NONE,
                                           .among = 5000 / blocks[b] + 1};
                check(context, &problem, LAYOUT_BHND, &formula);
            }
    attn_context_destroy(context);
}

/**
 * The highest logits in one of the segments that a query sees (its band, global keys before and
 * behind it), the others far below, whichever is seen first: they must not cost each other digits.
 */
static void maximum_in_any_segment(void **state) {
    (void)state;
    enum { KEYS = 200 };
    const formula_t formula = pattern(16, 1, 3);
    attn_problem_t problem = fixture_problem(1, 1, KEYS, KEYS, 4, 5);
    problem.scale = 1;
    attn_context_t *context = fixture_context(1);
    for (int high = 0; high < 4; high++)
        for (int power = 0; power <= 30; power += 3) {
            if (!test_takes_case()) continue;
            test_label("keys of kind %d are 2^%d above the others", high, power);
            arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
            for (int64_t i = 0; i < KEYS; i++) array_set(&arrays.query, 0, 0, i, 0, 1);
            for (int64_t j = 0; j < KEYS; j++) {
                const int kinds[] = {j % 16 >= 13, j % 16 < 13, j < KEYS / 2, j >= KEYS / 2};
                array_set(&arrays.key, 0, 0, j, 0, kinds[high] ? 0 : -ldexpf(1, power));
            }
            attn_plan_t *plan =
                fixture_plan(context, "sparse", &problem, "block=16,local=1,global=3");
            arrays_run(&arrays, plan);
            compare_output(&arrays, &formula);
            compare_weights(&arrays, plan, &formula, 16);
            attn_plan_destroy(plan);
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

/** block = 0 is 2^floor(log2 sqrt(m)), and the plan tells so. */
static void automatic_block(void **state) {
    (void)state;
    static const int64_t keys[] = {1, 3, 4, 15, 16, 17, 63, 64, 255, 256, 1000};
    static const int64_t blocks[] = {1, 1, 2, 2, 4, 4, 4, 8, 8, 16, 16};
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(keys); i++) {
        attn_problem_t problem = fixture_problem(1, 1, keys[i], keys[i], 4, 4);
        problem.causal = ATTN_CAUSAL_TOP_LEFT;
        test_label("automatic block for %" PRId64 " keys", keys[i]);
        attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "block=0,local=1,global=1");
        const double block = fixture_fact(plan, "block", NAN);
        if (block != (double)blocks[i]) test_fail("the block is %g", block);
        assert_true(fixture_fact(plan, "local", NAN) == 1);
        assert_true(fixture_fact(plan, "global", NAN) == 1);
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
        const formula_t formula = pattern(blocks[i], 1, 1);
        arrays_run(&arrays, plan);
        compare_output(&arrays, &formula);
        attn_plan_destroy(plan);
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

/** What means nothing to a pattern is none of its plan's facts. */
static void facts_are_the_patterns(void **state) {
    (void)state;
    static const struct {
        const char *settings, *facts;
    } cases[] = {{"pattern=band", " block=8 local=1 global=1"},
                 {"pattern=fixed,block=16,global=20", " block=16 local=1 global=16"},
                 {"pattern=strided", " block=8 local=1 stride=2"},
                 {"pattern=window,local=3", " block=8 local=3"},
                 {"pattern=longformer", " block=8 local=1 global=1"},
                 {"pattern=bigbird,random=99", " block=8 local=1 global=1 random=8"},
                 {"pattern=dilated", " block=8 local=1 stride=2"},
                 {"pattern=topk,top=3", " block=8 local=1 top=3"},
                 {"pattern=topkeys,top=65", " top=64"}};
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 64, 64, 4, 4);
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        char told[160] = "";
        attn_plan_t *plan = fixture_plan(context, "sparse", &problem, cases[c].settings);
        attn_fact_t fact = {.struct_size = sizeof fact};
        for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++) {
            const size_t used = strlen(told);
            snprintf(told + used, sizeof told - used, " %s=%g", fact.name, fact.number);
        }
        test_label("%s", cases[c].settings);
        if (strcmp(told, cases[c].facts) != 0) test_fail("%s, not%s", told, cases[c].facts);
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

/** A band of the whole sequence is dense attention. */
static void band_of_everything_is_dense(void **state) {
    (void)state;
    static const formula_t dense = {.form = FORM_SOFTMAX};
    attn_context_t *context = fixture_context(1);
    for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
        attn_problem_t problem = fixture_problem(1, 2, 77, 77, 16, 16);
        problem.causal = causal;
        test_label("dense, causal %d", causal);
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
        fixture_solve(context, "sparse", "block=11,local=7,global=0", &arrays);
        compare_output(&arrays, &dense);
        fixture_solve(context, "sparse", "block=7,local=1,global=7",
                      &arrays); // every key is global
        compare_output(&arrays, &dense);
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

static double kept_pairs(const formula_t *formula, const attn_problem_t *problem) {
    double kept = 0;
    for (int64_t i = 0; i < problem->queries; i++)
        for (int64_t j = 0; j < problem->keys; j++) kept += reference_sees(formula, problem, i, j);
    return kept * (double)(problem->batch * problem->heads);
}

static void cost_counts_kept_pairs(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{300, 300}, {100, 300}, {300, 100}};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
            char settings[160];
            const formula_t formula = pattern(12, 2, 3);
            attn_problem_t problem = fixture_problem(2, 3, sizes[s][0], sizes[s][1], 8, 10);
            problem.causal = causal;
            test_label("n %" PRId64 " m %" PRId64 " causal %d", sizes[s][0], sizes[s][1], causal);
            attn_plan_t *plan =
                fixture_plan(context, "sparse", &problem, settings_of(&formula, settings));
            attn_cost_t cost = {.struct_size = sizeof cost};
            assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
            if (cost.pairs != kept_pairs(&formula, &problem))
                test_fail("%.17g pairs, not %.17g", cost.pairs, kept_pairs(&formula, &problem));
            assert_true(cost.flops == 2 * cost.pairs * (8 + 10));
            attn_plan_destroy(plan);
        }
    attn_context_destroy(context);
}

static void cost_counts_all_kinds(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (uint64_t number = 0; number < 40 * PATTERN_COUNT; number++) {
        char settings[160];
        const attn_problem_t problem = drawn_problem(number);
        const formula_t formula = drawn_formula(&problem, number);
        attn_plan_t *plan =
            fixture_plan(context, "sparse", &problem, settings_of(&formula, settings));
        attn_cost_t cost = {.struct_size = sizeof cost};
        assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
        test_label("%s: n %" PRId64 " m %" PRId64 " causal %d past %" PRId64, settings,
                   problem.queries, problem.keys, problem.causal, problem.past);
        if (cost.pairs != kept_pairs(&formula, &problem))
            test_fail("%.17g pairs, not %.17g", cost.pairs, kept_pairs(&formula, &problem));
        if (cost.computed < cost.pairs) test_fail("%.17g pairs computed", cost.computed);
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

/** With B ~ sqrt(m), work grows as n^1.5 and memory no faster than n: never n m. */
static void grows_slower_than_dense(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problems[] = {fixture_problem(1, 1, 4096, 4096, 16, 16),
                                       fixture_problem(1, 1, 16384, 16384, 16, 16)};
    double pairs[2], bytes[2];
    for (int i = 0; i < 2; i++) {
        attn_plan_t *plan = fixture_plan(context, "sparse", &problems[i], "local=1,global=1");
        attn_cost_t cost = {.struct_size = sizeof cost};
        assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
        pairs[i] = cost.pairs;
        bytes[i] = (double)attn_plan_workspace_size(plan);
        attn_plan_destroy(plan);
    }
    assert_true(pairs[1] / pairs[0] > 4 && pairs[1] / pairs[0] < 4 * 2.1); // 4^1.5 = 8, dense 16
    assert_true(bytes[1] / bytes[0] <= 4.0);
    assert_true(bytes[1] < 4.0 * 16384 * 16384 / 16);
    attn_context_destroy(context);
}

/** What is computed follows what is kept: of a longer sequence as many times more, whichever the pattern. */
static void computed_grows_with_kept(void **state) {
    (void)state;
    static const char *const patterns[] = {
        "band",       "fixed",   "strided,stride=8", "window",
        "longformer", "bigbird", "dilated,stride=2", "dilated,stride=5",
        "topk"};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(patterns); s++) {
        char settings[64];
        attn_cost_t costs[2];
        snprintf(settings, sizeof settings, "block=32,pattern=%s", patterns[s]);
        test_label("%s", settings);
        for (int i = 0; i < 2; i++) {
            const int64_t n = i ? 8192 : 2048;
            attn_problem_t problem = fixture_problem(1, 1, n, n, 8, 8);
            problem.causal = ATTN_CAUSAL_TOP_LEFT;
            attn_plan_t *plan = fixture_plan(context, "sparse", &problem, settings);
            costs[i] = (attn_cost_t){.struct_size = sizeof costs[i]};
            assert_int_equal(attn_plan_cost(plan, &costs[i], NULL), ATTN_OK);
            attn_plan_destroy(plan);
        }
        const double kept = costs[1].pairs / costs[0].pairs;
        const double computed = costs[1].computed / costs[0].computed;
        if (computed > 1.1 * kept) // ends of sequences weigh less in longer ones
            test_fail("%.3g times the pairs, %.3g times computed", kept, computed);
    }
    attn_context_destroy(context);
}

/** A stream keeps what later tokens can see: with a window pattern no more, however many come. */
static void stream_of_a_window_is_bounded(void **state) {
    (void)state;
    static const char *const settings[] = {"pattern=window,block=8,local=2",
                                           "pattern=longformer,block=8,local=2,global=5",
                                           "pattern=dilated,block=4,local=2,stride=2"};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(settings); s++) {
        attn_problem_t problem = fixture_problem(1, 1, 1, 1, 4, 4);
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        attn_stream_t *stream;
        attn_error_t error;
        if (fixture_try_stream(context, "sparse", &problem, settings[s], 4096, &stream, &error))
            test_fail("%s: %s", settings[s], error.message);
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
        const attn_io_t tokens = {
            .struct_size = sizeof tokens, .key = arrays.io.key, .value = arrays.io.value};
        uint64_t early = 0;
        for (int token = 0; token < 4096; token++) {
            if (attn_stream_append(stream, &tokens, &error))
                test_fail("token %d: %s", token, error.message);
            if (token == 200) early = attn_stream_memory(stream);
        }
        if (attn_stream_memory(stream) > early)
            test_fail("%s: the stream has grown from %" PRIu64 " bytes", settings[s], early);
        arrays_destroy(&arrays);
        attn_stream_destroy(stream);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_patterns), cmocka_unit_test(patterns_of_all_kinds),
          cmocka_unit_test(long_sequences), cmocka_unit_test(few_queries_of_long_sequences),
          cmocka_unit_test(maximum_in_any_segment), cmocka_unit_test(automatic_block),
          cmocka_unit_test(facts_are_the_patterns), cmocka_unit_test(band_of_everything_is_dense),
          cmocka_unit_test(cost_counts_kept_pairs), cmocka_unit_test(cost_counts_all_kinds),
          cmocka_unit_test(computed_grows_with_kept),
          cmocka_unit_test(stream_of_a_window_is_bounded),
          cmocka_unit_test(grows_slower_than_dense))
