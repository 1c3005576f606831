/*
 * The labs as data: every declaration keeps the rules of labs/lab.h, and what is made from it (runs,
 * streams of random numbers, JSON) is what it says.
 */
#include "labs/lab.h"
#include "support/fixture.h"
#include "support/test.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_word(const char *text, const char *others) {
    if (!text || !*text) test_fail("a name is missing");
    for (const char *c = text; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr(others, *c))
            test_fail("'%s' is no name", text);
}

static void check_param(const attn_param_info_t *info) {
    check_word(info->name, "_");
    assert_true(info->struct_size == sizeof *info);
    assert_true(info->label && *info->label && info->help && *info->help && info->unit);
    assert_true(info->minimum <= info->maximum);
    /* 0 outside the range can only be the default: "automatic". */
    const int inside = info->initial >= info->minimum && info->initial <= info->maximum;
    if (!inside && !(info->automatic && info->initial == 0))
        test_fail("the default of %s is outside its range", info->name);
    if (info->type != ATTN_PARAM_CHOICE) {
        assert_null(info->choices);
        return;
    }
    for (int i = 0; i <= (int)info->maximum; i++) check_word(info->choices[i], "_-");
    assert_null(info->choices[(int)info->maximum + 1]);
}

static void check_columns(const lab_panel_t *panel) {
    int lines = 0;
    assert_true(panel->column_count >= 2 && panel->column_count <= LAB_COLUMNS);
    assert_string_equal(panel->columns[0].name, "x");
    for (uint32_t c = 0; c < panel->column_count; c++) {
        const lab_column_t *column = &panel->columns[c];
        check_word(column->name, "_");
        assert_non_null(column->label); /* "" where none is shown */
        assert_true(column->mark >= LAB_HIDDEN && column->mark <= LAB_FAINT);
        if (column->mark == LAB_LINE || column->mark == LAB_POINTS || column->mark == LAB_BOUND)
            assert_true(*column->label);
        lines += column->mark == LAB_LINE || column->mark == LAB_POINTS;
        if (column->mark == LAB_LOW || column->mark == LAB_HIGH) assert_true(lines > 0);
        for (uint32_t other = 0; other < c; other++)
            if (strcmp(panel->columns[other].name, column->name) == 0)
                test_fail("two columns are called %s", column->name);
    }
    assert_true(lines > 0);
}

/** As declared, a panel can begin: all of its points are inside of the ranges and checks. */
static void check_panel(const lab_t *lab, const lab_panel_t *panel) {
    lab_run_t run;
    attn_error_t error = {0};
    test_label("%s, panel %s", lab->name, panel->id);
    check_word(panel->id, "-");
    assert_true(panel->title && *panel->title && panel->x.label && panel->y.label);
    assert_true(panel->x.unit && panel->y.unit);
    assert_true(panel->x_param < (int32_t)lab->param_count);
    for (uint32_t i = 0; i < panel->fixed_count; i++) {
        assert_true((uint32_t)panel->fixed[i].param < lab->param_count);
        assert_true(panel->fixed[i].param != panel->x_param);
    }
    check_columns(panel);
    lab_run_init(&run, lab, panel, 3);
    assert_true(run.point_count >= 2);
    for (uint32_t i = 1; i < run.point_count; i++)
        assert_true(lab_run_x(&run, i) != lab_run_x(&run, i - 1));
    attn_context_t *context = fixture_context(1);
    if (lab_run_begin(&run, context, &error)) test_fail("%s", error.message);
    for (uint32_t i = 0; i < run.point_count; i++) assert_true(lab_run_cost(&run, i) > 0);
    lab_run_end(&run);
    attn_context_destroy(context);
    for (uint32_t i = 0; i < lab->param_count; i++) { /* what is offered is taken, and no more */
        const int offered = (int32_t)i != panel->x_param && !(panel->idle >> i & 1);
        lab_run_init(&run, lab, panel, 3);
        if (offered != !lab_run_takes(&run, i, NULL))
            test_fail("%s: offered %d", lab->params[i].name, offered);
    }
}

