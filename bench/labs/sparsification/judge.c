/* labs/sparsification/judge.c: captions and verdicts of the sparsification experiment. */
#include "labs/judge.h"
#include "labs/sparsification/lab.h"
#include "labs/statistics.h"
#include "number/format.h"

#include <math.h>

/* A number of a table as a count; what is no count (a run that was not computed is NaN) is none. */
static uint32_t count_of(double value) {
    return value > 0 && value < 4294967296.0 ? (uint32_t)value : 0;
}

/* ---- captions ------------------------------------------------------------------------------------- */

static void note_errors(const double *rows, uint32_t count, char *text, size_t size) {
    double violations = 0, within = 0, share = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * ERROR_COLUMNS;
        violations += row[VIOLATIONS];
        share = fmax(share, row[SHARE]);
        for (int method = 0; method < SKETCHES; method++) within += row[WITHIN + method];
    }
    attn_format(
        text, size,
        "above 12 r: %.0f of %.0f sketches with distortion below 1, whose entries move by at most "
        "%.2g of the proof's 6 r (A + A')_ij",
        violations, within, share);
}

/* Where a curve does not begin with its axis. */
static void note_rates(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                       size_t size) {
    uint32_t missing = 0;
    double first = NAN, last = NAN;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * RATE_COLUMNS;
        missing += isnan(row[SIZES]) != 0;
        if (isnan(row[SIZES])) continue;
        if (isnan(first)) first = row[SIZES];
        last = row[SIZES];
    }
    if (sparsification_rates_of(run->panel)->automatic)
        attn_format(
            text, size,
            "sizes from %.0f to %.0f, as the bound asks; at %u of %u points it asks for d features "
            "or more, and nothing is drawn",
            first, last, missing, count);
    else
        attn_format(text, size, "the bound for eps and delta asks for %.0f features", rows[ASKED]);
}

static void note_lemmas(const double *rows, uint32_t count, char *text, size_t size) {
    double within = 0, above = 0;
    for (uint32_t i = 0; i < count; i++) {
        within += rows[(size_t)i * LEMMA_COLUMNS + LEMMA_WITHIN];
        above += rows[(size_t)i * LEMMA_COLUMNS + LEMMA_ABOVE];
    }
    attn_format(text, size, "%.0f sketches of distortion below 1; above what a lemma allows: %.0f",
                within, above);
}

void sparsification_note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                         size_t size) {
    const lab_column_t *columns = run->panel->columns;
    if (columns == sparsification_least_columns)
        attn_format(text, size, "of %.0f sketches a point; no line: no m below d",
                    run->values[TRIALS]);
    else if (columns == sparsification_lemma_columns)
        note_lemmas(rows, count, text, size);
    else if (columns == sparsification_csr_columns)
        sketch_note_exponents(rows, count, CSR_COLUMNS, SECONDS, CSR_JUDGED, CSR_NONZERO, text,
                              size);
    else if (columns == sparsification_time_columns)
        sketch_note_exponents(rows, count, TIME_COLUMNS, SECONDS, SKETCHES, NONZERO, text, size);
    else if (columns == sparsification_error_columns)
        note_errors(rows, count, text, size);
    else if (columns == sparsification_rate_columns)
        note_rates(run, rows, count, text, size);
    else if (columns == sparsification_work_columns)
        text[0] = 0;
    else
        attn_format(text, size,
                    "one sketch of each of %.0f X; no seed: the same X gives the same sketch",
                    run->values[TRIALS]);
}

/* Lemma 5.4 is of a delta below 0.1. */
static int keeps_delta(const lab_run_t *run, double delta) {
    return sparsification_rates_of(run->panel)->measure != SKETCH_DISTORTION || delta < 0.1;
}

int sparsification_within(const lab_run_t *run, const double *row) {
    if (run->panel->columns == sparsification_error_columns) return row[BOUND] < 12 * 0.1;
    if (run->panel->columns == sparsification_rate_columns)
        return row[SIZES] >= row[ASKED] && keeps_delta(run, row[DELTA_LINE]);
    return 1;
}

/* ---- verdicts ------------------------------------------------------------------------------------- */

