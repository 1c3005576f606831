/*
 * labs/complexity/lab.c: what softmax, sparse (B ~ sqrt L) and linear attention take at length L, and the
 * exponents of its growth beside those of Table 1 ("Do Efficient Transformers Really Save
 * Computation?"): with a constant dimension, and with one that grows as sqrt L, as general problems ask
 * of sparse and linear attention (Theorem 4.4). Sketched attention, which Table 1 does not have, is drawn
 * beside them and not judged: it leaves out features and no pairs, so that it takes a part of softmax's L^2.
 */
#include "labs/lab.h"
#include "attn/support.h"
#include "labs/complexity/scaling.h"
#include "labs/declare.h"
#include "labs/judge.h"
#include "labs/statistics.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>

enum { DIM, GROWTH, BUDGET, PARAMS };

static const attn_param_info_t params[PARAMS] = {
    [DIM] = LAB_INTEGER("d", "dimension d", "", 1, 1024, 64, "of queries, keys and values"),
    [GROWTH] = LAB_NUMBER("growth", "growth of d", "", 0.25, 16, 4,
                          "where d grows: d = growth sqrt L, for sparse and linear attention"),
    [BUDGET] = LAB_NUMBER("budget", "time budget", "s", 1e-3, 60, 0.25,
                          "for measuring one kind of attention at one length"),
};

/* ---- panels --------------------------------------------------------------------------------------- */

enum { X, TIME = 1, TIME_COLUMNS = TIME + 3 * SCALING_BACKENDS };
static const lab_column_t time_columns[TIME_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    {"softmax", "softmax, measured", LAB_LINE, 0},
    {"softmax_low", "", LAB_LOW, 0},
    {"softmax_high", "", LAB_HIGH, 0},
    {"sparse", "sparse, measured", LAB_LINE, 0},
    {"sparse_low", "", LAB_LOW, 0},
    {"sparse_high", "", LAB_HIGH, 0},
    {"linear", "linear, measured", LAB_LINE, 0},
    {"linear_low", "", LAB_LOW, 0},
    {"linear_high", "", LAB_HIGH, 0},
    {"sketch", "sketch, measured", LAB_LINE, 0},
    {"sketch_low", "", LAB_LOW, 0},
    {"sketch_high", "", LAB_HIGH, 0},
};

enum { AMOUNT = 1, ARRAYS = AMOUNT + SCALING_BACKENDS, AMOUNT_COLUMNS };
static const lab_column_t memory_columns[AMOUNT_COLUMNS] = {
    {"x", "", LAB_HIDDEN, 0},
    {"softmax", "softmax: plan and workspace", LAB_LINE, 0},
    {"sparse", "sparse: plan and workspace", LAB_LINE, 0},
    {"linear", "linear: plan and workspace", LAB_LINE, 0},
    {"sketch", "sketch: plan and workspace", LAB_LINE, 0},
    {"arrays", "query, key, value and out", LAB_FAINT, 0},
};
static const lab_column_t work_columns[] = {
    {"x", "", LAB_HIDDEN, 0},          {"softmax", "softmax", LAB_LINE, 0},
    {"sparse", "sparse", LAB_LINE, 0}, {"linear", "linear", LAB_LINE, 0},
    {"sketch", "sketch", LAB_LINE, 0},
};

static const double lengths[] = {512, 1024, 2048, 4096, 8192, 16384};

/* Times of shorter sequences have costs of their own in them. */
enum { LONG = 2048 };

enum { NO_BUDGET = 1 << BUDGET, NO_GROWTH = 1 << GROWTH };

/* Table 1's locality column, for an m that does not grow: (sparse: m = O(sqrt L); linear: Omega(m L)). */
#define LOCALITY                                                                                   \
    "L^2 for softmax, L^1.5 for sparse and L for linear attention (Table 1, "                      \
    "locality column at constant m: there a constant dimension is enough)."
#define GENERAL                                                                                    \
    "with the d ~ sqrt L that general problems ask of sparse and linear attention "                \
    "(Theorem 4.4), all three take L^2 (Table 1, general column)."
#define TIME_EXPONENTS                                                                             \
    "Exponents over L of 2048 or more: one counts for it where its interval comes within 0.05 of " \
    "the claimed one, against it where not, and is undecided where the interval is wider than "    \
    "0.5."
#define AT_LENGTHS                                                                                 \
    "At L = 512 to 16384, one head, causal; counted, so that nothing else is in the numbers."
#define ON_A_MACHINE                                                                               \
    "At L = 512 to 16384, one head, causal, one thread of the machine that is named."
#define EXPONENTS                                                                                  \
    "Exponents over L: one counts for it where its interval comes within 0.05 of the "             \
    "claimed one, against it where not, and is undecided where the interval is wider than 0.5."

enum { PANEL_TIME, PANEL_MEMORY, PANEL_WORK, PANEL_GROWN_TIME, PANEL_GROWN_WORK };

