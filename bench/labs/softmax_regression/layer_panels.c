/*
 * labs/softmax_regression/layer_panels.c: the panels of softmax regression about one layer of self-attention with explicit
 * weights, beside the step of gradient descent that the theorems compare it with: see layer.h.
 */
#include "attn/support.h"
#include "labs/judge.h"
#include "labs/softmax_regression/lab.h"
#include "labs/softmax_regression/layer.h"
#include "labs/statistics.h"

#include <math.h>

#define COLUMNS_WITH(X_LABEL, ERROR, BOUND, COSINE, LOW, HIGH)                                     \
    {                                                                                              \
        [LAYER_X] = {"x", X_LABEL, LAB_HIDDEN, 0},                                                 \
        [LAYER_ERROR] = {"softmax", "layer of softmax attention, largest error", ERROR, 0},        \
        [LAYER_LINEAR] = {"linear", "layer of linear attention, largest error", ERROR, 0},         \
        [LAYER_BOUND] = {"bound", "bound of softmax attention's", BOUND, 0},                       \
        [LAYER_COSINE_MEAN] = {"cosine", "gradient step and layer of softmax attention, mean",     \
                               COSINE, 0},                                                         \
        [LAYER_COSINE_LOW] = {"cosine_low", "95% interval of the mean", LOW, 0},                   \
        [LAYER_COSINE_HIGH] = {"cosine_high", "95% interval of the mean", HIGH, 0},                \
        [LAYER_SHARE] = {"share", "largest part of its bound, softmax attention", LAB_HIDDEN, 0},  \
        [LAYER_LINEAR_SHARE] = {"linear_share", "the same, linear attention: float's rounding",    \
                                LAB_HIDDEN, 0},                                                    \
        [LAYER_MOVING] = {"moving", "descents that still move", LAB_HIDDEN, 0},                    \
    }

const lab_column_t regression_layer_columns[LAYER_COLUMNS] = COLUMNS_WITH(
    "inverse temperature beta", LAB_LINE, LAB_BOUND, LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN);
const lab_column_t regression_layer_cosine_columns[LAYER_COLUMNS] =
    COLUMNS_WITH("step t", LAB_HIDDEN, LAB_HIDDEN, LAB_LINE, LAB_LOW, LAB_HIGH);

/* ---- a point ------------------------------------------------------------------------------------ */

static attn_status_t add_trial(const lab_point_t *point, const regression_t *regression,
                               double *row, statistics_sum_t *cosines, attn_error_t *error) {
    const attn_context_t *context = point->run->context;
    regression_alike_t alike, linear;
    attn_status_t status =
        regression_layer(context, regression, point->values[BETA], &alike, error);
    if (!status) status = regression_layer(context, regression, 0, &linear, error);
    if (status) return status;
    row[LAYER_MOVING]++;
    row[LAYER_ERROR] = fmax(row[LAYER_ERROR], alike.error);
    row[LAYER_BOUND] = fmax(row[LAYER_BOUND], alike.bound);
    row[LAYER_LINEAR] = fmax(row[LAYER_LINEAR], linear.error);
    row[LAYER_SHARE] = fmax(row[LAYER_SHARE], alike.error / alike.bound);
    row[LAYER_LINEAR_SHARE] = fmax(row[LAYER_LINEAR_SHARE], linear.error / linear.bound);
    statistics_add(cosines, alike.cosine);
    return ATTN_OK;
}

attn_status_t regression_layer_point(const lab_point_t *point, double *row, attn_error_t *error) {
    const double *values = point->values;
    statistics_sum_t cosines = {0};
    attn_status_t status = ATTN_OK;
    for (int c = LAYER_X + 1; c < LAYER_COLUMNS; c++) row[c] = 0;
    for (uint64_t trial = 0; trial < (uint64_t)values[TRIALS] && !status; trial++) {
        regression_t regression;
        if (!regression_create((int64_t)values[ROWS], (int64_t)values[DIM], values[RADIUS],
                               values[CAP], point->run->seed, trial, &regression))
            return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %.0f x %.0f data",
                             values[ROWS], values[DIM]);
        if (regression_descend(&regression, (int64_t)values[STEP]))
            status = add_trial(point, &regression, row, &cosines, error);
        regression_destroy(&regression);
    }
    const statistics_mean_t mean = statistics_mean(&cosines);
    row[LAYER_COSINE_MEAN] = mean.mean;
    row[LAYER_COSINE_LOW] = mean.low;
    row[LAYER_COSINE_HIGH] = mean.high;
    for (int c = LAYER_ERROR; c <= LAYER_LINEAR_SHARE && row[LAYER_MOVING] == 0; c++) row[c] = NAN;
    return status;
}

/* ---- about a run ---------------------------------------------------------------------------------- */

int regression_layer_within(const double *row) { return row[LAYER_MOVING] > 0; }

void judge_layer_bounds(const double *rows, uint32_t count, lab_finding_t *finding) {
    const double *last = rows + (size_t)(count - 1) * LAYER_COLUMNS;
    double linear = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * LAYER_COLUMNS;
        if (!regression_layer_within(row)) continue;
        tally_add(&tally, judge_at_most(row[LAYER_SHARE], row[LAYER_SHARE], 1));
        tally_add(&tally, judge_at_most(row[LAYER_LINEAR_SHARE], row[LAYER_LINEAR_SHARE], 1));
        linear = fmax(linear, row[LAYER_LINEAR]);
    }
    judge_tally(&tally, "layers", finding);
    if (regression_layer_within(rows) && regression_layer_within(last))
        judge_found(finding,
                    "Softmax attention's layer is off by %.2g of the step's shift at beta = %g, by "
                    "%.2g at %g; linear attention's by %.2g.",
                    rows[LAYER_ERROR], rows[LAYER_X], last[LAYER_ERROR], last[LAYER_X], linear);
}

void judge_layer_cosines(const double *rows, uint32_t count, lab_finding_t *finding) {
    double low = INFINITY, high = -INFINITY;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * LAYER_COLUMNS;
        if (!regression_layer_within(row)) continue;
        low = fmin(low, row[LAYER_COSINE_MEAN]);
        high = fmax(high, row[LAYER_COSINE_MEAN]);
        tally_add(&tally,
                  judge_at_least(row[LAYER_COSINE_LOW], row[LAYER_COSINE_HIGH], REGRESSION_ALIKE));
    }
    judge_tally(&tally, "means", finding);
    if (low <= high) judge_found(finding, "Mean cosines are %.4f to %.4f.", low, high);
}