static void declarations_keep_the_rules(void **state) {
    (void)state;
    assert_true(lab_count() >= 1);
    assert_null(lab_at(lab_count()));
    for (uint32_t i = 0; i < lab_count(); i++) {
        const lab_t *lab = lab_at(i);
        test_label("%s", lab->name);
        check_word(lab->name, "-");
        assert_ptr_equal(lab_find(lab->name), lab);
        assert_true(lab->param_count <= LAB_PARAMS && lab->point);
        assert_true(*lab->title && *lab->reference && *lab->summary);
        for (uint32_t p = 0; p < lab->param_count; p++) check_param(&lab->params[p]);
        for (uint32_t p = 0; p < lab->panel_count; p++) {
            check_panel(lab, &lab->panels[p]);
            assert_ptr_equal(lab_panel_find(lab, lab->panels[p].id), &lab->panels[p]);
        }
    }
    assert_null(lab_find("nothing"));
    assert_null(lab_panel_find(lab_at(0), "nothing"));
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/** Streams differ in lab, panel, x, trial and purpose, and in nothing else. */
static void streams_are_apart(void **state) {
    (void)state;
    enum { STREAMS = 2 * 2 * 8 * 8 * 4 };
    static uint64_t streams[STREAMS];
    const lab_t *lab = lab_find("separation");
    size_t count = 0;
    for (uint32_t panel = 0; panel < 2; panel++)
        for (uint64_t seed = 0; seed < 2; seed++)
            for (uint32_t x = 0; x < 8; x++)
                for (uint64_t trial = 0; trial < 8; trial++)
                    for (uint32_t purpose = 0; purpose < 4; purpose++) {
                        lab_run_t run;
                        lab_run_init(&run, lab, &lab->panels[panel], seed);
                        const lab_point_t point = {.run = &run, .x = 0.25 * x, .index = x % 3};
                        streams[count++] = lab_stream(&point, trial, purpose);
                    }
    qsort(streams, count, sizeof streams[0], compare);
    for (size_t i = 0; i < count; i += 2) { /* each twice: the seed is the caller's to add */
        assert_true(streams[i] == streams[i + 1]);
        assert_true(i == 0 || streams[i] != streams[i - 1]);
    }
}

static void numbers_are_short(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {{0.1, "0.1"}, {1.396, "1.396"},  {1e300, "1e+300"},   {-0.5, "-0.5"}, {3, "3"},
                 {NAN, "nan"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}, {0, "0"}};
    char text[32];
    for (size_t i = 0; i < TEST_COUNT(known); i++)
        assert_string_equal(lab_number_text(known[i].value, text), known[i].text);
    for (uint64_t i = 0; i < 1000; i++) {
        const double value = 1.0 / (double)(3 + i);
        assert_true(strtod(lab_number_text(value, text), NULL) == value);
    }
}

/** The JSON is whole whatever the room: nested as it should be, and cut where the buffer ends. */
static void description_is_json(void **state) {
    (void)state;
    const size_t length = lab_describe(NULL, 0);
    char *text = malloc(length + 1), *part = malloc(101);
    assert_true(text && part);
    assert_int_equal(lab_describe(text, length + 1), length);
    assert_int_equal(strlen(text), length);
    int depth = 0, quoted = 0;
    for (size_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (strchr("[{", text[i]) != NULL) - (strchr("]}", text[i]) != NULL);
        assert_true(depth > 0 || i + 1 == length);
    }
    assert_true(depth == 0 && !quoted);
    for (uint32_t i = 0; i < lab_count(); i++) assert_non_null(strstr(text, lab_at(i)->name));
    assert_int_equal(lab_describe(part, 101), length);
    assert_int_equal(strlen(part), 100);
    assert_memory_equal(part, text, 100);
    free(text);
    free(part);
}

TEST_MAIN(cmocka_unit_test(declarations_keep_the_rules), cmocka_unit_test(streams_are_apart),
          cmocka_unit_test(numbers_are_short), cmocka_unit_test(description_is_json))
