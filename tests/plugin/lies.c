/*
 * A plugin that says what cannot be: what of it is declared is refused when it is registered, and nothing
 * of it brings the host down.
 */
#include "attn/ext/facts.h"
#include "attn/ext/inputs.h"
#include "attn/ext/stream.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

/* What the backend says just now, by its extensions. */
static struct {
    const attn_ext_params_t *params;
    const attn_ext_inputs_t *inputs;
    const attn_ext_facts_t *facts;
    const void *empty; /* any other */
    attn_backend_plan_t *plan;
    attn_backend_stream_t *stream;
} said;

static attn_status_t make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)error;
    *stream = said.stream;
    return ATTN_OK;
}

static const attn_ext_stream_t streams = {.struct_size = sizeof streams, .create = make_stream};

static const void *get_extension(const char *id) {
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return said.params;
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return said.inputs;
    if (strcmp(id, ATTN_EXT_FACTS) == 0) return said.facts;
    if (strcmp(id, ATTN_EXT_STREAM) == 0 && !said.empty) return &streams;
    return said.empty;
}

static attn_status_t run(const attn_backend_plan_t *plan, const attn_io_t *io,
                         attn_error_t *error) {
    (void)plan, (void)io, (void)error;
    return ATTN_OK;
}

static int destroyed;

static void destroy(attn_backend_plan_t *plan) {
    (void)plan;
    destroyed++;
}

static attn_backend_plan_t prepared = {
    .struct_size = sizeof prepared, .run = run, .destroy = destroy};

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)error;
    *plan = said.plan;
    return ATTN_OK;
}

/* No more texts than it needs. */
static const attn_backend_t backend = {
    .struct_size = sizeof backend,
    .features = ATTN_FEATURE_LSE | ATTN_FEATURE_BACKWARD,
    .id = "org.example.liar",
    .plan = make_plan,
    .get_extension = get_extension,
};
static const attn_backend_t *const backends[] = {&backend};
static const attn_plugin_entry_t entry = {sizeof entry, ATTN_ABI_MAJOR, ATTN_ABI_MINOR, 1, 0,
                                          backends};

static attn_context_t *context_with_it(void) {
    attn_context_t *context = fixture_context(1);
    attn_error_t error = {0};
    said.plan = &prepared;
    if (attn_plugin_register(context, &entry, NULL, &error) != ATTN_OK)
        test_fail("register: %s", error.message);
    return context;
}

/* ---- parameters ------------------------------------------------------------------------------------ */

static void refuse(const attn_ext_params_t *params, const char *words) {
    attn_context_t *context = fixture_context(1);
    attn_error_t error = {0};
    said.params = params;
    fixture_expect(attn_plugin_register(context, &entry, NULL, &error), &error, ATTN_ERROR_PLUGIN,
                   words);
    said.params = NULL;
    attn_context_destroy(context);
}

#define PARAMETER(type_, name_, ...)                                                               \
    {                                                                                              \
        .struct_size = sizeof(attn_param_info_t), .type = ATTN_PARAM_##type_, .name = name_,       \
        .label = "", .help = "", .unit = "", __VA_ARGS__                                           \
    }

static void parameters_that_cannot_be(void **state) {
    (void)state;
    static const char *const none[] = {NULL}, *const one[] = {"one", NULL};
    const attn_param_info_t bad[] = {
        PARAMETER(INTEGER, NULL, .maximum = 1),
        PARAMETER(INTEGER, "", .maximum = 1),
        PARAMETER(INTEGER, "a=b", .maximum = 1),
        PARAMETER(INTEGER, "Large", .maximum = 1),
        PARAMETER(INTEGER, "a-b", .maximum = 1),
        PARAMETER(INTEGER, "a", .minimum = 2, .maximum = 1),
        PARAMETER(INTEGER, "a", .initial = 2, .maximum = 1),
        PARAMETER(INTEGER, "a", .initial = -1, .maximum = 1),
        PARAMETER(INTEGER, "a", .initial = NAN, .maximum = 1),
        PARAMETER(INTEGER, "a", .maximum = 0x1p54),
        PARAMETER(BOOLEAN, "a", .minimum = -0x1p54, .maximum = 1),
        PARAMETER(NUMBER, "a", .maximum = INFINITY),
        PARAMETER(NUMBER, "a", .minimum = NAN, .maximum = 1),
        PARAMETER(CHOICE, "a", .choices = NULL),
        PARAMETER(CHOICE, "a", .choices = none),
        PARAMETER(CHOICE, "a", .choices = one, .initial = 1),
        PARAMETER(CHOICE, "a", .choices = one, .initial = -1),
        {.struct_size = 0},
    };
    for (size_t i = 0; i < TEST_COUNT(bad); i++) {
        test_label("parameter %zu", i);
        refuse(&(attn_ext_params_t){sizeof(attn_ext_params_t), 1, &bad[i]},
               "org.example.liar|one of its parameters is malformed");
    }
    test_label("a list of parameters");
    refuse(&(attn_ext_params_t){sizeof(attn_ext_params_t), 1, NULL}, "list of parameters");
    const attn_param_info_t twice[] = {PARAMETER(NUMBER, "a", .maximum = 1),
                                       PARAMETER(INTEGER, "a", .maximum = 1)};
    refuse(&(attn_ext_params_t){sizeof(attn_ext_params_t), 2, twice}, "two parameters");
}

