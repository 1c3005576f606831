/*
 * labs/separation/lab.c: the separation experiments as a lab: Figures 3, 4, 5 and 7 of arXiv:2310.11685.
 * What a point's parameters come to is in point.c, the networks in net.c, their
 * data in data.c, the panels in panels.c.
 */
#include "labs/separation/lab.h"

#include "attn/support.h"
#include "labs/statistics.h"
#include "number/format.h"

#include <math.h>

/* ---- checks -------------------------------------------------------------------------------------- */

/* Another network is another panel: its claim and its axis are about this one. */
static attn_status_t check_net(const lab_run_t *run, attn_error_t *error) {
    const double net = run->panel->fixed[0].value; /* a panel sets its network first */
    if (run->values[SEPARATION_NET] == net) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "parameter 'net': panel %s is about '%s', choose another panel",
                     run->panel->id, separation_params[SEPARATION_NET].choices[(int)net]);
}

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    const separation_t what = separation_of(point);
    if ((what.net == SEPARATION_SELF || what.net == SEPARATION_SELF_ONES) && what.d < 3)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "parameter 'd': self-attention's data have 3 kinds of columns: 3 or more, "
                         "not %lld",
                         (long long)what.d);
    if (what.m < 1)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "parameter 'm': log n is below 1 for n = %lld, so that no column of signs "
                         "is left",
                         (long long)what.n);
    return check_net(point->run, error);
}

/* ---- points -------------------------------------------------------------------------------------- */

/* Counts over the trials of a point. */
typedef struct counts {
    int64_t success,
        positive[2]
                [2]; /* success: of what the panel decides; positive: F > 0, by data set and kind */
    int64_t close, degenerate; /* trials; close: rounding can turn a decision */
} counts_t;

/* Whether what the panel is about came out as it should. */
static int succeeds(enum separation_decision decision, int positive[2][2]) {
    switch (decision) {
    case SEPARATION_EXP_1:
        return positive[1][0];
    case SEPARATION_LIN_1:
        return !positive[1][1];
    case SEPARATION_EXP_0:
        return !positive[0][0];
    case SEPARATION_LIN_0:
        return !positive[0][1];
    default:
        return positive[1][0] && !positive[1][1] && !positive[0][0] && !positive[0][1];
    }
}

static void count(const separation_t *what, enum separation_decision decision,
                  const separation_result_t *result, counts_t *counts) {
    int positive[2][2], close = 0;
    for (int set = 0; set < 2; set++)
        for (int kind = 0; kind < 2; kind++) {
            const double above = result->largest[set][kind] - what->tau;
            positive[set][kind] = above > 0;
            close |= fabs(above) <= result->rounding[set][kind];
            counts->positive[set][kind] += above > 0;
        }
    counts->success += succeeds(decision, positive);
    counts->close += close;
    counts->degenerate += result->degenerate > 0;
}

static attn_status_t count_trials(const separation_t *what, const lab_point_t *point,
                                  counts_t *counts, attn_error_t *error) {
    attn_error_t problem = {.status = ATTN_ERROR_MEMORY};
    separation_nets_t *nets = separation_create(what, point->run->context, &problem);
    if (!nets) return attn_fail(error, problem.status, "%s", problem.message);
    attn_status_t status = ATTN_OK;
    for (int64_t trial = 0; !status && trial < what->trials; trial++) {
        separation_result_t result;
        status = separation_try(nets, point, (uint64_t)trial, &result, error);
        if (!status) count(what, separation_panel(point->run->panel)->decision, &result, counts);
    }
    separation_destroy(nets);
    return status;
}

/* What the formula says of the panel's decision. */
static double formula_of(const separation_t *what, enum separation_decision decision) {
    const separation_formula_t formula = separation_formula(what);
    if (decision == SEPARATION_ALL) return formula.success;
    return 1 - (decision == SEPARATION_EXP_1 ? formula.missed : formula.alarm);
}

static attn_status_t compute_lemma(const lab_point_t *point, double *row, attn_error_t *error) {
    const separation_lemma_t *lemma = &separation_panel(point->run->panel)->lemma;
    separation_t what = separation_of(point);
    row[SEPARATION_SLACK] = separation_rounding(&what, lemma->set);
    return separation_entries(point, &what, lemma, row + SEPARATION_PART, error);
}

