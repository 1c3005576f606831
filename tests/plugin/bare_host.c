/* A plugin works when its host offers nothing: no memory, threads, cpu or log service. */
#include "support/backends.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const void *nothing(const attn_host_t *host, const char *id) {
    (void)host, (void)id;
    return NULL;
}

enum { MAX_PARAMS = 16 };

/** Every parameter at its default. */
static void default_values(const attn_backend_t *backend, attn_value_t *values) {
    attn_param_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; attn_backend_param(backend, i, &info); i++) {
        assert_true(i < MAX_PARAMS);
        if (info.type == ATTN_PARAM_NUMBER)
            values[i].number = info.initial;
        else
            values[i].integer = (int64_t)info.initial;
    }
}

static void run_bare(const attn_backend_t *backend, const attn_host_t *host) {
    const attn_problem_t problem = fixture_problem(1, 2, 25, 30, 16, 9);
    test_label("%s on a bare host", backend->id);
    attn_value_t values[MAX_PARAMS] = {{0}};
    default_values(backend, values);
    attn_backend_plan_t *plan = NULL;
    attn_error_t error = {0};
    if (backend->plan(host, &problem, values, &plan, &error)) test_fail("plan: %s", error.message);

    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    arrays.io.workspace_size = plan->workspace_size;
    arrays.io.workspace = aligned_alloc(64, (size_t)(plan->workspace_size / 64 + 1) * 64);
    assert_non_null(arrays.io.workspace);
    arrays_reset(&arrays);
    assert_int_equal(plan->run(plan, &arrays.io, &error), ATTN_OK);
    array_check(&arrays.out, "out");
    assert_int_equal(attn_count_nonfinite(&arrays.out.tensor), 0);
    if (strcmp(backend->id, "softmax") == 0) {
        const formula_t softmax = {.form = FORM_SOFTMAX};
        compare_output(&arrays, &softmax);
    }
    free(arrays.io.workspace);
    arrays_destroy(&arrays);
    plan->destroy(plan);
}

static void built_in_backends(void **state) {
    (void)state;
    static const attn_host_t hosts[] = {
        {.struct_size = sizeof(attn_host_t),
         .name = "bare",
         .version = "0",
         .get_extension = nothing},
        {.struct_size = sizeof(attn_host_t), .name = "barer", .version = "0"},
    };
    attn_context_t *context = fixture_context(0);
    for (uint32_t b = 0; b < attn_backend_count(context); b++)
        for (size_t h = 0; h < TEST_COUNT(hosts); h++)
            run_bare(attn_backend_at(context, b), &hosts[h]);
    attn_context_destroy(context);
}

/** Extensions that a backend does not have are NULL, whatever their name. */
static void unknown_extensions(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    for (uint32_t b = 0; b < attn_backend_count(context); b++) {
        const attn_backend_t *backend = attn_backend_at(context, b);
        assert_null(backend->get_extension("attn.params/2"));
        assert_null(backend->get_extension("org.example.nothing/1"));
        assert_null(backend->get_extension(""));
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(built_in_backends), cmocka_unit_test(unknown_extensions))
