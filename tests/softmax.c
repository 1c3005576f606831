/* softmax against the oracle: every length around a vector, every form, order and corner. */
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>

static const formula_t SOFTMAX = {.form = FORM_SOFTMAX};

/** Runs a problem and compares all of it. */
static void check_problem(const attn_context_t *context, const attn_problem_t *problem,
                          layout_t layout, int with_lse) {
    test_label("n %" PRId64 " m %" PRId64 " d %" PRId64 " dv %" PRId64 " B %" PRId64 " H %" PRId64
               "/%" PRId64 " causal %d scale %g layout %d",
               problem->queries, problem->keys, problem->dim, problem->value_dim, problem->batch,
               problem->heads, problem->kv_heads, problem->causal, (double)problem->scale,
               (int)layout);
    arrays_t arrays = arrays_create(problem, layout, with_lse);
    fixture_solve(context, "softmax", NULL, &arrays);
    compare_output(&arrays, &SOFTMAX);
    arrays_destroy(&arrays);
}

/** The parts of a problem that a test does not sweep, drawn for its case number. */
static attn_problem_t drawn_problem(uint64_t number, int64_t n, int64_t m, int64_t d, int64_t dv) {
    static const int64_t heads[] = {1, 1, 2, 6}, kv_heads[] = {1, 1, 2, 3};
    const int64_t choice = fixture_draw(4 * number, 4);
    attn_problem_t problem = fixture_problem(1, heads[choice], n, m, d, dv);
    problem.kv_heads = kv_heads[choice];
    problem.causal = (int32_t)fixture_draw(4 * number + 1, 3);
    if (fixture_draw(4 * number + 2, 2)) problem.scale = 0.3f;
    return problem;
}

static layout_t drawn_layout(uint64_t number) {
    return (layout_t)fixture_draw(4 * number + 3, LAYOUT_COUNT);
}

static void all_lengths(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int64_t lanes = fixture_lanes(context);
    const int64_t lengths[] = {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, 31, 67, 131};
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(lengths); n++)
        for (size_t m = 0; m < TEST_COUNT(lengths); m++) {
            const attn_problem_t problem = drawn_problem(++number, lengths[n], lengths[m], 19, 21);
            if (!test_takes_case()) continue;
            check_problem(context, &problem, drawn_layout(number), number % 2 == 0);
        }
    attn_context_destroy(context);
}

static void all_dimensions(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int64_t lanes = fixture_lanes(context);
    const int64_t dims[] = {1, lanes - 1, lanes, lanes + 1, 3 * lanes - 1, 37, 64, 127, 256};
    uint64_t number = 1000;
    for (size_t d = 0; d < TEST_COUNT(dims); d++)
        for (size_t dv = 0; dv < TEST_COUNT(dims); dv++) {
            const attn_problem_t problem = drawn_problem(++number, 13, 29, dims[d], dims[dv]);
            if (!test_takes_case()) continue;
            check_problem(context, &problem, drawn_layout(number), number % 2 == 0);
        }
    attn_context_destroy(context);
}

static void a_thousand_keys(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    attn_problem_t problem = fixture_problem(1, 1, 509, 1021, 64, 48);
    check_problem(context, &problem, LAYOUT_BHND, 1);
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    check_problem(context, &problem, LAYOUT_TRANSPOSED, 1);
    problem = fixture_problem(1, 1, 1021, 509, 32, 32);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    check_problem(context, &problem, LAYOUT_BNHD, 1);
    attn_context_destroy(context);
}

static void every_form(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{5, 17}, {17, 5}, {11, 11}, {64, 200}, {200, 64}};
    static const float scales[] = {NAN, 1.0f, 0.01f, -0.5f, 0.0f};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                if (!test_takes_case()) continue;
                attn_problem_t problem = fixture_problem(2, 4, sizes[s][0], sizes[s][1], 10, 6);
                problem.kv_heads = layout == LAYOUT_BHND ? 4 : 2;
                problem.causal = causal;
                problem.scale = scales[(s + (size_t)layout) % TEST_COUNT(scales)];
                check_problem(context, &problem, (layout_t)layout, 1);
            }
    attn_context_destroy(context);
}