/* ---- texts ------------------------------------------------------------------------------------------ */

static int32_t nameless(const attn_backend_plan_t *plan, uint32_t index, attn_fact_t *fact) {
    (void)plan, (void)fact;
    return index == 0;
}

static void texts_left_out_are_empty(void **state) {
    (void)state;
    const attn_param_info_t bare = {
        .struct_size = sizeof bare, .type = ATTN_PARAM_NUMBER, .name = "a", .maximum = 1};
    const attn_array_info_t array = {.struct_size = sizeof array,
                                     .role = ATTN_ROLE_INPUT,
                                     .presence = ATTN_PRESENCE_NAMED,
                                     .dtype = ATTN_F32,
                                     .name = "b"};
    const attn_array_info_t *const arrays[] = {&array};
    said.params = &(attn_ext_params_t){sizeof(attn_ext_params_t), 1, &bare};
    said.inputs = &(attn_ext_inputs_t){sizeof(attn_ext_inputs_t), 1, arrays, NULL};
    said.facts = &(attn_ext_facts_t){sizeof(attn_ext_facts_t), 0, nameless};
    attn_context_t *context = context_with_it();
    attn_param_info_t param = {.struct_size = sizeof param};
    assert_true(attn_backend_param(&backend, 0, &param));
    assert_string_equal(param.label, "");
    assert_string_equal(param.help, "");
    assert_string_equal(param.unit, "");
    attn_array_info_t info = {.struct_size = sizeof info};
    assert_true(attn_backend_array(&backend, ATTN_ARRAY_OWN, &info));
    assert_string_equal(info.help, "");
    const attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    attn_plan_t *plan = fixture_plan(context, backend.id, &problem, NULL);
    attn_fact_t fact = {.struct_size = sizeof fact};
    assert_true(attn_plan_fact(plan, 0, &fact));
    assert_string_equal(fact.name, "");
    assert_string_equal(fact.label, "");
    static char text[32768];
    assert_true(attn_describe(context, text, sizeof text) < sizeof text);
    const char *own = strstr(text, backend.id);
    assert_non_null(own);
    assert_non_null(strstr(own, "\"name\": \"\", \"version\": \"\", \"description\": \"\", "
                                "\"reference\": \"\""));
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    memset(&said, 0, sizeof said);
}

/* ---- plans, streams, extensions -------------------------------------------------------------------- */

static void expect_no_plan(const attn_context_t *context, const char *words) {
    const attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    fixture_refuse_plan(context, backend.id, &problem, NULL, ATTN_ERROR_PLUGIN, words);
}

static void plans_that_are_none(void **state) {
    (void)state;
    attn_context_t *context = context_with_it();
    attn_backend_plan_t half = prepared;
    test_label("no plan");
    said.plan = NULL;
    expect_no_plan(context, "org.example.liar|plan");
    test_label("a plan without run");
    said.plan = &half;
    half.run = NULL;
    destroyed = 0;
    expect_no_plan(context, "org.example.liar|plan");
    assert_int_equal(destroyed, 1);
    test_label("a plan without destroy");
    half.run = run;
    half.destroy = NULL;
    expect_no_plan(context, "org.example.liar|plan");
    attn_context_destroy(context);
    memset(&said, 0, sizeof said);
}

static int64_t extent;

static void shape_of(const attn_backend_plan_t *plan, uint32_t index, int64_t shape[4]) {
    (void)plan, (void)index;
    for (int k = 0; k < 4; k++) shape[k] = extent;
}

