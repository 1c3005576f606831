/* Problems and parameters: what a plan is made of, and every way to get it wrong. */
#include "support/backends.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void problem_defaults(void **state) {
    (void)state;
    attn_problem_t p;
    attn_problem_init(&p, 2, 3, 4, 5, 6, 7);
    assert_int_equal(p.struct_size, sizeof p);
    assert_int_equal(p.dtype, ATTN_F32);
    assert_true(p.batch == 2 && p.heads == 3 && p.kv_heads == 3 && p.queries == 4 && p.keys == 5);
    assert_true(p.dim == 6 && p.value_dim == 7 && p.causal == ATTN_CAUSAL_NONE && isnan(p.scale));
    assert_int_equal(attn_problem_check(&p, NULL), ATTN_OK);
}

/** One field of a good problem changed. */
typedef struct bad_problem {
    size_t offset;
    int64_t value;
    attn_status_t status;
    const char *words;
} bad_problem_t;

#define FIELD(name) offsetof(attn_problem_t, name)

static void bad_sizes(void **state) {
    (void)state;
    static const bad_problem_t cases[] = {
        {FIELD(batch), 0, ATTN_ERROR_SHAPE, "batch|0"},
        {FIELD(heads), 0, ATTN_ERROR_SHAPE, "heads|0"},
        {FIELD(kv_heads), 0, ATTN_ERROR_SHAPE, "kv_heads|0"},
        {FIELD(queries), 0, ATTN_ERROR_SHAPE, "queries|0"},
        {FIELD(keys), 0, ATTN_ERROR_SHAPE, "keys|0"},
        {FIELD(dim), 0, ATTN_ERROR_SHAPE, "dim|0"},
        {FIELD(value_dim), 0, ATTN_ERROR_SHAPE, "value_dim|0"},
        {FIELD(queries), -5, ATTN_ERROR_SHAPE, "queries|-5"},
        {FIELD(keys), INT64_MIN, ATTN_ERROR_SHAPE, "keys"},
        {FIELD(kv_heads), 4, ATTN_ERROR_SHAPE, "heads|6|kv_heads|4"},
        {FIELD(kv_heads), 12, ATTN_ERROR_SHAPE, "heads|6|kv_heads|12"},
        {FIELD(queries), INT64_MAX, ATTN_ERROR_SHAPE, "fit"},
        {FIELD(keys), INT64_MAX, ATTN_ERROR_SHAPE, "fit"},
        {FIELD(dim), INT64_MAX / 2, ATTN_ERROR_SHAPE, "fit"},
        {FIELD(value_dim), INT64_C(1) << 61, ATTN_ERROR_SHAPE, "fit"},
        {FIELD(batch), INT64_C(1) << 62, ATTN_ERROR_SHAPE, "fit"},
    };
    attn_context_t *context = fixture_context(0);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        attn_problem_t problem = fixture_problem(1, 6, 8, 9, 10, 11);
        memcpy((char *)&problem + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        attn_error_t error = {0};
        attn_plan_t *plan = (attn_plan_t *)&error;
        test_label("problem %zu (%s)", i, cases[i].words);
        fixture_expect(attn_problem_check(&problem, &error), &error, cases[i].status,
                       cases[i].words);
        error = (attn_error_t){0};
        fixture_expect(attn_plan_create(context, "softmax", &problem, NULL, 0, &plan, &error),
                       &error, cases[i].status, cases[i].words);
        assert_null(plan);
        assert_int_equal(attn_problem_check(&problem, NULL), cases[i].status);
    }
    attn_context_destroy(context);
}

