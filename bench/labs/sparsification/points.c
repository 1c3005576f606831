/* labs/sparsification/points.c: the points of the sparsification experiment; see lab.h. */
#include "labs/sparsification/lab.h"

#include "algebra/algebra.h"
#include "attn/support.h"
#include "labs/sparsification/symmetric.h"
#include "labs/statistics.h"
#include "sketching/barrier.h"

#include <math.h>

attn_status_t sparsification_draw(const lab_point_t *point, uint64_t trial, symmetric_t *symmetric,
                                  attn_error_t *error) {
    const double *values = point->values;
    const symmetric_shape_t shape = {
        .rows = (int64_t)values[ROWS],
        .dim = (int64_t)values[DIM],
        .r = values[R],
        .decay = values[DECAY],
        .density = values[DENSITY],
        .spike = values[SPIKE],
        .seed = point->run->seed,
        .trial = trial,
    };
    if (symmetric_create(&shape, symmetric)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %lld x %lld data",
                     (long long)shape.rows, (long long)shape.dim);
}

static sketch_request_t request_of(const lab_point_t *point, int method, uint64_t trial) {
    return (sketch_request_t){
        .method = sketch_names[method],
        .size = (int64_t)point->values[SIZE],
        .eps = point->values[EPS],
        .delta = point->values[DELTA],
        .seed = sketch_seed(point->run->seed, trial),
    };
}

/* Enters the result of one method on one draw into a row. */
typedef void record_t(double *row, int method, const symmetric_t *symmetric,
                      const sketch_result_t *result);

/* All methods on one draw after another. */
static attn_status_t sketch_draws(const lab_point_t *point, record_t *record, double *row,
                                  attn_error_t *error) {
    for (uint64_t trial = 0; trial < (uint64_t)point->values[TRIALS]; trial++) {
        symmetric_t symmetric;
        attn_status_t status = sparsification_draw(point, trial, &symmetric, error);
        if (status) return status;
        for (int method = 0; method < SKETCHES && !status; method++) {
            const sketch_request_t request = request_of(point, method, trial);
            sketch_result_t result;
            status = symmetric_sketch(point->run->context, &symmetric, &request, &result, error);
            if (!status) record(row, method, &symmetric, &result);
        }
        symmetric_destroy(&symmetric);
        if (status) return status;
    }
    return ATTN_OK;
}

static void record_errors(double *row, int method, const symmetric_t *symmetric,
                          const sketch_result_t *result) {
    const int within = result->distortion < 1;
    row[ERROR + method] = fmax(row[ERROR + method], result->error);
    row[DISTORTION + method] = fmax(row[DISTORTION + method], result->distortion);
    row[WITHIN + method] += within;
    row[PROOF] = fmax(row[PROOF], result->proof);
    if (within) row[SHARE] = fmax(row[SHARE], result->share);
    row[VIOLATIONS] += within && result->error > 12 * symmetric->largest;
}

attn_status_t sparsification_errors(const lab_point_t *point, double *row, attn_error_t *error) {
    for (int c = X + 1; c < ERROR_COLUMNS; c++) row[c] = 0;
    row[BOUND] = 12 * point->values[R];
    return sketch_draws(point, record_errors, row, error);
}

static void record_lemmas(double *row, int method, const symmetric_t *symmetric,
                          const sketch_result_t *result) {
    (void)method, (void)symmetric;
    if (!(result->distortion < 1)) return;
    row[LEMMA_WITHIN]++;
    for (int lemma = 0; lemma < 4; lemma++) {
        row[LEMMA + lemma] = fmax(row[LEMMA + lemma], result->lemmas[lemma]);
        row[LEMMA_ABOVE] += result->lemmas[lemma] > 1;
    }
}

attn_status_t sparsification_lemmas(const lab_point_t *point, double *row, attn_error_t *error) {
    for (int c = X + 1; c < LEMMA_COLUMNS; c++) row[c] = 0;
    row[LEMMA_BOUND] = 1;
    return sketch_draws(point, record_lemmas, row, error);
}

/* One X, sketched with one seed after another: promises are about any X and a random sketch. */
static attn_status_t compute_rate(const lab_point_t *point, symmetric_t *symmetric, int method,
                                  const rates_t *rates, double *row, attn_error_t *error) {
    const double trials = point->values[TRIALS];
    double failed = 0;
    for (uint64_t trial = 0; trial < (uint64_t)trials; trial++) {
        sketch_request_t request = request_of(point, method, trial);
        sketch_result_t result;
        request.size = (int64_t)row[SIZES];
        const attn_status_t status =
            symmetric_sketch(point->run->context, symmetric, &request, &result, error);
        if (status) return status;
        failed += rates->error ? result.error > 12 * symmetric->largest
                               : sketch_value(&result, rates->measure) > point->values[EPS];
    }
    const statistics_rate_t rate = statistics_rate(failed, trials);
    row[RATE + 3 * method] = rate.rate;
    row[RATE + 3 * method + 1] = rate.low;
    row[RATE + 3 * method + 2] = rate.high;
    return ATTN_OK;
}

