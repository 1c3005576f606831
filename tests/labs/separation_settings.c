/*
 * The separation experiments' panels and settings: grids, defaults and counts as arXiv:2310.11685 has
 * them; what is refused, and with which words; what is outside the definitions and said to be.
 */
#include "labs/separation/lab.h"
#include "labs/separation/separation.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Grids as section 7 and F.6 have them: first, second and last x, how many, and the trials. */
static void panels_are_the_papers(void **state) {
    (void)state;
    static const struct {
        const char *id;
        double first, second, last, count, trials, m, a1, n, d;
    } panels[] = {
        {"3a", 100, 110, 2000, 191, 1000, 4, 0, 100, 0},
        {"3b", 1, 2, 100, 100, 1000, 1, 0, 1000, 0},
        {"4a", 200, 210, 1000, 81, 100, 15, 1.2, 200, 12},
        {"4b", 4, 6, 66, 6, 100, 15, 1.2, 256, 4},
        {"4c", 1, 2, 80, 80, 100, 1, 1.2, 200, 22},
        {"4d", 0.1, 0.136, 2.98, 81, 100, 15, 0.1, 200, 22},
        {"4e", 0.01, 0.02, 0.8, 80, 100, 15, 1.2, 200, 22},
        {"4f", 0.5, 0.505, 0.9, 81, 100, 15, 1.2, 200, 22},
        {"7a", 200, 210, 1000, 81, 100, 9, 3, 200, 11},
        {"7b", 2, 3, 51, 10, 100, 9, 3, 200, 2},
        {"7c", 1, 2, 80, 80, 100, 1, 3, 200, 11},
        {"7d", 0.1, 0.136, 2.98, 81, 100, 9, 0.1, 200, 12},
        {"7e", 0.01, 0.02, 0.9, 90, 100, 9, 3, 200, 12},
    };
    const lab_t *lab = lab_find("separation");
    assert_int_equal(lab->panel_count, SEPARATION_PANELS);
    for (size_t i = 0; i < SEPARATION_FIGURES; i++) {
        /* Figure 5 is Figure 4 with another X. */
        const size_t k = i < 8 ? i : i - 6;
        char id[4];
        lab_run_t run;
        snprintf(id, sizeof id, "%c%c", i >= 8 && i < 14 ? '5' : panels[k].id[0], panels[k].id[1]);
        test_label("panel %s", id);
        const lab_panel_t *panel = lab_panel_find(lab, id);
        if (!panel) test_fail("there is none");
        lab_run_init(&run, lab, panel, 0);
        assert_true(run.point_count == panels[k].count);
        assert_true(lab_run_x(&run, 0) == panels[k].first);
        assert_true(lab_run_x(&run, 1) == panels[k].second);
        assert_true(lab_run_x(&run, run.point_count - 1) == panels[k].last);
        lab_point_t point = {.run = &run, .x = panels[k].first};
        memcpy(point.values, run.values, sizeof point.values);
        point.values[panel->x_param] = point.x;
        const separation_t what = separation_of(&point);
        assert_true(what.trials == panels[k].trials && what.m == panels[k].m);
        assert_true(what.n == panels[k].n && !what.distinct);
        if (id[0] == '3') continue;
        assert_true(what.d == panels[k].d && what.a[1] == panels[k].a1);
        assert_true(id[1] == 'e' || what.a[0] == 0.01);
        assert_true(id[0] == '7' || id[1] == 'f' || (what.b == 0.2 && what.c == 0.8));
    }
}

static void refuses(const char *panel, const char *name, const char *value, attn_status_t expected,
                    const char *words) {
    const lab_t *lab = lab_find("separation");
    lab_run_t run;
    attn_error_t error = {0};
    test_label("panel %s, %s=%s", panel, name, value);
    lab_run_init(&run, lab, lab_panel_find(lab, panel), 0);
    attn_status_t status = lab_run_set(&run, name, value, &error);
    attn_context_t *context = fixture_context(1);
    if (!status) status = lab_run_begin(&run, context, &error);
    attn_context_destroy(context);
    fixture_expect(status, &error, expected, words);
}