static void bad_fields(void **state) {
    (void)state;
    attn_error_t error = {0};
    test_label("bad fields");
    fixture_expect(attn_problem_check(NULL, &error), &error, ATTN_ERROR_ARGUMENT, "problem");

    attn_problem_t problem = fixture_problem(1, 1, 2, 3, 4, 5);
    problem.struct_size = 3;
    fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_ARGUMENT,
                   "struct_size|3");
    problem = fixture_problem(1, 1, 2, 3, 4, 5);
    problem.dtype = ATTN_F64;
    fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_DTYPE, "dtype|2");
    problem.dtype = 99;
    fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_DTYPE, "dtype|99");
    problem.dtype = ATTN_F32;
    problem.causal = 3;
    fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_ARGUMENT, "causal|3");
    problem.causal = -1;
    fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_ARGUMENT, "causal|-1");
    problem.causal = 0;
    problem.scale = INFINITY;
    fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_RANGE, "scale");
}

static void null_arguments(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    const attn_problem_t problem = fixture_problem(1, 1, 2, 3, 4, 5);
    attn_error_t error = {0};
    attn_plan_t *plan = NULL;
    test_label("null arguments");
    const attn_status_t statuses[] = {
        attn_plan_create(NULL, "softmax", &problem, NULL, 0, &plan, &error),
        attn_plan_create(context, NULL, &problem, NULL, 0, &plan, &error),
        attn_plan_create(context, "softmax", NULL, NULL, 0, &plan, &error),
        attn_plan_create(context, "softmax", &problem, NULL, 1, &plan, &error),
        attn_plan_create(context, "softmax", &problem, NULL, 0, NULL, &error),
        attn_plan_create(context, "softmax", NULL, NULL, 0, &plan, NULL),
    };
    for (size_t i = 0; i < TEST_COUNT(statuses); i++)
        fixture_expect(statuses[i], &error, ATTN_ERROR_ARGUMENT, "null");
    attn_plan_destroy(NULL);
    attn_context_destroy(context);
}

static void bad_settings(void **state) {
    (void)state;
    static const struct {
        const char *backend, *settings;
        attn_status_t status;
        const char *words;
    } cases[] = {
        {"sofmax", "", ATTN_ERROR_NOT_FOUND, "sofmax"},
        {"", "", ATTN_ERROR_NOT_FOUND, "backend"},
        {"softmax", "block=3", ATTN_ERROR_NOT_FOUND, "softmax|block"},
        {"sparse", "bloc=3", ATTN_ERROR_NOT_FOUND, "sparse|bloc"},
        {"sparse", "block=", ATTN_ERROR_ARGUMENT, "block"},
        {"sparse", "block=abc", ATTN_ERROR_ARGUMENT, "block|abc"},
        {"sparse", "block=4x", ATTN_ERROR_ARGUMENT, "block|4x"},
        {"sparse", "block=4 4", ATTN_ERROR_ARGUMENT, "block|4 4"},
        {"sparse", "block=nan", ATTN_ERROR_ARGUMENT, "block|nan"},
        {"sparse", "block=2.5", ATTN_ERROR_ARGUMENT, "block|2.5"},
        {"sparse", "block=-1", ATTN_ERROR_RANGE, "block|-1"},
        {"sparse", "block=inf", ATTN_ERROR_RANGE, "block|inf"},
        {"sparse", "block=1e300", ATTN_ERROR_RANGE, "block|1e300"},
        {"sparse", "local=-3", ATTN_ERROR_RANGE, "local|-3"},
        {"sparse", "global=-1", ATTN_ERROR_RANGE, "global|-1"},
        {"sparse", "block=4,local=x", ATTN_ERROR_ARGUMENT, "local|x"},
        {"linear", "feature_map=cosine", ATTN_ERROR_RANGE, "feature_map|cosine|elu1|lin|relu"},
        {"linear", "feature_map=", ATTN_ERROR_RANGE, "feature_map|elu1"},
        {"linear", "feature_map=0", ATTN_ERROR_RANGE, "feature_map|elu1"},
        {"sketch", "method=gauss", ATTN_ERROR_RANGE,
         "method|gauss|gaussian|ams|osnap|leverage|srht"},
        {"sketch", "size=-4", ATTN_ERROR_RANGE, "size|-4"},
        {"sketch", "eps=0", ATTN_ERROR_RANGE, "eps|0"},
        {"sketch", "eps=-0.5", ATTN_ERROR_RANGE, "eps|-0.5"},
        {"sketch", "delta=1.5", ATTN_ERROR_RANGE, "delta|1.5"},
        {"sketch", "delta=half", ATTN_ERROR_ARGUMENT, "delta|half"},
        {"sketch", "seed=-1", ATTN_ERROR_RANGE, "seed|-1"},
    };
    attn_context_t *context = fixture_context(0);
    const attn_problem_t problem = fixture_problem(1, 1, 20, 30, 16, 5);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        test_label("%s %s", cases[i].backend, cases[i].settings);
        fixture_refuse_plan(context, cases[i].backend, &problem, cases[i].settings, cases[i].status,
                            cases[i].words);
    }
    attn_context_destroy(context);
}

