/* The small build (ATTN_SMALL) says what it is, and refuses in words what it has not. */
#include "support/fixture.h"
#include "support/test.h"

#include "attn/ext/cost.h"

#include <stdlib.h>
#include <string.h>

static attn_problem_t plain(void) { return fixture_problem(1, 2, 5, 7, 4, 3); }

static void softmax_is_all_that_it_has(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = plain();
    assert_int_equal(attn_backend_count(context), 1);
    assert_non_null(attn_backend_find(context, "softmax"));
    fixture_refuse_plan(context, "linear", &problem, "", ATTN_ERROR_NOT_FOUND, "linear|softmax");
    attn_context_destroy(context);
}

static void problems_that_it_lacks(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = plain();
    problem.dtype = ATTN_F16;
    fixture_refuse_plan(context, "softmax", &problem, "", ATTN_ERROR_UNSUPPORTED, "softmax");
    problem = plain();
    problem.kv_dtype = ATTN_I8;
    fixture_refuse_plan(context, "softmax", &problem, "", ATTN_ERROR_UNSUPPORTED, "softmax");
    problem = plain();
    problem.backward = 1;
    fixture_refuse_plan(context, "softmax", &problem, "", ATTN_ERROR_UNSUPPORTED, "softmax");
    problem = plain();
    problem.softcap = -1.5f;
    fixture_refuse_plan(context, "softmax", &problem, "", ATTN_ERROR_RANGE, "softcap|-1.5");
    problem = plain();
    fixture_refuse_plan(context, "softmax", &problem, "precision=int8", ATTN_ERROR_NOT_FOUND,
                        "softmax|precision");
    attn_stream_t *stream;
    attn_error_t error;
    fixture_expect(fixture_try_stream(context, "softmax", &problem, "", 10, &stream, &error),
                   &error, ATTN_ERROR_UNSUPPORTED, "softmax|streams");
    attn_context_destroy(context);
}

static void calls_that_it_lacks(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = plain();
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, "");
    arrays_run(&arrays, plan);
    float rows[5 * 7];
    attn_cost_t cost = {.struct_size = sizeof cost};
    attn_error_t error;
    fixture_expect(attn_weights(plan, &arrays.io, 0, 0, 0, 5, rows, 7, &error), &error,
                   ATTN_ERROR_UNSUPPORTED, "softmax|weights");
    fixture_expect(attn_plan_cost(plan, &cost, &error), &error, ATTN_ERROR_UNSUPPORTED,
                   "softmax|cost");
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/** All that walks over the arrays of a run ends where this build's list does. */
static void its_arrays_end(void **state) {
    (void)state;
    static const char *const names[] = {"query", "key",  "value",      "out",   "lse",
                                        "bias",  "mask", "kv_lengths", "sinks", "slopes"};
    attn_context_t *context = fixture_context(1);
    const attn_backend_t *backend = attn_backend_find(context, "softmax");
    const attn_problem_t problem = plain();
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, "");
    attn_array_info_t info = {.struct_size = sizeof info};
    attn_tensor_t tensor;
    uint32_t number = 0;
    for (; attn_backend_array(backend, number, &info); number++) {
        assert_true(number < TEST_COUNT(names));
        assert_string_equal(info.name, names[number]);
        assert_int_equal(attn_plan_array(plan, number, &tensor), 1);
    }
    assert_int_equal(number, TEST_COUNT(names));
    assert_int_equal(attn_plan_array(plan, number, &tensor), 0);
    const size_t length = attn_describe(context, NULL, 0);
    char *text = malloc(length + 1);
    assert_non_null(text);
    assert_int_equal(attn_describe(context, text, length + 1), length);
    assert_non_null(strstr(text, "\"slopes\""));
    assert_null(strstr(text, "\"scores\""));
    free(text);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(softmax_is_all_that_it_has), cmocka_unit_test(problems_that_it_lacks),
          cmocka_unit_test(calls_that_it_lacks), cmocka_unit_test(its_arrays_end))
