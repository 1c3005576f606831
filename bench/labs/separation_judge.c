/*
 * labs/separation_judge.c: the separation experiments' verdicts. What the definitions ask for is in
 * arXiv:2310.11685, Definitions 3.7, 3.8, D.1 (for X = all ones) and F.1 and Theorem E.4 (for X = I, which
 * the paper's own b = 0.2 and c = 0.8 do not keep); a last block of I that is cut is let pass.
 */
#include "labs/judge.h"
#include "labs/separation_lab.h"
#include "labs/statistics.h"

#include <math.h>

/* The parameters at a row's x. */
static lab_point_t point_at(const lab_run_t *run, double x) {
    lab_point_t point = {.run = run, .x = x};
    for (int i = 0; i < SEPARATION_PARAMS; i++) point.values[i] = run->values[i];
    point.values[run->panel->x_param] = x;
    return point;
}

int separation_within(const lab_run_t *run, const double *row) {
    const lab_point_t point = point_at(run, row[SEPARATION_X]);
    const separation_t what = separation_of(&point);
    const double width = floor(log((double)what.n / point.values[SEPARATION_DELTA]));
    if ((double)what.m < width) return 0;
    if (what.net == SEPARATION_REGRESSION) return 1;
    if (!(what.a[0] > 0 && what.a[0] < 0.1)) return 0;
    if (what.net == SEPARATION_CROSS) return what.a[1] > 1;
    if (what.net == SEPARATION_SELF)
        return what.a[1] >= 1 && what.b > 0 && what.b < 0.2 &&
               fabs(what.b * what.b + what.c * what.c - 1) < 1e-9;
    return what.a[1] >= 0.7 && what.b >= 0.1 && what.c >= 0.1 && fabs(what.b + what.c - 1) < 1e-9;
}

/* Which of the four decisions is wrong how often, over rows of trials. */
typedef struct wrongs {
    double trials, success, wrong[4];
} wrongs_t;

static void add_row(const double *row, wrongs_t *wrongs) {
    const double trials = row[SEPARATION_COUNT];
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

void separation_judge(const lab_run_t *run, const double *rows, uint32_t count,
                      lab_finding_t *finding) {
    const double wanted = 1 - run->values[SEPARATION_DELTA];
    wrongs_t within = {0}, all = {0};
    uint32_t points = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * SEPARATION_COLUMNS;
        if (!(row[SEPARATION_COUNT] > 0)) continue;
        const int counts = lab_run_within(run, row);
        add_row(row, counts ? &within : &all);
        points += counts != 0;
    }
    if (points == 0) {
        judge_sure(finding, "none of %u points is within the premises", count);
        if (all.trials > 0) say_wrongs(&all, finding);
        return;
    }
    const statistics_rate_t success = statistics_rate(round(within.success), within.trials);
    finding->verdict = judge_at_least(success.low, success.high, wanted);
    judge_sure(finding, "success %.4g (95%% interval %.4g to %.4g) against %.4g, %u of %u points",
               within.success / within.trials, success.low, success.high, wanted, points, count);
    say_wrongs(&within, finding);
}
