/* Plugins from files: the template against its formula, and all that is no plugin. */
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const TEMPLATE_ID = "org.libattn.template";

static attn_context_t *context_with_template(void) {
    attn_context_t *context = fixture_context(1);
    attn_error_t error = {0};
    test_label("load " TEMPLATE_PATH);
    if (attn_plugin_load(context, TEMPLATE_PATH, &error)) test_fail("%s", error.message);
    return context;
}

/* A plugin may say any size: the host's is rounded up. */
static void workspaces_are_whole_lines(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    for (int64_t keys = 1; keys <= 9; keys++) {
        const attn_problem_t problem = fixture_problem(1, 1, 2, keys, 3, 1);
        attn_plan_t *plan = fixture_plan(context, TEMPLATE_ID, &problem, NULL);
        const uint64_t size = attn_plan_workspace_size(plan);
        test_label("a workspace of %" PRIu64 " bytes for %" PRId64 " keys", size, keys);
        assert_true(size >= (uint64_t)(keys + 1) * sizeof(double));
        assert_true(size % ATTN_ALIGNMENT == 0);
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

static void template_is_listed(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    const uint32_t last = attn_backend_count(context) - 1;
    const attn_backend_t *backend = attn_backend_find(context, TEMPLATE_ID);
    assert_non_null(backend);
    assert_ptr_equal(attn_backend_at(context, last), backend);
    assert_string_equal(attn_backend_origin(context, last), TEMPLATE_PATH);
    const size_t length = attn_describe(context, NULL, 0);
    char *text = malloc(length + 1);
    assert_non_null(text);
    attn_describe(context, text, length + 1);
    assert_non_null(strstr(text, TEMPLATE_ID));
    assert_non_null(strstr(text, "width"));
    free(text);
    attn_context_destroy(context);
}

/** Weight of key j for query i before normalising: exp(-|i - j| / width). */
static double raw_weight(const attn_problem_t *problem, double width, int64_t i, int64_t j) {
    if (j >= attn_causal_limit(problem, i)) return 0;
    int64_t position = i;
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT) position += problem->keys - problem->queries;
    return exp(-fabs((double)(position - j)) / width);
}

/** Row i of head h against the formula; the plugin sums in double and rounds once to float. */
static void check_row(const arrays_t *arrays, const float *weights, double width, int64_t h,
                      int64_t i) {
    const attn_problem_t *p = &arrays->problem;
    double total = 0;
    for (int64_t j = 0; j < p->keys; j++) total += raw_weight(p, width, i, j);
    for (int64_t c = 0; c < p->value_dim; c++) {
        double out = 0, magnitude = 0;
        for (int64_t j = 0; total > 0 && j < p->keys; j++) {
            const double term = raw_weight(p, width, i, j) / total *
                                (double)array_get(&arrays->value, 0, h / 2, j, c);
            out += term;
            magnitude += fabs(term);
        }
        const int64_t at[4] = {0, h, i, c};
        compare_number((double)array_get(&arrays->out, 0, h, i, c), out, magnitude * 0x1p-23, "out",
                       at);
    }
    for (int64_t j = 0; j < p->keys; j++) {
        const double weight = total > 0 ? raw_weight(p, width, i, j) / total : 0;
        const int64_t at[4] = {0, h, i, j};
        compare_number((double)weights[j], weight, weight * 0x1p-23, "weights", at);
    }
    const int64_t at[4] = {0, h, i, 0};
    compare_number((double)array_get(&arrays->lse, 0, h, i, 0), log(total),
                   (fabs(log(total)) + 1) * 0x1p-23, "lse", at);
}

static void template_computes_its_formula(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
            attn_problem_t problem = fixture_problem(1, 4, 25, 19, 6, 7);
            problem.kv_heads = 2;
            problem.causal = causal;
            test_label("template, causal %d, layout %d", causal, layout);
            arrays_t arrays = arrays_create(&problem, (layout_t)layout, 1);
            attn_plan_t *plan = fixture_plan(context, TEMPLATE_ID, &problem, "width=2.5");
            arrays_run(&arrays, plan);
            for (int64_t h = 0; h < 4; h++)
                for (int64_t i = 0; i < 25; i++) {
                    float weights[19];
                    assert_int_equal(attn_weights(plan, &arrays.io, 0, h, i, 1, weights, 19, NULL),
                                     ATTN_OK);
                    check_row(&arrays, weights, 2.5, h, i);
                }
            attn_plan_destroy(plan);
            arrays_destroy(&arrays);
        }
    attn_context_destroy(context);
}

