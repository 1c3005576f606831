/*
 * labs/softmax_regression/lab.c: gradient descent on softmax regression, the shift of the target that each
 * step stands for, and the shift by the data update beside it, against the bounds of Theorems 8.1 and
 * 8.2 (arXiv:2304.13276). README.md has the formulas.
 *
 * The data of a trial depend on the seed alone, not on x: all points of a curve see one descent.
 */
#include "labs/lab.h"
#include "algebra/algebra.h"
#include "attn/support.h"
#include "labs/declare.h"
#include "labs/judge.h"
#include "labs/softmax_regression/lab.h"
#include "labs/softmax_regression/lemmas.h"
#include "labs/softmax_regression/shifts.h"
#include "labs/statistics.h"
#include "number/format.h"

#include <math.h>

static const attn_param_info_t params[PARAMS] = {
    [ROWS] = LAB_INTEGER("n", "tokens n", "", 2, 1024, 64, "rows of the data A"),
    [DIM] = LAB_INTEGER("d", "dimension d", "", 1, 64, 8, "columns of A, length of x"),
    [RADIUS] = LAB_NUMBER("radius", "radius R", "", 0.5, 100, 4,
                          "|A| = 0.95 R, and |x| stays within R; the theorems ask for 4 or more"),
    [CAP] = LAB_NUMBER("cap", "largest move", "", 1e-6, 10, 0.01,
                       "|A (x' - x)|_inf of a step stays below; the theorems ask for 0.01"),
    [STEP] = LAB_INTEGER("step", "step t", "", 0, 5000, 0,
                         "the step that is measured, where x is not it"),
    [BETA] = LAB_NUMBER("beta", "inverse temperature", "", 1e-4, 100, 0.1,
                        "queries of the layer with explicit weights are beta times its keys"),
    [TRIALS] = LAB_INTEGER("trials", "trials", "", 1, 1000, 8, "descents, each on data of its own"),
};

/* All panels tell the same numbers and draw some of them. */
enum {
    X,
    LOSS,
    GRADIENT,
    COSINE,
    COSINE_LOW,
    COSINE_HIGH,
    LAYER_COSINE,
    LAYER_LOW,
    LAYER_HIGH,
    WEIGHT,
    DATA,
    LAYER,
    HALF,
    TIGHT,
    BOUND,
    RATE,
    MOVING,
    PREMISES,
    TOLD,
    DEVIATION,
    COLUMNS
};

#define COLUMNS_WITH(X_LABEL, DRAW_LOSS, DRAW_COSINE, DRAW_LOW, DRAW_HIGH, DRAW_RATIO, DRAW_BOUND) \
    {                                                                                              \
        [X] = {"x", X_LABEL, LAB_HIDDEN, 0},                                                       \
        [LOSS] = {"loss", "loss L(x), geometric mean", DRAW_LOSS, 0},                              \
        [GRADIENT] = {"gradient", "gradient |grad L|, geometric mean",                             \
                      (DRAW_LOSS) == LAB_HIDDEN ? LAB_HIDDEN : LAB_FAINT, 0},                      \
        [COSINE] = {"cosine", "weight step and gradient step on A, mean", DRAW_COSINE, 0},         \
        [COSINE_LOW] = {"cosine_low", "95% interval of the mean", DRAW_LOW, 0},                    \
        [COSINE_HIGH] = {"cosine_high", "95% interval of the mean", DRAW_HIGH, 0},                 \
        [LAYER_COSINE] = {"layer_cosine", "weight step and layer of self-attention, mean",         \
                          DRAW_COSINE, 0},                                                         \
        [LAYER_LOW] = {"layer_low", "95% interval of the mean", DRAW_LOW, 0},                      \
        [LAYER_HIGH] = {"layer_high", "95% interval of the mean", DRAW_HIGH, 0},                   \
        [WEIGHT] = {"weight", "weight step: |f(x') - f(x)| / |x' - x|", DRAW_RATIO, 0},            \
        [DATA] = {"data", "gradient step on A: |f(A') - f(A)| / |A' - A|", DRAW_RATIO, 0},         \
        [LAYER] = {"layer", "layer of self-attention: |f(A') - f(A)| / |A' - A|", DRAW_RATIO, 0},  \
        [HALF] = {"half", "R/2: softmax is 1/2-Lipschitz in its logits", DRAW_BOUND, 0},           \
        [TIGHT] = {"tight", "4 n^1.5 R exp(4 R^2)", DRAW_BOUND, 0},                                \
        [BOUND] = {"bound", "M = n^1.5 exp(10 R^2)", DRAW_BOUND, 0},                               \
        [RATE] = {"rate", "log10 of the step size, mean", LAB_HIDDEN, 0},                          \
        [MOVING] = {"moving", "descents that still move", LAB_HIDDEN, 0},                          \
        [PREMISES] = {"premises", "of them, within the theorems' premises", LAB_HIDDEN, 0},        \
        [TOLD] = {"told", "of them, shifts of 100 times float's rounding, which are told",         \
                  LAB_HIDDEN, 0},                                                                  \
        [DEVIATION] = {"deviation", "max |f of the plugin - f in double|", LAB_HIDDEN, 0},         \
    }