static void wrong_settings_are_refused(void **state) {
    (void)state;
    refuses("4a", "d", "2", ATTN_ERROR_RANGE, "'d'|3 or more|2");
    refuses("7a", "d", "1", ATTN_ERROR_RANGE, "'d'|1|2 to");
    refuses("4a", "m", "0", ATTN_ERROR_RANGE, "'m'|0|1 to");
    refuses("3a", "m", "0.5", ATTN_ERROR_RANGE, "'m'|0.5|1 to");
    refuses("4a", "trials", "-3", ATTN_ERROR_RANGE, "'trials'|-3");
    refuses("4a", "trials", "1.5", ATTN_ERROR_ARGUMENT, "'trials'|1.5|whole");
    refuses("4d", "a0", "-0.01", ATTN_ERROR_RANGE, "'a0'|-0.01|0 to");
    refuses("4d", "a0", "nan", ATTN_ERROR_ARGUMENT, "'a0'|nan");
    refuses("4d", "a1", "2", ATTN_ERROR_ARGUMENT, "'a1'|axis|4d");
    refuses("4d", "net", "cross", ATTN_ERROR_ARGUMENT, "net|4d|self");
    refuses("4d", "net", "none", ATTN_ERROR_RANGE, "net|none|regression");
    refuses("4d", "size", "3", ATTN_ERROR_NOT_FOUND, "separation|size");
    refuses("3a", "d", "7", ATTN_ERROR_ARGUMENT, "3a|'d'");
    refuses("7a", "b", "0.3", ATTN_ERROR_ARGUMENT, "7a|'b'");
    refuses("3a", "rows", "distinct", ATTN_ERROR_ARGUMENT, "3a|'rows'");
    refuses("3b", "n", "1", ATTN_ERROR_RANGE, "'n'|1|2 to");
}

/** log 2 < 1: then no column of signs is left. And a grid may be wrong, too. */
static void wrong_points_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *panel;
        double x;
        const char *words;
    } wrong[] = {{"3a", 2, "'m'|n = 2"},
                 {"3a", 100.5, "'n'|100.5|whole"},
                 {"4b", 2, "'d'|3 or"},
                 {"4c", 0, "'m'|0|1 to"},
                 {"4c", NAN, "4c|number"}};
    const lab_t *lab = lab_find("separation");
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        const double xs[2] = {wrong[i].panel[1] == 'b' ? 4 : 100, wrong[i].x};
        lab_run_t run;
        attn_error_t error = {0};
        test_label("panel %s at %g", wrong[i].panel, wrong[i].x);
        lab_run_init(&run, lab, lab_panel_find(lab, wrong[i].panel), 0);
        lab_run_grid(&run, xs, 2);
        const attn_status_t status = lab_run_begin(&run, context, &error);
        fixture_expect(status, &error, status == ATTN_ERROR_RANGE ? status : ATTN_ERROR_ARGUMENT,
                       wrong[i].words);
    }
    attn_context_destroy(context);
}

/** What is outside the definitions is computed, and said. */
static void notes_say_what_is_outside(void **state) {
    (void)state;
    const lab_t *lab = lab_find("separation");
    attn_context_t *context = fixture_context(1);
    const double xs[2] = {30, 37};
    double rows[2 * SEPARATION_COLUMNS];
    char text[256];
    lab_run_t run;
    lab_run_init(&run, lab, lab_panel_find(lab, "4a"), 0);
    lab_run_grid(&run, xs, 2);
    assert_int_equal(lab_run_set(&run, "a0", "0.3", NULL), ATTN_OK);
    assert_int_equal(lab_run_set(&run, "trials", "2", NULL), ATTN_OK);
    assert_int_equal(lab_run_begin(&run, context, NULL), ATTN_OK);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(lab_run_point(&run, i, rows + i * SEPARATION_COLUMNS, NULL), ATTN_OK);
    lab_run_note(&run, rows, 2, text, sizeof text);
    test_label("%s", text);
    if (!strstr(text, "a0 is outside (0, 0.1)") || !strstr(text, "cut at 1 of 2 points") ||
        !strstr(text, "0 of 4 trials"))
        test_fail("the note misses something");
    lab_run_note(&run, rows, 2, text, 12);
    assert_int_equal(strlen(text), 11);
    lab_run_end(&run);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(panels_are_the_papers), cmocka_unit_test(wrong_settings_are_refused),
          cmocka_unit_test(wrong_points_are_refused), cmocka_unit_test(notes_say_what_is_outside))