/** Each head with a width of its own is the head of a plan with that width. */
static void template_takes_an_array_of_its_own(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    const attn_backend_t *backend = attn_backend_find(context, TEMPLATE_ID);
    attn_array_info_t info = {.struct_size = sizeof info};
    assert_true(attn_backend_array(backend, ATTN_ARRAY_OWN, &info));
    assert_string_equal(info.name, "widths");
    attn_problem_t problem = fixture_problem(1, 3, 25, 19, 6, 7);
    arrays_t expected = arrays_create(&problem, LAYOUT_BHND, 1);
    arrays_t actual = arrays_create(&problem, LAYOUT_BHND, 1);
    float numbers[] = {1.5f, 99.0f, 4.0f, 99.0f, 32.0f};
    static const char *const settings[] = {"width=1.5", "width=4", "width=32"};
    attn_tensor_t widths = attn_tensor_bhnd(numbers, 1, 3, 1, 1);
    widths.stride[1] = 2;
    const attn_tensor_t *const own[] = {&widths};
    assert_int_equal(attn_problem_add_input(&problem, backend, "widths", NULL), ATTN_OK);
    actual.io.own = own;
    actual.io.own_count = 1;
    attn_plan_t *plan = fixture_plan(context, TEMPLATE_ID, &problem, NULL);
    attn_tensor_t wanted;
    assert_true(attn_plan_array(plan, ATTN_ARRAY_OWN, &wanted));
    assert_true(wanted.shape[1] == 3 && wanted.shape[3] == 1 && wanted.dtype == ATTN_F32);
    arrays_run(&actual, plan);
    for (int64_t h = 0; h < 3; h++) {
        float weights[25 * 19], of_one[25 * 19];
        attn_plan_t *one = fixture_plan(context, TEMPLATE_ID, &expected.problem, settings[h]);
        arrays_reset(&expected);
        arrays_run(&expected, one);
        assert_int_equal(attn_weights(plan, &actual.io, 0, h, 0, 25, weights, 19, NULL), ATTN_OK);
        assert_int_equal(attn_weights(one, &expected.io, 0, h, 0, 25, of_one, 19, NULL), ATTN_OK);
        assert_memory_equal(weights, of_one, sizeof weights);
        for (int64_t i = 0; i < 25; i++)
            for (int64_t c = 0; c < 7; c++)
                assert_true(array_get(&actual.out, 0, h, i, c) ==
                            array_get(&expected.out, 0, h, i, c));
        attn_plan_destroy(one);
    }
    attn_plan_destroy(plan);
    arrays_destroy(&actual);
    arrays_destroy(&expected);
    attn_context_destroy(context);
}