static const lab_column_t loss_columns[COLUMNS] =
    COLUMNS_WITH("step t", LAB_LINE, LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN);
static const lab_column_t cosine_columns[COLUMNS] =
    COLUMNS_WITH("step t", LAB_HIDDEN, LAB_LINE, LAB_LOW, LAB_HIGH, LAB_HIDDEN, LAB_HIDDEN);
static const lab_column_t shift_columns[COLUMNS] =
    COLUMNS_WITH("step t", LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN, LAB_LINE, LAB_BOUND);
static const lab_column_t radius_columns[COLUMNS] =
    COLUMNS_WITH("radius R", LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN, LAB_HIDDEN, LAB_LINE, LAB_BOUND);

/* Of the lemmas: parts of x's step, then of A's, in the order of enum regression_lemma. */
enum { PART = 1, STEPS = PART + 2 * LEMMAS, VIOLATIONS, LEMMA_COLUMNS };
static const lab_column_t lemma_columns[LEMMA_COLUMNS] = {
    [X] = {"x", "radius R", LAB_HIDDEN, 0},
    [PART] = {"lemma_5_6", "5.6: exp(Ax)", LAB_LINE, 0},
    {"lemma_5_7", "5.7: alpha", LAB_LINE, 0},
    {"lemma_5_8", "5.8: 1 / alpha", LAB_LINE, 0},
    {"lemma_5_5_1", "5.5, part 1", LAB_LINE, 0},
    {"lemma_5_5_2", "5.5, part 2", LAB_LINE, 0},
    {"lemma_5_5_3", "5.5, part 3: f", LAB_LINE, 0},
    {"lemma_7_6", "7.6", LAB_HIDDEN, 0},
    {"lemma_7_7", "7.7", LAB_HIDDEN, 0},
    {"lemma_7_8", "7.8", LAB_HIDDEN, 0},
    {"lemma_7_5_1", "7.5, part 1", LAB_HIDDEN, 0},
    {"lemma_7_5_2", "7.5, part 2", LAB_HIDDEN, 0},
    {"lemma_7_5_3", "7.5, part 3", LAB_HIDDEN, 0},
    [STEPS] = {"steps", "steps that were measured", LAB_HIDDEN, 0},
    [VIOLATIONS] = {"violations", "parts above 1", LAB_HIDDEN, 0},
};

#define BOUNDED                                                                                    \
    "A step of x, and an update of A, shift the target by at most M times their length "           \
    "(Theorems 8.1 and 8.2)."
#define DESCENTS                                                                                   \
    "On descents of random data with |A| and |x| within R >= 4, b = f(x*) and steps of "           \
    "|A (x' - x)|_inf < 0.01, as the theorems ask."
