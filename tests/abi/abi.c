/* The template of the ABI's first version in today's library: what it computed then it computes now. */
#include "abi.h"
#include "support/fixture.h"
#include "support/test.h"

#include <string.h>

static attn_context_t *context_with(const char *path) {
    attn_context_t *context = fixture_context(1);
    attn_error_t error = {0};
    test_label("load %s", path);
    if (attn_plugin_load(context, path, &error)) test_fail("%s", error.message);
    return context;
}

static void solve(const char *path, arrays_t *arrays, float *weights) {
    attn_context_t *context = context_with(path);
    const attn_problem_t *p = &arrays->problem;
    attn_plan_t *plan = fixture_plan(context, "org.libattn.template", p, "width=2.5");
    arrays_run(arrays, plan);
    assert_int_equal(attn_weights(plan, &arrays->io, 0, 1, 0, p->queries, weights, p->keys, NULL),
                     ATTN_OK);
    attn_cost_t cost = {.struct_size = sizeof cost};
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    assert_true(cost.pairs == 2.0 * 20 * 21 / 2);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

static void first_template_as_todays(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 2, 20, 20, 3, 5);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    float first_weights[20 * 20], weights[20 * 20];
    arrays_t first = arrays_create(&problem, LAYOUT_BNHD, 1);
    arrays_t today = arrays_create(&problem, LAYOUT_BNHD, 1);
    solve(FIRST_TEMPLATE_PATH, &first, first_weights);
    solve(TEMPLATE_PATH, &today, weights);
    array_check_same(&first.out, &today.out, "out");
    array_check_same(&first.lse, &today.lse, "lse");
    assert_memory_equal(first_weights, weights, sizeof weights);
    arrays_destroy(&first);
    arrays_destroy(&today);
}

static void first_template_is_described(void **state) {
    (void)state;
    attn_context_t *context = context_with(FIRST_TEMPLATE_PATH);
    const attn_backend_t *backend = attn_backend_find(context, "org.libattn.template");
    attn_param_info_t param = {.struct_size = sizeof param};
    assert_true(attn_backend_param(backend, 0, &param));
    assert_string_equal(param.name, "width");
    assert_true(param.initial == 16.0);
    assert_false(attn_backend_param(backend, 1, &param));
    attn_array_info_t array = {.struct_size = sizeof array};
    assert_true(attn_backend_array(backend, ATTN_ARRAY_OWN - 1, &array));
    assert_false(attn_backend_array(backend, ATTN_ARRAY_OWN, &array));
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(first_template_as_todays), cmocka_unit_test(first_template_is_described),
          cmocka_unit_test(structs_of_the_caller), cmocka_unit_test(structs_that_are_filled),
          cmocka_unit_test(structs_of_a_plugin))
