/*
 * What the library and the labs read and write, in the locale that the command line names: byte for byte
 * what it is in the C locale. See locale.cmake.
 */
#include "attn/random.h"
#include "labs/lab.h"
#include "number/number.h"
#include "support/fixture.h"
#include "support/test.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything, one line after another. */
typedef struct collection {
    char *text;
    size_t length, room;
} collection_t;

static void add(collection_t *all, const char *line) {
    const size_t length = strlen(line);
    while (all->length + length + 2 > all->room) {
        all->room = 2 * all->room + 4096;
        all->text = realloc(all->text, all->room);
        if (!all->text) abort();
    }
    memcpy(all->text + all->length, line, length);
    memcpy(all->text + all->length + length, "\n", 2);
    all->length += length + 1;
}

static void add_description(collection_t *all, size_t length, char *text) {
    if (!text) abort();
    text[length] = 0;
    add(all, text);
    free(text);
}

static void add_descriptions(collection_t *all, const attn_context_t *context) {
    size_t length = attn_describe(context, NULL, 0);
    char *text = malloc(length + 1);
    attn_describe(context, text, length + 1);
    add_description(all, length, text);
    length = lab_describe(NULL, 0);
    text = malloc(length + 1);
    lab_describe(text, length + 1);
    add_description(all, length, text);
}

static void add_plan(collection_t *all, const attn_context_t *context, const char *backend,
                     const attn_problem_t *problem, const char *name, const char *value) {
    const attn_param_t params[] = {{name, value}, {"delta", "0.0125"}};
    attn_plan_t *plan = NULL;
    attn_error_t error = {.message = "taken"};
    attn_fact_t fact = {.struct_size = sizeof fact};
    attn_plan_create(context, backend, problem, params, name ? 2 : 0, &plan, &error);
    add(all, error.message);
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++)
        if (fact.text) add(all, fact.text);
    attn_plan_destroy(plan);
}

static void add_plans(collection_t *all, const attn_context_t *context) {
    attn_problem_t problem = fixture_problem(1, 1, 8, 8, 400, 4);
    add_plan(all, context, "sketch", &problem, "eps", "0.5");
    add_plan(all, context, "sketch", &problem, "eps", "0,5");
    add_plan(all, context, "sketch", &problem, "eps", "1.5");
    add_plan(all, context, "sketch", &problem, "size", "0.5");
    problem.softcap = -0.5f;
    add_plan(all, context, "softmax", &problem, NULL, NULL);
}

static void add_scale(collection_t *all, const attn_context_t *context) {
    attn_problem_t problem = fixture_problem(1, 1, 1, 2, 1, 1);
    problem.kv_dtype = ATTN_I8;
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, NULL);
    int8_t keys[2] = {1, 1};
    float query = 1, out, scales[2] = {0.5f, -0.5f}, memory[8192];
    attn_error_t error = {.message = "taken"};
    attn_io_t io = {.struct_size = sizeof io, .workspace = memory};
    io.query = attn_tensor_bhnd(&query, 1, 1, 1, 1), io.out = attn_tensor_bhnd(&out, 1, 1, 1, 1);
    io.key = attn_tensor_bhnd(NULL, 1, 1, 2, 1);
    io.key.data = keys, io.key.dtype = ATTN_I8;
    io.value = io.key;
    io.key_scales = io.value_scales = attn_tensor_bhnd(scales, 1, 1, 2, 1);
    attn_run(plan, &io, &error);
    add(all, error.message);
    attn_plan_destroy(plan);

    attn_stream_t *stream = NULL;
    assert_int_equal(attn_stream_create(context, "softmax", &problem, NULL, 0, 10, &stream, &error),
                     ATTN_OK);
    io.query.data = io.out.data = NULL;
    attn_stream_append(stream, &io, &error);
    add(all, error.message);
    attn_stream_destroy(stream);
}