#define BELOW_TIGHT                                                                                \
    "Each largest ratio of the trials counts for it where it is at most the proofs' own "          \
    "bound, which is below M, and against it where it is above M; points outside of the premises " \
    "do "                                                                                          \
    "not count."

static const double radii[] = {4, 5, 6, 7, 8, 9, 10, 11, 12};

static const double betas[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};

/* Of panels without a layer of explicit weights. */
enum { NO_LAYER = 1 << BETA };

static const lab_fixed_t lemma_fixed[] = {{STEP, 100}};

static const lab_panel_t panels[] = {
    {.id = "loss",
     .plain = "Descending lowers the loss.",
     .title = "Softmax regression by gradient descent",
     .claim =
         "A step against the gradient lowers the loss (section 5.1, with the sign that descends).",
     .states = "Section 5.1; Lemma 4.5",
     .where = DESCENTS,
     .criterion = "Each mean loss from one point to the next: falling, or arrived at float's "
                  "rounding, counts for it, rising against it.",
     .x_param = STEP,
     .grid = {.count = 41, .step = 10},
     .x = {"step t", "", 0, 0, 0},
     .y = {"loss and gradient", "", 1, 0, 0},
     .idle = NO_LAYER,
     LAB_COLUMNS_OF(loss_columns)},
    {.id = "shift",
     .plain = "A small step moves the answer only a little.",
     .title = "Shift of the target for a step of length 1, against both bounds",
     .claim = BOUNDED,
     .states = "Theorem 8.1; Theorem 8.2; Theorem 1.4",
     .where = DESCENTS,
     .criterion = BELOW_TIGHT,
     .x_param = STEP,
     .grid = {.count = 41, .step = 10},
     .x = {"step t", "", 0, 0, 0},
     .y = {"log10 (shift / step)", "", 0, 0, 0},
     .idle = NO_LAYER,
     LAB_COLUMNS_OF(shift_columns)},
    {.id = "cosine",
     .plain = "Whether a layer of attention does what a training step does, with weights that "
              "nobody chose.",
     .title = "Do the weight step and an update of the data shift the target alike?",
     .claim = "A layer of self-attention and a step of gradient descent change the model with "
              "great similarity (abstract, section 1.1). No bound of the paper says how great: two "
              "probability vectors differ by at most sqrt 2, and M binds steps below 1e-72 alone.",
     .states = "Section 1.1",
     .where = "On descents of random data, with a layer whose weights are identities, as the paper "
              "gives none.",
     .criterion = "None: the paper has no number for it, and we set no bar.",
     .flags = LAB_ILLUSTRATION,
     .x_param = STEP,
     .grid = {.count = 41, .step = 10},
     .x = {"step t", "", 0, 0, 0},
     .y = {"cosine", "", 0, -1, 1},
     .idle = NO_LAYER,
     LAB_COLUMNS_OF(cosine_columns)},
    {.id = "radius",
     .plain = "A small step moves the answer only a little.",
     .title = "Shift of the target for a step of length 1, over R",
     .claim = BOUNDED,
     .states = "Theorem 8.1; Theorem 8.2; Theorem 1.4",
     .where = DESCENTS,
     .criterion = BELOW_TIGHT,
     .x_param = RADIUS,
     .grid = LAB_GRID(radii),
     .x = {"radius R", "", 0, 0, 0},
     .y = {"log10 (shift / step)", "", 0, 0, 0},
     .defined_low = 4,
     .defined_high = 100,
     .idle = NO_LAYER,
     LAB_COLUMNS_OF(radius_columns)},
    {.id = "lemmas",
     .plain = "Each link of the proof holds along real descents.",
     .title = "Largest part of what each Lipschitz lemma allows, over R",
     .claim = "Each lemma on the way to the bounds (5.5 to 5.8 for a step of x, 7.5 to 7.8 for one "
              "of A) holds for every step of gradient descent.",
     .states = "Lemma 5.5; Lemma 5.6; Lemma 5.7; Lemma 5.8; Lemma 7.5; Lemma 7.6; Lemma 7.7; "
               "Lemma 7.8",
     .where = DESCENTS,
     .criterion = "Each lemma and radius: the largest part of the allowed, over the first steps of "
                  "all trials, counts for it up to 1 and against it above.",
     .x_param = RADIUS,
     .grid = LAB_GRID(radii),
     .x = {"radius R", "", 0, 0, 0},
     .y = {"log10 (measured / allowed)", "", 0, 0, 0},
     .fixed = lemma_fixed,
     .fixed_count = LAB_COUNT(lemma_fixed),
     .defined_low = 4,
     .defined_high = 100,
     .idle = NO_LAYER,
     LAB_COLUMNS_OF(lemma_columns)},
    {.id = "layer",
     .plain = "With the right weights, a layer of attention can do a training step.",
     .title = "One layer of self-attention with explicit weights beside the gradient step",
     .claim = "A layer of softmax self-attention has weights with which it shifts the target "
              "as a step of gradient descent does (abstract, section 1.1; the weights are "
              "ours, after those of section 2.1 for linear attention), up to an error that "
              "vanishes with beta.",
     .states = "Section 1.1",
     .where = "At the first step of descents of random data, over the inverse temperature beta.",
     .flags = LAB_OWN,
     .criterion = "Each beta and both layers: the largest part of its bound that an error is "
                  "counts for it up to 1 and against it above.",
     .x_param = BETA,
     .grid = LAB_GRID(betas),
     .x = {"inverse temperature beta", "", 1, 0, 0},
     .y = {"error over the length of the shift", "", 1, 0, 0},
     LAB_COLUMNS_OF(regression_layer_columns)},
    {.id = "layer-cosine",
     .plain =
         "With the right weights, a layer of attention moves the answer as a training step does.",
     .title = "Does a layer with explicit weights shift the target as the gradient step does?",
     .claim =
         "A layer with explicit weights, which are ours, and a step of gradient descent change "
         "the model with great similarity (abstract, section 1.1), for which we take shifts of "
         "the target whose cosine is 0.9 or more.",
     .states = "Section 1.1",
     .where = "At the steps of descents of random data, beta = 0.1.",
     .flags = LAB_OWN,
     .criterion = "Each mean cosine: its 95% interval being at 0.9 or above counts for it, "
                  "being below against it, and holding 0.9 neither way.",
     .x_param = STEP,
     .grid = {.count = 41, .step = 10},
     .x = {"step t", "", 0, 0, 0},
     .y = {"cosine", "", 0, -1, 1},
     LAB_COLUMNS_OF(regression_layer_cosine_columns)},
};