static const lab_panel_t panels[] = {
    [PANEL_TIME] = {.id = "time",
                    .plain = "Measured times grow as the operations do.",
                    .idle = NO_GROWTH,
                    .title = "Time of causal attention, one head, one thread",
                    .claim = "Measured times grow as the operations that Table 1 counts, " LOCALITY,
                    .states = "Table 1",
                    .where = ON_A_MACHINE,
                    .criterion = TIME_EXPONENTS,
                    .flags = LAB_SERIAL | LAB_OWN,
                    .x_param = LAB_NO_PARAM,
                    .grid = LAB_GRID(lengths),
                    .x = {"length L", "tokens", 1, 0, 0},
                    .y = {"processor time", "s", 1, 0, 0},
                    LAB_COLUMNS_OF(time_columns)},
    [PANEL_MEMORY] =
        {.id = "memory",
         .plain = "No kind of attention keeps a square table.",
         .idle = NO_GROWTH | NO_BUDGET,
         .title = "Memory beside the arrays",
         .claim = "No kind of attention needs memory of L^2: beside the arrays it grows as L for "
                  "softmax and sparse attention at most, and not at all for linear attention.",
         .states = "Table 1",
         .where = "At L = 512 to 16384, one head, causal; bytes of plan and workspace, counted.",
         .flags = LAB_OWN,
         .criterion =
             "Exponents over L: one counts for it where its whole interval is at most 1 (softmax, "
             "sparse) or 0 (linear), each and 0.05, against it where the whole interval is above.",
         .x_param = LAB_NO_PARAM,
         .grid = LAB_GRID(lengths),
         .x = {"length L", "tokens", 1, 0, 0},
         .y = {"memory", "bytes", 1, 0, 0},
         LAB_COLUMNS_OF(memory_columns)},
    [PANEL_WORK] = {.id = "work",
                    .plain = "Softmax's work grows with the square of the length, sparse and "
                             "linear attention's more slowly.",
                    .idle = NO_GROWTH | NO_BUDGET,
                    .title = "Additions and multiplications, counted",
                    .claim = "Counted work grows as " LOCALITY,
                    .states = "Table 1",
                    .where = AT_LENGTHS,
                    .criterion = EXPONENTS,
                    .x_param = LAB_NO_PARAM,
                    .grid = LAB_GRID(lengths),
                    .x = {"length L", "tokens", 1, 0, 0},
                    .y = {"work", "flop", 1, 0, 0},
                    LAB_COLUMNS_OF(work_columns)},
    [PANEL_GROWN_TIME] =
        {.id = "grown-time",
         .plain = "What sparse and linear attention save in length they pay in width, in time too.",
         .title = "Time where sparse and linear attention have d ~ sqrt L",
         .claim = "In measured time, too, " GENERAL,
         .states = "Table 1",
         .where = ON_A_MACHINE,
         .criterion = TIME_EXPONENTS,
         .flags = LAB_SERIAL | LAB_OWN,
         .x_param = LAB_NO_PARAM,
         .grid = LAB_GRID(lengths),
         .x = {"length L", "tokens", 1, 0, 0},
         .y = {"processor time", "s", 1, 0, 0},
         LAB_COLUMNS_OF(time_columns)},
    [PANEL_GROWN_WORK] = {.id = "grown-work",
                          .plain =
                              "What sparse and linear attention save in length they pay in width.",
                          .idle = NO_BUDGET,
                          .title =
                              "Additions and multiplications where sparse and linear attention "
                              "have d ~ sqrt L",
                          .claim = "In counted work, " GENERAL,
                          .states = "Table 1; Theorem 4.4",
                          .where = AT_LENGTHS,
                          .criterion = EXPONENTS,
                          .x_param = LAB_NO_PARAM,
                          .grid = LAB_GRID(lengths),
                          .x = {"length L", "tokens", 1, 0, 0},
                          .y = {"work", "flop", 1, 0, 0},
                          LAB_COLUMNS_OF(work_columns)},
};

/* ---- a point ---------------------------------------------------------------------------------------- */

static int grows(const lab_panel_t *panel) {
    return panel == &panels[PANEL_GROWN_TIME] || panel == &panels[PANEL_GROWN_WORK];
}

static int64_t dimension(const lab_point_t *point, enum scaling_kind kind) {
    const int may_grow = kind == SCALING_SPARSE || kind == SCALING_LINEAR;
    if (!may_grow || !grows(point->run->panel)) return (int64_t)point->values[DIM];
    return (int64_t)fmax(1, round(point->values[GROWTH] * sqrt(point->x)));
}

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    const lab_column_t *columns = point->run->panel->columns;
    for (uint32_t k = 0; k < SCALING_BACKENDS; k++) {
        const scaling_request_t request = {
            .context = point->run->context,
            .kind = (enum scaling_kind)k,
            .length = (int64_t)point->x,
            .dim = dimension(point, (enum scaling_kind)k),
            .budget = columns == time_columns ? point->values[BUDGET] : 0,
            .seed = point->run->seed,
        };
        scaling_t result;
        const attn_status_t status = scaling_measure(&request, &result, error);
        if (status) return status;
        if (columns == time_columns) {
            row[TIME + 3 * k] = result.seconds;
            row[TIME + 3 * k + 1] = result.low;
            row[TIME + 3 * k + 2] = result.high;
        } else if (columns == memory_columns) {
            row[AMOUNT + k] = result.working;
            row[ARRAYS] = result.arrays;
        } else {
            row[AMOUNT + k] = result.flops;
        }
    }
    return ATTN_OK;
}

