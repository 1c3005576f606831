/*
 * labs/separation/judge.c: the separation experiments' verdicts, point by point. What the definitions and theorems ask
 * for is in arXiv:2310.11685, Definitions 3.7, 3.8, D.1 (X = all ones) and F.1, and Theorem E.4 (X = I).
 */
#include "labs/judge.h"
#include "labs/separation/lab.h"
#include "labs/statistics.h"

#include <math.h>

/* ---- premises ------------------------------------------------------------------------------------ */

/* The parameters at a row's x. */
static lab_point_t point_at(const lab_run_t *run, double x) {
    lab_point_t point = {.run = run, .x = x};
    for (int i = 0; i < SEPARATION_PARAMS; i++) point.values[i] = run->values[i];
    point.values[run->panel->x_param] = x;
    return point;
}

/* What the definitions of the data, or the theorem for X = I, ask for. */
static int is_defined(const separation_t *what) {
    const double a1 = what->a[1], b = what->b, c = what->c;
    if (what->net == SEPARATION_REGRESSION) return what->n >= 4;
    const int64_t blocks = what->d - (what->net == SEPARATION_CROSS ? 1 : 2);
    if (blocks < 1 || what->n % blocks) return 0;
    if (!(what->a[0] > 0 && what->a[0] < 0.1)) return 0;
    if (what->net == SEPARATION_CROSS) return a1 > 1;
    if (what->net == SEPARATION_SELF)
        return a1 >= 1 && b > 0 && b < 0.2 && fabs(b * b + c * c - 1) < 1e-9;
    return a1 >= 0.7 && b >= 0.1 - 1e-9 && c >= 0.1 && fabs(b + c - 1) < 1e-9;
}

/* d = omega(n^e) of the theorems; a number has no order, n^e itself is the least that can be meant. */
static int is_deep(const separation_t *what) {
    const double a0 = what->a[0], b = what->b;
    double exponent = 0.02 + (what->net == SEPARATION_CROSS ? 2 : 4) * a0;
    if (what->net == SEPARATION_REGRESSION) return 1;
    if (what->net == SEPARATION_SELF) exponent = fmax(exponent, 0.02 + 2 * b * b);
    return (double)what->d >= pow((double)what->n, exponent) && what->d <= what->n;
}

int separation_within(const lab_run_t *run, const double *row) {
    const lab_point_t point = point_at(run, row[SEPARATION_X]);
    const separation_t what = separation_of(&point);
    const double delta = point.values[SEPARATION_DELTA];
    const double width = separation_least_factor(what.net) * log((double)what.n / delta);
    if (!is_defined(&what)) return 0;
    return separation_is_lemma(run->panel) ||
           (is_deep(&what) && delta < 0.1 && (double)what.m >= width);
}

/* ---- trials -------------------------------------------------------------------------------------- */

/* Which of the four decisions is wrong how often, over rows of trials. */
typedef struct wrongs {
    double trials, success, wrong[4];
    double least, least_at; /* the smallest ratio of success, and where */
} wrongs_t;

static void add_row(const double *row, wrongs_t *wrongs) {
    const double trials = row[SEPARATION_COUNT];
    if (wrongs->trials == 0 || row[SEPARATION_SUCCESS] < wrongs->least) {
        wrongs->least = row[SEPARATION_SUCCESS];
        wrongs->least_at = row[SEPARATION_X];
    }
    wrongs->trials += trials;
    wrongs->success += row[SEPARATION_SUCCESS] * trials;
    wrongs->wrong[0] += (1 - row[SEPARATION_FEXP1]) * trials;
    for (int i = 1; i < 4; i++) wrongs->wrong[i] += row[SEPARATION_FEXP1 + i] * trials;
}

