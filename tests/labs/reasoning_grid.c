/* The lab reasoning: which cells its panels have, and what follows from how well they do. */
#include "labs/reasoning/lab.h"
#include "labs/reasoning/task.h"

#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lab_run_t begin(const attn_context_t *context, const lab_panel_t *panel, const char *seeds) {
    lab_run_t run;
    attn_error_t error;
    lab_run_init(&run, lab_find("reasoning"), panel, 5);
    if (lab_run_set(&run, "seeds", seeds, &error) || lab_run_begin(&run, context, &error))
        test_fail("%s: %s", panel->id, error.message);
    return run;
}

/* The names of all cells of a run, which are different. */
static void check_names(const lab_run_t *run) {
    char(*names)[LAB_FILE] = malloc(run->point_count * sizeof *names);
    assert_non_null(names);
    for (uint32_t i = 0; i < run->point_count; i++) {
        lab_run_file(run, i, names[i]);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0) test_fail("two cells are %s", names[i]);
    }
    free(names);
}

static void grids(void **state) {
    (void)state;
    const lab_t *lab = lab_find("reasoning");
    attn_context_t *context = fixture_context(1);
    for (uint32_t p = 0; p < lab->panel_count; p++) {
        const lab_panel_t *panel = &lab->panels[p];
        lab_run_t one = begin(context, panel, "1"), two = begin(context, panel, "2");
        test_label("%s", panel->id);
        assert_int_equal(one.point_count, panel->grid.count);
        assert_true(panel->flags & LAB_LONG);
        if (panel->tiles) {
            assert_int_equal(two.point_count, 2 * one.point_count);
            check_names(&two);
        }
        lab_run_end(&one);
        lab_run_end(&two);
    }
    attn_context_destroy(context);
}

/* A cell by its number: where it stands, and its file. */
static void cells(void **state) {
    (void)state;
    const lab_t *lab = lab_find("reasoning");
    attn_context_t *context = fixture_context(1);
    lab_run_t run = begin(context, lab_panel_find(lab, "figure-1"), "2");
    double row[REASONING_COLUMNS];
    char name[LAB_FILE];
    const uint32_t last = run.point_count - 1;
    lab_run_place(&run, last, row);
    lab_run_file(&run, last, name);
    assert_string_equal(name, "lis-16-sparse-d64-l3-s6.study");
    assert_true(row[REASONING_X] == last && row[REASONING_TASK] == REASONING_LIS);
    assert_true(row[REASONING_SIZE] == 16 && row[REASONING_WIDTH] == 64);
    assert_true(row[REASONING_ATTENTION] == REASONING_SPARSE && row[REASONING_SEED] == 6);
    for (int c = REASONING_RIGHT; c < REASONING_COLUMNS; c++) assert_true(isnan(row[c]));
    lab_run_file(&run, 0, name);
    assert_string_equal(name, "arithmetic-2-softmax-d16-l3-s5.study");
    lab_run_end(&run);
    attn_context_destroy(context);
}

/* ---- verdicts -------------------------------------------------------------------------------------- */

/* Which share of answers a model has right; NaN: it is not trained. */
typedef double share_t(int32_t task, int32_t size, int32_t attention, int32_t width);

static int32_t verdict(const char *id, share_t *share) {
    const lab_t *lab = lab_find("reasoning");
    lab_finding_t finding;
    attn_context_t *context = fixture_context(1);
    lab_run_t run = begin(context, lab_panel_find(lab, id), "2");
    double *rows = calloc(run.point_count, REASONING_COLUMNS * sizeof *rows);
    assert_non_null(rows);
    for (uint32_t i = 0; i < run.point_count; i++) {
        double *row = rows + (size_t)i * REASONING_COLUMNS;
        lab_run_place(&run, i, row);
        row[REASONING_RIGHT] =
            share((int32_t)row[REASONING_TASK], (int32_t)row[REASONING_SIZE],
                  (int32_t)row[REASONING_ATTENTION], (int32_t)row[REASONING_WIDTH]);
        row[REASONING_LOW] = row[REASONING_RIGHT] - 0.01;
        row[REASONING_HIGH] = row[REASONING_RIGHT] + 0.01;
    }
    lab_run_judge(&run, rows, run.point_count, &finding);
    test_label("%s: %s; %s", id, finding.sure, finding.found);
    free(rows);
    lab_run_end(&run);
    attn_context_destroy(context);
    return finding.verdict;
}