static void shapes_that_cannot_be(void **state) {
    (void)state;
    const attn_array_info_t array = {
        .struct_size = sizeof array,
        .role = ATTN_ROLE_INPUT,
        .presence = ATTN_PRESENCE_NAMED,
        .dtype = ATTN_F32,
        .axes = {ATTN_AXIS_ONE, ATTN_AXIS_HEADS, ATTN_AXIS_PLAN, ATTN_AXIS_PLAN},
        .name = "table"};
    const attn_array_info_t *const arrays[] = {&array};
    attn_ext_inputs_t inputs = {sizeof inputs, 1, arrays, NULL};
    said.inputs = &inputs;
    attn_error_t error = {0};
    attn_context_t *bare = fixture_context(1);
    test_label("an axis that nobody tells");
    fixture_expect(attn_plugin_register(bare, &entry, NULL, &error), &error, ATTN_ERROR_PLUGIN,
                   "array|malformed");
    attn_context_destroy(bare);
    inputs.shape = shape_of;
    attn_context_t *context = context_with_it();
    static const int64_t bad[] = {0, -1, -3, INT64_MAX, INT64_C(1) << 31};
    for (size_t i = 0; i < TEST_COUNT(bad); i++) {
        test_label("extents of %lld", (long long)bad[i]);
        extent = bad[i];
        destroyed = 0;
        expect_no_plan(context, "org.example.liar|table");
        assert_int_equal(destroyed, 1);
    }
    extent = 3; /* of the axes that are the plan's alone */
    const attn_problem_t problem = fixture_problem(1, 2, 1, 1, 1, 1);
    attn_plan_t *plan = fixture_plan(context, backend.id, &problem, NULL);
    attn_tensor_t tensor;
    assert_true(attn_plan_array(plan, ATTN_ARRAY_OWN, &tensor));
    assert_memory_equal(tensor.shape, ((int64_t[]){1, 2, 3, 3}), sizeof tensor.shape);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    memset(&said, 0, sizeof said);
}

static void streams_that_are_none(void **state) {
    (void)state;
    attn_context_t *context = context_with_it();
    const attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    attn_backend_stream_t empty = {.struct_size = sizeof empty};
    attn_backend_stream_t *const made[] = {NULL, &empty};
    for (size_t i = 0; i < TEST_COUNT(made); i++) {
        attn_stream_t *stream = NULL;
        attn_error_t error = {0};
        said.stream = made[i];
        test_label("stream %zu", i);
        fixture_expect(fixture_try_stream(context, backend.id, &problem, NULL, 5, &stream, &error),
                       &error, ATTN_ERROR_PLUGIN, "org.example.liar|stream");
        assert_null(stream);
    }
    attn_context_destroy(context);
    memset(&said, 0, sizeof said);
}

/* Room for any extension, with nothing in it. */
static void extensions_without_their_function(void **state) {
    (void)state;
    static const struct {
        uint32_t struct_size;
        char rest[252];
    } empty = {.struct_size = sizeof empty};
    attn_context_t *context = context_with_it();
    attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    problem.backward = 1;
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
    attn_plan_t *plan = fixture_plan(context, backend.id, &problem, NULL);
    attn_cost_t cost = {.struct_size = sizeof cost};
    attn_fact_t fact = {.struct_size = sizeof fact};
    attn_stream_t *stream;
    float weight;
    said.empty = &empty;
    said.facts = (const void *)&empty;
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_ERROR_UNSUPPORTED);
    assert_false(attn_plan_fact(plan, 0, &fact));
    assert_int_equal(attn_weights(plan, &arrays.io, 0, 0, 0, 1, &weight, 1, NULL),
                     ATTN_ERROR_UNSUPPORTED);
    assert_int_equal(attn_backward(plan, &arrays.io, &arrays.io, NULL), ATTN_ERROR_UNSUPPORTED);
    problem.backward = 0;
    assert_int_equal(fixture_try_stream(context, backend.id, &problem, NULL, 5, &stream, NULL),
                     ATTN_ERROR_UNSUPPORTED);
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
    attn_context_destroy(context);
    memset(&said, 0, sizeof said);
}

TEST_MAIN(cmocka_unit_test(parameters_that_cannot_be), cmocka_unit_test(texts_left_out_are_empty),
          cmocka_unit_test(plans_that_are_none), cmocka_unit_test(shapes_that_cannot_be),
          cmocka_unit_test(streams_that_are_none),
          cmocka_unit_test(extensions_without_their_function))
