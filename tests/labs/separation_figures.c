/*
 * The curves of arXiv:2310.11685, Figures 3, 4, 5 and 7: ratios within 3 sigma of an independent
 * computation (other random numbers, double precision, no library), and the shapes that the paper and
 * the definitions ask for.
 */
#include "labs/separation/lab.h"
#include "labs/separation/separation.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- an independent computation ------------------------------------------------------------------ */

/* SplitMix64: Steele, Lea, Flood (2014). */
static uint64_t random_state;
static uint64_t draw(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
static double uniform(void) { return (double)(draw() >> 11) * 0x1p-53; }
static int below(int n) { return (int)(draw() % (uint64_t)n); }

typedef struct double_net {
    enum separation_net net;
    int n, d, m;
    double a[2], b, c;
} double_net_t;

enum { MAX_N = 1000, MAX_D = 66, MAX_M = 64 };
static double signs[MAX_N][MAX_M];

/* Row i of A2 = A3: its entries that are not 0. */
static struct key {
    int column[3];
    double entry[3];
} keys[MAX_N];

static double weight(double logit, int lin) { return lin ? logit : exp(logit); }

/* sum_j phi_tau(<f(Ax), y_j>), where the marked entry is 4 log n in D1. */
static double regression_output(const double_net_t *r, const double *logits, int lin) {
    double sum = 0, output = 0;
    for (int i = 0; i < r->n; i++) sum += weight(logits[i], lin);
    for (int j = 0; j < r->m; j++) {
        double product = 0;
        for (int i = 0; i < r->n; i++) product += weight(logits[i], lin) / sum * signs[i][j];
        output += fmax(product - 0.25, 0);
    }
    return output;
}

static double query_output(const double_net_t *r, const double *query, double tau, int lin) {
    double c[MAX_D] = {0}, sum = 0, output = 0;
    for (const struct key *key = keys; key < keys + r->n; key++) {
        double logit = 0;
        for (int k = 0; k < 3; k++) logit += query[key->column[k]] * key->entry[k];
        const double w = weight(logit, lin);
        sum += w;
        for (int k = 0; k < 3; k++) c[key->column[k]] += w * key->entry[k];
    }
    for (int l = 0; l < r->m; l++) {
        double product = 0;
        for (int k = 0; k < r->d; k++) product += c[k] / sum * signs[k][l];
        output += fmax(product - tau, 0);
    }
    return output;
}

/* Whether row i of A1 has come before: then it adds nothing to the question whether F > 0. */
static int is_repeated(const double_net_t *r, int i, int mark) {
    const int period = r->net == SEPARATION_CROSS ? 1 : r->d - 2;
    if (i == mark || i < period) return 0;
    return i - period != mark || i >= 2 * period;
}

static double self_output(const double_net_t *r, double a, int mark, int lin) {
    const double unit = sqrt(log(r->n));
    double output = 0;
    for (int i = 0; i < r->n; i++)
        keys[i] = (struct key){{0, 1 + i % (r->d - 2), r->d - 1},
                               {i == mark ? a * unit : 0, r->b * unit, r->c * unit}};
    for (int i = 0; i < r->n; i++) {
        double query[MAX_D] = {0}, sum = 0;
        if (is_repeated(r, i, mark)) continue;
        for (int k = 0; k < 3; k++) sum += query[keys[i].column[k]] = keys[i].entry[k];
        for (int k = 0; k < r->d && r->net == SEPARATION_SELF_ONES; k++) query[k] = sum;
        output += query_output(r, query, (r->c + 0.1) * unit, lin);
    }
    return output;
}

static double cross_output(const double_net_t *r, double a, int mark, int row, int lin) {
    const double log_n = log(r->n);
    double output = 0;
    for (int i = 0; i < r->n; i++)
        keys[i] = (struct key){{0, 1 + i % (r->d - 1), 0}, {i == mark, 1, 0}};
    for (int i = 0; i < r->n; i++) {
        double query[MAX_D];
        if (is_repeated(r, i, row)) continue;
        query[0] = i == row ? a * log_n : 0;
        for (int k = 1; k < r->d; k++) query[k] = log_n;
        output += query_output(r, query, 0.9, lin);
    }
    return output;
}

/* F > 0 for one data set: [exp, lin] on the same draw. */
static void outputs(const double_net_t *r, int set, int positive[2]) {
    double logits[MAX_N];
    const int mark = below(r->n), row = below(r->n);
    for (int i = 0; i < r->n; i++) logits[i] = log(r->n) * (1 + 0.4 * uniform());
    if (set == 1) logits[mark] = 4 * log(r->n);
    for (int lin = 0; lin < 2; lin++)
        positive[lin] = (r->net == SEPARATION_REGRESSION ? regression_output(r, logits, lin)
                         : r->net == SEPARATION_CROSS ? cross_output(r, r->a[set], mark, row, lin)
                                                      : self_output(r, r->a[set], mark, lin)) > 0;
}

static double reference_ratio(const double_net_t *r, int trials) {
    int successes = 0;
    assert_true(r->n <= MAX_N && r->d <= MAX_D && r->m <= MAX_M);
    for (int t = 0; t < trials; t++) {
        int d0[2], d1[2];
        const int rows = r->net == SEPARATION_REGRESSION ? r->n : r->d;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < r->m; j++) signs[i][j] = draw() >> 63 ? 1 : -1;
        outputs(r, 0, d0);
        outputs(r, 1, d1);
        successes += d1[0] && !d1[1] && !d0[0] && !d0[1];
    }
    return (double)successes / trials;
}

