/* softmax in integers (parameter precision) against its definition: every rule, size and corner. */
#include "quantised_oracle.h"

#include "support/compare.h"
#include "support/fixture.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const PRECISIONS[] = {"", "precision=int8", "precision=int16"}; /* by bytes */

enum { ROWS = QUANTISED_ROWS };

static void solve(const attn_context_t *context, trial_t *trial, int bytes) {
    attn_plan_t *plan = fixture_plan(context, "softmax", &trial->problem, PRECISIONS[bytes]);
    assert_int_equal(strstr(attn_plan_kernel(plan), "int") != NULL,
                     quantised_way(&trial->problem) != WAY_FLOATS);
    trial_run(plan, trial);
    attn_plan_destroy(plan);
}

/* Solves and compares; the trial is then gone. */
static void check(const attn_context_t *context, trial_t *trial, int bytes) {
    solve(context, trial, bytes);
    if (quantised_way(&trial->problem) == WAY_FLOATS) {
        trial_compare(trial);
        trial_destroy(trial);
        return;
    }
    quantised_t expected = quantised_create(trial, bytes);
    quantised_compare(&expected, trial);
    quantised_destroy(&expected);
    trial_destroy(trial);
}

/* The problem with what a draw adds: each rule in one of four cases. */
static void add_rules(attn_problem_t *p, look_t *look, uint64_t first) {
    static const uint32_t inputs[] = {ATTN_INPUT_BIAS, ATTN_INPUT_MASK, ATTN_INPUT_KV_LENGTHS,
                                      ATTN_INPUT_SINKS, ATTN_INPUT_SLOPES};
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};
    for (size_t i = 0; i < TEST_COUNT(inputs); i++)
        if (fixture_draw(first + i, 4) == 0) p->inputs |= inputs[i];
    p->kv_heads = fixture_draw(first + 10, 2) ? p->heads : 1;
    p->causal = (int32_t)fixture_draw(first + 11, 3);
    if (fixture_draw(first + 12, 4) == 0) p->window_left = 70;
    if (fixture_draw(first + 13, 4) == 0) p->softcap = 1.5f;
    if (fixture_draw(first + 14, 4) == 0) p->scale = -0.4f;
    if (fixture_draw(first + 15, 4) == 0 && p->causal != ATTN_CAUSAL_BOTTOM_RIGHT) p->past = 3;
    p->kv_dtype = types[fixture_draw(first + 16, TEST_COUNT(types))];
    p->dtype = types[fixture_draw(first + 17, 4)];
    p->scores = (int32_t)fixture_draw(first + 18, 4);
    look->layout = (layout_t)fixture_draw(first + 19, LAYOUT_COUNT);
    look->lse = fixture_draw(first + 20, 2) == 0;
    look->scores = fixture_draw(first + 21, 2) == 0;
}

static void rules_in_crowds(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    for (uint64_t number = 0; number < 80; number++) {
        const uint64_t first = 7000 + 40 * number;
        const int64_t least = number % 5 ? 1 : ROWS - 20; /* few, or about as many as count */
        attn_problem_t problem = fixture_problem(
            1, 2, least + fixture_draw(first + 30, 40), 1 + fixture_draw(first + 31, 450),
            1 + fixture_draw(first + 32, 40), 1 + fixture_draw(first + 33, 40));
        look_t look = {0};
        add_rules(&problem, &look, first);
        if (!test_takes_case()) continue;
        const int bytes = 1 + (int)(number % 2);
        trial_t trial = trial_create(&problem, &look);
        trial_label(&trial, PRECISIONS[bytes]);
        check(context, &trial, bytes);
    }
    attn_context_destroy(context);
}

static void sizes(void **state) {
    (void)state;
    static const int64_t dims[] = {1, 2, 3, 4, 5, 31, 64, 129};
    static const int64_t keys[] = {1, 2, 3, 5, 31, 33, 191, 192, 193, 385};
    attn_context_t *context = fixture_context(1);
    for (size_t d = 0; d < TEST_COUNT(dims); d++)
        for (size_t m = 0; m < TEST_COUNT(keys); m++)
            for (int bytes = 1; bytes <= 2; bytes++) {
                if (!test_takes_case()) continue;
                const attn_problem_t problem =
                    fixture_problem(1, 1, ROWS, keys[m], dims[d], dims[(d + m) % TEST_COUNT(dims)]);
                trial_t trial = trial_create(&problem, &(look_t){.lse = 1, .scores = 1});
                trial_label(&trial, PRECISIONS[bytes]);
                check(context, &trial, bytes);
            }
    attn_context_destroy(context);
}

