#include "compare.h"

#include "test.h"
#include "typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void compare_number(double actual, double expected, double bound, const char *name,
                    const int64_t at[4]) {
    if (isnan(expected) && isnan(actual)) return;
    if (!isfinite(expected) && actual == expected) return;
    if (isfinite(expected) && !(bound >= 0 && isfinite(bound)))
        test_fail("the test's inputs allow no bound on %s(%" PRId64 ", %" PRId64 ", %" PRId64
                  ", %" PRId64 ")",
                  name, at[0], at[1], at[2], at[3]);
    if (isfinite(expected) && fabs(actual - expected) <= bound) return;
    test_fail("%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
              ") is %.9g, exactly %.9g, allowed "
              "error %.3g",
              name, at[0], at[1], at[2], at[3], actual, expected, bound);
}

/** The row's normaliser could be 0 or have either sign for all that float can tell. */
static int has_no_value(const reference_t *row, const formula_t *formula) {
    return formula->form == FORM_LINEAR && row->kept > 0 && isfinite(row->normaliser_bound) &&
           fabs(row->normaliser) <= row->normaliser_bound;
}

static void compare_row(const arrays_t *arrays, const reference_t *row, int64_t b, int64_t h,
                        int64_t i) {
    for (int64_t c = 0; c < arrays->problem.value_dim; c++) {
        const int64_t at[4] = {b, h, i, c};
        compare_number((double)array_get(&arrays->out, b, h, i, c), row->out[c], row->out_bound[c],
                       "out", at);
    }
    if (!arrays->lse.block) return;
    const int64_t at[4] = {b, h, i, 0};
    compare_number((double)array_get(&arrays->lse, b, h, i, 0), row->lse, row->lse_bound, "lse",
                   at);
}

int64_t compare_output(const arrays_t *arrays, const formula_t *formula) {
    const attn_problem_t *problem = &arrays->problem;
    reference_t row = reference_create(problem);
    int64_t without_value = 0;
    for (int64_t b = 0; b < problem->batch; b++) {
        for (int64_t h = 0; h < problem->heads; h++) {
            for (int64_t i = 0; i < problem->queries; i++) {
                reference_row(&row, formula, problem, &arrays->io, b, h, i);
                if (has_no_value(&row, formula))
                    without_value++;
                else
                    compare_row(arrays, &row, b, h, i);
            }
        }
    }
    reference_destroy(&row);
    return without_value;
}

void compare_exact_row(const exact_t *exact, const attn_problem_t *problem, const attn_io_t *io,
                       const int64_t at[4]) {
    for (int64_t c = 0; c < problem->value_dim; c++)
        compare_number(typed_get(&io->out, at[0], at[1], at[2], c), exact->out[c],
                       exact_out_bound(exact, problem, c), "out",
                       (int64_t[]){at[0], at[1], at[2], c});
    if (io->lse.data)
        compare_number(typed_get(&io->lse, at[0], at[1], at[2], 0), exact->lse, exact->lse_bound,
                       "lse", at);
}

void compare_exact(const attn_problem_t *problem, const attn_io_t *io,
                   const arithmetic_t *arithmetic) {
    exact_t exact = exact_create(problem);
    FOR_EACH_ROW(problem, at) {
        exact_row(&exact, problem, io, arithmetic, at[0], at[1], at[2]);
        compare_exact_row(&exact, problem, io, at);
    }
    exact_destroy(&exact);
}

typedef struct rows {
    float *data;
    int64_t stride;
} rows_t;

/** Rows of weights are padded; the padding must stay as it was. */
static const float PADDING = -12345.0f;
enum { PADDED = 3 };