static void null_settings(void **state) {
    (void)state;
    static const attn_param_t cases[] = {{NULL, "1"}, {"block", NULL}, {NULL, NULL}};
    attn_context_t *context = fixture_context(0);
    const attn_problem_t problem = fixture_problem(1, 1, 2, 3, 4, 5);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        attn_error_t error = {0};
        attn_plan_t *plan = NULL;
        test_label("null parameter %zu", i);
        fixture_expect(attn_plan_create(context, "sparse", &problem, &cases[i], 1, &plan, &error),
                       &error, ATTN_ERROR_ARGUMENT, "parameter|null");
    }
    attn_context_destroy(context);
}

/** An error that names the parameter's value: what it needs the plain problem does not have. */
static int lacks_something(attn_status_t status, const char *value, const attn_error_t *error) {
    return (status == ATTN_ERROR_UNSUPPORTED || status == ATTN_ERROR_ARGUMENT) &&
           strstr(error->message, value) && strstr(error->message, "needs");
}

/** Makes a plan with one parameter set, and runs it if there is one. */
static attn_status_t try_value(const attn_context_t *context, const attn_backend_t *backend,
                               const attn_param_info_t *info, double value, attn_error_t *error) {
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    if (info->type == ATTN_PARAM_CHOICE && value >= 0 && value <= info->maximum)
        snprintf(text, sizeof text, "%s", info->choices[(int)value]);
    test_label("%s %s=%s", backend->id, info->name, text);
    const attn_param_t param = {.name = info->name, .value = text};
    const attn_problem_t problem = fixture_problem(1, 1, 20, 30, 16, 5);
    attn_plan_t *plan = NULL;
    const attn_status_t status =
        attn_plan_create(context, backend->id, &problem, &param, 1, &plan, error);
    if (lacks_something(status, text, error)) return ATTN_OK;
    if (status != ATTN_OK) return status;
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    arrays_run(&arrays, plan);
    assert_int_equal(attn_count_nonfinite(&arrays.out.tensor), 0);
    arrays_destroy(&arrays);
    attn_plan_destroy(plan);
    return status;
}

/** Every declared range is true: its ends and its default work, what is just outside does not. */
static void declared_ranges_hold(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    for (uint32_t b = 0; b < attn_backend_count(context); b++) {
        const attn_backend_t *backend = attn_backend_at(context, b);
        attn_param_info_t declared = {.struct_size = sizeof declared}, *info = &declared;
        for (uint32_t i = 0; attn_backend_param(backend, i, info); i++) {
            /* 2^53 + 1 would be read as 2^53, and has to be refused */
            assert_true(info->type == ATTN_PARAM_NUMBER || info->maximum < 0x1p53);
            const double inside[] = {info->minimum, info->maximum, info->initial};
            for (size_t k = 0; k < TEST_COUNT(inside); k++) {
                attn_error_t error = {0};
                if (try_value(context, backend, info, inside[k], &error) != ATTN_OK)
                    test_fail("%s", error.message);
            }
            const double outside[] = {info->minimum - 1, info->maximum + fabs(info->maximum) + 1};
            for (size_t k = 0; k < TEST_COUNT(outside); k++) {
                attn_error_t error = {0};
                const attn_status_t status = try_value(context, backend, info, outside[k], &error);
                fixture_expect(status, &error, ATTN_ERROR_RANGE, info->name);
            }
        }
    }
    attn_context_destroy(context);
}