/* What the first method that promises this measure asks for; NaN where that is not below d. */
static attn_status_t compute_asked(const lab_point_t *point, const symmetric_t *symmetric,
                                   const rates_t *rates, double *asked, attn_error_t *error) {
    int method = 0;
    while (sketch_promise(sketch_names[method]) != rates->measure) method++;
    const sketch_request_t request = request_of(point, method, 0);
    return symmetric_asked(point->run->context, symmetric, &request, asked, error);
}

attn_status_t sparsification_rates(const lab_point_t *point, const rates_t *rates, double *row,
                                   attn_error_t *error) {
    symmetric_t symmetric;
    attn_status_t status = sparsification_draw(point, 0, &symmetric, error);
    if (status) return status;
    row[DELTA_LINE] = point->values[DELTA];
    status = compute_asked(point, &symmetric, rates, &row[ASKED], error);
    row[SIZES] = rates->automatic ? row[ASKED] : point->values[SIZE];
    for (int method = 0; method < SKETCHES && !status && !isnan(row[SIZES]); method++)
        status = compute_rate(point, &symmetric, method, rates, row, error);
    symmetric_destroy(&symmetric);
    return status;
}

/* What reading logits as log A + lse in float can add to a distortion: 8 2^-23 in each of n in a row. */
static double reading(const symmetric_t *symmetric) {
    double *work = symmetric->work, least = INFINITY;
    const int64_t n = symmetric->rows;
    for (int64_t i = 0; i < n * n; i++) work[i] = symmetric->logits[i];
    algebra_eigenvalues(work, n, work + n * n);
    for (int64_t i = 0; i < n; i++) least = fmin(least, work[n * n + i]);
    return (double)n * 8 * 0x1p-23 / least;
}

attn_status_t sparsification_fixed(const lab_point_t *point, double *row, attn_error_t *error) {
    const int64_t rows = (int64_t)point->values[ROWS], size = (int64_t)point->values[SIZE];
    for (int c = X + 1; c < FIXED_COLUMNS; c++) row[c] = 0;
    for (uint64_t trial = 0; trial < (uint64_t)point->values[TRIALS]; trial++) {
        symmetric_t symmetric;
        sketch_result_t fixed, drawn;
        const sketch_request_t request = request_of(point, SKETCH_LEVERAGE, trial);
        attn_status_t status = sparsification_draw(point, trial, &symmetric, error);
        if (status) return status;
        status = symmetric_deterministic(point->run->context, &symmetric, size, &fixed, error);
        if (!status)
            status = symmetric_sketch(point->run->context, &symmetric, &request, &drawn, error);
        if (!status) row[FIXED_ROUNDING] = fmax(row[FIXED_ROUNDING], reading(&symmetric));
        symmetric_destroy(&symmetric);
        if (status) return status;
        row[FIXED_DISTORTION] = fmax(row[FIXED_DISTORTION], fixed.distortion);
        row[DRAWN_DISTORTION] = fmax(row[DRAWN_DISTORTION], drawn.distortion);
        row[FIXED_ERROR] = fmax(row[FIXED_ERROR], fixed.error);
        row[DRAWN_ERROR] = fmax(row[DRAWN_ERROR], drawn.error);
        row[FIXED_KEPT] = fmax(row[FIXED_KEPT], fixed.size);
    }
    row[FIXED_BOUND] = attn_barrier_distortion(rows, size);
    row[FIXED_TWELVE] = 12 * point->values[R];
    return ATTN_OK;
}

attn_status_t sparsification_times(const lab_point_t *point, double *row, attn_error_t *error) {
    symmetric_t symmetric;
    attn_status_t status = sparsification_draw(point, 0, &symmetric, error);
    if (status) return status;
    for (int method = 0; method < SKETCHES && !status; method++) {
        const sketch_request_t request = request_of(point, method, 0);
        status = symmetric_time(point->run->context, &symmetric, &request, point->values[BUDGET],
                                &row[SECONDS + method], error);
    }
    row[NONZERO] = (double)symmetric.nonzero;
    symmetric_destroy(&symmetric);
    return status;
}
