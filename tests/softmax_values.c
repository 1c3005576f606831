/* softmax on values at the edges of float: logits whose exp overflows, NaN, infinities, denormals. */
#include "support/fixture.h"
#include "support/test.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

static const formula_t SOFTMAX = {.form = FORM_SOFTMAX};

static arrays_t small_arrays(int32_t causal, int64_t n, int64_t m) {
    attn_problem_t problem = fixture_problem(1, 1, n, m, 4, 5);
    problem.causal = causal;
    problem.scale = 1;
    return arrays_create(&problem, LAYOUT_BHND, 1);
}

static void solve_and_compare(arrays_t *arrays) {
    attn_context_t *context = fixture_context(1);
    fixture_solve(context, "softmax", NULL, arrays);
    compare_output(arrays, &SOFTMAX);
    attn_context_destroy(context);
}

/**
 * exp(S) overflows for every logit, exp(S - max) for none. Queries and keys are small whole numbers
 * so that logits are exact; they climb along the keys, over many blocks of keys and by more than a
 * float's exponent holds. Few queries are decoded, many are not.
 */
static void exp_would_overflow(void **state) {
    (void)state;
    enum { KEYS = 1300 };
    for (int trial = 0; trial < 4; trial++) {
        const int direction = trial % 2 ? 1 : -1;
        const int64_t queries = trial < 2 ? 7 : 40;
        test_label("%" PRId64 " queries, logits around 2000, %s", queries,
                   direction < 0 ? "falling" : "climbing");
        arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, queries, KEYS);
        for (int64_t i = 0; i < queries; i++)
            for (int64_t k = 0; k < 4; k++) array_set(&arrays.query, 0, 0, i, k, k ? 1 : 0.25f);
        for (int64_t j = 0; j < KEYS; j++) {
            array_set(&arrays.key, 0, 0, j, 0, (float)(direction * j));
            for (int64_t k = 1; k < 4; k++) array_set(&arrays.key, 0, 0, j, k, 600);
        }
        solve_and_compare(&arrays);
        for (int64_t i = 0; i < queries; i++)
            assert_true(array_get(&arrays.lse, 0, 0, i, 0) > logf(FLT_MAX)); // the input is as told
        arrays_destroy(&arrays);
    }
}

/** Very negative logits: exp(S) underflows to 0 everywhere, the softmax is still a distribution. */
static void exp_would_underflow(void **state) {
    (void)state;
    test_label("logits around -2000");
    arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, 5, 40);
    for (int64_t i = 0; i < 5; i++)
        for (int64_t k = 0; k < 4; k++) array_set(&arrays.query, 0, 0, i, k, k ? 1 : 0.25f);
    for (int64_t j = 0; j < 40; j++) {
        array_set(&arrays.key, 0, 0, j, 0, (float)(j % 7));
        for (int64_t k = 1; k < 4; k++) array_set(&arrays.key, 0, 0, j, k, -700);
    }
    solve_and_compare(&arrays);
    arrays_destroy(&arrays);
}

/** One key takes all: the others' weights underflow, and nothing is lost or NaN. */
static void one_key_takes_all(void **state) {
    (void)state;
    static const int64_t winners[] = {0, 1, 130, 298, 299};
    for (size_t w = 0; w < 2 * TEST_COUNT(winners); w++) {
        const int64_t winner = winners[w / 2], queries = w % 2 ? 3 : 30;
        test_label("%" PRId64 " queries, key %" PRId64 " takes all", queries, winner);
        arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, queries, 300);
        for (int64_t i = 0; i < queries; i++)
            for (int64_t k = 0; k < 4; k++) array_set(&arrays.query, 0, 0, i, k, 16);
        for (int64_t k = 0; k < 4; k++) array_set(&arrays.key, 0, 0, winner, k, 64);
        solve_and_compare(&arrays);
        for (int64_t c = 0; c < 5; c++)
            assert_true(array_get(&arrays.out, 0, 0, 1, c) ==
                        array_get(&arrays.value, 0, 0, winner, c));
        arrays_destroy(&arrays);
    }
}

/** NaN and infinities in inputs give what the formula gives in IEEE 754 arithmetic. */
static void special_inputs(void **state) {
    (void)state;
    static const float specials[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < TEST_COUNT(specials); s++)
        for (int where = 0; where < 3; where++)
            for (int64_t row = 0; row < 20; row += 19) {
                static const char *const names[] = {"query", "key", "value"};
                test_label("%g in row %" PRId64 " of %s", (double)specials[s], row, names[where]);
                arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, 20, 20);
                array_t *inputs[] = {&arrays.query, &arrays.key, &arrays.value};
                array_set(inputs[where], 0, 0, row, 2, specials[s]);
                solve_and_compare(&arrays);
                arrays_destroy(&arrays);
            }
}