static void template_refuses_a_wrong_array_of_its_own(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    const attn_backend_t *backend = attn_backend_find(context, TEMPLATE_ID);
    attn_problem_t problem = fixture_problem(1, 3, 5, 5, 6, 7);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    attn_error_t error = {0};
    float numbers[] = {1.5f, 2.0f, 4.0f};
    attn_tensor_t widths = attn_tensor_bhnd(numbers, 1, 3, 1, 1);
    const attn_tensor_t *const own[] = {&widths};
    attn_plan_t *plan = fixture_plan(context, TEMPLATE_ID, &problem, NULL);
    arrays_give_workspace(&arrays, plan);
    arrays.io.own = own;
    arrays.io.own_count = 1;
    test_label("widths of a problem that does not name them");
    fixture_expect(attn_run(plan, &arrays.io, &error), &error, ATTN_ERROR_ARGUMENT, "widths|name");
    attn_plan_destroy(plan);

    assert_int_equal(attn_problem_add_input(&problem, backend, "widths", NULL), ATTN_OK);
    plan = fixture_plan(context, TEMPLATE_ID, &problem, NULL);
    static const struct {
        int64_t heads;
        attn_dtype_t dtype;
        float number;
        attn_status_t status;
        const char *words;
    } cases[] = {
        {2, ATTN_F32, 1, ATTN_ERROR_SHAPE, "widths|(1, 2, 1, 1)|(1, 3, 1, 1): (1, "},
        {3, ATTN_F16, 1, ATTN_ERROR_DTYPE, "widths|f16|f32"},
        {3, 99, 1, ATTN_ERROR_DTYPE, "widths|99|f32"},
        {3, ATTN_F32, 0, ATTN_ERROR_RANGE, "widths|positive"},
        {3, ATTN_F32, NAN, ATTN_ERROR_RANGE, "widths|positive"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        test_label("widths, case %zu", i);
        widths = attn_tensor_bhnd(numbers, 1, cases[i].heads, 1, 1);
        widths.dtype = cases[i].dtype;
        numbers[1] = cases[i].number;
        fixture_expect(attn_run(plan, &arrays.io, &error), &error, cases[i].status, cases[i].words);
    }
    const attn_tensor_t *const two[] = {&widths, &widths};
    widths = attn_tensor_bhnd(numbers, 1, 3, 1, 1);
    numbers[1] = 2.0f;
    arrays.io.own = two;
    arrays.io.own_count = 2;
    test_label("an array behind the last");
    fixture_expect(attn_run(plan, &arrays.io, &error), &error, ATTN_ERROR_ARGUMENT,
                   "own[1]|template|1");
    arrays.io.own_count = 0;
    test_label("no widths");
    fixture_expect(attn_run(plan, &arrays.io, &error), &error, ATTN_ERROR_ARGUMENT,
                   "widths: is missing|names it as an input");
    attn_plan_destroy(plan);
    problem.own_inputs = 2;
    fixture_refuse_plan(context, TEMPLATE_ID, &problem, NULL, ATTN_ERROR_ARGUMENT,
                        "own_inputs|0x2");
    problem.own_inputs = 1;
    fixture_refuse_plan(context, "softmax", &problem, NULL, ATTN_ERROR_ARGUMENT,
                        "own_inputs|0x1|softmax");
    fixture_expect(attn_problem_add_input(&problem, backend, "lengths", &error), &error,
                   ATTN_ERROR_NOT_FOUND, "lengths");
    fixture_expect(attn_problem_add_input(&problem, backend, "query", &error), &error,
                   ATTN_ERROR_ARGUMENT, "query");
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

static void template_tells_its_cost(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    static const int expected[] = {25 * 19, 19 * 20 / 2 + 6 * 19, 19 * 20 / 2};
    attn_problem_t problem = fixture_problem(2, 3, 25, 19, 6, 7);
    attn_cost_t cost = {.struct_size = sizeof cost};
    for (problem.causal = 0; problem.causal <= ATTN_CAUSAL_BOTTOM_RIGHT; problem.causal++) {
        attn_plan_t *plan = fixture_plan(context, TEMPLATE_ID, &problem, NULL);
        assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
        assert_true(cost.pairs == 2 * 3 * expected[problem.causal]);
        assert_true(cost.flops > 0 && cost.bytes > 0);
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

static void template_parameters_are_checked(void **state) {
    (void)state;
    attn_context_t *context = context_with_template();
    const attn_problem_t problem = fixture_problem(1, 1, 4, 4, 4, 4);
    test_label("parameters of the template");
    fixture_refuse_plan(context, TEMPLATE_ID, &problem, "width=0.5", ATTN_ERROR_RANGE, "width|0.5");
    fixture_refuse_plan(context, TEMPLATE_ID, &problem, "height=2", ATTN_ERROR_NOT_FOUND, "height");
    attn_context_destroy(context);
}

/** A load that must fail, and must leave the registry as it was. */
static void expect_refusal(attn_context_t *context, const char *path, attn_status_t expected,
                           const char *words) {
    const uint32_t before = attn_backend_count(context);
    attn_error_t error = {0};
    test_label("load %s", path ? path : "null");
    fixture_expect(attn_plugin_load(context, path, &error), &error, expected, words);
    assert_int_equal(attn_plugin_load(context, path, NULL), expected);
    assert_int_equal(attn_backend_count(context), before);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void files_that_are_no_plugins(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    expect_refusal(context, "./no-such-plugin.so", ATTN_ERROR_PLUGIN, "no-such-plugin.so");
    expect_refusal(context, "no-such-plugin.so", ATTN_ERROR_PLUGIN, "no-such-plugin.so");
    write_file("text-plugin.so", "I am no shared object.\n");
    expect_refusal(context, "./text-plugin.so", ATTN_ERROR_PLUGIN, "text-plugin.so");
    write_file("empty-plugin.so", "");
    expect_refusal(context, "empty-plugin.so", ATTN_ERROR_PLUGIN, "empty-plugin.so");
    write_file("cut-plugin.so", "\x7f"
                                "ELF");
    expect_refusal(context, "./cut-plugin.so", ATTN_ERROR_PLUGIN, "cut-plugin.so");
    expect_refusal(context, "/", ATTN_ERROR_PLUGIN, "/");
    expect_refusal(context, "", ATTN_ERROR_PLUGIN, "");
    expect_refusal(context, NULL, ATTN_ERROR_ARGUMENT, "null");
    remove("text-plugin.so");
    remove("empty-plugin.so");
    remove("cut-plugin.so");
    attn_context_destroy(context);
}

static void plugins_that_do_not_fit(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    expect_refusal(context, VARIANT_1, ATTN_ERROR_ABI, "ABI");
    expect_refusal(context, VARIANT_3, ATTN_ERROR_PLUGIN, "softmax");
    expect_refusal(context, VARIANT_4, ATTN_ERROR_PLUGIN, "softmax");
    assert_null(attn_backend_find(context, "org.example.fresh")); // all of them or none
    expect_refusal(context, VARIANT_5, ATTN_ERROR_PLUGIN, "not a plugin");
    expect_refusal(context, VARIANT_6, ATTN_ERROR_PLUGIN, "not a plugin");
    expect_refusal(context, VARIANT_7, ATTN_ERROR_PLUGIN, "attn_plugin_entry");
    attn_context_destroy(context);
}

static void a_later_minor_version_is_fine(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    assert_int_equal(attn_plugin_load(context, VARIANT_2, NULL), ATTN_OK);
    const attn_problem_t problem = fixture_problem(1, 1, 2, 2, 2, 2);
    test_label("a backend that refuses to plan");
    fixture_refuse_plan(context, "org.example.fresh", &problem, NULL, ATTN_ERROR_UNSUPPORTED,
                        "solves nothing");
    attn_problem_t causal = problem; // it declares no features, so the host refuses by itself
    causal.causal = ATTN_CAUSAL_TOP_LEFT;
    fixture_refuse_plan(context, "org.example.fresh", &causal, NULL, ATTN_ERROR_UNSUPPORTED,
                        "org.example.fresh|causal");
    expect_refusal(context, VARIANT_2, ATTN_ERROR_PLUGIN, "org.example.fresh"); // a second time
    attn_context_destroy(context);
}

static void registering_in_the_program(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    const attn_plugin_entry_t future = {.struct_size = sizeof future,
                                        .abi_major = ATTN_ABI_MAJOR + 1};
    attn_error_t error = {0};
    test_label("register");
    fixture_expect(attn_plugin_register(context, NULL, "x", &error), &error, ATTN_ERROR_ARGUMENT,
                   "null");
    fixture_expect(attn_plugin_register(NULL, &future, "x", &error), &error, ATTN_ERROR_ARGUMENT,
                   "null");
    fixture_expect(attn_plugin_register(context, &future, "x", &error), &error, ATTN_ERROR_ABI,
                   "2|1");
    fixture_expect(attn_plugin_unregister(context, NULL, &error), &error, ATTN_ERROR_ARGUMENT,
                   "null");
    fixture_expect(attn_plugin_unregister(NULL, &future, &error), &error, ATTN_ERROR_ARGUMENT,
                   "null");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(template_is_listed), cmocka_unit_test(workspaces_are_whole_lines),
          cmocka_unit_test(template_computes_its_formula),
          cmocka_unit_test(template_takes_an_array_of_its_own),
          cmocka_unit_test(template_refuses_a_wrong_array_of_its_own),
          cmocka_unit_test(template_tells_its_cost),
          cmocka_unit_test(template_parameters_are_checked),
          cmocka_unit_test(files_that_are_no_plugins), cmocka_unit_test(plugins_that_do_not_fit),
          cmocka_unit_test(a_later_minor_version_is_fine),
          cmocka_unit_test(registering_in_the_program))
