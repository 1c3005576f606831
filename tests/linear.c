/* linear: feature maps, the causal recurrence, and normalisers that drown in rounding. */
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char *const SETTINGS[MAP_COUNT] = {"feature_map=elu1", "feature_map=lin",
                                                "feature_map=relu", "feature_map=relu2",
                                                "feature_map=exp"};

static formula_t linear(feature_map_t map) { return (formula_t){.form = FORM_LINEAR, .map = map}; }

static void label(feature_map_t map, const attn_problem_t *p) {
    test_label("%s: n %" PRId64 " m %" PRId64 " d %" PRId64 " dv %" PRId64 " H %" PRId64 "/%" PRId64
               " causal %d",
               SETTINGS[map], p->queries, p->keys, p->dim, p->value_dim, p->heads, p->kv_heads,
               p->causal);
}

/** Solves and compares. Only rows whose normaliser drowns in rounding may be reported. */
static void check(const attn_context_t *context, const attn_problem_t *problem, layout_t layout,
                  feature_map_t map) {
    const formula_t formula = linear(map);
    label(map, problem);
    arrays_t arrays = arrays_create(problem, layout, 0);
    fixture_solve(context, "linear", SETTINGS[map], &arrays);
    assert_true(arrays.report.degenerate_rows <= compare_output(&arrays, &formula));
    arrays_destroy(&arrays);
}

static void all_lengths(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int64_t lanes = fixture_lanes(context);
    const int64_t lengths[] = {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, 37, 131};
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(lengths); n++)
        for (size_t m = 0; m < TEST_COUNT(lengths); m++, number++) {
            if (!test_takes_case()) continue;
            attn_problem_t problem = fixture_problem(1, 2, lengths[n], lengths[m], 11, 13);
            problem.kv_heads = 1 + fixture_draw(3 * number, 2);
            problem.causal = (int32_t)fixture_draw(3 * number + 1, 3);
            const layout_t layout = (layout_t)fixture_draw(3 * number + 2, LAYOUT_COUNT);
            for (int map = 0; map < MAP_COUNT; map++)
                check(context, &problem, layout, (feature_map_t)map);
        }
    attn_context_destroy(context);
}

static void all_dimensions(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int64_t lanes = fixture_lanes(context);
    const int64_t dims[] = {1, lanes - 1, lanes, lanes + 1, 3 * lanes - 1, 37, 64, 127};
    uint64_t number = 0;
    for (size_t d = 0; d < TEST_COUNT(dims); d++)
        for (size_t dv = 0; dv < TEST_COUNT(dims); dv++, number++) {
            if (!test_takes_case()) continue;
            attn_problem_t problem = fixture_problem(1, 1, 19, 23, dims[d], dims[dv]);
            problem.causal = (int32_t)(number % 3);
            check(context, &problem, (layout_t)(number % LAYOUT_COUNT),
                  (feature_map_t)(number / 3 % MAP_COUNT));
        }
    attn_context_destroy(context);
}

static void a_thousand_keys(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    for (int32_t causal = 0; causal <= ATTN_CAUSAL_TOP_LEFT; causal++) {
        attn_problem_t problem = fixture_problem(1, 1, 997, 997, 16, 24);
        problem.causal = causal;
        if (test_takes_case()) check(context, &problem, LAYOUT_BHND, MAP_ELU1);
    }
    attn_context_destroy(context);
}

/** Lemma A.8 step by step: s += phi(k) v^T, z += phi(k), o = phi(q)^T s / phi(q)^T z. */
static void recurrence(const arrays_t *arrays, double *out) {
    enum { D = 6, DV = 5 };
    double s[D][DV] = {{0}}, z[D] = {0};
    for (int64_t i = 0; i < arrays->problem.queries; i++) {
        for (int k = 0; k < D; k++) {
            const double x = (double)array_get(&arrays->key, 0, 0, i, k);
            const double feature = x < 0 ? exp(x) : x + 1;
            z[k] += feature;
            for (int c = 0; c < DV; c++)
                s[k][c] += feature * (double)array_get(&arrays->value, 0, 0, i, c);
        }
        double normaliser = 0, numerator[DV] = {0};
        for (int k = 0; k < D; k++) {
            const double x = (double)array_get(&arrays->query, 0, 0, i, k);
            const double feature = x < 0 ? exp(x) : x + 1;
            normaliser += feature * z[k];
            for (int c = 0; c < DV; c++) numerator[c] += feature * s[k][c];
        }
        for (int c = 0; c < DV; c++) out[i * DV + c] = numerator[c] / normaliser;
    }
}