/** Windows that begin inside a block of keys, on a later panel of it. */
static void windows(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int64_t left = 5; left < 150; left += 29)
        for (int bytes = 1; bytes <= 2; bytes++) {
            attn_problem_t problem = fixture_problem(1, 1, ROWS, 450, 8, 9);
            problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
            problem.window_left = left;
            trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
            trial_label(&trial, PRECISIONS[bytes]);
            check(context, &trial, bytes);
        }
    attn_context_destroy(context);
}

/** Queries of zero weigh all keys alike: weights then are whole, and sums of values exact in integers. */
static void equal_weights(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int64_t keys = 1; keys < 400; keys += 23)
        for (int bytes = 1; bytes <= 2; bytes++) {
            const attn_problem_t problem = fixture_problem(1, 1, ROWS, keys, 5, 37);
            trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
            trial_label(&trial, PRECISIONS[bytes]);
            typed_fill(&trial.query, 1, 0);
            check(context, &trial, bytes);
        }
    attn_context_destroy(context);
}

/** NaN and infinities in single rows, seen by some queries, hidden from others. */
static void rows_that_are_not_finite(void **state) {
    (void)state;
    static const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    attn_context_t *context = fixture_context(1);
    for (uint64_t number = 0; number < 36; number++) {
        attn_problem_t problem = fixture_problem(1, 1, ROWS, 310, 9, 18);
        const int bytes = 1 + (int)(number % 2);
        const int64_t row = fixture_draw(3000 + number, ROWS), column = fixture_draw(number, 9);
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (number % 4 < 2) problem.inputs |= ATTN_INPUT_MASK;
        trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
        trial_label(&trial, PRECISIONS[bytes]);
        typed_t *arrays[] = {&trial.query, &trial.key, &trial.value};
        typed_set(arrays[number % 3], 0, 0, number % 3 ? 309 - ROWS + row : row, column,
                  odd[number / 3 % 3]);
        check(context, &trial, bytes);
    }
    attn_context_destroy(context);
}

/** All of one array the same, huge, tiny or zero. */
static void extremes(void **state) {
    (void)state;
    static const double sizes_of[][3] = {
        {0, 1, 1},        {1, 0, 1},    {1, 1, 0},         {1e-37, 3e38, 1},
        {3e37, 1e-38, 1}, {1, 1, 1e36}, {1e-30, 1e-30, 1}, {1, 1e-45, 1e-45},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(sizes_of); s++)
        for (int bytes = 1; bytes <= 2; bytes++) {
            const attn_problem_t problem = fixture_problem(1, 1, ROWS, 200, 6, 7);
            trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
            trial_label(&trial, PRECISIONS[bytes]);
            typed_t *arrays[] = {&trial.query, &trial.key, &trial.value};
            for (int a = 0; a < 3; a++)
                for (int64_t i = 0; i < (a ? 200 : ROWS); i++)
                    for (int64_t c = 0; c < (a < 2 ? 6 : 7); c++)
                        typed_set(arrays[a], 0, 0, i, c,
                                  sizes_of[s][a] * (double)(1 - 2 * ((i + c) % 3 % 2)));
            check(context, &trial, bytes);
        }
    attn_context_destroy(context);
}

/** What stands behind a sequence's length has no say in how its keys are quantised. */
static void keys_behind_the_length(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int bytes = 1; bytes <= 2; bytes++) {
        attn_problem_t problem = fixture_problem(1, 1, ROWS, 230, 12, 8);
        problem.inputs = ATTN_INPUT_KV_LENGTHS;
        trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
        trial_label(&trial, PRECISIONS[bytes]);
        typed_set(&trial.lengths, 0, 0, 0, 0, 100);
        for (int64_t c = 0; c < 12; c++) typed_set(&trial.key, 0, 0, 100, c, 1e30);
        for (int64_t c = 0; c < 8; c++) typed_set(&trial.value, 0, 0, 229, c, 1e30);
        check(context, &trial, bytes);
    }
    attn_context_destroy(context);
}

