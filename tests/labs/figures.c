/*
 * The experiments as figures: every panel computes, the same numbers again for the same seed, and what
 * the theorems promise holds in the numbers that are drawn. Wrong settings get a line.
 */
#include "labs/lab.h"
#include "labs/sparsification/sketches.h"
#include "labs/sparsification/symmetric.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"softmax-regression", "sparsification", "constructions",
                                    "programs", "complexity"};

static const lab_t *find(const char *name) {
    const lab_t *lab = lab_find(name);
    if (!lab) test_fail("there is no experiment %s", name);
    return lab;
}

/** A number of a row by the name of its column. */
static double cell(const lab_panel_t *panel, const double *row, const char *name) {
    for (uint32_t c = 0; c < panel->column_count; c++)
        if (strcmp(panel->columns[c].name, name) == 0) return row[c];
    test_fail("panel %s has no column %s", panel->id, name);
    return NAN;
}

static void set(lab_run_t *run, const char *name, const char *value) {
    attn_error_t error = {0};
    if (lab_run_set(run, name, value, &error)) test_fail("%s", error.message);
}

/** Few trials, small budgets: the points are to be right, not smooth. */
static void make_quick(lab_run_t *run) {
    for (uint32_t i = 0; i < run->lab->param_count; i++) {
        if (run->panel->idle >> i & 1) continue;
        if (strcmp(run->lab->params[i].name, "trials") == 0) set(run, "trials", "3");
        if (strcmp(run->lab->params[i].name, "budget") == 0) set(run, "budget", "0.002");
        if (strncmp(run->panel->id, "least", 5) == 0) set(run, "d", "512");
        if (strcmp(run->panel->id, "deterministic-work-tokens") == 0) set(run, "d", "1024");
    }
}

static void check_softmax_regression(const lab_panel_t *panel, const double *row) {
    if (strcmp(panel->id, "lemmas") == 0) {
        assert_true(cell(panel, row, "violations") == 0 && cell(panel, row, "steps") > 0);
        for (uint32_t c = 1; c <= 12; c++) assert_true(row[c] <= 0);
        return;
    }
    if (strncmp(panel->id, "layer", 5) == 0) {
        assert_true(cell(panel, row, "softmax") <= cell(panel, row, "bound"));
        assert_true(cell(panel, row, "linear") < 1e-3 && cell(panel, row, "moving") > 0);
        assert_true(cell(panel, row, "share") <= 1 && cell(panel, row, "linear_share") <= 1);
        return;
    }
    const double tight = cell(panel, row, "tight");
    assert_true(tight < cell(panel, row, "bound"));
    assert_true(cell(panel, row, "moving") == cell(panel, row, "premises"));
    if (cell(panel, row, "told") == 0) return;
    static const char *const ratios[] = {"weight", "data", "layer"};
    for (size_t i = 0; i < TEST_COUNT(ratios); i++) {
        assert_true(cell(panel, row, ratios[i]) <= tight);
        assert_true(cell(panel, row, ratios[i]) <= cell(panel, row, "half")); /* this can fail */
    }
}

static void check_sparsification(const lab_panel_t *panel, const double *row) {
    if (strcmp(panel->columns[1].name, "lemma_1") == 0) {
        assert_true(cell(panel, row, "above") == 0);
        for (int lemma = 1; lemma <= 4; lemma++) assert_true(row[lemma] > 0 && row[lemma] <= 1);
    } else if (strncmp(panel->id, "deterministic-work", 18) == 0) {
        assert_true(cell(panel, row, "work") > cell(panel, row, "bound"));
        assert_true(cell(panel, row, "distortion") <= cell(panel, row, "eps"));
    } else if (strncmp(panel->id, "least", 5) == 0) {
        const double n = cell(panel, row, "x");
        assert_true(cell(panel, row, "deterministic") == n + 1);
        assert_true(cell(panel, row, "approximate") > n && cell(panel, row, "leverage") > n);
        if (strcmp(panel->id, "least") == 0) assert_true(cell(panel, row, "uniform") > n);
    } else if (strcmp(panel->columns[1].name, "gaussian") == 0 &&
               strcmp(panel->columns[2].name, "gaussian_low") == 0) {
        assert_true(row[1] >= row[2] && row[1] <= row[3]);
    } else if (strcmp(panel->columns[1].name, "deterministic") == 0) {
        const double rounding = cell(panel, row, "rounding");
        assert_true(cell(panel, row, "deterministic") <= cell(panel, row, "bound") + rounding);
        assert_true(cell(panel, row, "kept") <= cell(panel, row, "x"));
    } else if (strcmp(panel->y.unit, "s") == 0) {
        assert_true(row[1] > 0 && cell(panel, row, "nonzero") > 0);
    } else {
        assert_true(cell(panel, row, "violations") == 0);
        assert_true(cell(panel, row, "share") <= 1); /* of the proof's 6 r (A + A')_ij */
        assert_true(cell(panel, row, "proof") < cell(panel, row, "bound"));
        assert_true(cell(panel, row, "leverage") <= cell(panel, row, "bound"));
    }
}