/* ---- about a run ------------------------------------------------------------------------------------ */

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    static const double longest = 1 << 20;
    char x[32];
    if (point->x >= 2 && point->x <= longest && point->x == floor(point->x)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE, "L must be a whole number from 2 to %.0f, not %s",
                     longest, attn_number_text(point->x, x));
}

static double cost(const lab_point_t *point) {
    if (point->run->panel->columns != time_columns) return point->x;
    /* The budget, or the few runs that are the least. */
    return SCALING_BACKENDS * point->values[BUDGET] +
           9e-11 * point->x * point->x * point->values[DIM];
}

/* Exponents of the paper for one layer's attention: Table 1, with d constant or ~ sqrt L. */
static double table_1(const lab_run_t *run, uint32_t kind) {
    static const double constant[] = {2, 1.5, 1}, grown[] = {2, 2, 2};
    return grows(run->panel) ? grown[kind] : constant[kind];
}

static uint32_t column_of(const lab_run_t *run, uint32_t kind) {
    return TIME + (run->panel->columns == time_columns ? 3 : 1) * kind;
}

/* Which column of Table 1 the numbers behind the exponents are of. */
static const char *opening(const lab_run_t *run) {
    if (run->panel->columns == memory_columns) return "~ L^p, p: ";
    return grows(run->panel) ? "~ L^p (Table 1: its general column), p: "
                             : "~ L^p (Table 1: its locality column, at constant m), p: ";
}

/* The rows that exponents are of: all, or of times those of long sequences. */
static const double *judged_rows(const lab_run_t *run, const double *rows, uint32_t *count) {
    if (run->panel->columns != time_columns) return rows;
    while (*count && rows[X] < LONG) rows += TIME_COLUMNS, --*count;
    return rows;
}

/* "~ L^p, p: softmax 1.98 (1.95 to 2.00; Table 1: 2), ..., sketch 1.97 (1.95 to 2.00)" */
static void note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                 size_t size) {
    const uint32_t width = run->panel->column_count;
    size_t used = 0;
    rows = judged_rows(run, rows, &count);
    for (uint32_t k = 0; k < SCALING_BACKENDS && used < size; k++) {
        const exponent_t exponent =
            statistics_exponent_of_columns(rows, count, width, X, column_of(run, k));
        int wrote = attn_format(text + used, size - used, "%s%s %.2f (%.2f to %.2f",
                                k ? ", " : opening(run), scaling_backend((enum scaling_kind)k),
                                exponent.value, exponent.low, exponent.high);
        used += wrote > 0 ? (size_t)wrote : 0;
        if (used >= size) continue;
        const int is_claimed = run->panel->columns != memory_columns && k < SCALING_KINDS;
        wrote = is_claimed
                    ? attn_format(text + used, size - used, "; Table 1: %g)", table_1(run, k))
                    : attn_format(text + used, size - used, ")");
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

static void judge_memory(const lab_run_t *run, const double *rows, uint32_t count,
                         lab_finding_t *finding) {
    static const double most[] = {1, 1, 0};
    tally_t tally = {0};
    for (uint32_t k = 0; k < SCALING_KINDS; k++) {
        const exponent_t exponent =
            statistics_exponent_of_columns(rows, count, run->panel->column_count, X, AMOUNT + k);
        tally_add(&tally,
                  judge_at_most(exponent.low, exponent.high, most[k] + JUDGE_EXPONENT_SLACK));
        judge_found(finding, "%s of %s is %.2f (%.2f to %.2f)", k ? "," : "The exponent",
                    scaling_backend((enum scaling_kind)k), exponent.value, exponent.low,
                    exponent.high);
    }
    judge_found(finding, ".");
    judge_tally(&tally, "exponents", finding);
}

static void judge(const lab_run_t *run, const double *rows, uint32_t count,
                  lab_finding_t *finding) {
    judged_exponent_t exponents[SCALING_KINDS];
    if (run->panel->columns == memory_columns) {
        judge_memory(run, rows, count, finding);
        return;
    }
    for (uint32_t k = 0; k < SCALING_KINDS; k++)
        exponents[k] = (judged_exponent_t){scaling_backend((enum scaling_kind)k), column_of(run, k),
                                           table_1(run, k)};
    rows = judged_rows(run, rows, &count);
    judge_exponents(run, rows, count, X, exponents, SCALING_KINDS, finding);
}

const lab_t lab_complexity = {
    .name = "complexity",
    .title = "Time and memory over the length",
    .reference = "Do Efficient Transformers Really Save Computation?, Table 1",
    .summary =
        "Softmax attention takes L^2 time, sparse attention L sqrt L, linear attention L; with "
        "the dimension ~ sqrt L that general problems ask of the last two, all take L^2. "
        "Sketched attention, which has all pairs and half of the features, is beside them. "
        "Times are measured and differ from run to run.",
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