static void weights_against_formula(const arrays_t *arrays, const formula_t *formula,
                                    const reference_t *row, const float *weights, int64_t b,
                                    int64_t h, int64_t i) {
    for (int64_t j = 0; j < arrays->problem.keys; j++) {
        const int64_t at[4] = {b, h, i, j};
        if (reference_sees(formula, &arrays->problem, i, j))
            compare_number((double)weights[j], row->weight[j], row->weight_bound[j], "weights", at);
        else if (weights[j] != 0)
            compare_number((double)weights[j], 0, 0, "weights of an unseen key", at);
    }
}

/**
 * sum_j w_j v_jc against out: w and out are each within their bound of the exact value (that of out
 * contains the sum over values), so they are within twice the bound of each other.
 */
static void weights_against_out(const arrays_t *arrays, const reference_t *row,
                                const float *weights, int64_t b, int64_t h, int64_t i) {
    const attn_problem_t *problem = &arrays->problem;
    const int64_t kv_head = h / (problem->heads / problem->kv_heads);
    for (int64_t c = 0; c < problem->value_dim; c++) {
        double sum = 0;
        for (int64_t j = 0; j < problem->keys; j++)
            sum += (double)weights[j] * (double)array_get(&arrays->value, b, kv_head, j, c);
        const int64_t at[4] = {b, h, i, c};
        double bound = row->out_bound[c];
        for (int64_t j = 0; j < problem->keys; j++)
            bound +=
                row->weight_bound[j] * fabs((double)array_get(&arrays->value, b, kv_head, j, c));
        compare_number((double)array_get(&arrays->out, b, h, i, c), sum, bound, "weights * value",
                       at);
    }
}

static void compare_weight_row(const arrays_t *arrays, const formula_t *formula, reference_t *row,
                               const float *weights, int64_t b, int64_t h, int64_t i) {
    reference_row(row, formula, &arrays->problem, &arrays->io, b, h, i);
    if (has_no_value(row, formula)) return;
    weights_against_formula(arrays, formula, row, weights, b, h, i);
    weights_against_out(arrays, row, weights, b, h, i);
}

static void check_padding(const rows_t *rows, int64_t count, int64_t keys) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = keys; j < rows->stride; j++)
            if (rows->data[r * rows->stride + j] != PADDING)
                test_fail("row %" PRId64 " of the weights was written past its %" PRId64 " keys", r,
                          keys);
}

static void compare_weights_of_head(arrays_t *arrays, const attn_plan_t *plan,
                                    const formula_t *formula, int64_t step, rows_t *rows, int64_t b,
                                    int64_t h) {
    const attn_problem_t *problem = &arrays->problem;
    reference_t row = reference_create(problem);
    attn_io_t io = arrays->io;
    io.value = io.out = (attn_tensor_t){0}; /* weights need neither */
    for (int64_t first = 0; first < problem->queries; first += step) {
        const int64_t left = problem->queries - first, count = left < step ? left : step;
        for (int64_t w = 0; w < step * rows->stride; w++) rows->data[w] = PADDING;
        attn_error_t error = {0};
        if (attn_weights(plan, &io, b, h, first, count, rows->data, rows->stride, &error))
            test_fail("attn_weights: %s", error.message);
        check_padding(rows, count, problem->keys);
        for (int64_t r = 0; r < count; r++)
            compare_weight_row(arrays, formula, &row, rows->data + r * rows->stride, b, h,
                               first + r);
    }
    reference_destroy(&row);
}

void compare_weights(arrays_t *arrays, const attn_plan_t *plan, const formula_t *formula,
                     int64_t step) {
    rows_t rows = {.stride = arrays->problem.keys + PADDED};
    rows.data = malloc((size_t)(step * rows.stride) * sizeof *rows.data);
    assert_non_null(rows.data);
    arrays_give_workspace(arrays, plan);
    for (int64_t b = 0; b < arrays->problem.batch; b++)
        for (int64_t h = 0; h < arrays->problem.heads; h++)
            compare_weights_of_head(arrays, plan, formula, step, &rows, b, h);
    arrays_check(arrays);
    free(rows.data);
}
