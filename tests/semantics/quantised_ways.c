/* softmax in integers by the ways beside a run: streams, weights, what other backends say; and how far it is from exact
 * attention. */
#include "quantised_oracle.h"

#include "attn/oracle.h"
#include "support/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const PRECISIONS[] = {"", "precision=int8", "precision=int16"}; /* by bytes */
static const attn_dtype_t TYPES[] = {ATTN_F32, ATTN_F16, ATTN_I8};

/* Many queries are quantised, few have the products of floats, unless keys and values are in i8. */
static attn_problem_t problem_of(int few, attn_dtype_t kv_dtype) {
    attn_problem_t problem = fixture_problem(1, 2, few ? 3 : QUANTISED_ROWS / 2, 437, 12, 9);
    problem.kv_heads = 1;
    problem.kv_dtype = kv_dtype;
    return problem;
}

static void compare(const trial_t *trial, int bytes) {
    if (quantised_way(&trial->problem) == WAY_FLOATS) {
        trial_compare(trial);
        return;
    }
    quantised_t expected = quantised_create(trial, bytes);
    quantised_compare(&expected, trial);
    quantised_destroy(&expected);
}

/** Streams have the blocks of a plan over the same keys, whatever room for more there is. */
static void streams(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int number = 0; number < 24; number++) {
        const int bytes = 1 + number % 2;
        attn_problem_t problem = problem_of(number / 2 % 2, TYPES[number / 4 % 3]);
        if (number >= 12) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (!test_takes_case()) continue;
        trial_t trial = trial_create(&problem, &(look_t){.lse = 1});
        trial_label(&trial, PRECISIONS[bytes]);
        trial_run_stream(context, &trial, PRECISIONS[bytes]);
        compare(&trial, bytes);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

/** Weights are those of the logits in integers; of a few queries those in floats, but for keys in i8. */
static void weights(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int number = 0; number < 24; number++) {
        const int bytes = 1 + number % 2;
        attn_problem_t problem = problem_of(number / 2 % 2, TYPES[number / 4 % 3]);
        if (number >= 12) problem.inputs = ATTN_INPUT_MASK;
        if (!test_takes_case()) continue;
        trial_t trial = trial_create(&problem, &(look_t){0});
        trial_label(&trial, PRECISIONS[bytes]);
        attn_plan_t *plan = fixture_plan(context, "softmax", &problem, PRECISIONS[bytes]);
        quantised_t expected = quantised_create(&trial, bytes);
        if (quantised_way(&problem) == WAY_FLOATS)
            trial_check_weights(plan, &trial);
        else
            quantised_check_weights(&expected, plan, &trial);
        quantised_destroy(&expected);
        attn_plan_destroy(plan);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

/* Sums over rows of squares: of what rows are off by, and of the rows. */
typedef struct squares {
    double off, off_squared, whole;
} squares_t;

static void add_row(squares_t *squares, const trial_t *trial, const double *exact, int64_t row) {
    double off = 0, whole = 0;
    for (int64_t c = 0; c < trial->problem.value_dim; c++) {
        const double x = typed_get(&trial->out.tensor, 0, 0, row, c);
        off += (x - exact[c]) * (x - exact[c]);
        whole += exact[c] * exact[c];
    }
    squares->off += off;
    squares->off_squared += off * off;
    squares->whole += whole;
}

/*
 * On standard normal input int8 is off by at most 2e-2 of the output and int16 by 1e-3, root mean square. A row's error
 * is drawn: what rows have on average is below the limit with four standard deviations of that average to spare, so that
 * no seed can decide.
 */
static void errors(void **state) {
    (void)state;
    enum { ROWS = 48 /* of all */, KEYS = 4096, DIM = 128 };
    static const double limits[] = {0, 2e-2, 1e-3};
    attn_context_t *context = fixture_context(1);
    double *space = malloc((2 * KEYS + DIM) * sizeof *space);
    if (!space) test_fail("the test itself has no memory");
    for (int bytes = 1; bytes <= 2; bytes++) {
        const attn_problem_t problem = fixture_problem(1, 1, QUANTISED_ROWS, KEYS, DIM, DIM);
        trial_t trial = trial_create(&problem, &(look_t){0});
        squares_t squares = {0};
        trial_label(&trial, PRECISIONS[bytes]);
        attn_plan_t *plan = fixture_plan(context, "softmax", &problem, PRECISIONS[bytes]);
        trial_run(plan, &trial);
        for (int64_t i = 0; i < ROWS; i++) {
            double lse, *out = space, *row = out + DIM;
            attn_oracle_row(&problem, &trial.io, 0, 0, i, out, &lse, row, NULL, row + KEYS);
            add_row(&squares, &trial, out, i);
        }
        const double mean = squares.off / ROWS;
        const double deviation = sqrt((squares.off_squared / ROWS - mean * mean) / ROWS);
        const double error = sqrt((mean + 4 * deviation) / (squares.whole / ROWS));
        if (!(error <= limits[bytes])) test_fail("an error of up to %.3g", error);
        attn_plan_destroy(plan);
        trial_destroy(&trial);
    }
    free(space);
    attn_context_destroy(context);
}

/** A backend that computes in floats alone names what it does not have. */
static void other_backends(void **state) {
    (void)state;
    static const char *const backends[] = {"linear", "sketch"};
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = problem_of(0, ATTN_F32);
    for (size_t i = 0; i < TEST_COUNT(backends); i++)
        if (attn_backend_find(context, backends[i]))
            fixture_refuse_plan(context, backends[i], &problem, "precision=int8",
                                ATTN_ERROR_NOT_FOUND, backends[i]);
    if (attn_backend_find(context, "sparse")) { /* it takes precision at least */
        attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "precision=int8");
        assert_null(strstr(attn_plan_kernel(plan), "int8"));
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams),
        cmocka_unit_test(weights),
        cmocka_unit_test(errors),
        cmocka_unit_test(other_backends),
    };
    /* The first subject is softmax: labels have its name. */
    if (!test_begin() || !trial_next_subject()) return TEST_SKIPPED;
    return cmocka_run_group_tests_name("quantised_ways", tests, NULL, NULL);
}