static void judge_errors(const lab_run_t *run, const double *rows, uint32_t count,
                         lab_finding_t *finding) {
    double within = 0, closest = 0, proof = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * ERROR_COLUMNS;
        if (!lab_run_within(run, row)) continue;
        tally.fails += count_of(row[VIOLATIONS]);
        proof = fmax(proof, row[SHARE]);
        for (int method = 0; method < SKETCHES; method++) {
            within += row[WITHIN + method];
            if (row[WITHIN + method] > 0) closest = fmax(closest, row[ERROR + method] / row[BOUND]);
        }
    }
    tally.holds = (uint32_t)within - tally.fails;
    judge_tally(&tally, "sketches", finding);
    judge_found(finding,
                "The largest error is %.2g of 12 r and %.2g of the proof's 6 r (A + A')_ij.",
                closest, proof);
}

/* Methods that promise this measure, at sizes that their bound asks for or more. */
static void judge_rates(const lab_run_t *run, const double *rows, uint32_t count,
                        lab_finding_t *finding) {
    const enum sketch_measure measure = sparsification_rates_of(run->panel)->measure;
    double worst = 0, least = INFINITY;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * RATE_COLUMNS;
        for (int method = 0; method < SKETCHES; method++) {
            const double *rate = row + RATE + 3 * method;
            if (sketch_promise(sketch_names[method]) != measure || isnan(rate[0])) continue;
            if (rate[2] <= row[DELTA_LINE]) least = fmin(least, row[SIZES] / row[ASKED]);
            if (!lab_run_within(run, row)) continue;
            tally_add(&tally, judge_at_most(rate[1], rate[2], row[DELTA_LINE]));
            worst = fmax(worst, rate[0]);
        }
    }
    judge_tally(&tally, "rates", finding);
    if (tally.holds + tally.open + tally.fails)
        judge_found(finding, "At the sizes asked for the largest part that fails is %.3g", worst);
    if (least < 1)
        judge_found(finding, "%s%.2g of the size is enough for delta", *finding->found ? "; " : "",
                    least);
    judge_found(finding, ".");
}

static void judge_fixed(const double *rows, uint32_t count, lab_finding_t *finding) {
    double worst = 0, gain = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * FIXED_COLUMNS, distortion = row[FIXED_DISTORTION];
        const double bound = row[FIXED_BOUND];
        tally_add(&tally, judge_at_most(distortion - row[FIXED_ROUNDING],
                                        distortion - row[FIXED_ROUNDING], bound));
        if (row[FIXED_TWELVE] < 12 * 0.1 && distortion < 1)
            tally_add(&tally, judge_at_most(row[FIXED_ERROR], row[FIXED_ERROR], row[FIXED_TWELVE]));
        worst = fmax(worst, distortion / bound);
        gain = fmax(gain, row[DRAWN_DISTORTION] / distortion);
    }
    judge_tally(&tally, "comparisons", finding);
    judge_found(
        finding,
        "The distortion is at most %.2g of the bound, and up to %.2g times smaller than that "
        "of leverage sampling with as many features.",
        worst, gain);
}

static void judge_lemmas(const double *rows, uint32_t count, lab_finding_t *finding) {
    double parts[4] = {0};
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * LEMMA_COLUMNS;
        tally.fails += count_of(row[LEMMA_ABOVE]);
        tally.holds += count_of(4 * row[LEMMA_WITHIN] - row[LEMMA_ABOVE]);
        for (int lemma = 0; lemma < 4; lemma++)
            parts[lemma] = fmax(parts[lemma], row[LEMMA + lemma]);
    }
    judge_tally(&tally, "comparisons", finding);
    judge_found(finding,
                "Of what Lemmas 3.1, 3.2, 3.3 and 3.4 allow %.2g, %.2g, %.2g and %.2g are taken.",
                parts[0], parts[1], parts[2], parts[3]);
}