/** Every panel's findings in rows that are made up, and what is wrong with some settings. */
static void add_panel(collection_t *all, const lab_t *lab, const lab_panel_t *panel) {
    enum { ROWS = 6 };
    double rows[ROWS * LAB_COLUMNS];
    char text[1024], number[32];
    lab_run_t run;
    lab_finding_t finding;
    attn_error_t error = {.message = "taken"};
    for (uint64_t i = 0; i < TEST_COUNT(rows); i++) rows[i] = 1 + attn_random_uniform(5, 0, i);
    for (uint32_t i = 0; i < ROWS; i++) rows[i * panel->column_count] = i + 1.5;
    lab_run_init(&run, lab, panel, 1);
    lab_run_note(&run, rows, ROWS, text, sizeof text);
    add(all, text);
    lab_run_judge(&run, rows, ROWS, &finding);
    add(all, finding.sure);
    add(all, finding.found);
    add(all, lab_number_text(rows[1], number));
    for (uint32_t i = 0; i < lab->param_count; i++) {
        lab_run_set(&run, lab->params[i].name, "0.5", &error);
        add(all, error.message);
        lab_run_set(&run, lab->params[i].name, "0,5", &error);
        add(all, error.message);
    }
}

static collection_t collect(void) {
    collection_t all = {0};
    attn_context_t *context = fixture_context(1);
    add_descriptions(&all, context);
    add_plans(&all, context);
    add_scale(&all, context);
    for (uint32_t i = 0; lab_at(i); i++)
        for (uint32_t k = 0; k < lab_at(i)->panel_count; k++)
            add_panel(&all, lab_at(i), &lab_at(i)->panels[k]);
    attn_context_destroy(context);
    return all;
}

static const char *locale;

static void set_locale(const char *name) {
    char half[16];
    if (!setlocale(LC_ALL, name)) test_fail("there is no locale %s", name);
    snprintf(half, sizeof half, "%g", 0.5);
    if ((strcmp(half, "0.5") == 0) != (strcmp(name, "C") == 0))
        test_fail("a half is %s in %s: the locale tests nothing", half, name);
}

static void texts_are_the_same(void **state) {
    (void)state;
    set_locale("C");
    collection_t wanted = collect();
    set_locale(locale);
    collection_t found = collect();
    set_locale("C");
    assert_non_null(strstr(wanted.text, "with probability 0.9875"));
    assert_non_null(strstr(wanted.text, "softcap is -0.5"));
    assert_non_null(strstr(wanted.text, "key 1 has -0.5, must be positive"));
    const char *a = wanted.text, *b = found.text;
    while (*a && *a == *b) a++, b++;
    const int back = a - wanted.text < 60 ? (int)(a - wanted.text) : 60;
    if (*a || *b) test_fail("\"%.120s\", not \"%.120s\"", b - back, a - back);
    free(wanted.text);
    free(found.text);
}

static void parameters_have_a_point(void **state) {
    (void)state;
    set_locale(locale);
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 8, 8, 16, 4);
    attn_param_t eps = {"eps", "0.1"};
    attn_error_t error = {0};
    attn_plan_t *plan = NULL;
    if (attn_plan_create(context, "sketch", &problem, &eps, 1, &plan, &error))
        test_fail("0.1: %s", error.message);
    attn_plan_destroy(plan);
    eps.value = "0,1";
    fixture_expect(attn_plan_create(context, "sketch", &problem, &eps, 1, &plan, &error), &error,
                   ATTN_ERROR_ARGUMENT, "eps|0,1|not a number");
    attn_context_destroy(context);
    set_locale("C");
}

static void doubles_return(void **state) {
    (void)state;
    set_locale(locale);
    for (uint64_t i = 0; i < 2000; i++) {
        const uint64_t bits = attn_random_u64(test_seed(), 4, i);
        double x;
        char text[32];
        const char *end;
        memcpy(&x, &bits, sizeof x);
        if (isnan(x)) continue;
        const double y = attn_number_read(attn_number_text(x, text), &end);
        if (memcmp(&x, &y, sizeof x) != 0 || *end) test_fail("%a becomes \"%s\"", x, text);
    }
    set_locale("C");
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_the_same),
                                       cmocka_unit_test(parameters_have_a_point),
                                       cmocka_unit_test(doubles_return)};
    if (count != 2 || !test_begin()) return TEST_SKIPPED;
    locale = arguments[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