static void causal_is_the_recurrence(void **state) {
    (void)state;
    const formula_t formula = linear(MAP_ELU1);
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 200, 200, 6, 5);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    label(MAP_ELU1, &problem);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    fixture_solve(context, "linear", NULL, &arrays);
    double *out = malloc(200 * 5 * sizeof *out);
    assert_non_null(out);
    recurrence(&arrays, out);
    reference_t row = reference_create(&problem);
    for (int64_t i = 0; i < 200; i++) {
        reference_row(&row, &formula, &problem, &arrays.io, 0, 0, i);
        for (int64_t c = 0; c < 5; c++) {
            const int64_t at[4] = {0, 0, i, c};
            compare_number((double)array_get(&arrays.out, 0, 0, i, c), out[i * 5 + c],
                           row.out_bound[c], "out", at);
        }
    }
    reference_destroy(&row);
    free(out);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** elu(x) + 1 is exp(x) below 0: tiny, but with all its digits (Lemma A.9 lives on that). */
static void very_negative_features(void **state) {
    (void)state;
    const formula_t formula = linear(MAP_ELU1);
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 17, 40, 5, 4);
    label(MAP_ELU1, &problem);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int64_t k = 0; k < 5; k++) {
        for (int64_t i = 0; i < 17; i++)
            array_set(&arrays.query, 0, 0, i, k, -10 - (float)((i + k) % 9));
        for (int64_t j = 0; j < 40; j++)
            array_set(&arrays.key, 0, 0, j, k, -12 - (float)((2 * j + k) % 11));
    }
    fixture_solve(context, "linear", NULL, &arrays);
    assert_int_equal(compare_output(&arrays, &formula), 0);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** A scale multiplies the query before the map; in lin, relu and relu2 it cancels. */
static void scale_of_the_query(void **state) {
    (void)state;
    static const float scales[] = {0.5f, 2.0f, 1.0f};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(scales); s++)
        for (int map = 0; map < MAP_COUNT; map++) {
            attn_problem_t problem = fixture_problem(1, 1, 15, 18, 6, 4);
            problem.scale = scales[s];
            check(context, &problem, LAYOUT_BHND, (feature_map_t)map);
        }
    attn_context_destroy(context);
}

/** Keys in pairs k, -k: every normaliser of lin is 0. Half of the queries get one key more. */
static void degenerate_rows_are_counted(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 12, 30, 8, 4);
    label(MAP_LIN, &problem);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int64_t h = 0; h < 2; h++)
        for (int64_t j = 0; j < 30; j += 2)
            for (int64_t k = 0; k < 8; k++)
                array_set(&arrays.key, 0, h, j + 1, k, -array_get(&arrays.key, 0, h, j, k));
    fixture_solve(context, "linear", SETTINGS[MAP_LIN], &arrays);
    assert_int_equal(arrays.report.degenerate_rows, 24);

    problem.causal = ATTN_CAUSAL_TOP_LEFT; // an even number of keys cancels, an odd one does not
    arrays.problem = problem;
    fixture_solve(context, "linear", SETTINGS[MAP_LIN], &arrays);
    const formula_t formula = linear(MAP_LIN);
    const int64_t without_value = compare_output(&arrays, &formula);
    assert_true(without_value >= 12);
    assert_int_equal(arrays.report.degenerate_rows, without_value);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/**
 * The same cancellation far apart: 2048 keys, all near (1, 1, ...), then their negatives in another
 * order. What the sum leaves is rounding alone, and every row must be told of.
 */
static void late_cancellation_is_counted(void **state) {
    (void)state;
    enum { HALF = 2048 };
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 24, 2 * HALF, 8, 4);
    label(MAP_LIN, &problem);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int64_t j = 0; j < HALF; j++)
        for (int64_t k = 0; k < 8; k++) {
            const float x = 1 + 0.3f * array_get(&arrays.key, 0, 0, j, k);
            array_set(&arrays.key, 0, 0, j, k, x);
            array_set(&arrays.key, 0, 0, HALF + (j * 769 + 5) % HALF, k, -x);
        }
    fixture_solve(context, "linear", SETTINGS[MAP_LIN], &arrays);
    assert_int_equal(arrays.report.degenerate_rows, 24);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** relu features can all be 0: 0/0 is reported, not passed on silently. */
static void relu_without_features(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 6, 9, 4, 3);
    label(MAP_RELU, &problem);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int64_t k = 0; k < 4; k++) {
        array_set(&arrays.query, 0, 0, 2, k, -1);
        array_set(&arrays.query, 0, 0, 5, k, -0.0f);
        array_set(&arrays.key, 0, 0, 0, k, 1); // every other query sees something
        for (int64_t i = 0; i < 6; i++)
            if (i != 2 && i != 5) array_set(&arrays.query, 0, 0, i, k, 1);
    }
    fixture_solve(context, "linear", SETTINGS[MAP_RELU], &arrays);
    assert_int_equal(arrays.report.degenerate_rows, 2);
    const formula_t formula = linear(MAP_RELU);
    assert_int_equal(compare_output(&arrays, &formula), 2);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** A run without a report is a run all the same. */