/* ---- ratios -------------------------------------------------------------------------------------- */

/* One row of a panel, the row's other columns being what they must be. */
static double ratio(attn_context_t *context, const char *panel, double x, int trials) {
    const lab_t *lab = lab_find("separation");
    char text[16];
    double row[SEPARATION_COLUMNS];
    lab_run_t run;
    attn_error_t error = {0};
    snprintf(text, sizeof text, "%d", trials);
    lab_run_init(&run, lab, lab_panel_find(lab, panel), 1);
    lab_run_grid(&run, &x, 1);
    if (lab_run_set(&run, "trials", text, &error) ||
        (panel[0] != '3' && lab_run_set(&run, "rows", "distinct", &error)) ||
        lab_run_begin(&run, context, &error) || lab_run_point(&run, 0, row, &error))
        test_fail("%s", error.message);
    lab_run_end(&run);
    assert_true(row[SEPARATION_X] == x && row[SEPARATION_COUNT] == trials);
    assert_true(row[SEPARATION_LOW] <= row[SEPARATION_SUCCESS] &&
                row[SEPARATION_SUCCESS] <= row[SEPARATION_HIGH]);
    assert_true(row[SEPARATION_SUCCESS] <= row[SEPARATION_FEXP1]);
    for (int c = SEPARATION_FLIN1; c <= SEPARATION_FLIN0; c++)
        assert_true(row[SEPARATION_SUCCESS] <= 1 - row[c] + 1e-12);
    return row[SEPARATION_SUCCESS];
}

/* What a panel's point is, written down a second time. */
typedef struct expected {
    const char *panel;
    double x;
    double_net_t reference;
    double low, high; /* of the ratio, as the paper's figures or the definitions have it */
} expected_t;

#define REGRESSION(M)                                                                              \
    { SEPARATION_REGRESSION, 1000, 2, M, {0, 0}, 0, 0 }
#define SELF(NET, N, D, A0, A1, C)                                                                 \
    { NET, N, D, 15, {A0, A1}, 0.2, C }
#define CROSS(N, D, M, A1)                                                                         \
    { SEPARATION_CROSS, N, D, M, {0.01, A1}, 0, 0 }

static const expected_t EXPECTED[] = {
    {"3b", 1, REGRESSION(1), 0.45, 0.55},
    {"3b", 2, REGRESSION(2), 0.70, 0.80},
    {"3b", 5, REGRESSION(5), 0.93, 1},
    {"3b", 10, REGRESSION(10), 0.98, 1},
    {"4b", 4, SELF(SEPARATION_SELF, 256, 4, 0.01, 1.2, 0.8), 0, 0.25},
    {"4b", 34, SELF(SEPARATION_SELF, 256, 34, 0.01, 1.2, 0.8), 0.9, 1},
    {"4b", 66, SELF(SEPARATION_SELF, 256, 66, 0.01, 1.2, 0.8), 0.93, 1},
    {"4d", 0.496, SELF(SEPARATION_SELF, 200, 22, 0.01, 0.496, 0.8), 0, 0.03},
    {"4d", 1, SELF(SEPARATION_SELF, 200, 22, 0.01, 1, 0.8), 0.8, 1},
    {"4d", 1.72, SELF(SEPARATION_SELF, 200, 22, 0.01, 1.72, 0.8), 0.35, 0.75},
    {"4d", 2.98, SELF(SEPARATION_SELF, 200, 22, 0.01, 2.98, 0.8), 0, 0.05},
    {"4e", 0.8, SELF(SEPARATION_SELF, 200, 22, 0.8, 1.2, 0.8), 0, 1},
    {"4f", 0.5, SELF(SEPARATION_SELF, 200, 22, 0.01, 1.2, 0.5), 0, 1},
    {"5b", 10, SELF(SEPARATION_SELF_ONES, 256, 10, 0.01, 1.2, 0.8), 0, 1},
    {"5d", 0.928, SELF(SEPARATION_SELF_ONES, 200, 22, 0.01, 0.928, 0.8), 0, 1},
    {"5f", 0.7, SELF(SEPARATION_SELF_ONES, 200, 22, 0.01, 1.2, 0.7), 0, 1},
    {"7b", 6, CROSS(200, 6, 9, 3), 0, 1},
    {"7d", 0.424, CROSS(200, 12, 9, 0.424), 0, 0.03},
    {"7d", 2.008, CROSS(200, 12, 9, 2.008), 0.85, 1},
    {"7d", 2.98, CROSS(200, 12, 9, 2.98), 0.85, 1},
};

static void ratios_are_those_of_an_independent_computation(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(EXPECTED); i++) {
        const expected_t *expected = &EXPECTED[i];
        const int trials = 300;
        test_label("%s at %g", expected->panel, expected->x);
        random_state = i;
        const double ours = ratio(context, expected->panel, expected->x, trials);
        const double other = reference_ratio(&expected->reference, trials);
        const double mean = (ours + other) / 2;
        const double sigma = sqrt(2 * mean * (1 - mean) / trials);
        if (!(fabs(ours - other) <= 3 * sigma))
            test_fail("%g of the trials succeed, in the other computation %g", ours, other);
        const double off = 3 * sqrt(other * (1 - other) / trials);
        if (!(ours >= expected->low - off && ours <= expected->high + off))
            test_fail("%g of the trials succeed, not %g to %g", ours, expected->low,
                      expected->high);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(ratios_are_those_of_an_independent_computation))