static void nan_query_fills_its_row_only(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, 20, 20);
    array_set(&arrays.query, 0, 0, 4, 0, NAN);
    fixture_solve(context, "softmax", NULL, &arrays);
    for (int64_t i = 0; i < 20; i++) {
        assert_true(!isnan(array_get(&arrays.lse, 0, 0, i, 0)) == (i != 4));
        for (int64_t c = 0; c < 5; c++)
            assert_true(!isnan(array_get(&arrays.out, 0, 0, i, c)) == (i != 4));
    }
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** Logits of -inf before the first finite one: weight 0, not exp(-inf - -inf). */
static void infinitely_far_keys(void **state) {
    (void)state;
    test_label("299 logits of -inf, then a finite one");
    arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, 3, 300);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t k = 0; k < 4; k++) array_set(&arrays.query, 0, 0, i, k, 1 + (float)i);
    for (int64_t j = 0; j < 299; j++) array_set(&arrays.key, 0, 0, j, 1, -INFINITY);
    solve_and_compare(&arrays);
    for (int64_t c = 0; c < 5; c++)
        assert_true(array_get(&arrays.out, 0, 0, 2, c) == array_get(&arrays.value, 0, 0, 299, c));
    arrays_destroy(&arrays);
}

/** What a query may not see must not matter, whatever it is: same bits as with zeros there. */
static void masked_poison(void **state) {
    (void)state;
    static const float poisons[] = {NAN, INFINITY, -INFINITY, 1e30f};
    static const int64_t sizes[][2] = {{50, 50}, {21, 60}, {60, 21}, {1, 5}};
    for (size_t p = 0; p < TEST_COUNT(poisons); p++)
        for (size_t s = 0; s < TEST_COUNT(sizes); s++)
            for (int32_t causal = ATTN_CAUSAL_TOP_LEFT; causal <= ATTN_CAUSAL_BOTTOM_RIGHT;
                 causal++) {
                const int64_t n = sizes[s][0], m = sizes[s][1];
                test_label("%g behind the mask, n %" PRId64 " m %" PRId64 " causal %d",
                           (double)poisons[p], n, m, causal);
                arrays_t arrays = small_arrays(causal, n, m);
                // The last quarter of the keys: some queries see them, and become what IEEE says.
                for (int64_t j = m - m / 4 - 1; j < m; j++) {
                    array_set(&arrays.key, 0, 0, j, j % 4, poisons[p] == 1e30f ? 1 : poisons[p]);
                    array_set(&arrays.value, 0, 0, j, j % 5, poisons[p]);
                }
                solve_and_compare(&arrays);
                arrays_destroy(&arrays);
            }
}

/** Denormal numbers and negative zero are numbers: nothing is flushed that the result could show. */
static void denormals_and_zeros(void **state) {
    (void)state;
    test_label("denormal values");
    arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, 9, 1);
    for (int64_t c = 0; c < 5; c++)
        array_set(&arrays.value, 0, 0, 0, c, ldexpf(c % 2 ? -1.0f : 1.0f, -149 + 4 * (int)c));
    solve_and_compare(&arrays);
    for (int64_t c = 0; c < 5; c++) // the only key's weight is 1
        assert_true(array_get(&arrays.out, 0, 0, 3, c) == array_get(&arrays.value, 0, 0, 0, c));
    arrays_destroy(&arrays);

    test_label("denormal and zero queries and keys");
    arrays = small_arrays(ATTN_CAUSAL_NONE, 9, 33);
    for (int64_t k = 0; k < 4; k++) {
        array_set(&arrays.query, 0, 0, 1, k, -0.0f);
        array_set(&arrays.query, 0, 0, 2, k, FLT_MIN / 8);
        array_set(&arrays.key, 0, 0, 5, k, -FLT_MIN / 2);
        array_set(&arrays.key, 0, 0, 6, k, k % 2 ? 0.0f : -0.0f);
    }
    solve_and_compare(&arrays);
    arrays_destroy(&arrays);
}

/** Equal logits: every weight is 1/m. */
static void uniform_weights(void **state) {
    (void)state;
    test_label("equal logits");
    arrays_t arrays = small_arrays(ATTN_CAUSAL_NONE, 4, 1000);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t k = 0; k < 4; k++) array_set(&arrays.query, 0, 0, i, k, 0);
    solve_and_compare(&arrays);
    for (int64_t i = 0; i < 4; i++) {
        const int64_t at[4] = {0, 0, i, 0};
        compare_number((double)array_get(&arrays.lse, 0, 0, i, 0), log(1000.0),
                       4 * (double)FLT_EPSILON * log(1000.0), "lse", at);
    }
    arrays_destroy(&arrays);
}

TEST_MAIN(cmocka_unit_test(exp_would_overflow), cmocka_unit_test(exp_would_underflow),
          cmocka_unit_test(one_key_takes_all), cmocka_unit_test(special_inputs),
          cmocka_unit_test(nan_query_fills_its_row_only), cmocka_unit_test(infinitely_far_keys),
          cmocka_unit_test(masked_poison), cmocka_unit_test(denormals_and_zeros),
          cmocka_unit_test(uniform_weights))