/* ---- a point ------------------------------------------------------------------------------------ */

static void begin_row(const lab_point_t *point, double *row) {
    const int64_t rows = (int64_t)point->values[ROWS];
    for (int c = X + 1; c < COLUMNS; c++) row[c] = 0;
    row[WEIGHT] = row[DATA] = row[LAYER] = -INFINITY;
    row[HALF] = log10(point->values[RADIUS] / 2);
    row[TIGHT] = regression_log_tight_bound(rows, point->values[RADIUS]);
    row[BOUND] = regression_log_bound(rows, point->values[RADIUS]);
}

/* Of the cosines of a point, by COSINE and LAYER_COSINE. */
typedef struct cosines {
    statistics_sum_t gradient, layer;
} cosines_t;

static void add_shifts(const regression_t *regression, const shifts_t *shifts, double *row,
                       cosines_t *cosines) {
    row[MOVING]++;
    row[RATE] += log10(regression->rate);
    row[PREMISES] += shifts_premises(regression, shifts);
    row[DEVIATION] = fmax(row[DEVIATION], shifts->deviation);
    if (!shifts->told) return; /* float's rounding would tell, not the step */
    row[TOLD]++;
    row[WEIGHT] = fmax(row[WEIGHT], log10(shifts->weight / shifts->weight_step));
    row[DATA] = fmax(row[DATA], log10(shifts->gradient.shift / shifts->gradient.step));
    row[LAYER] = fmax(row[LAYER], log10(shifts->layer.shift / shifts->layer.step));
    statistics_add(&cosines->gradient, shifts->gradient.cosine);
    statistics_add(&cosines->layer, shifts->layer.cosine);
}