static void plan_remembers_its_problem(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        attn_problem_t problem = fixture_problem(1, 1, 20, 30, 16, 5);
        const attn_problem_t copy = problem;
        attn_plan_t *plan =
            fixture_plan(context, SUBJECTS[s].backend, &problem, SUBJECTS[s].settings);
        memset(&problem, 0xFF, sizeof problem);
        const attn_problem_t *kept = attn_plan_problem(plan);
        assert_true(kept->queries == copy.queries && kept->keys == copy.keys);
        assert_true(kept->dim == copy.dim && kept->value_dim == copy.value_dim);
        const char *tier = attn_tier_name(attn_context_tier(context));
        const char *kernel = attn_plan_kernel(plan);
        test_label("%s: kernel '%s'", SUBJECTS[s].backend, kernel);
        /* the tier's own, or where it has none that of the one it is named after: avx512vnni's is avx512's */
        if (strncmp(kernel, tier, strcspn(kernel, " ")) != 0)
            test_fail("the kernel is not of tier %s", tier);
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

/** An allocator that has at most 16 MiB in one piece. */
static void *allocate_little(void *user, size_t size) {
    (void)user;
    return size > (16u << 20) ? NULL : aligned_alloc(64, (size / 64 + 1) * 64);
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/** Sizes up to the end of the address space: a plan or a clear refusal. */
static void enormous_problems(void **state) {
    (void)state;
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .allocate = allocate_little, .release = release};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &memory};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (int bits = 28; bits < 62; bits++) {
            const attn_problem_t problem = fixture_problem(1, 1, 1, INT64_C(1) << bits, 1, 1);
            attn_plan_t *plan = NULL;
            attn_error_t error = {0};
            const attn_status_t status = fixture_try_plan(context, SUBJECTS[s].backend, &problem,
                                                          SUBJECTS[s].settings, &plan, &error);
            test_label("%s with 2^%d keys", SUBJECTS[s].backend, bits);
            if (status == ATTN_ERROR_SHAPE || status == ATTN_ERROR_MEMORY) {
                fixture_expect(status, &error, status, "");
                continue;
            }
            assert_int_equal(status, ATTN_OK);
            attn_plan_destroy(plan);
        }
    attn_context_destroy(context);
}

static void facts_end(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        const attn_problem_t problem = fixture_problem(1, 1, 20, 30, 16, 5);
        attn_plan_t *plan =
            fixture_plan(context, SUBJECTS[s].backend, &problem, SUBJECTS[s].settings);
        attn_fact_t fact = {.struct_size = sizeof fact};
        uint32_t count = 0;
        memset(&fact, 0xA5, sizeof fact);
        assert_false(attn_plan_fact(plan, 0, &fact)); /* no room is said */
        fact.struct_size = sizeof fact;
        for (; attn_plan_fact(plan, count, &fact); count++) {
            assert_true(count < 100);
            assert_true(fact.struct_size == sizeof fact && fact.reserved == 0);
            assert_true(strlen(fact.name) && strlen(fact.label));
        }
        assert_false(attn_plan_fact(plan, count + 1, &fact));
        assert_false(attn_plan_fact(plan, UINT32_MAX, &fact));
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(problem_defaults), cmocka_unit_test(bad_sizes),
          cmocka_unit_test(bad_fields), cmocka_unit_test(null_arguments),
          cmocka_unit_test(bad_settings), cmocka_unit_test(null_settings),
          cmocka_unit_test(declared_ranges_hold), cmocka_unit_test(plan_remembers_its_problem),
          cmocka_unit_test(enormous_problems), cmocka_unit_test(facts_end))
