/*
 * What formulas say of the separation experiments (arXiv:2310.11685), against all signs written out and against trials; and
 * the lemmas about entries, against closed forms in double precision.
 */
#include "separation_case.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

/* ---- signs --------------------------------------------------------------------------------------- */

/** The part of all sign vectors with which a column fires: on a mark, and by itself. */
typedef struct counted {
    double mark, alarm, either;
} counted_t;

/*
 * All 2^d columns, for weights that are all on the mark (its row (a, e_1 b, c) or (1, e_1)), and uniform but for a
 * little more on the mark and, for X = I, on some block, whichever has a plus.
 */
static counted_t count_columns(const separation_t *what) {
    const int cross = what->net == SEPARATION_CROSS, d = (int)what->d;
    const int blocks = d - (cross ? 1 : 2);
    const double b = cross ? 1 : what->b, c = cross ? 0 : what->c, a = cross ? 1 : what->a[1];
    const double threshold = cross ? 0.9 : c + 0.1, little = 1e-6;
    counted_t counted = {0};
    for (int bits = 0; bits < 1 << d; bits++) {
        const double first = bits & 1 ? 1 : -1, last = bits >> (d - 1) & 1 ? 1 : -1;
        double sum = 0, best = -1;
        for (int k = 1; k <= blocks; k++) {
            sum += bits >> k & 1 ? 1 : -1;
            if (bits >> k & 1) best = 1;
        }
        const double own = bits & 2 ? 1 : -1;
        const double extra = what->net == SEPARATION_SELF ? best : first;
        const int mark = a * first + b * own + c * last > threshold;
        const int alarm = b * sum / blocks + c * last + little * extra > threshold;
        counted.mark += mark / ldexp(1, d);
        counted.alarm += alarm / ldexp(1, d);
        counted.either += (mark || alarm) / ldexp(1, d);
    }
    return counted;
}

static void formulas_count_signs(void **state) {
    (void)state;
    static const separation_t cases[] = {
        {.net = SEPARATION_SELF, .n = 512, .d = 7, .m = 15, .a = {0.01, 1.2}, .b = 0.2, .c = 0.8},
        {.net = SEPARATION_SELF,
         .n = 512,
         .d = 12,
         .m = 9,
         .a = {0.01, 2.98},
         .b = 0.19,
         .c = 0.98},
        {.net = SEPARATION_SELF_ONES,
         .n = 99,
         .d = 14,
         .m = 3,
         .a = {0.05, 0.7},
         .b = 0.2,
         .c = 0.8},
        {.net = SEPARATION_SELF_ONES, .n = 99, .d = 6, .m = 1, .a = {0.05, 2}, .b = 0.5, .c = 0.5},
        {.net = SEPARATION_CROSS, .n = 40, .d = 5, .m = 40, .a = {0.01, 3}},
        {.net = SEPARATION_CROSS, .n = 40, .d = 2, .m = 4, .a = {0.01, 3}},
        {.net = SEPARATION_CROSS, .n = 40, .d = 11, .m = 12, .a = {0.01, 1.1}},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        const separation_t *what = &cases[i];
        const counted_t counted = count_columns(what);
        const separation_formula_t formula = separation_formula(what);
        const double m = (double)what->m, quiet = pow(1 - counted.alarm, m);
        const double silent = pow(1 - counted.either, m);
        test_label("case %d", (int)i);
        assert_true(counted.mark >= 0.25 - 1e-12 && counted.alarm > 0);
        const int all = what->net == SEPARATION_SELF_ONES && what->a[1] > 1;
        assert_true(fabs(formula.missed - (all ? pow(1 - counted.mark, m) : silent)) < 1e-12);
        assert_true(fabs(formula.alarm - (1 - quiet)) < 1e-12);
        assert_true(fabs(formula.success - (quiet - silent)) < 1e-12);
    }
}

/** As the note says: all miss with (3/4)^m, and of 12 columns and 15 signs a third has a false alarm. */
static void formulas_are_as_they_are_said(void **state) {
    (void)state;
    separation_t what = {.net = SEPARATION_SELF_ONES,
                         .n = 1000,
                         .d = 66,
                         .m = 9,
                         .a = {0.01, 1.2},
                         .b = 0.2,
                         .c = 0.8};
    assert_true(fabs(separation_formula(&what).missed - pow(0.75, 9)) < 1e-4);
    what.d = 12, what.m = 15;
    assert_true(fabs(separation_formula(&what).alarm - 0.34) < 0.005);
    what.net = SEPARATION_REGRESSION, what.m = 6;
    assert_true(separation_formula(&what).success == 1 - 1.0 / 64);
    what.net = SEPARATION_CROSS, what.a[0] = 1.5; /* both data sets have a mark */
    assert_true(separation_formula(&what).success == 0);
    assert_true(fabs(pow(0.75, separation_least_factor(SEPARATION_CROSS)) - exp(-1)) < 1e-12);
    assert_true(fabs(pow(0.5, separation_least_factor(SEPARATION_REGRESSION)) - exp(-1)) < 1e-12);
}