static void put_mean(const statistics_sum_t *sum, double *columns) {
    const statistics_mean_t mean = statistics_mean(sum);
    columns[0] = mean.mean;
    columns[1] = mean.low;
    columns[2] = mean.high;
}

static void end_row(const lab_point_t *point, const cosines_t *cosines, double *row) {
    row[LOSS] = pow(10, row[LOSS] / point->values[TRIALS]);
    row[GRADIENT] = pow(10, row[GRADIENT] / point->values[TRIALS]);
    row[RATE] = row[MOVING] > 0 ? row[RATE] / row[MOVING] : NAN;
    put_mean(&cosines->gradient, row + COSINE);
    put_mean(&cosines->layer, row + LAYER_COSINE);
    if (row[TOLD] == 0) row[WEIGHT] = row[DATA] = row[LAYER] = NAN;
}

/* Descend to the step and measure it. */
static attn_status_t descend(shifts_probe_t *probe, regression_t *regression, int64_t step,
                             double *row, cosines_t *cosines, attn_error_t *error) {
    const double least = regression_arrival(regression);
    const int moving = regression_descend(regression, step);
    row[LOSS] += log10(fmax(regression_loss(regression, regression->f), least));
    row[GRADIENT] += log10(fmax(algebra_norm(regression->gradient, regression->dim), least));
    if (!moving) return ATTN_OK;
    shifts_t shifts;
    const attn_status_t status = shifts_measure(probe, regression, &shifts, error);
    if (!status) add_shifts(regression, &shifts, row, cosines);
    return status;
}

static attn_status_t no_memory(const lab_point_t *point, attn_error_t *error) {
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %.0f x %.0f data",
                     point->values[ROWS], point->values[DIM]);
}

static attn_status_t compute(const lab_point_t *point, shifts_probe_t *probe, double *row,
                             attn_error_t *error) {
    const double *values = point->values;
    const int64_t rows = (int64_t)values[ROWS], dim = (int64_t)values[DIM];
    attn_status_t status = ATTN_OK;
    cosines_t cosines = {{0}, {0}};
    begin_row(point, row);
    for (uint64_t trial = 0; trial < (uint64_t)values[TRIALS] && !status; trial++) {
        regression_t regression;
        if (!regression_create(rows, dim, values[RADIUS], values[CAP], point->run->seed, trial,
                               &regression))
            return no_memory(point, error);
        status = descend(probe, &regression, (int64_t)values[STEP], row, &cosines, error);
        regression_destroy(&regression);
    }
    end_row(point, &cosines, row);
    return status;
}

/* All steps of a descent up to number STEP. 0 when there is no memory. */
static int add_lemmas(const lab_point_t *point, uint64_t trial, double *row) {
    regression_t regression;
    const double *values = point->values;
    if (!regression_create((int64_t)values[ROWS], (int64_t)values[DIM], values[RADIUS], values[CAP],
                           point->run->seed, trial, &regression))
        return 0;
    int there = 1;
    for (int64_t step = 0; step <= (int64_t)values[STEP] && there; step++) {
        double parts[2][LEMMAS];
        if (!regression_descend(&regression, 0)) break;
        there = regression_step_lemmas(&regression, parts);
        for (int p = 0; p < 2 * LEMMAS && there; p++) {
            const double part = parts[p / LEMMAS][p % LEMMAS];
            row[PART + p] = fmax(row[PART + p], part);
            row[VIOLATIONS] += part > 0;
        }
        row[STEPS]++;
        regression_advance(&regression);
    }
    regression_destroy(&regression);
    return there;
}