/* As the paper has it: softmax at any width, the others from a width that grows, but not where it is local. */
static double as_claimed(int32_t task, int32_t size, int32_t attention, int32_t width) {
    if (attention == REASONING_SOFTMAX || task == REASONING_ED_LOCAL) return 0.995;
    return width >= (size > 5 ? 64 : 32) || (size == 6 && width == 32) ? 0.95 : 0.5;
}
static double one_missing(int32_t task, int32_t size, int32_t attention, int32_t width) {
    const int is_it = size == 16 && attention == REASONING_LINEAR && width == 64;
    return is_it ? NAN : as_claimed(task, size, attention, width);
}
static double none(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)task, (void)size, (void)attention, (void)width;
    return NAN;
}
/* Linear attention at 16, where softmax needs 64. */
static double narrow(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)task, (void)size;
    return attention == REASONING_LINEAR || width == 64 ? 0.95 : 0.5;
}
/* Nobody needs more for larger problems. */
static double alike(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)task, (void)size, (void)attention;
    return width >= 32 ? 0.99 : 0.5;
}
/* Linear attention as softmax, sparse attention wider. */
static double some_alike(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)task, (void)size;
    return width >= (attention == REASONING_SPARSE ? 64 : 32) ? 0.99 : 0.5;
}
/* Each problem at some width, and no width for all. */
static double not_at_one(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)task, (void)attention;
    return (width == 64) == (size == 16) ? 0.99 : 0.5;
}
static double on_the_edge(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)attention;
    return task == REASONING_LIS && size == 16 && width == 64 ? 0.905 : width == 64 ? 0.99 : 0.5;
}
static double local_is_harder(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)size, (void)attention;
    return width >= (task == REASONING_ED_LOCAL ? 64 : 32) ? 0.95 : 0.5;
}
/* Nothing is enough for ED; of ED_LOCAL the least width is missing, and the others are not enough. */
static double open_beside_none(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)size, (void)attention;
    return task == REASONING_ED_LOCAL && width == 16 ? NAN : 0.5;
}
/* On LIS nothing is enough for the smallest problem, and of the largest nothing is known. */
static double open_after_none(int32_t task, int32_t size, int32_t attention, int32_t width) {
    if (attention == REASONING_SOFTMAX) return 0.95;
    return task == REASONING_LIS && size == 16 && width == 64 ? NAN : 0.5;
}
/* On the edge: the interval has 90% in it. */
static double unsure(int32_t task, int32_t size, int32_t attention, int32_t width) {
    (void)task, (void)size;
    return attention == REASONING_SOFTMAX ? (width == 16 ? 0.905 : 0.95)
                                          : (width == 64 ? 0.95 : 0.895);
}

static void verdicts(void **state) {
    (void)state;
    assert_int_equal(verdict("softmax", as_claimed), LAB_HOLDS);
    assert_int_equal(verdict("softmax", narrow), LAB_HOLDS); /* with 64 columns, 90% */
    assert_int_equal(verdict("softmax", not_at_one), LAB_FAILS);
    assert_int_equal(verdict("softmax", on_the_edge), LAB_UNDECIDED);
    assert_int_equal(verdict("softmax", none), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-1", as_claimed), LAB_HOLDS);
    assert_int_equal(verdict("figure-1", narrow), LAB_FAILS);
    assert_int_equal(verdict("figure-1", alike), LAB_FAILS);       /* on LIS nothing grows */
    assert_int_equal(verdict("figure-1", one_missing), LAB_HOLDS); /* more than 32 is known */
    assert_int_equal(verdict("figure-1", unsure), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-1", none), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-1", open_after_none), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-2", as_claimed), LAB_HOLDS);
    assert_int_equal(verdict("figure-2", alike), LAB_UNDECIDED); /* ties decide nothing */
    assert_int_equal(verdict("figure-2", local_is_harder), LAB_FAILS);
    assert_int_equal(verdict("figure-2", none), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-2", open_beside_none), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-3", as_claimed), LAB_HOLDS);
    assert_int_equal(verdict("figure-3", alike), LAB_UNDECIDED);
    assert_int_equal(verdict("figure-3", some_alike), LAB_HOLDS);
    assert_int_equal(verdict("figure-3", narrow), LAB_FAILS);
}

/* Table 2: the fewest operations; a kind that reaches 90% nowhere needs more. */
static void fewest(void **state) {
    (void)state;
    static const struct {
        double row[REASONING_TABLE_COLUMNS];
        int32_t verdict;
    } cases[] = {
        {{2, 1, 2, 3}, LAB_HOLDS},   {{2, 1, 1, NAN}, LAB_HOLDS},         {{2, 2, 1, 3}, LAB_FAILS},
        {{2, NAN, 1, 3}, LAB_FAILS}, {{2, NAN, NAN, NAN}, LAB_UNDECIDED},
    };
    const lab_t *lab = lab_find("reasoning");
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        lab_run_t run;
        lab_finding_t finding;
        lab_run_init(&run, lab, lab_panel_find(lab, "paper-table-2"), 1);
        lab_run_judge(&run, cases[c].row, 1, &finding);
        test_label("case %zu: %s", c, finding.found);
        assert_int_equal(finding.verdict, cases[c].verdict);
        lab_run_init(&run, lab, lab_panel_find(lab, "table-2"), 1); /* ties decide nothing */
        lab_run_judge(&run, cases[c].row, 1, &finding);
        assert_int_equal(finding.verdict, LAB_SHOWN);
    }
}