static void check_constructions(const lab_panel_t *panel, const double *row) {
    if (strncmp(panel->id, "norm", 4) == 0) {
        for (uint32_t c = 1; c < panel->column_count; c++) assert_true(row[c] > 0);
    } else if (strcmp(panel->columns[1].name, "agg") == 0) {
        assert_true(cell(panel, row, "above") == 0);
        assert_true(cell(panel, row, "agg_exact") <= cell(panel, row, "eps"));
        assert_true(cell(panel, row, "copy_exact") <= cell(panel, row, "eps"));
        assert_true(cell(panel, row, "sparse_copy_exact") <= cell(panel, row, "eps"));
    } else {
        assert_true(row[1] > 0 && row[2] > 0 && row[3] > 0);
    }
}

static void check_programs(const lab_panel_t *panel, const double *row) {
    for (uint32_t c = 1; c < panel->column_count; c++) {
        const char *name = panel->columns[c].name;
        const int is_share = strcmp(panel->y.label, "width D") != 0 &&
                             (strcmp(name, "linear") == 0 || strcmp(name, "sparse") == 0 ||
                              strcmp(name, "right") == 0);
        assert_true(is_share ? row[c] == 1 : row[c] > 0);
    }
}

static void check_row(const lab_run_t *run, const double *row) {
    if (strcmp(run->lab->name, "softmax-regression") == 0)
        check_softmax_regression(run->panel, row);
    else if (strcmp(run->lab->name, "sparsification") == 0)
        check_sparsification(run->panel, row);
    else if (strcmp(run->lab->name, "constructions") == 0)
        check_constructions(run->panel, row);
    else if (strcmp(run->lab->name, "programs") == 0)
        check_programs(run->panel, row);
    else
        for (uint32_t c = 1; c < run->panel->column_count; c++)
            assert_true(row[c] > 0 || isnan(row[c])); /* no interval of a few samples */
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/** First, middle and last point, each twice; where time is measured the first three, once. */
static void check_panel(const attn_context_t *context, const lab_t *lab, const lab_panel_t *panel) {
    lab_run_t run;
    attn_error_t error = {0};
    double rows[3 * LAB_COLUMNS], again[LAB_COLUMNS];
    char text[256];
    test_label("%s, panel %s", lab->name, panel->id);
    lab_run_init(&run, lab, panel, 7);
    make_quick(&run);
    if (lab_run_begin(&run, context, &error)) test_fail("%s", error.message);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t index = panel->flags & LAB_SERIAL ? i : i * (run.point_count - 1) / 2;
        double *row = rows + i * panel->column_count;
        if (lab_run_point(&run, index, row, &error)) test_fail("%s", error.message);
        check_row(&run, row);
        if (panel->flags & LAB_SERIAL) continue;
        assert_int_equal(lab_run_point(&run, index, again, &error), ATTN_OK);
        for (uint32_t c = 0; c < panel->column_count; c++)
            if (!same(row[c], again[c]))
                test_fail("column %s: not the same again", panel->columns[c].name);
        assert_true(lab_run_cost(&run, index) > 0);
    }
    memset(text, 'x', sizeof text);
    lab_run_note(&run, rows, 3, text, 40);
    assert_true(strlen(text) < 40);
    lab_run_end(&run);
}

static void every_panel_computes(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t n = 0; n < TEST_COUNT(names); n++) {
        const lab_t *lab = find(names[n]);
        for (uint32_t p = 0; p < lab->panel_count; p++) check_panel(context, lab, &lab->panels[p]);
    }
    attn_context_destroy(context);
}