static attn_status_t compute_lemmas(const lab_point_t *point, double *row, attn_error_t *error) {
    for (int p = 0; p < 2 * LEMMAS; p++) row[PART + p] = -INFINITY;
    row[STEPS] = row[VIOLATIONS] = 0;
    for (uint64_t trial = 0; trial < (uint64_t)point->values[TRIALS]; trial++)
        if (!add_lemmas(point, trial, row)) return no_memory(point, error);
    return ATTN_OK;
}

/* With explicit weights. */
static int has_layer(const lab_panel_t *panel) { return !(panel->idle & NO_LAYER); }

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    shifts_probe_t probe;
    if (point->run->panel->columns == lemma_columns) return compute_lemmas(point, row, error);
    if (has_layer(point->run->panel)) return regression_layer_point(point, row, error);
    attn_status_t status = shifts_create(point->run->context, (int64_t)point->values[ROWS],
                                         (int64_t)point->values[DIM], &probe, error);
    if (status) return status;
    status = compute(point, &probe, row, error);
    shifts_destroy(&probe);
    return status;
}

static double cost(const lab_point_t *point) {
    const double *values = point->values;
    return (values[STEP] + 10) * values[ROWS] * values[DIM] * values[TRIALS];
}

/* ---- about a run ---------------------------------------------------------------------------------- */

/* Steps that are there, and all of them as the theorems ask; no theorem is about the loss. */
static int within(const lab_run_t *run, const double *row) {
    if (run->panel->columns == lemma_columns) return row[STEPS] > 0;
    if (has_layer(run->panel)) return regression_layer_within(row);
    return run->panel->columns == loss_columns || (row[TOLD] > 0 && row[PREMISES] == row[MOVING]);
}

static void judge_loss(const double *rows, uint32_t count, lab_finding_t *finding) {
    tally_t tally = {0};
    for (uint32_t i = 1; i < count; i++) {
        const double *row = rows + (size_t)i * COLUMNS, *before = row - COLUMNS;
        const int falls = row[LOSS] < before[LOSS] || (before[MOVING] == 0 && row[MOVING] == 0);
        tally_add(&tally, falls ? LAB_HOLDS : LAB_FAILS);
    }
    judge_tally(&tally, "steps from point to point", finding);
    judge_found(finding, "From step %.6g to %.6g the loss falls from %.3g to %.3g.", rows[X],
                rows[(count - 1) * COLUMNS + X], rows[LOSS], rows[(count - 1) * COLUMNS + LOSS]);
}

static void judge_ratio(double ratio, const double *row, tally_t *tally) {
    if (!isfinite(ratio)) return;
    tally_add(tally, ratio <= row[TIGHT] ? LAB_HOLDS : ratio > row[BOUND] ? LAB_FAILS : 0);
}

static void judge_shifts(const lab_run_t *run, const double *rows, uint32_t count,
                         lab_finding_t *finding) {
    double nearest = INFINITY, largest = -INFINITY, half = INFINITY;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * COLUMNS;
        if (!lab_run_within(run, row)) continue;
        double ratio = -INFINITY;
        for (int c = WEIGHT; c <= LAYER; c++) {
            judge_ratio(row[c], row, &tally);
            ratio = fmax(ratio, row[c]);
        }
        nearest = fmin(nearest, row[TIGHT] - ratio);
        half = fmin(half, row[HALF] - ratio);
        largest = fmax(largest, ratio);
    }
    judge_tally(&tally, "ratios", finding);
    if (isfinite(nearest))
        judge_found(
            finding,
            "The largest ratio is %.3g; the proofs' bound is 10^%.3g times the nearest one, "
            "R/2 as little as %.3g times.",
            pow(10, largest), nearest, pow(10, half));
}

