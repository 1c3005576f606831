/*
 * labs/sparsification.c: what the sketch plugin's methods do to symmetric attention, Q = K = X: the error
 * of the attention matrix against the bound 12 r, how often promises fail, and time against nnz(X)
 * (arXiv:2304.04397). README.md has the formulas.
 *
 * All points of a panel see the same X (trial by trial) and the same seeds of the sketch.
 */
#include "labs/sparsification.h"

#include "attn/support.h"
#include "labs/declare.h"
#include "labs/judge.h"
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
    [EPS] = LAB_NUMBER("eps", "error eps", "", 0.01, 1, 0.75, "what the promises are asked for"),
    [DELTA] = LAB_NUMBER("delta", "failure probability delta", "", 1e-6, 0.999, 0.1,
                         "with which a promise may fail"),
    [DECAY] = LAB_NUMBER("decay", "decay of features", "", 0, 4, 0.3,
                         "feature k is scaled by (k + 1)^-decay: uneven leverage scores"),
    [DENSITY] = LAB_NUMBER("density", "density", "", 1e-3, 1, 1, "part of X that is not 0"),
    [BUDGET] = LAB_NUMBER("budget", "time budget", "s", 1e-3, 10, 0.05,
                          "for measuring one method's time at one point"),
    [TRIALS] = LAB_INTEGER("trials", "trials", "", 1, 10000, 10, "sketches a point"),
};

/* ---- panels --------------------------------------------------------------------------------------- */

/* Columns come in groups with one for each of the SKETCHES methods. */
#define EACH(NAME, LABEL, MARK)                                                                    \
    {"gaussian" NAME, "gaussian" LABEL, MARK, 0}, {"ams" NAME, "ams" LABEL, MARK, 0},              \
        {"osnap" NAME, "osnap" LABEL, MARK, 0}, {                                                  \
        "leverage" NAME, "leverage" LABEL, MARK, 0                                                 \
    }

static const lab_column_t error_columns[ERROR_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    EACH("", "", LAB_LINE),
    {"bound", "12 r, where the distortion is below 1", LAB_BOUND, 0},
    EACH("_eps", ": spectral distortion, largest", LAB_HIDDEN),
    EACH("_within", ": sketches of distortion below 1", LAB_HIDDEN),
    {"violations", "of those, errors above 12 r", LAB_HIDDEN, 0},
};

/* A rate and its band stand side by side: 3 columns a method. */
#define RATE_OF(NAME)                                                                              \
    {NAME, NAME, LAB_LINE, 0}, {NAME "_low", "", LAB_LOW, 0}, { NAME "_high", "", LAB_HIGH, 0 }
static const lab_column_t rate_columns[RATE_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    RATE_OF("gaussian"),
    RATE_OF("ams"),
    RATE_OF("osnap"),
    RATE_OF("leverage"),
    {"delta", "delta", LAB_BOUND, 0},
    EACH("_size", ": sketch size m", LAB_HIDDEN),
    EACH("_asked", ": sketch size that the bound asks for", LAB_HIDDEN),
};

static const lab_column_t time_columns[TIME_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    EACH("", ", measured", LAB_LINE),
    {"nonzero", "elements of X that are not 0", LAB_HIDDEN, 0},
};