/* Sizes at d against those at d / 4, and what part of n ln(10 n) they are. */
static void judge_least(const double *rows, uint32_t count, lab_finding_t *finding) {
    static const int promised[] = {SKETCHING_APPROXIMATE, SKETCHING_LEVERAGE,
                                   SKETCHING_DETERMINISTIC};
    double grown = 0, most = 0;
    uint32_t uniform = 0;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * LEAST_COLUMNS;
        uniform += isnan(row[LEAST + SKETCHING_UNIFORM]) != 0;
        for (int p = 0; p < 3; p++) {
            const double wide = row[LEAST + promised[p]], narrow = row[LEAST_NARROW + promised[p]];
            tally_add(&tally, isnan(wide / narrow)                  ? LAB_UNDECIDED
                              : wide < SPARSIFICATION_SAME * narrow ? LAB_HOLDS
                                                                    : LAB_FAILS);
            if (!isnan(wide / narrow)) grown = fmax(grown, wide / narrow);
            if (!isnan(wide)) most = fmax(most, wide / row[LEAST_LINE]);
        }
    }
    judge_tally(&tally, "sizes", finding);
    judge_found(finding,
                "Four times as many features take %.2g times as many at most, %.2g n ln(10 n) at "
                "most; no number below d is enough for uniform sampling at %u of %u points.",
                grown, most, uniform, count);
}

/* Of the paper's algorithm, or of all the plugin's methods; but leverage's n^2 d over n is told apart. */
static void judge_times(const lab_run_t *run, const double *rows, uint32_t count,
                        lab_finding_t *finding) {
    const int from_csr = run->panel->columns == sparsification_csr_columns;
    const uint32_t methods = from_csr ? CSR_JUDGED : SKETCHES;
    tally_t tally = {0};
    for (uint32_t method = 0; method < methods; method++) {
        const exponent_t exponent =
            statistics_exponent_of_columns(rows, count, run->panel->column_count,
                                           from_csr ? CSR_NONZERO : NONZERO, SECONDS + method);
        const int needs_more = method == SKETCHING_LEVERAGE && run->panel->x_param == ROWS;
        if (from_csr ? method == SKETCHING_APPROXIMATE : !needs_more)
            tally_add(&tally, judge_at_most(exponent.low, exponent.high, 1 + JUDGE_EXPONENT_SLACK));
        judge_found(finding, "%s of %s is %.2f (%.2f to %.2f)", method ? "," : "The exponent",
                    sketching_names[method], exponent.value, exponent.low, exponent.high);
    }
    judge_found(finding, ".");
    judge_tally(&tally, "exponents", finding);
}

/* Over d at most linear, as the theorem has it; over n cubic, as our method is. Where eps is missed work says nothing. */
static void judge_work(const lab_run_t *run, const double *rows, uint32_t count,
                       lab_finding_t *finding) {
    const int over_tokens = run->panel->x_param == ROWS;
    const exponent_t exponent = statistics_exponent_of_columns(rows, count, WORK_COLUMNS, X, WORK);
    const double high = over_tokens ? 3 : 1, slack = JUDGE_EXPONENT_SLACK;
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * WORK_COLUMNS;
        tally_add(&tally, judge_at_most(row[WORK_DISTORTION], row[WORK_DISTORTION], row[WORK_EPS]));
    }
    if (over_tokens)
        tally_add(&tally, isnan(exponent.low) ? LAB_UNDECIDED
                          : exponent.low <= high + slack && exponent.high >= high - slack
                              ? LAB_HOLDS
                              : LAB_FAILS);
    else
        tally_add(&tally, judge_at_most(exponent.low, exponent.high, high + slack));
    judge_tally(&tally, "comparisons", finding);
    judge_found(finding, "The exponent of work is %.2f (%.2f to %.2f; claimed %g).", exponent.value,
                exponent.low, exponent.high, high);
}

void sparsification_judge(const lab_run_t *run, const double *rows, uint32_t count,
                          lab_finding_t *finding) {
    const lab_column_t *columns = run->panel->columns;
    if (columns == sparsification_least_columns) {
        judge_least(rows, count, finding);
    } else if (columns == sparsification_lemma_columns) {
        judge_lemmas(rows, count, finding);
    } else if (columns == sparsification_error_columns) {
        judge_errors(run, rows, count, finding);
    } else if (columns == sparsification_rate_columns) {
        judge_rates(run, rows, count, finding);
    } else if (columns == sparsification_fixed_columns) {
        judge_fixed(rows, count, finding);
    } else if (columns == sparsification_work_columns) {
        judge_work(run, rows, count, finding);
    } else {
        judge_times(run, rows, count, finding);
    }
}