static void report_is_optional(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 6, 9, 4, 3);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    attn_plan_t *plan = fixture_plan(context, "linear", &problem, SETTINGS[MAP_LIN]);
    arrays_give_workspace(&arrays, plan);
    arrays.io.report = NULL;
    assert_int_equal(attn_run(plan, &arrays.io, NULL), ATTN_OK);
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** An embedder's pool that counts tasks. */
typedef struct counter {
    int64_t tasks;
} counter_t;

static void counting(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    ((counter_t *)pool)->tasks += tasks;
    for (int64_t t = 0; t < tasks; t++) task(data, t, 0);
}

static attn_context_t *counting_context(counter_t *counter, uint32_t workers) {
    const attn_ext_threads_t pool = {
        .struct_size = sizeof pool, .workers = workers, .pool = counter, .parallel_for = counting};
    const attn_context_options_t options = {.struct_size = sizeof options, .pool = &pool};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    return context;
}

/** The same keys and values for each query head of a group: as they are, or copied. */
static arrays_t group_arrays(const attn_problem_t *problem, int64_t kv_heads) {
    arrays_t arrays = arrays_create(problem, LAYOUT_BHND, 0);
    array_t *inputs[] = {&arrays.key, &arrays.value};
    const int64_t repeat = problem->kv_heads / kv_heads;
    for (int a = 0; a < 2; a++) {
        const int64_t *shape = inputs[a]->tensor.shape;
        uint64_t index = 0;
        for (int64_t b = 0; b < shape[0]; b++)
            for (int64_t h = 0; h < shape[1]; h += repeat)
                for (int64_t i = 0; i < shape[2]; i++)
                    for (int64_t c = 0; c < shape[3]; c++, index++)
                        for (int64_t r = 0; r < repeat; r++)
                            array_set(inputs[a], b, h + r, i, c,
                                      (float)fixture_draw(index, 4001) / 1000 - 2);
    }
    return arrays;
}

/**
 * A group shares the state: the bits and the count of heads that have it for themselves, in one task for
 * each key/value head, or in more where there are workers for them.
 */
static void groups_share_the_state(void **state) {
    (void)state;
    static const uint32_t workers[] = {1, 4, 5, 64};
    static const int64_t tasks[] = {4, 4, 8, 12}; /* 2 batches of 2 heads, groups of 3 */
    for (int map = 0; map < MAP_COUNT; map++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
            attn_problem_t problem = fixture_problem(2, 6, 70, 83, 9, 10);
            problem.causal = causal;
            arrays_t apart = group_arrays(&problem, 2);
            label((feature_map_t)map, &problem);
            attn_context_t *one = fixture_context(1);
            fixture_solve(one, "linear", SETTINGS[map], &apart);
            attn_context_destroy(one);
            problem.kv_heads = 2;
            for (size_t w = 0; w < TEST_COUNT(workers); w++) {
                counter_t counter = {0};
                arrays_t shared = group_arrays(&problem, 2);
                attn_context_t *context = counting_context(&counter, workers[w]);
                fixture_solve(context, "linear", SETTINGS[map], &shared);
                array_check_same(&apart.out, &shared.out, "out of shared keys");
                assert_int_equal(apart.report.degenerate_rows, shared.report.degenerate_rows);
                assert_int_equal(counter.tasks, tasks[w]);
                attn_context_destroy(context);
                arrays_destroy(&shared);
            }
            arrays_destroy(&apart);
        }
}

/** NaN and infinities reach exactly the rows whose sums they are in. */
static void special_inputs(void **state) {
    (void)state;
    static const float specials[] = {NAN, INFINITY};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(specials); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_TOP_LEFT; causal++) {
            attn_problem_t problem = fixture_problem(1, 1, 90, 90, 7, 6);
            problem.causal = causal;
            label(MAP_ELU1, &problem);
            const formula_t formula = linear(MAP_ELU1);
            arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
            array_set(&arrays.query, 0, 0, 3, 1, specials[s]);
            array_set(&arrays.value, 0, 0, 70, 4, specials[s]);
            fixture_solve(context, "linear", NULL, &arrays);
            compare_output(&arrays, &formula);
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_lengths), cmocka_unit_test(all_dimensions),
          cmocka_unit_test(a_thousand_keys), cmocka_unit_test(causal_is_the_recurrence),
          cmocka_unit_test(very_negative_features), cmocka_unit_test(scale_of_the_query),
          cmocka_unit_test(degenerate_rows_are_counted),
          cmocka_unit_test(late_cancellation_is_counted), cmocka_unit_test(relu_without_features),
          cmocka_unit_test(report_is_optional), cmocka_unit_test(groups_share_the_state),
          cmocka_unit_test(special_inputs))