/* The whole count of violations, and which lemma is nearest to its bound. */
static void judge_lemmas(const double *rows, uint32_t count, lab_finding_t *finding) {
    double violations = 0, steps = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * LEMMA_COLUMNS;
        violations += row[VIOLATIONS], steps += row[STEPS];
        for (int p = 0; p < 2 * LEMMAS; p++)
            if (isfinite(row[PART + p]))
                tally_add(&tally, judge_at_most(row[PART + p], row[PART + p], 0));
    }
    judge_tally(&tally, "lemmas and radii", finding);
    judge_found(finding,
                "%.0f violations in %.0f steps of x and as many of A; at R = %g the parts are",
                violations, steps, rows[X]);
    for (int l = 0; l < LEMMAS; l++)
        judge_found(finding, "%s 10^%.2g", l ? "," : "", rows[PART + l]);
    judge_found(finding, " in the order of the columns.");
}

static void judge_cosine(const double *rows, uint32_t count, lab_finding_t *finding) {
    static const char *const names[] = {"the gradient step on A", "the layer of self-attention"};
    static const int columns[] = {COSINE, LAYER_COSINE};
    for (int which = 0; which < 2; which++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < count; i++) {
            const double *mean = rows + (size_t)i * COLUMNS + columns[which];
            if (isnan(mean[0])) continue;
            low = fmin(low, mean[0]);
            high = fmax(high, mean[0]);
        }
        if (low <= high)
            judge_found(finding, "%s %.2g to %.2g for %s", which ? "," : "Mean cosines are", low,
                        high, names[which]);
    }
    if (*finding->found) judge_found(finding, ".");
    judge_sure(finding, "the paper has no number for it");
}

/* How many descents the numbers are about: those that have arrived have no step any more. */
static void note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                 size_t size) {
    if (run->panel->columns == lemma_columns || has_layer(run->panel)) return;
    double moving = INFINITY, told = INFINITY, premises = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * COLUMNS;
        moving = fmin(moving, row[MOVING]);
        told = fmin(told, row[TOLD]);
        premises += row[PREMISES];
        all += row[MOVING];
    }
    attn_format(
        text, size,
        "of %.0f descents %.0f or more still move at each point, and %.0f or more have shifts "
        "above float's rounding, which ratios and cosines are of; %.0f of %.0f steps are within "
        "the theorems' premises",
        run->values[TRIALS], moving, told, premises, all);
}

static void judge(const lab_run_t *run, const double *rows, uint32_t count,
                  lab_finding_t *finding) {
    if (run->panel->columns == lemma_columns)
        judge_lemmas(rows, count, finding);
    else if (run->panel->columns == regression_layer_columns)
        judge_layer_bounds(rows, count, finding);
    else if (run->panel->columns == regression_layer_cosine_columns)
        judge_layer_cosines(rows, count, finding);
    else if (run->panel->columns == loss_columns)
        judge_loss(rows, count, finding);
    else if (run->panel->columns == cosine_columns)
        judge_cosine(rows, count, finding);
    else
        judge_shifts(run, rows, count, finding);
}

const lab_t lab_softmax_regression = {
    .name = "softmax-regression",
    .title = "Softmax regression and in-context learning",
    .reference = "arXiv:2304.13276, Theorems 8.1 and 8.2",
    .summary =
        "A step of gradient descent on x and an update of the data A both shift the target b by a "
        "bounded amount. Two updates of A are measured: a gradient step on A, and one layer of "
        "self-attention, in which each token attends to all. Shifts per length of step, in "
        "logarithms as the bounds overflow, and the angle between them; and a layer of attention "
        "with weights that do the step itself.",
    .params = params,
    .param_count = PARAMS,
    .panels = panels,
    .panel_count = LAB_COUNT(panels),
    .point = compute_point,
    .cost = cost,
    .note = note,
    .within = within,
    .judge = judge,
};