static void say_wrongs(const wrongs_t *wrongs, lab_finding_t *finding) {
    static const char *const what[] = {"F_exp(D1) = 0", "F_lin(D1) > 0", "F_exp(D0) > 0",
                                       "F_lin(D0) > 0"};
    /* the part that is small, so that a few of many do not vanish in its rounding */
    judge_found(finding, "Of these trials %.2g%% fail; wrong are",
                100 * (1 - wrongs->success / wrongs->trials));
    for (int i = 0; i < 4; i++)
        judge_found(finding, "%s %s in %.2g%%", i ? "," : "", what[i],
                    100 * wrongs->wrong[i] / wrongs->trials);
    judge_found(finding, ".");
}

static int32_t judge_point(const double *row, double wanted) {
    const double trials = row[SEPARATION_COUNT];
    const statistics_rate_t rate = statistics_rate(round(row[SEPARATION_SUCCESS] * trials), trials);
    return judge_at_least(rate.low, rate.high, wanted);
}

static void judge_trials(const lab_run_t *run, const double *rows, uint32_t count,
                         lab_finding_t *finding) {
    const double wanted = 1 - run->values[SEPARATION_DELTA];
    wrongs_t within = {0}, all = {0};
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * SEPARATION_COLUMNS;
        if (!(row[SEPARATION_COUNT] > 0)) continue;
        add_row(row, &all);
        if (!lab_run_within(run, row)) continue;
        add_row(row, &within);
        tally_add(&tally, judge_point(row, wanted));
    }
    const wrongs_t *told = within.trials > 0 ? &within : &all;
    judge_tally(&tally, "points", finding);
    if (told->trials > 0) say_wrongs(told, finding);
    if (tally.holds + tally.fails + tally.open)
        judge_found(finding, " The least success is %.4g, at %s = %.6g.", told->least,
                    run->lab->params[run->panel->x_param].name, told->least_at);
}

/* ---- figures ------------------------------------------------------------------------------------- */

/* What the formula says, beside what was measured: where trials and formula are nearest and farthest. */
static void tell_figure(const lab_run_t *run, const double *rows, uint32_t count,
                        lab_finding_t *finding) {
    wrongs_t all = {0};
    double formula = 0, trials = 0;
    uint32_t within = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * SEPARATION_COLUMNS;
        if (!(row[SEPARATION_COUNT] > 0)) continue;
        add_row(row, &all);
        within += lab_run_within(run, row) != 0;
        formula += row[SEPARATION_FORMULA] * row[SEPARATION_COUNT];
        trials += row[SEPARATION_COUNT];
    }
    judge_sure(finding, "%u of %u points are within the premises", within, count);
    if (!(trials > 0)) return;
    say_wrongs(&all, finding);
    judge_found(finding, " By formula %.2g%% fail.", 100 * (1 - formula / trials));
}

/* ---- entries ------------------------------------------------------------------------------------- */

static void judge_lemma(const lab_run_t *run, const double *rows, uint32_t count,
                        lab_finding_t *finding) {
    const char *const *parts = separation_panel(run->panel)->parts;
    tally_t tally = {0};
    double most = 0, at = 0;
    int part = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * SEPARATION_ENTRY_COLUMNS;
        if (!lab_run_within(run, row)) continue;
        for (int p = 0; p < SEPARATION_PARTS; p++) {
            const double share = row[SEPARATION_PART + p], slack = row[SEPARATION_SLACK];
            if (!parts[p] || isnan(share)) continue;
            tally_add(&tally, judge_at_most(share - slack, share - slack, 1));
            if (share > most) most = share, at = row[SEPARATION_X], part = p;
        }
    }
    judge_tally(&tally, "parts", finding);
    if (most > 0)
        judge_found(finding,
                    "The largest share of what is allowed is %.4g, in part %s at n = %.0f.", most,
                    parts[part], at);
}

void separation_judge(const lab_run_t *run, const double *rows, uint32_t count,
                      lab_finding_t *finding) {
    if (separation_is_lemma(run->panel))
        judge_lemma(run, rows, count, finding);
    else if (run->panel->flags & LAB_ILLUSTRATION)
        tell_figure(run, rows, count, finding);
    else
        judge_trials(run, rows, count, finding);
}
