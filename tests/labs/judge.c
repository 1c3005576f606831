/* Verdicts: from points and intervals to holds, fails and undecided, by rules that can say all three. */
#include "labs/judge.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void intervals_decide(void **state) {
    (void)state;
    assert_int_equal(judge_at_most(0.1, 0.2, 0.2), LAB_HOLDS);
    assert_int_equal(judge_at_most(0.1, 0.3, 0.2), LAB_UNDECIDED);
    assert_int_equal(judge_at_most(0.21, 0.3, 0.2), LAB_FAILS);
    assert_int_equal(judge_at_least(0.2, 0.3, 0.2), LAB_HOLDS);
    assert_int_equal(judge_at_least(0.1, 0.3, 0.2), LAB_UNDECIDED);
    assert_int_equal(judge_at_least(0.1, 0.19, 0.2), LAB_FAILS);
    assert_int_equal(judge_at_most(NAN, NAN, 0.2), LAB_UNDECIDED);
    assert_int_equal(judge_at_least(NAN, NAN, 0.2), LAB_UNDECIDED);
}

static void tallies_decide(void **state) {
    (void)state;
    static const struct {
        tally_t tally;
        int32_t verdict;
        const char *sure;
    } cases[] = {
        {{3, 0, 0}, LAB_HOLDS, "3 of 3 points for it"},
        {{3, 0, 1}, LAB_UNDECIDED, "3 of 4 points for it, 1 undecided"},
        {{3, 1, 1}, LAB_FAILS, "3 of 5 points for it, 1 against, 1 undecided"},
        {{0, 0, 0}, LAB_UNDECIDED, "no points are within its premises"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        lab_finding_t finding = {0};
        judge_tally(&cases[i].tally, "points", &finding);
        assert_int_equal(finding.verdict, cases[i].verdict);
        assert_string_equal(finding.sure, cases[i].sure);
    }
}

static void words_are_cut(void **state) {
    (void)state;
    lab_finding_t finding = {0};
    for (int i = 0; i < 100; i++) judge_sure(&finding, "%s", "0123456789");
    for (int i = 0; i < 200; i++) judge_found(&finding, "%d%%", 100);
    assert_int_equal(strlen(finding.sure), sizeof finding.sure - 1);
    assert_int_equal(strlen(finding.found), sizeof finding.found - 1);
}

/** Every panel has a claim, a criterion and a judge, whose verdict follows the numbers. */
static void panels_are_judged(void **state) {
    (void)state;
    for (uint32_t i = 0; i < lab_count(); i++) {
        const lab_t *lab = lab_at(i);
        assert_non_null(lab->judge);
        for (uint32_t p = 0; p < lab->panel_count; p++) {
            const lab_panel_t *panel = &lab->panels[p];
            lab_run_t run;
            lab_finding_t finding;
            test_label("%s, panel %s", lab->name, panel->id);
            assert_true(panel->claim && strlen(panel->claim) > 40 && strlen(panel->claim) < 400);
            assert_true(panel->criterion && strlen(panel->criterion) > 40);
            assert_int_equal(panel->claim[strlen(panel->claim) - 1], '.');
            assert_true(panel->plain && strlen(panel->plain) < 140 &&
                        panel->plain[strlen(panel->plain) - 1] == '.');
            assert_true(panel->where && panel->where[strlen(panel->where) - 1] == '.');
            assert_true(!panel->ours || panel->ours[strlen(panel->ours) - 1] == '.');
            /* What a paper states has its number; what none states may rest on something of it. */
            assert_true(panel->states || (panel->flags & LAB_OWN));
            assert_int_equal(panel->criterion[strlen(panel->criterion) - 1], '.');
            lab_run_init(&run, lab, panel, 1);
            lab_run_judge(&run, NULL, 0, &finding);
            const int is_shown = (panel->flags & LAB_ILLUSTRATION) != 0;
            assert_int_equal(finding.verdict, is_shown ? LAB_SHOWN : LAB_UNDECIDED);
            assert_true(strlen(finding.sure) > 0);
            /* Rows of nothing at all say nothing. */
            double *rows = malloc(run.point_count * panel->column_count * sizeof *rows);
            assert_non_null(rows);
            for (uint32_t k = 0; k < run.point_count * panel->column_count; k++)
                rows[k] = k % panel->column_count ? NAN : lab_run_x(&run, k / panel->column_count);
            lab_run_judge(&run, rows, run.point_count, &finding);
            assert_true(strlen(finding.sure) > 0 && !strstr(finding.sure, "nan"));
            assert_true((finding.verdict == LAB_SHOWN) == is_shown);
            free(rows);
        }
    }
}

/** A row of the panel as if it were computed: what is not named is 0. */
typedef struct cell {
    const char *name;
    double value;
} cell_t;

static int32_t verdict_of(const char *lab_name, const char *id, const cell_t *cells, size_t count) {
    const lab_t *lab = lab_find(lab_name);
    const lab_panel_t *panel = lab_panel_find(lab, id);
    double row[LAB_COLUMNS] = {0};
    lab_run_t run;
    lab_finding_t finding;
    lab_run_init(&run, lab, panel, 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t c = 0;
        while (c < panel->column_count && strcmp(panel->columns[c].name, cells[i].name) != 0) c++;
        if (c == panel->column_count) test_fail("%s has no column %s", id, cells[i].name);
        row[c] = cells[i].value;
    }
    lab_run_judge(&run, row, 1, &finding);
    if (!*finding.found) test_fail("%s %s: nothing is found", lab_name, id);
    return finding.verdict;
}

#define VERDICT(LAB, PANEL, ...)                                                                   \
    verdict_of(LAB, PANEL, (const cell_t[]){__VA_ARGS__},                                          \
               sizeof((const cell_t[]){__VA_ARGS__}) / sizeof(cell_t))

static void verdicts_follow_the_numbers(void **state) {
    (void)state;
    /* Trials of a point within the premises; outside of them nothing is decided. */
    assert_int_equal(
        VERDICT("separation", "5d-inside", {"x", 1}, {"success", 0.5}, {"trials", 100}), LAB_FAILS);
    assert_int_equal(
        VERDICT("separation", "7d-inside", {"x", 2}, {"success", 0.5}, {"trials", 1000}),
        LAB_FAILS);
    assert_int_equal(VERDICT("separation", "7d-inside", {"x", 2}, {"success", 1}, {"trials", 1000}),
                     LAB_HOLDS);
    assert_int_equal(
        VERDICT("separation", "7d-inside", {"x", 2}, {"success", 0.99}, {"trials", 100}),
        LAB_UNDECIDED);
    assert_int_equal(
        VERDICT("separation", "7d-inside", {"x", 0.5}, {"success", 1}, {"trials", 1000}),
        LAB_UNDECIDED);
    assert_int_equal(
        VERDICT("separation", "theorem-e4", {"x", 1024}, {"success", 1}, {"trials", 1000}),
        LAB_HOLDS);
    assert_int_equal(
        VERDICT("separation", "theorem-e4", {"x", 1000}, {"success", 1}, {"trials", 1000}),
        LAB_UNDECIDED); /* is no multiple of d - 2 */
    /* Figures are drawn as the paper has them, and not judged. */
    assert_int_equal(VERDICT("separation", "5d", {"x", 1}, {"success", 0.5}, {"trials", 100}),
                     LAB_SHOWN);
    assert_int_equal(VERDICT("separation", "4d", {"x", 1}, {"success", 1}, {"trials", 100}),
                     LAB_SHOWN);
    /* A part of a lemma is above what it allows, or only by what rounding can add. */
    assert_int_equal(
        VERDICT("separation", "lemma-d2", {"x", 512}, {"u_mark", 1}, {"f_other", 1.01}), LAB_FAILS);
    assert_int_equal(VERDICT("separation", "lemma-d2", {"x", 512}, {"u_mark", 1.01}, {"f_other", 1},
                             {"rounding", 0.02}),
                     LAB_HOLDS);
    /* Errors in double decide, whatever float adds. */
    assert_int_equal(VERDICT("constructions", "eps", {"x", 0.1}, {"eps", 0.1}, {"agg_exact", 0.05}),
                     LAB_HOLDS);
    assert_int_equal(VERDICT("constructions", "eps", {"x", 0.1}, {"eps", 0.1}, {"agg", 0.15}),
                     LAB_HOLDS);
    assert_int_equal(
        VERDICT("constructions", "eps", {"x", 0.1}, {"eps", 0.1}, {"copy_exact", 0.11}), LAB_FAILS);
    /* Work that misses eps decides against it. */
    assert_int_equal(VERDICT("sparsification", "deterministic-work", {"x", 1024}, {"work", 1},
                             {"distortion", 0.76}, {"eps", 0.75}),
                     LAB_FAILS);
    assert_int_equal(VERDICT("sparsification", "deterministic-work", {"x", 1024}, {"work", 1},
                             {"distortion", 0.74}, {"eps", 0.75}),
                     LAB_UNDECIDED); /* of one point no exponent */
    /* Twice as many for four times the features is growth, as sqrt d. */
#define LEAST(SIZE)                                                                                \
    VERDICT("sparsification", "least", {"x", 4}, {"approximate", SIZE},                            \
            {"approximate_narrow", 10}, {"leverage", 9}, {"leverage_narrow", 10},                  \
            {"deterministic", 5}, {"deterministic_narrow", 5}, {"line", 14})
    assert_int_equal(LEAST(19), LAB_HOLDS);
    assert_int_equal(LEAST(20), LAB_FAILS);
    assert_int_equal(LEAST(NAN), LAB_UNDECIDED);
#undef LEAST
    /* One wrong chain of hundreds is one too many; nothing is said where the expression before is not seen. */
    assert_int_equal(VERDICT("programs", "distance", {"linear", 1}, {"sparse", 1}), LAB_HOLDS);
    assert_int_equal(VERDICT("programs", "distance", {"linear", 1}, {"sparse", 0.999}), LAB_FAILS);
    assert_int_equal(VERDICT("programs", "arithmetic", {"right", 1}, {"seen", 1}, {"width", 481},
                             {"depth", 5}, {"heads", 5}),
                     LAB_HOLDS);
    assert_int_equal(VERDICT("programs", "arithmetic", {"right", 1}, {"seen", 1}, {"width", 481},
                             {"depth", 6}, {"heads", 5}),
                     LAB_FAILS);
    assert_int_equal(VERDICT("programs", "arithmetic", {"right", 0.5}, {"seen", 0}, {"width", 481},
                             {"depth", 5}, {"heads", 5}),
                     LAB_UNDECIDED);
    assert_int_equal(VERDICT("softmax-regression", "shift", {"told", 8}, {"moving", 8},
                             {"premises", 8}, {"weight", -1}, {"tight", 32}, {"bound", 72}),
                     LAB_HOLDS);
    assert_int_equal(VERDICT("softmax-regression", "shift", {"told", 8}, {"moving", 8},
                             {"premises", 8}, {"weight", 80}, {"tight", 32}, {"bound", 72}),
                     LAB_FAILS);
    assert_int_equal(VERDICT("softmax-regression", "layer", {"moving", 8}, {"share", 0.9},
                             {"linear_share", 1.1}),
                     LAB_FAILS);
    assert_int_equal(VERDICT("softmax-regression", "layer-cosine", {"moving", 8},
                             {"cosine_low", 0.91}, {"cosine_high", 0.95}),
                     LAB_HOLDS);
    assert_int_equal(VERDICT("softmax-regression", "layer-cosine", {"moving", 8},
                             {"cosine_low", 0.89}, {"cosine_high", 0.95}),
                     LAB_UNDECIDED);
    assert_int_equal(VERDICT("sparsification", "rate", {"leverage_low", 0.2},
                             {"leverage_high", 0.3}, {"delta", 0.1}, {"size", 50}, {"asked", 40}),
                     LAB_UNDECIDED); /* Lemma 5.4 asks for a delta below 0.1 */
    assert_int_equal(VERDICT("softmax-regression", "cosine", {"told", 8}, {"layer_cosine", 0.1},
                             {"layer_low", 0}, {"layer_high", 0.2}),
                     LAB_SHOWN);
    /* Rates count at the size that is asked for, and of the method whose promise it is. */
    assert_int_equal(VERDICT("sparsification", "rate", {"leverage_low", 0.2},
                             {"leverage_high", 0.3}, {"delta", 0.05}, {"size", 50}, {"asked", 40}),
                     LAB_FAILS);
    assert_int_equal(VERDICT("sparsification", "rate", {"gaussian_low", 0.2},
                             {"gaussian_high", 0.3}, {"delta", 0.05}, {"size", 50}, {"asked", 40}),
                     LAB_HOLDS);
    assert_int_equal(VERDICT("sparsification", "rate", {"leverage_low", 0.2},
                             {"leverage_high", 0.3}, {"delta", 0.05}, {"size", 30}, {"asked", 40}),
                     LAB_UNDECIDED);
    assert_int_equal(VERDICT("sparsification", "deterministic", {"deterministic", 0.5},
                             {"bound", 0.4}, {"rounding", 0.01}),
                     LAB_FAILS);
    assert_int_equal(VERDICT("sparsification", "size", {"bound", 0.1}, {"gaussian", 0.05},
                             {"gaussian_within", 10}),
                     LAB_HOLDS);
    assert_int_equal(VERDICT("sparsification", "size", {"bound", 0.1}, {"gaussian", 0.2},
                             {"gaussian_within", 10}, {"violations", 2}),
                     LAB_FAILS);
}

/** A point that fails is not outweighed by others. */
static void points_are_not_pooled(void **state) {
    (void)state;
    const lab_t *lab = lab_find("separation");
    const lab_panel_t *panel = lab_panel_find(lab, "5a-inside");
    double rows[2 * LAB_COLUMNS] = {0};
    lab_run_t run;
    lab_finding_t finding;
    uint32_t trials = 0;
    while (strcmp(panel->columns[trials].name, "trials") != 0) trials++;
    lab_run_init(&run, lab, panel, 1);
    for (uint32_t i = 0; i < 2; i++) {
        double *row = rows + i * panel->column_count;
        row[0] = i ? 512 : 256;
        row[1] = i ? 1 : 0.9; /* success */
        row[trials] = i ? 1e6 : 1000;
    }
    lab_run_judge(&run, rows, 2, &finding);
    assert_int_equal(finding.verdict, LAB_FAILS);
    assert_non_null(strstr(finding.sure, "1 of 2 points for it, 1 against"));
}

/** Premises are the run's, not the panel's: each of them is looked at. */
static void premises_are_looked_at(void **state) {
    (void)state;
    static const struct {
        const char *panel, *name, *value;
        double x;
        int within;
    } cases[] = {
        {"4d-inside", "trials", "10", 1.2, 1},
        {"4d-inside", "trials", "10", 0.9, 0}, /* a1 >= 1 */
        {"4d-inside", "c", "0.97", 1.2, 0},    /* b = 0.24 */
        {"4d-inside", "b", "0.1", 1.2, 0},     /* b^2 + c^2 is not 1 */
        {"4d-inside", "n", "2047", 1.2, 0},    /* no multiple of d - 2 */
        {"4d-inside", "factor", "3", 1.2, 0},  /* (3/4)^m is above delta / n */
        {"4d-inside", "m", "41", 1.2, 0},
        {"4d-inside", "m", "43", 1.2, 1},
        {"4d-inside", "delta", "0.1", 1.2, 0},
        {"4d-inside", "a0", "0.1", 1.2, 0},
        {"4d-inside", "d", "3", 1.2, 1},
        {"4d", "factor", "3.5", 1.2, 0},    /* b = 0.2, c = 0.8 */
        {"5a-inside", "c", "0.95", 256, 0}, /* b < 0.1 */
        {"5a-inside", "a1", "0.6", 256, 0},
        {"5a-inside", "d", "3", 1 << 14, 1},
        {"5e-inside", "d", "3", 0.09, 0}, /* n^(4 a0 + 0.02) is above 3 */
        {"7a-inside", "a1", "1", 256, 0},
        {"7a-inside", "d", "64", 256, 0}, /* no multiple of d - 1 */
        {"3a-inside", "factor", "1.3", 1000, 0},
        {"3a-inside", "factor", "1.45", 1000, 1},
        {"lemma-d3", "a1", "0.6", 256, 0},
        {"lemma-d3", "a1", "0.7", 256, 1},
        {"lemma-d3", "d", "67", 256, 0},
    };
    const lab_t *lab = lab_find("separation");
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        double row[LAB_COLUMNS] = {cases[i].x};
        lab_run_t run;
        test_label("%s at %g, %s=%s", cases[i].panel, cases[i].x, cases[i].name, cases[i].value);
        lab_run_init(&run, lab, lab_panel_find(lab, cases[i].panel), 1);
        assert_int_equal(lab_run_set(&run, cases[i].name, cases[i].value, NULL), ATTN_OK);
        assert_int_equal(lab_run_within(&run, row), cases[i].within);
    }
}

TEST_MAIN(cmocka_unit_test(intervals_decide), cmocka_unit_test(tallies_decide),
          cmocka_unit_test(words_are_cut), cmocka_unit_test(panels_are_judged),
          cmocka_unit_test(verdicts_follow_the_numbers), cmocka_unit_test(points_are_not_pooled),
          cmocka_unit_test(premises_are_looked_at))
