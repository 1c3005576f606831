/* labs/sparsification_points.c: the points of the sparsification experiment; see sparsification.h. */
#include "labs/sparsification.h"

#include "attn/support.h"
#include "labs/symmetric.h"

#include <math.h>

static attn_status_t draw(const lab_point_t *point, uint64_t trial, symmetric_t *symmetric,
                          attn_error_t *error) {
    const double *values = point->values;
    const symmetric_shape_t shape = {
        .rows = (int64_t)values[ROWS],
        .dim = (int64_t)values[DIM],
        .r = values[R],
        .decay = values[DECAY],
        .density = values[DENSITY],
        .seed = point->run->seed,
        .trial = trial,
    };
    if (symmetric_create(&shape, symmetric)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %lld x %lld data",
                     (long long)shape.rows, (long long)shape.dim);
}

/* `automatic`: the size that the promise asks for. */
static sketch_request_t request_of(const lab_point_t *point, int method, uint64_t trial,
                                   int automatic) {
    return (sketch_request_t){
        .method = sketch_names[method],
        .size = automatic ? 0 : (int64_t)point->values[SIZE],
        .eps = point->values[EPS],
        .delta = point->values[DELTA],
        .seed = sketch_seed(point->run->seed, trial),
    };
}

attn_status_t sparsification_errors(const lab_point_t *point, double *row, attn_error_t *error) {
    for (int c = X + 1; c < ERROR_COLUMNS; c++) row[c] = 0;
    for (uint64_t trial = 0; trial < (uint64_t)point->values[TRIALS]; trial++) {
        symmetric_t symmetric;
        attn_status_t status = draw(point, trial, &symmetric, error);
        if (status) return status;
        for (int method = 0; method < SKETCHES && !status; method++) {
            const sketch_request_t request = request_of(point, method, trial, 0);
            sketch_result_t result = {0};
            status = symmetric_sketch(point->run->context, &symmetric, &request, &result, error);
            row[ERROR + method] = fmax(row[ERROR + method], result.error);
            row[DISTORTION + method] = fmax(row[DISTORTION + method], result.distortion);
            row[WITHIN + method] += result.distortion < 1;
            row[VIOLATIONS] += result.distortion < 1 && result.error > 12 * symmetric.largest;
        }
        symmetric_destroy(&symmetric);
        if (status) return status;
    }
    row[BOUND] = 12 * point->values[R];
    return ATTN_OK;
}

/* One X, sketched with one seed after another: promises are about any X and a random sketch. */
static attn_status_t compute_rate(const lab_point_t *point, symmetric_t *symmetric, int method,
                                  int automatic, double *row, attn_error_t *error) {
    const double trials = point->values[TRIALS];
    double failed = 0;
    int promised = 1;
    for (uint64_t trial = 0; trial < (uint64_t)trials && promised; trial++) {
        const sketch_request_t request = request_of(point, method, trial, automatic);
        sketch_result_t result;
        const attn_status_t status =
            symmetric_sketch(point->run->context, symmetric, &request, &result, error);
        if (status) return status;
        promised = !automatic || result.guaranteed;
        failed += sketch_value(&result, sketch_promise(request.method)) > point->values[EPS];
        row[SIZES + method] = result.size;
    }
    const sketch_request_t request = request_of(point, method, 0, automatic);
    const attn_status_t status =
        symmetric_asked(point->run->context, symmetric, &request, &row[ASKED + method], error);
    if (status) return status;
    const sketch_rate_t rate = sketch_rate(failed, trials);
    row[RATE + 3 * method] = promised ? rate.rate : NAN;
    row[RATE + 3 * method + 1] = promised ? rate.low : NAN;
    row[RATE + 3 * method + 2] = promised ? rate.high : NAN;
    return ATTN_OK;
}

attn_status_t sparsification_rates(const lab_point_t *point, int automatic, double *row,
                                   attn_error_t *error) {
    symmetric_t symmetric;
    attn_status_t status = draw(point, 0, &symmetric, error);
    if (status) return status;
    for (int method = 0; method < SKETCHES && !status; method++)
        status = compute_rate(point, &symmetric, method, automatic, row, error);
    row[DELTA_LINE] = point->values[DELTA];
    symmetric_destroy(&symmetric);
    return status;
}

attn_status_t sparsification_times(const lab_point_t *point, double *row, attn_error_t *error) {
    symmetric_t symmetric;
    attn_status_t status = draw(point, 0, &symmetric, error);
    if (status) return status;
    for (int method = 0; method < SKETCHES && !status; method++) {
        const sketch_request_t request = request_of(point, method, 0, 0);
        status = symmetric_time(point->run->context, &symmetric, &request, point->values[BUDGET],
                                &row[SECONDS + method], error);
    }
    row[NONZERO] = (double)symmetric.nonzero;
    symmetric_destroy(&symmetric);
    return status;
}