/** Columns of trials of many tokens, each against its formula: by four standard deviations at most. */
static void trials_are_as_formulas_say(void **state) {
    (void)state;
    static const struct {
        const char *panel, *settings;
        double x;
    } cases[] = {
        {"3b", "n=2000 trials=600", 3},
        {"5c", "n=2000 d=12 rows=distinct trials=600", 5},
        {"5c", "n=2000 d=7 rows=distinct trials=600", 2},
        {"4c", "n=2000 d=12 c=0.9817840903172143 b=0.19 rows=distinct trials=600", 5},
        {"7c", "n=2000 d=5 rows=distinct trials=600", 6},
        {"7c", "n=2000 d=11 rows=distinct trials=600", 2},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        lab_run_t run = case_run(cases[i].panel, cases[i].settings);
        double row[SEPARATION_COLUMNS];
        lab_run_grid(&run, &cases[i].x, 1);
        test_label("%s at %g, %s", cases[i].panel, cases[i].x, cases[i].settings);
        assert_int_equal(lab_run_begin(&run, context, NULL), ATTN_OK);
        assert_int_equal(lab_run_point(&run, 0, row, NULL), ATTN_OK);
        lab_run_end(&run);
        const lab_point_t point = case_point(&run, cases[i].x);
        const separation_t what = separation_of(&point);
        const separation_formula_t formula = separation_formula(&what);
        const double pairs[][2] = {{row[SEPARATION_SUCCESS], formula.success},
                                   {1 - row[SEPARATION_FEXP1], formula.missed},
                                   {row[SEPARATION_FLIN1], formula.alarm},
                                   {row[SEPARATION_FEXP0], formula.alarm},
                                   {row[SEPARATION_FLIN0], formula.alarm}};
        assert_true(row[SEPARATION_FORMULA] == formula.success);
        for (size_t p = 0; p < TEST_COUNT(pairs); p++) {
            const double expected = pairs[p][1];
            const double sigma = sqrt(expected * (1 - expected) / row[SEPARATION_COUNT]);
            if (!(fabs(pairs[p][0] - expected) <= 4 * sigma + 1 / row[SEPARATION_COUNT]))
                test_fail("number %d: %g, by formula %g", (int)p, pairs[p][0], expected);
        }
    }
    attn_context_destroy(context);
}

/* ---- entries ------------------------------------------------------------------------------------- */

static const double *lemma_row(attn_context_t *context, const char *id, double n, double *row) {
    const lab_t *lab = lab_find("separation");
    lab_run_t run;
    attn_error_t error = {0};
    lab_run_init(&run, lab, lab_panel_find(lab, id), 1);
    lab_run_grid(&run, &n, 1);
    test_label("panel %s, n = %g", id, n);
    if (lab_run_begin(&run, context, &error) || lab_run_point(&run, 0, row, &error))
        test_fail("%s", error.message);
    assert_true(lab_run_within(&run, row));
    lab_run_end(&run);
    return row + SEPARATION_PART;
}

static void assert_near(double share, double expected) {
    if (!(fabs(share / expected - 1) < 1e-4))
        test_fail("a share of %.8g, not %.8g", share, expected);
}

/** f of a row by the exponents of n that its logits are: the mark's, `near` others' and the rest's. */
static double part_of(double n, double exponent, double mark, double near, double count,
                      double rest) {
    const double sum = pow(n, mark - exponent) + count * pow(n, near - exponent) +
                       (n - 1 - count) * pow(n, rest - exponent);
    return 1 / sum;
}

static void entries_are_closed_forms(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    double row[SEPARATION_ENTRY_COLUMNS];
    for (double n = 128; n <= 1024; n *= 2) {
        const double t = n / 64, b2 = 0.19 * 0.19, c2 = 1 - b2, a = 1.2, a0 = 0.01;
        const double *part =
            lemma_row(context, "lemma-d2", n, row); /* all-ones: (1 + a)^2, 1 + a, 1 */
        for (int p = 0; p < 4; p++) assert_near(part[p], 1);
        const double mark = part_of(n, 4.84, 4.84, 2.2, n - 1, 0);
        const double other = part_of(n, 2.2, 2.2, 1, n - 1, 0);
        assert_near(part[4], 0.5 / mark);
        assert_near(part[5], n * (1 - mark) / (n - 1));
        assert_near(part[6], other / pow(n, a - 1));
        assert_near(part[7], n * (1 - other) / (n - 1));
        part = lemma_row(context, "lemma-d3", n, row);
        assert_near(part[0], 0.5 / mark);
        assert_near(part[4], other / pow(n, a - 1));
        assert_near(part[5], n / t * (other + (t - 1) * (1 - other) / (n - 1)));
        assert_near(part[7], 1);
        assert_true(part[5] > 1); /* the mark's block has the mark's weight in every row */
        part = lemma_row(context, "lemma-d14", n, row);
        const double sum = (1 + a0) * (n - 1 + 1 + a0); /* of the mark's row, over log n */
        assert_near(part[4], n / (1 + a0) * (1 + a0) * (1 + a0) / sum);
        assert_near(part[7], n / (1 + a0 + n - 1));
        part = lemma_row(context, "lemma-e1", n, row);
        for (int p = 0; p < 4; p++) assert_near(part[p], 1);
        assert_near(part[4],
                    0.5 / part_of(n, a * a + b2 + c2, a * a + b2 + c2, b2 + c2, t - 1, c2));
        assert_near(part[7], part_of(n, b2 + c2, b2 + c2, b2 + c2, t - 1, c2) * pow(n, 1 - b2));
        part = lemma_row(context, "lemma-f3", n, row);
        const double crossed = part_of(n, 4, 4, 1, n - 1, 0);
        assert_near(part[0], 0.5 / crossed);
        assert_near(part[4], 1);
        assert_near(part[5], 1);
        assert_true(isnan(part[3]) && isnan(part[7])); /* no constant column */
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(formulas_count_signs), cmocka_unit_test(formulas_are_as_they_are_said),
          cmocka_unit_test(trials_are_as_formulas_say), cmocka_unit_test(entries_are_closed_forms))