/** Rows before the first key of the bottom-right corner: zeros and -inf, exactly. */
static void rows_without_keys(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 40, 7, 8, 9);
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
    fixture_solve(context, "softmax", NULL, &arrays);
    for (int64_t h = 0; h < 2; h++)
        for (int64_t i = 0; i < 40 - 7; i++) {
            assert_true(array_get(&arrays.lse, 0, h, i, 0) == -INFINITY);
            for (int64_t c = 0; c < 9; c++) assert_true(array_get(&arrays.out, 0, h, i, c) == 0);
        }
    assert_true(isfinite(array_get(&arrays.lse, 0, 0, 33, 0)));
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** A grouped problem is the same problem with its keys and values repeated. */
static void groups_read_their_head(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    /* Enough queries that neither is decoded: the same sums in the same order. */
    attn_problem_t grouped = fixture_problem(1, 6, 19, 14, 8, 8);
    grouped.kv_heads = 2;
    const attn_problem_t repeated = fixture_problem(1, 6, 19, 14, 8, 8);
    arrays_t a = arrays_create(&grouped, LAYOUT_BHND, 0);
    arrays_t b = arrays_create(&repeated, LAYOUT_BHND, 0);
    for (int64_t h = 0; h < 6; h++)
        for (int64_t j = 0; j < 14; j++)
            for (int64_t c = 0; c < 8; c++) {
                array_set(&b.key, 0, h, j, c, array_get(&a.key, 0, h / 3, j, c));
                array_set(&b.value, 0, h, j, c, array_get(&a.value, 0, h / 3, j, c));
            }
    fixture_solve(context, "softmax", NULL, &a);
    fixture_solve(context, "softmax", NULL, &b);
    compare_output(&a, &SOFTMAX);
    array_check_same(&a.out, &b.out, "out of grouped and repeated heads");
    arrays_destroy(&a);
    arrays_destroy(&b);
    attn_context_destroy(context);
}

/** Inputs may have strides of zero and below: one key row for all, queries read backwards. */
static void unusual_strides(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 10, 12, 8, 5);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
    attn_tensor_t *query = &arrays.io.query;
    query->data = (float *)query->data + 9 * query->stride[2];
    query->stride[2] = -query->stride[2];
    arrays.io.key.stride[1] = 0;
    arrays.io.value.stride[2] = 0;
    test_label("strides of zero and below");
    fixture_solve(context, "softmax", NULL, &arrays);
    compare_output(&arrays, &SOFTMAX);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/**
 * Keys all alike, whose sums grow steadily: added one after the other, a float of m terms loses as many
 * half units of rounding. Sums of blocks, of 64 to 256 keys, lose no more than a block has terms and as
 * there are blocks, in the numerator and in the denominator.
 */
static void sums_of_many_keys_round_by_blocks(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int64_t keys = 1 << 18;
    attn_problem_t few = fixture_problem(1, 1, 17, 1, 3, 1), problem = few;
    problem.keys = keys;
    arrays_t arrays = arrays_create(&few, LAYOUT_BHND, 1);
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, NULL);
    array_set(&arrays.value, 0, 0, 0, 0, 0.1f);
    arrays.io.key.shape[2] = arrays.io.value.shape[2] = keys;
    arrays.io.key.stride[2] = arrays.io.value.stride[2] = 0;
    arrays_run(&arrays, plan);
    const double bound = (256 + (double)keys / 64 + 8) * 0x1p-24;
    for (int64_t i = 0; i < few.queries; i++) {
        double logit = 0;
        for (int64_t k = 0; k < few.dim; k++)
            logit += (double)array_get(&arrays.query, 0, 0, i, k) *
                     (double)array_get(&arrays.key, 0, 0, 0, k) / sqrt(3);
        const int64_t at[4] = {0, 0, i, 0};
        compare_number((double)array_get(&arrays.out, 0, 0, i, 0), (double)0.1f,
                       2 * bound * (double)0.1f, "out", at);
        compare_number((double)array_get(&arrays.lse, 0, 0, i, 0), logit + log((double)keys),
                       bound + 0x1p-20 * (fabs(logit) + log((double)keys)), "lse", at);
    }
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_lengths), cmocka_unit_test(all_dimensions),
          cmocka_unit_test(a_thousand_keys), cmocka_unit_test(every_form),
          cmocka_unit_test(rows_without_keys), cmocka_unit_test(groups_read_their_head),
          cmocka_unit_test(unusual_strides), cmocka_unit_test(sums_of_many_keys_round_by_blocks))