static const double sizes[] = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448};
static const double small_sizes[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192};
static const double radii[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.099};
static const double deltas[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
static const double densities[] = {0.02, 0.05, 0.1, 0.2, 0.5, 1};
static const double features[] = {512, 1024, 2048, 4096, 8192, 16384};

static const lab_fixed_t many[] = {{TRIALS, 80}};
static const lab_fixed_t wide[] = {{DIM, 4096}};

#define TWELVE_R                                                                                   \
    "Where a sketch has distortion below 1 and r < 0.1, no entry of the attention matrix "         \
    "moves by more than 12 r (Lemmas 3.1 to 3.4)."
#define BELOW_TWELVE_R                                                                             \
    "Each sketch of distortion below 1 counts for it where its largest error is at "               \
    "most 12 r, and against it where not."
#define NNZ "Sketching takes time linear in nnz(X), but for a term of n alone (Theorem 3.5)."
#define LINEAR_TIME                                                                                \
    "Exponents of time over nnz(X): one counts for it where its interval comes within "            \
    "0.05 of 1, against it where not, and is undecided where the interval is wider than 0.5."

enum { PANEL_SIZE, PANEL_R, PANEL_DELTA, PANEL_RATE, PANEL_NNZ, PANEL_DENSITY };

static const lab_panel_t panels[] = {
    [PANEL_SIZE] = {.id = "size",
                    .title = "Error of the attention matrix over the sketch size",
                    .claim = TWELVE_R,
                    .criterion = BELOW_TWELVE_R,
                    .x_param = SIZE,
                    .grid = LAB_GRID(sizes),
                    .x = {"sketch size m", "features", 1, 0, 0},
                    .y = {"largest |A' - A|", "", 1, 0, 0},
                    LAB_COLUMNS_OF(error_columns)},
    [PANEL_R] = {.id = "r",
                 .title = "Error of the attention matrix over r",
                 .claim = TWELVE_R,
                 .criterion = BELOW_TWELVE_R,
                 .x_param = R,
                 .grid = LAB_GRID(radii),
                 .x = {"r = largest entry of X X^T", "", 1, 0, 0},
                 .y = {"largest |A' - A|", "", 1, 0, 0},
                 .defined_low = 1e-4,
                 .defined_high = 0.1,
                 LAB_COLUMNS_OF(error_columns)},
    [PANEL_DELTA] =
        {.id = "delta",
         .title = "How often promises fail, at the sizes that they ask for",
         .claim = "A method's promise for eps and delta fails in at most a part delta of its "
                  "sketches, at the size that its bound asks for (Lemma 5.4 for leverage).",
         .criterion = "Each rate: its 95% interval being at most delta counts for it, being above "
                      "delta against it, and holding delta neither way.",
         .x_param = DELTA,
         .grid = LAB_GRID(deltas),
         .x = {"delta", "", 1, 0, 0},
         .y = {"part of the sketches that fail", "", 0, 0, 1},
         .fixed = many,
         .fixed_count = LAB_COUNT(many),
         LAB_COLUMNS_OF(rate_columns)},
    [PANEL_RATE] = {.id = "rate",
                    .title = "How often promises would fail, over the sketch size",
                    .claim = "From the size on that its bound asks for, a method keeps its promise "
                             "for eps and delta (Lemma 5.4 for leverage).",
                    .criterion =
                        "Each rate at such a size: its 95% interval being at most delta counts for "
                        "it, being above delta against it, and holding delta neither way.",
                    .x_param = SIZE,
                    .grid = LAB_GRID(small_sizes),
                    .x = {"sketch size m", "features", 1, 0, 0},
                    .y = {"part of the sketches that fail", "", 0, 0, 1},
                    .fixed = many,
                    .fixed_count = LAB_COUNT(many),
                    LAB_COLUMNS_OF(rate_columns)},
    [PANEL_NNZ] = {.id = "nnz",
                   .title = "Time of a run over the features of a dense X, nnz(X) = n d",
                   .claim = NNZ,
                   .criterion = LINEAR_TIME,
                   .flags = LAB_SERIAL,
                   .x_param = DIM,
                   .grid = LAB_GRID(features),
                   .x = {"features d", "", 1, 0, 0},
                   .y = {"processor time", "s", 1, 0, 0},
                   LAB_COLUMNS_OF(time_columns)},
    [PANEL_DENSITY] = {.id = "density",
                       .title = "Time of a run over the density of X, nnz(X) = density n d",
                       .claim = NNZ,
                       .criterion = LINEAR_TIME,
                       .flags = LAB_SERIAL,
                       .x_param = DENSITY,
                       .grid = LAB_GRID(densities),
                       .x = {"density", "", 1, 0, 0},
                       .y = {"processor time", "s", 1, 0, 0},
                       .fixed = wide,
                       .fixed_count = LAB_COUNT(wide),
                       LAB_COLUMNS_OF(time_columns)},
};

/* ---- a point ---------------------------------------------------------------------------------------- */

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    const lab_panel_t *panel = point->run->panel;
    if (panel->columns == error_columns) return sparsification_errors(point, row, error);
    if (panel->columns == rate_columns)
        return sparsification_rates(point, panel == &panels[PANEL_DELTA], row, error);
    return sparsification_times(point, row, error);
}

