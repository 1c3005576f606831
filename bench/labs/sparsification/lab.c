/*
 * labs/sparsification/lab.c: what the sketch plugin's methods do to symmetric attention, Q = K = X: the error
 * of the attention matrix against the bound 12 r, how often promises fail, and time against nnz(X)
 * (arXiv:2304.04397). README.md has the formulas; the panels are in panels.c.
 *
 * All points of a panel see the same X (trial by trial) and the same seeds of the sketch.
 */
#include "labs/sparsification/lab.h"

#include "attn/support.h"
#include "labs/declare.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>

static const attn_param_info_t params[PARAMS] = {
    [ROWS] = LAB_INTEGER("n", "tokens n", "", 2, 64, 8, "rows of X"),
    [DIM] = LAB_INTEGER("d", "features d", "", 2, 16384, 512, "columns of X; d >> n"),
    [R] = LAB_NUMBER("r", "bound r", "", 1e-4, 1, 0.008,
                     "largest entry of X X^T; the lemmas ask for less than 0.1"),
    [SIZE] = LAB_INTEGER("size", "sketch size m", "features", 1, 16384, 256,
                         "features of Y, where x is not it"),
    [EPS] =
        LAB_NUMBER("eps", "error eps", "", 0.01, 0.999, 0.75, "what the promises are asked for"),
    [DELTA] = LAB_NUMBER("delta", "failure probability delta", "", 1e-6, 0.999, 0.1,
                         "with which a promise may fail"),
    [DECAY] = LAB_NUMBER("decay", "decay of features", "", 0, 4, 0.3,
                         "feature k is scaled by (k + 1)^-decay: uneven leverage scores"),
    [DENSITY] = LAB_NUMBER("density", "density", "", 1e-3, 1, 1, "part of X that is not 0"),
    [BUDGET] = LAB_NUMBER("budget", "time budget", "s", 1e-3, 10, 0.05,
                          "for measuring one method's time at one point"),
    [TRIALS] = LAB_INTEGER("trials", "trials", "", 1, 10000, 10, "sketches a point"),
    [SPIKE] = LAB_NUMBER("spike", "spikes of features", "", 1, 1000, 1,
                         "by which one feature of 97 is larger than the others"),
};

/* ---- a point ---------------------------------------------------------------------------------------- */

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    const lab_panel_t *panel = point->run->panel;
    if (panel->columns == sparsification_error_columns)
        return sparsification_errors(point, row, error);
    if (panel->columns == sparsification_rate_columns)
        return sparsification_rates(point, sparsification_rates_of(panel), row, error);
    if (panel->columns == sparsification_fixed_columns)
        return sparsification_fixed(point, row, error);
    if (panel->columns == sparsification_lemma_columns)
        return sparsification_lemmas(point, row, error);
    if (panel->columns == sparsification_least_columns)
        return sparsification_least(point, row, error);
    if (panel->columns == sparsification_work_columns)
        return sparsification_work(point, row, error);
    if (panel->columns == sparsification_csr_columns) return sparsification_csr(point, row, error);
    return sparsification_times(point, row, error);
}

/* ---- about a run ------------------------------------------------------------------------------------ */

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    const double *values = point->values;
    char width[32];
    if (point->run->panel->columns == sparsification_least_columns &&
        values[DIM] < 8 * values[ROWS])
        return attn_fail(error, ATTN_ERROR_RANGE, "d (%.0f) must be at least 8 n (%.0f)",
                         values[DIM], 8 * values[ROWS]);
    if (values[DIM] < values[ROWS])
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "d (%.0f) must be at least n (%.0f): X X^T would have no full rank",
                         values[DIM], values[ROWS]);
    if (values[DENSITY] * values[DIM] < 2 * values[ROWS])
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "density x d (%s) must be at least 2 n (%.0f): rows of X would be alike",
                         attn_number_digits(values[DENSITY] * values[DIM], 4, width),
                         2 * values[ROWS]);
    if (point->run->panel->columns == sparsification_fixed_columns && values[SIZE] <= values[ROWS])
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "size (%.0f) must be above n (%.0f) for deterministic weights",
                         values[SIZE], values[ROWS]);
    return ATTN_OK;
}

static double cost(const lab_point_t *point) {
    const double *values = point->values;
    if (point->run->panel->columns == sparsification_time_columns ||
        point->run->panel->columns == sparsification_csr_columns)
        return 1;
    if (point->run->panel->columns == sparsification_work_columns)
        return pow(values[ROWS], 3) * values[DIM] / (values[EPS] * values[EPS]);
    return values[TRIALS] * values[DIM] * (values[SIZE] + 100);
}

const lab_t lab_sparsification = {
    .name = "sparsification",
    .title = "Sketches of symmetric attention",
    .reference = "arXiv:2304.04397, Theorems 3.5 and 3.6, Lemmas 3.1 to 3.4 and 5.4",
    .summary =
        "Fewer features, nearly the same attention matrix: where the sketch keeps the spectrum "
        "of X X^T, no weight moves by more than 12 r. Measured through the sketch plugin, for "
        "each of its methods; the least sizes, times of CSR and deterministic weights by the "
        "algorithms on X itself.",
    .params = params,
    .param_count = PARAMS,
    .panels = sparsification_panels,
    .panel_count = SPARSIFICATION_PANELS,
    .check = check,
    .point = compute_point,
    .cost = cost,
    .note = sparsification_note,
    .within = sparsification_within,
    .judge = sparsification_judge,
};