static attn_status_t compute(const lab_point_t *point, double *row, attn_error_t *error) {
    const separation_t what = separation_of(point);
    if (separation_is_lemma(point->run->panel)) return compute_lemma(point, row, error);
    counts_t counts = {.success = 0};
    const attn_status_t status = count_trials(&what, point, &counts, error);
    if (status) return status;
    const double trials = (double)what.trials;
    const statistics_rate_t success = statistics_rate((double)counts.success, trials);
    row[SEPARATION_SUCCESS] = success.rate;
    row[SEPARATION_LOW] = success.low;
    row[SEPARATION_HIGH] = success.high;
    row[SEPARATION_FEXP1] = (double)counts.positive[1][0] / trials;
    row[SEPARATION_FLIN1] = (double)counts.positive[1][1] / trials;
    row[SEPARATION_FEXP0] = (double)counts.positive[0][0] / trials;
    row[SEPARATION_FLIN0] = (double)counts.positive[0][1] / trials;
    row[SEPARATION_FORMULA] = formula_of(&what, separation_panel(point->run->panel)->decision);
    row[SEPARATION_COUNT] = trials;
    row[SEPARATION_CLOSE] = (double)counts.close;
    row[SEPARATION_DEGENERATE] = (double)counts.degenerate;
    return ATTN_OK;
}

/* Multiplications: nearly all are softmax's, an exponential counts as 20; regression mostly draws. */
static double cost(const lab_point_t *point) {
    const separation_t what = separation_of(point);
    const double n = (double)what.n, d = (double)what.d, m = (double)what.m;
    const double queries = (double)what.queries;
    const double trials = separation_is_lemma(point->run->panel) ? 1 : (double)what.trials;
    if (what.net == SEPARATION_REGRESSION) return trials * n * (22 * m + 700);
    return trials * (2 * queries * (n * (2 * d + 20) + 2 * d * m) + 20 * n * d);
}

/* ---- caption ----------------------------------------------------------------------------------- */

static void say(char *text, size_t size, size_t *used, const char *what) {
    const int length = attn_format(text + *used, size - *used, "%s%s", *used ? "; " : "", what);
    if (length > 0) *used += (size_t)length < size - *used ? (size_t)length : size - *used - 1;
}

static int has_cut_block(const lab_run_t *run, double x) {
    double values[2] = {run->values[SEPARATION_N], run->values[SEPARATION_D]};
    const int net = (int)run->values[SEPARATION_NET];
    if (run->panel->x_param == SEPARATION_N) values[0] = x;
    if (run->panel->x_param == SEPARATION_D) values[1] = x;
    return net != SEPARATION_REGRESSION &&
           fmod(values[0], values[1] - (net == SEPARATION_CROSS ? 1 : 2)) != 0;
}

static void note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                 size_t size) {
    const int regression = run->values[SEPARATION_NET] == SEPARATION_REGRESSION;
    const int a0_is_x = run->panel->x_param == SEPARATION_A0;
    double close = 0, degenerate = 0, trials = 0;
    uint32_t cut = 0;
    size_t used = 0;
    char line[120];
    text[0] = 0;
    if (separation_is_lemma(run->panel)) return;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * SEPARATION_COLUMNS;
        close += row[SEPARATION_CLOSE];
        degenerate += row[SEPARATION_DEGENERATE];
        trials += row[SEPARATION_COUNT];
        cut += (uint32_t)has_cut_block(run, row[SEPARATION_X]);
    }
    if (!regression && !a0_is_x &&
        !(run->values[SEPARATION_A0] > 0 && run->values[SEPARATION_A0] < 0.1))
        say(text, size, &used, "a0 is outside (0, 0.1), which the definition asks for");
    if (cut) {
        attn_format(line, sizeof line, "the last block of I is cut at %u of %u points", cut, count);
        say(text, size, &used, line);
    }
    attn_format(line, sizeof line, "%.0f of %.0f trials have a decision that rounding can turn",
                close, trials);
    say(text, size, &used, line);
    if (degenerate > 0) {
        attn_format(line, sizeof line, "%.0f trials have a normaliser near 0", degenerate);
        say(text, size, &used, line);
    }
}

const lab_t lab_separation = {
    .name = "separation",
    .title = "What softmax attention tells apart and linear attention does not",
    .reference = "arXiv:2310.11685, sections 3, 7, D and F",
    .summary =
        "D0 and D1 are data sets that differ in one entry alone; F_exp and F_lin are networks of "
        "one attention layer, with softmax and with linear attention, then a layer of ReLU with "
        "random signs. Success of a trial: F_exp(D1) > 0 and F_lin(D1) = F_exp(D0) = F_lin(D0) = 0 "
        "with the same signs; delta is the part of trials that may fail. The paper's figures stand "
        "as it draws them, without a verdict; its theorems and lemmas are judged within their "
        "premises.",
    .params = separation_params,
    .param_count = SEPARATION_PARAMS,
    .panels = separation_panels,
    .panel_count = SEPARATION_PANELS,
    .check = check,
    .point = compute,
    .cost = cost,
    .note = note,
    .within = separation_within,
    .judge = separation_judge,
};