/* ---- about a run ------------------------------------------------------------------------------------ */

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    const double *values = point->values;
    char width[32];
    if (values[DIM] < values[ROWS])
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "d (%.0f) must be at least n (%.0f): X X^T would have no full rank",
                         values[DIM], values[ROWS]);
    if (values[DENSITY] * values[DIM] < 2 * values[ROWS])
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "density x d (%s) must be at least 2 n (%.0f): rows of X would be alike",
                         attn_number_digits(values[DENSITY] * values[DIM], 4, width),
                         2 * values[ROWS]);
    return ATTN_OK;
}

static double cost(const lab_point_t *point) {
    const double *values = point->values;
    if (point->run->panel->columns == time_columns) return 1;
    return values[TRIALS] * values[DIM] * (values[SIZE] + 100);
}

/* Times over nnz: the exponents. Else: how many violations of 12 r there were. */
static void note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                 size_t size) {
    const uint32_t width = run->panel->column_count;
    if (run->panel->columns == time_columns) {
        sketch_note_exponents(rows, count, width, SECONDS, NONZERO, text, size);
    } else if (run->panel->columns == error_columns) {
        double violations = 0, within = 0;
        for (uint32_t i = 0; i < count; i++) {
            violations += rows[i * width + VIOLATIONS];
            for (int method = 0; method < SKETCHES; method++)
                within += rows[i * width + (uint32_t)(WITHIN + method)];
        }
        attn_format(text, size, "above 12 r: %.0f of %.0f sketches with distortion below 1",
                    violations, within);
    }
}

static void judge_errors(const double *rows, uint32_t count, uint32_t width,
                         lab_finding_t *finding) {
    double within = 0, closest = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + i * width;
        tally.fails += (uint32_t)row[VIOLATIONS];
        for (int method = 0; method < SKETCHES; method++) {
            within += row[WITHIN + method];
            if (row[WITHIN + method] > 0) closest = fmax(closest, row[ERROR + method] / row[BOUND]);
        }
    }
    tally.holds = (uint32_t)within - tally.fails;
    judge_tally(&tally, "sketches", finding);
    judge_found(finding, "The largest error is %.2g of 12 r.", closest);
}

/* Rates at sizes that the bounds ask for: all of the panel that is at them, part of the other. */
static void judge_rates(const lab_run_t *run, const double *rows, uint32_t count,
                        lab_finding_t *finding) {
    const uint32_t width = run->panel->column_count;
    double worst = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + i * width;
        for (uint32_t method = 0; method < SKETCHES; method++) {
            const double *rate = row + RATE + 3 * method;
            if (isnan(rate[0]) || !(row[SIZES + method] >= row[ASKED + method])) continue;
            tally_add(&tally, judge_at_most(rate[1], rate[2], row[DELTA_LINE]));
            worst = fmax(worst, rate[0]);
        }
    }
    judge_tally(&tally, "rates", finding);
    if (tally.holds + tally.open + tally.fails)
        judge_found(finding, "At those sizes the largest part that fails is %.3g.", worst);
}

static void judge(const lab_run_t *run, const double *rows, uint32_t count,
                  lab_finding_t *finding) {
    if (run->panel->columns == error_columns) {
        judge_errors(rows, count, run->panel->column_count, finding);
    } else if (run->panel->columns == rate_columns) {
        judge_rates(run, rows, count, finding);
    } else {
        judged_exponent_t exponents[SKETCHES];
        for (uint32_t method = 0; method < SKETCHES; method++)
            exponents[method] = (judged_exponent_t){sketch_names[method], SECONDS + method, 1};
        judge_exponents(run, rows, count, NONZERO, exponents, SKETCHES, finding);
    }
}

const lab_t lab_sparsification = {
    .name = "sparsification",
    .title = "Sketches of symmetric attention",
    .reference = "arXiv:2304.04397, Theorems 3.5 and 3.6, Lemmas 3.1 to 3.4 and 5.4",
    .summary =
        "Fewer features, nearly the same attention matrix: where the sketch keeps the spectrum "
        "of X X^T, no weight moves by more than 12 r. Measured through the sketch plugin, for "
        "each of its methods.",
    .params = params,
    .param_count = PARAMS,
    .panels = panels,
    .panel_count = LAB_COUNT(panels),
    .check = check,
    .point = compute_point,
    .cost = cost,
    .note = note,
    .judge = judge,
};
