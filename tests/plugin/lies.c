/*
 * A plugin that says what cannot be: what of it is declared is refused when it is registered, and nothing
 * of it brings the host down.
 */
#include "attn/ext/facts.h"
#include "attn/ext/inputs.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

/* What the backend says just now, by its extensions. */
static struct {
    const attn_ext_params_t *params;
    const attn_ext_inputs_t *inputs;
    const attn_ext_facts_t *facts;
} said;

static const void *get_extension(const char *id) {
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return said.params;
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return said.inputs;
    return strcmp(id, ATTN_EXT_FACTS) == 0 ? said.facts : NULL;
}

static attn_status_t run(const attn_backend_plan_t *plan, const attn_io_t *io,
                         attn_error_t *error) {
    (void)plan, (void)io, (void)error;
    return ATTN_OK;
}

static void destroy(attn_backend_plan_t *plan) { (void)plan; }

static attn_backend_plan_t prepared = {
    .struct_size = sizeof prepared, .run = run, .destroy = destroy};

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)error;
    *plan = &prepared;
    return ATTN_OK;
}

/* No more texts than it needs. */
static const attn_backend_t backend = {
    .struct_size = sizeof backend,
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

TEST_MAIN(cmocka_unit_test(parameters_that_cannot_be), cmocka_unit_test(texts_left_out_are_empty))