/** A method that the plugin gains is to be drawn, too; those that are `attn sketch`'s have panels of their own. */
static void all_methods_are_drawn(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const char *const *methods = sketch_methods(context);
    size_t count = 0;
    assert_non_null(methods);
    for (size_t m = 0; methods[m]; m++) {
        if (strcmp(methods[m], "deterministic") == 0 || strcmp(methods[m], "approximate") == 0)
            continue;
        assert_true(count < SKETCHES);
        assert_string_equal(methods[m], sketch_names[count++]);
    }
    assert_int_equal(count, SKETCHES);
    attn_context_destroy(context);
}

/** Exponents in the caption of counted work: those of Table 1. */
static void captions_have_exponents(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const lab_t *lab = find("complexity");
    lab_run_t run;
    char text[256];
    lab_run_init(&run, lab, lab_panel_find(lab, "work"), 1);
    assert_int_equal(lab_run_begin(&run, context, NULL), ATTN_OK);
    double *rows = malloc(run.point_count * run.panel->column_count * sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < run.point_count; i++)
        assert_int_equal(lab_run_point(&run, i, rows + i * run.panel->column_count, NULL), ATTN_OK);
    lab_run_note(&run, rows, run.point_count, text, sizeof text);
    assert_non_null(strstr(text, "softmax 2.00 (2.00 to 2.00; Table 1: 2)"));
    assert_non_null(strstr(text, "linear 1.00 (1.00 to 1.00; Table 1: 1)"));
    assert_non_null(strstr(text, "sketch 1.96 ("));
    free(rows);
    lab_run_end(&run);
    attn_context_destroy(context);
}

/** Begin with one setting changed, and one x: it must be refused with these words. */
static void refuse(const attn_context_t *context, const char *name, const char *panel,
                   const char *setting, const char *value, double x, const char *words) {
    const lab_t *lab = find(name);
    lab_run_t run;
    attn_error_t error = {0};
    test_label("%s %s, %s = %s, x = %g", name, panel, setting, value, x);
    lab_run_init(&run, lab, lab_panel_find(lab, panel), 1);
    lab_run_grid(&run, &x, 1);
    attn_status_t status = lab_run_set(&run, setting, value, &error);
    if (!status) status = lab_run_begin(&run, context, &error);
    if (!status) test_fail("was accepted");
    if (!strstr(error.message, words)) test_fail("'%s' says nothing of %s", error.message, words);
    assert_null(strchr(error.message, '\n'));
}

static void wrong_settings_get_a_line(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    refuse(context, "softmax-regression", "loss", "n", "1", 0, "'n'");
    refuse(context, "softmax-regression", "loss", "trials", "-3", 0, "'trials'");
    refuse(context, "softmax-regression", "loss", "step", "3", 0, "axis");
    refuse(context, "sparsification", "size", "d", "7", 4, "d (7) must be at least n (8)");
    refuse(context, "sparsification", "size", "density", "0.001", 4, "density x d");
    refuse(context, "sparsification", "size", "trials", "0", 4, "'trials'");
    refuse(context, "sparsification", "deterministic", "n", "9", 9, "size (9) must be above n (9)");
    refuse(context, "sparsification", "delta", "size", "64", 0.1, "'size' makes no difference");
    refuse(context, "constructions", "m", "eps", "2", 4, "eps (2) must not be above bound (1)");
    refuse(context, "constructions", "m", "d", "64", 96, "m^3 d");
    refuse(context, "constructions", "state", "d", "8", 2.5, "whole number");
    refuse(context, "complexity", "work", "growth", "2", 256, "'growth' makes no difference");
    refuse(context, "complexity", "work", "budget", "2", 256, "'budget' makes no difference");
    refuse(context, "constructions", "dimension", "d", "8", 64, "'d' makes no difference");
    refuse(context, "complexity", "work", "d", "8", 1, "from 2 to");
    refuse(context, "complexity", "work", "d", "zero", 256, "not a number");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(every_panel_computes), cmocka_unit_test(all_methods_are_drawn),
          cmocka_unit_test(captions_have_exponents), cmocka_unit_test(wrong_settings_get_a_line))
