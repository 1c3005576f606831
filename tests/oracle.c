/* The oracle itself (attn/oracle.h), against numbers worked out by hand and its own definitions. */
#include "support/arrays.h"
#include "support/fixture.h"
#include "support/test.h"

#include "attn/oracle.h"

#include <math.h>
#include <stdlib.h>

// Rounding of a handful of operations in double precision.
static const double TINY = 16 * 2.2204460492503131e-16;

static void near_to(double actual, double expected) {
    const int64_t at[4] = {0};
    compare_number(actual, expected, TINY * (1 + fabs(expected)), "oracle", at);
}

/** One query 1, keys 0 and ln 3, values 10 and 20, scale 1: weights 1/4 and 3/4. */
static arrays_t quarter(void) {
    attn_problem_t problem = fixture_problem(1, 1, 1, 2, 1, 1);
    problem.scale = 1;
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    array_set(&arrays.query, 0, 0, 0, 0, 1);
    array_set(&arrays.key, 0, 0, 0, 0, 0);
    array_set(&arrays.key, 0, 0, 1, 0, 1.0986122886681098f);
    array_set(&arrays.value, 0, 0, 0, 0, 10);
    array_set(&arrays.value, 0, 0, 1, 0, -20);
    return arrays;
}

static void worked_by_hand(void **state) {
    (void)state;
    arrays_t arrays = quarter();
    double out, lse, weights[2], magnitude, scratch[2];
    attn_oracle_row(&arrays.problem, &arrays.io, 0, 0, 0, &out, &lse, weights, &magnitude, scratch);
    const double three = exp((double)1.0986122886681098f); // ln 3 rounded to float, not ln 3
    near_to(weights[0], 1 / (1 + three));
    near_to(weights[1], three / (1 + three));
    near_to(out, (10 - 20 * three) / (1 + three));
    near_to(magnitude, (10 + 20 * three) / (1 + three));
    near_to(lse, log(1 + three));
    arrays_destroy(&arrays);
}

static void default_scale_is_of_the_dimension(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 1, 1, 1, 4, 1);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int64_t k = 0; k < 4; k++) {
        array_set(&arrays.query, 0, 0, 0, k, 3);
        array_set(&arrays.key, 0, 0, 0, k, 1);
    }
    double out, lse, scratch[1];
    attn_oracle_row(&arrays.problem, &arrays.io, 0, 0, 0, &out, &lse, NULL, NULL, scratch);
    near_to(lse, 4 * 3 / 2.0);
    near_to(out, (double)array_get(&arrays.value, 0, 0, 0, 0));
    arrays_destroy(&arrays);
}

static void no_key_gives_zeros(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 1, 3, 1, 2, 2);
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT; // only the last of three queries sees the key
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    double out[2] = {5, 5}, lse, weights[1] = {5}, magnitude[2] = {5, 5}, scratch[1];
    attn_oracle_row(&problem, &arrays.io, 0, 0, 1, out, &lse, weights, magnitude, scratch);
    assert_true(out[0] == 0 && out[1] == 0 && weights[0] == 0 && magnitude[0] == 0);
    assert_true(lse == (double)-INFINITY);
    attn_oracle_row(&problem, &arrays.io, 0, 0, 2, out, &lse, weights, magnitude, scratch);
    assert_true(weights[0] == 1 && out[1] == (double)array_get(&arrays.value, 0, 0, 0, 1));
    arrays_destroy(&arrays);
}

/** The oracle and the tests' own reference are written apart; they must agree. */
static void agrees_with_reference(void **state) {
    (void)state;
    for (int32_t causal = ATTN_CAUSAL_NONE; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
        attn_problem_t problem = fixture_problem(2, 4, 9, 13, 7, 5);
        problem.kv_heads = 2;
        problem.causal = causal;
        arrays_t arrays = arrays_create(&problem, LAYOUT_TRANSPOSED, 0);
        reference_t row = reference_create(&problem);
        double out[5], lse, weights[13], magnitude[5], scratch[13];
        for (int64_t h = 0; h < 4; h++) {
            const formula_t formula = {.form = FORM_SOFTMAX};
            attn_oracle_row(&problem, &arrays.io, 1, h, 8, out, &lse, weights, magnitude, scratch);
            reference_row(&row, &formula, &problem, &arrays.io, 1, h, 8);
            near_to(lse, row.lse);
            for (int64_t c = 0; c < 5; c++) near_to(out[c], row.out[c]);
            for (int64_t j = 0; j < 13; j++) near_to(weights[j], row.weight[j]);
        }
        reference_destroy(&row);
        arrays_destroy(&arrays);
    }
}

/** Writes the exact output, each number times `factor`, into out. */
static void write_exact(arrays_t *arrays, double factor) {
    const attn_problem_t *p = &arrays->problem;
    double *exact = malloc((size_t)(p->value_dim + p->keys) * sizeof *exact);
    assert_non_null(exact);
    for (int64_t h = 0; h < p->heads; h++)
        for (int64_t i = 0; i < p->queries; i++) {
            attn_oracle_row(p, &arrays->io, 0, h, i, exact, NULL, NULL, NULL, exact + p->value_dim);
            for (int64_t c = 0; c < p->value_dim; c++)
                array_set(&arrays->out, 0, h, i, c, (float)(factor * exact[c]));
        }
    free(exact);
}

static void error_is_relative_frobenius(void **state) {
    (void)state;
    const attn_problem_t problem = fixture_problem(1, 2, 6, 5, 4, 3);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BNHD, 0);
    double scratch[5 + 3];
    assert_true(attn_oracle_error(&problem, &arrays.io, 1, NULL) == -1);

    write_exact(&arrays, 1);
    assert_true(attn_oracle_error(&problem, &arrays.io, 1, scratch) < 0x1p-24);
    write_exact(&arrays, 1.25);
    const int64_t at[4] = {0};
    compare_number(attn_oracle_error(&problem, &arrays.io, 1, scratch), 0.25, 0x1p-23, "error", at);

    array_set(&arrays.out, 0, 1, 3, 0, NAN);
    assert_true(isnan(attn_oracle_error(&problem, &arrays.io, 1, scratch)));
    assert_false(
        isnan(attn_oracle_error(&problem, &arrays.io, 2, scratch))); // row 3 is not looked at

    array_set(&arrays.query, 0, 1, 3, 0, NAN); // now NaN is the exact row, too, and left out
    compare_number(attn_oracle_error(&problem, &arrays.io, 1, scratch), 0.25, 0x1p-23, "error", at);

    for (int64_t h = 0; h < 2; h++) array_set(&arrays.value, 0, h, 0, 0, NAN); // no row is left
    assert_true(isnan(attn_oracle_error(&problem, &arrays.io, 1, scratch)));
    arrays_destroy(&arrays);
}

TEST_MAIN(cmocka_unit_test(worked_by_hand), cmocka_unit_test(default_scale_is_of_the_dimension),
          cmocka_unit_test(no_key_gives_zeros), cmocka_unit_test(agrees_with_reference),
          cmocka_unit_test(error_is_relative_frobenius))
