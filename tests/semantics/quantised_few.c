/* softmax in integers where a few queries are decoded over keys and values in i8. */
#include "quantised_oracle.h"

#include "support/fixture.h"

#include <math.h>
#include <string.h>

/* Solves and compares; the trial is then gone. */
static void check(const attn_context_t *context, trial_t *trial, const char *precision) {
    trial_label(trial, precision);
    attn_plan_t *plan = fixture_plan(context, "softmax", &trial->problem, precision);
    assert_non_null(strstr(attn_plan_kernel(plan), "int"));
    trial_run(plan, trial);
    attn_plan_destroy(plan);
    quantised_t expected = quantised_create(trial, 1);
    quantised_compare(&expected, trial);
    quantised_destroy(&expected);
    trial_destroy(trial);
}

/** A few queries over keys and values in i8: every number of rows, elements in whole vectors or not, lengths around a
 * split's, windows that begin anywhere. */
static void crowds(void **state) {
    (void)state;
    static const int64_t dims[] = {1, 8, 32, 33, 64, 96, 128, 160};
    static const int64_t keys[] = {1, 2, 3, 33, 129, 1024, 1025, 2100};
    attn_context_t *context = fixture_context(2);
    for (uint64_t number = 0; number < 96; number++) {
        if (!test_takes_case()) continue;
        const uint64_t first = 20000 + 20 * number;
        const int64_t dim = dims[number % TEST_COUNT(dims)], heads = 1 + fixture_draw(first, 4);
        const int64_t value_dim = dims[fixture_draw(first + 1, TEST_COUNT(dims))];
        const int64_t count = keys[fixture_draw(first + 2, TEST_COUNT(keys))];
        attn_problem_t problem =
            fixture_problem(1, heads, 1 + fixture_draw(first + 3, 12), count, dim, value_dim);
        look_t look = {.lse = 1, .layout = (layout_t)fixture_draw(first + 4, LAYOUT_COUNT)};
        problem.kv_dtype = ATTN_I8;
        if (number % 3) problem.kv_heads = 1;
        if (fixture_draw(first + 5, 2)) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (problem.causal && fixture_draw(first + 6, 2)) problem.window_left = 77;
        if (fixture_draw(first + 7, 4) == 0) problem.inputs |= ATTN_INPUT_MASK;
        if (fixture_draw(first + 8, 4) == 0) problem.inputs |= ATTN_INPUT_KV_LENGTHS;
        trial_t trial = trial_create(&problem, &look);
        for (int64_t c = number % 16 == 7 ? dim - 1 : 0; number % 8 == 7 && c < dim; c++)
            typed_set(&trial.query, 0, heads - 1, 0, c, (double)NAN); /* one number, or all */
        check(context, &trial, number % 2 ? "precision=int16" : "precision=int8");
    }
    attn_context_destroy(context);
}

/** Queries of zero weigh all keys alike, and with one scale all words are the largest: sums of bytes are exact. */
static void equal_weights(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int64_t keys = 1; keys < 1100; keys += 91) {
        attn_problem_t problem = fixture_problem(1, 3, 1, keys, 64, 128);
        problem.kv_heads = keys % 2 ? 1 : 3;
        problem.kv_dtype = ATTN_I8;
        trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
        typed_fill(&trial.query, 1, 0);
        for (int64_t j = 0; j < problem.kv_heads * keys; j++)
            typed_set(&trial.value_scales, 0, j / keys, j % keys, 0, 0.25);
        check(context, &trial, "precision=int8");
    }
    attn_context_destroy(context);
}

/** As many products as there are for a sum, all as large as they can be and of one sign: none leaves 32 bits. */
static void largest_sums(void **state) {
    (void)state;
    enum { KEYS = 1024 };
    static const int64_t dims[] = {32, 512, 544, 1024, 4096};
    attn_context_t *context = fixture_context(1);
    for (size_t k = 0; k < TEST_COUNT(dims); k++) {
        if (!test_takes_case()) continue;
        attn_problem_t problem = fixture_problem(1, 3, 1, KEYS, dims[k], 64);
        problem.kv_heads = 1;
        problem.kv_dtype = ATTN_I8;
        trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
        for (int64_t c = 0; c < dims[k]; c++)
            for (int64_t h = 0; h < 3; h++) typed_set(&trial.query, 0, h, 0, c, 1);
        for (int64_t j = 0; j < KEYS; j++) {
            typed_set(&trial.key_scales, 0, 0, j, 0, 0x1p-9);
            typed_set(&trial.value_scales, 0, 0, j, 0, 0x1p-9);
            for (int64_t c = 0; c < dims[k]; c++) typed_set(&trial.key, 0, 0, j, c, -128);
            for (int64_t c = 0; c < 64; c++) typed_set(&trial.value, 0, 0, j, c, -128);
        }
        check(context, &trial, "precision=int8");
    }
    attn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds),
        cmocka_unit_test(equal_weights),
        cmocka_unit_test(largest_sums),
    };
    /* The first subject is softmax: labels have its name. */
    if (!test_begin() || !trial_next_subject()) return TEST_SKIPPED;
    return cmocka_run_group_tests_name("quantised_few", tests, NULL, NULL);
}