/* Least widths: by a state's capacity at each size, and growing from the first to the last. */
static void widths(void **state) {
    (void)state;
    enum { SIZES = 2 };
    static const struct {
        double rows[SIZES][REASONING_WIDTH_COLUMNS];
        int32_t verdict;
    } cases[] = {
        {{{6, 16, 16, 16, 8}, {16, 16, 32, 64, 12}}, LAB_HOLDS},
        {{{6, 16, 16, 16, 8}, {16, 16, NAN, NAN, 12}}, LAB_HOLDS},
        {{{6, 16, 16, 16, 8}, {16, 16, 32, 16, 12}}, LAB_FAILS}, /* sparse does not grow */
        {{{6, 16, 16, 16, 8}, {16, 16, 32, 64, 48}}, LAB_FAILS}, /* less than a state holds */
        {{{6, 16, NAN, 16, 8}, {16, 16, NAN, 64, 12}},
         LAB_UNDECIDED}, /* by how much is not known */
        {{{6, 16, 16, 16, 8}, {16, NAN, NAN, NAN, NAN}}, LAB_UNDECIDED},
    };
    const lab_t *lab = lab_find("reasoning");
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        lab_run_t run;
        lab_finding_t finding;
        lab_run_init(&run, lab, lab_panel_find(lab, "widths-lis"), 1);
        lab_run_judge(&run, cases[c].rows[0], SIZES, &finding);
        test_label("case %zu: %s; %s", c, finding.sure, finding.found);
        assert_int_equal(finding.verdict, cases[c].verdict);
        /* of arithmetic the paper lets sparse attention's width be constant */
        lab_run_init(&run, lab, lab_panel_find(lab, "widths-arithmetic"), 1);
        lab_run_judge(&run, cases[c].rows[0], SIZES, &finding);
        assert_int_equal(finding.verdict, LAB_SHOWN);
    }
}

/* The verdict about localities where band b is solved from width least[b] on: 0 is whole rows. */
static int32_t verdict_of_bands(const double least[3]) {
    const lab_t *lab = lab_find("reasoning");
    attn_context_t *context = fixture_context(1);
    lab_run_t run = begin(context, lab_panel_find(lab, "locality"), "2");
    double rows[36][REASONING_LOCALITY_COLUMNS];
    lab_finding_t finding;
    char name[LAB_FILE];
    assert_int_equal(run.point_count, TEST_COUNT(rows));
    lab_run_file(&run, 6, name);
    assert_string_equal(name, "ed_local-3-w2-linear-d16-l3-s5.study");
    lab_run_file(&run, 13, name);
    assert_string_equal(name, "ed-3-linear-d24-l3-s5.study");
    for (uint32_t i = 0; i < run.point_count; i++) {
        double *row = rows[i];
        lab_run_place(&run, i, row);
        const double from = least[(int)row[REASONING_BAND]];
        row[REASONING_RIGHT] = isnan(from) ? NAN : row[REASONING_WIDTH] >= from ? 0.95 : 0.5;
        row[REASONING_LOW] = row[REASONING_RIGHT] - 0.01;
        row[REASONING_HIGH] = row[REASONING_RIGHT] + 0.01;
    }
    lab_run_judge(&run, rows[0], run.point_count, &finding);
    test_label("%s; %s", finding.sure, finding.found);
    lab_run_end(&run);
    attn_context_destroy(context);
    return finding.verdict;
}

static void localities(void **state) {
    (void)state;
    assert_int_equal(verdict_of_bands((const double[]){64, 24, 40}), LAB_HOLDS);
    assert_int_equal(verdict_of_bands((const double[]){INFINITY, 24, 40}), LAB_HOLDS);
    assert_int_equal(verdict_of_bands((const double[]){48, 48, 48}), LAB_UNDECIDED);
    assert_int_equal(verdict_of_bands((const double[]){48, 24, 48}), LAB_UNDECIDED);
    assert_int_equal(verdict_of_bands((const double[]){24, 32, 48}), LAB_FAILS);
    assert_int_equal(verdict_of_bands((const double[]){NAN, 24, 40}), LAB_UNDECIDED);
}

TEST_MAIN(cmocka_unit_test(grids), cmocka_unit_test(cells), cmocka_unit_test(verdicts),
          cmocka_unit_test(fewest), cmocka_unit_test(widths), cmocka_unit_test(localities))