/** What a mask, a bias or a window hides from all queries neither. */
static void hidden_keys(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int number = 0; number < 16; number++) {
        const int bytes = 1 + number % 2, bias = number / 2 % 2, axes = number / 4 % 2 ? 7 : 3;
        attn_problem_t problem = fixture_problem(1, 2, ROWS / 2, 230, 12, 8);
        problem.kv_heads = 1;
        problem.inputs = bias ? ATTN_INPUT_BIAS : ATTN_INPUT_MASK;
        if (number >= 8) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (number >= 8) problem.window_left = 60;
        trial_t trial =
            trial_create(&problem, &(look_t){.lse = 1, .mask_axes = axes, .bias_axes = axes});
        trial_label(&trial, PRECISIONS[bytes]);
        for (int64_t i = 0; i < (axes == 7 ? 1 : ROWS / 2); i++)
            for (int64_t j = 200; j < 205; j++)
                typed_set(bias ? &trial.bias : &trial.mask, 0, 0, i, j, bias ? -INFINITY : 0);
        for (int64_t c = 0; c < 8; c++) {
            typed_set(&trial.key, 0, 0, 3, c, number >= 8 ? 1e30 : 1);
            typed_set(&trial.key, 0, 0, 200 + c % 5, c, 1e30);
            typed_set(&trial.value, 0, 0, 200 + c % 5, c, number % 3 ? 1e30 : (double)NAN);
        }
        check(context, &trial, bytes);
    }
    attn_context_destroy(context);
}

/** Which kernel a plan takes by its rows: floats where they are few, whether decoded or not; over i8 bytes where they are
 * decoded. Outputs agree whichever it is. */
static void kernels_by_rows(void **state) {
    (void)state;
    static const struct {
        int64_t heads, queries;
        const char *floats, *bytes; /* a part of the kernel's name over f32, and over i8 */
    } cases[] = {
        {1, 1, "decode", "int8 decode"},
        {16, 1, "decode", "int8 decode"},
        {17, 1, "decode", "int8 decode"},
        {48, 1, "decode", "int8 decode"},
        {8, 6, "decode", "int8 decode"},
        {49, 1, "prefill", "prefill"},
        {ROWS - 1, 1, "prefill", "prefill"},
        {ROWS, 1, "int8 prefill", "int8 prefill"},
        {ROWS / 4, 4, "int8 prefill", "int8 prefill"},
        {1, ROWS, "int8 prefill", "int8 prefill"},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        for (int bytes = 0; bytes < 2; bytes++) {
            if (!test_takes_case()) continue;
            attn_problem_t problem =
                fixture_problem(1, cases[i].heads, cases[i].queries, 700, 32, 8);
            problem.kv_heads = 1;
            problem.kv_dtype = bytes ? ATTN_I8 : ATTN_F32;
            trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
            trial_label(&trial, PRECISIONS[1]);
            attn_plan_t *plan = fixture_plan(context, "softmax", &problem, PRECISIONS[1]);
            const char *kernel = attn_plan_kernel(plan);
            const char *name = bytes ? cases[i].bytes : cases[i].floats;
            assert_non_null(strstr(kernel, name));
            assert_int_equal(strstr(kernel, "int8") != NULL, strstr(name, "int8") != NULL);
            attn_plan_destroy(plan);
            check(context, &trial, 1);
        }
    attn_context_destroy(context);
}

static void refusals(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, ROWS, 4, 65537, 8);
    fixture_refuse_plan(context, "softmax", &problem, "precision=int8", ATTN_ERROR_UNSUPPORTED,
                        "int8|65536|65537");
    problem.queries = 4;
    attn_plan_destroy(fixture_plan(context, "softmax", &problem, "precision=int8")); /* of floats */
    problem.kv_dtype = ATTN_I8;
    fixture_refuse_plan(context, "softmax", &problem, "precision=int16", ATTN_ERROR_UNSUPPORTED,
                        "int16|65536|65537");
    problem.kv_dtype = ATTN_F32;
    problem.dim = 8;
    fixture_refuse_plan(context, "softmax", &problem, "precision=int4", ATTN_ERROR_RANGE,
                        "precision|int4");
    problem.backward = 1;
    fixture_refuse_plan(context, "softmax", &problem, "precision=int16", ATTN_ERROR_UNSUPPORTED,
                        "softmax|gradients");
    attn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_in_crowds),
        cmocka_unit_test(sizes),
        cmocka_unit_test(windows),
        cmocka_unit_test(equal_weights),
        cmocka_unit_test(rows_that_are_not_finite),
        cmocka_unit_test(extremes),
        cmocka_unit_test(keys_behind_the_length),
        cmocka_unit_test(hidden_keys),
        cmocka_unit_test(kernels_by_rows),
        cmocka_unit_test(refusals),
    };
    /* The first subject is softmax: labels have its name. */
    if (!test_begin() || !trial_next_subject()) return TEST_SKIPPED;
    return cmocka_run_group_tests_name("quantised", tests, NULL, NULL);
}
