/* sketching/sketch.c: see sketch.h. */
#include "sketching/sketch.h"

#include "attn/support.h"
#include "sketch/bound.h"
#include "sketch/leverage.h"
#include "sketch/matrices.h"
#include "sketching/approximate.h"
#include "sketching/barrier.h"
#include "sketching/mix.h"
#include "sketching/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sketching_names[SKETCHING_METHODS] = {
    "gaussian", "ams", "osnap", "leverage", "srht", "approximate", "uniform", "deterministic"};

/* What is needed on the way to Y. */
typedef struct work {
    const sketching_features_t *features;
    const sketching_options_t *options;
    sketching_result_t *result;
    attn_error_t *error;
    sketching_basis_t basis;
    double *weights;           /* d: of features, or running sums of scores */
    attn_sketch_draw_t *draws; /* m */
} work_t;

static attn_status_t no_memory(const work_t *work) {
    return sketching_no_memory(work->features->x, work->error);
}

static double factor_of(const sketching_options_t *options) {
    return options->factor > 0 ? options->factor : ATTN_SCORES_FACTOR;
}

/* ---- sizes ------------------------------------------------------------------------------------------- */

static int samples(enum sketching_method method) {
    return method == SKETCHING_APPROXIMATE || method == SKETCHING_LEVERAGE ||
           method == SKETCHING_UNIFORM;
}

static double asked_by(const work_t *work) {
    const sketching_options_t *options = work->options;
    const int64_t n = work->features->x->rows;
    attn_sketch_promise_t promise = {
        .queries = n, .keys = n, .rank = work->result->rank, .delta = options->delta};
    switch (options->method) {
    case SKETCHING_UNIFORM:
        return NAN;
    case SKETCHING_DETERMINISTIC:
        return attn_barrier_steps(work->result->rank, options->eps);
    case SKETCHING_APPROXIMATE:
        return attn_sketch_bound_approximate(&promise, factor_of(options), work->result->total,
                                             options->eps);
    case SKETCHING_LEVERAGE:
        promise.method = ATTN_SKETCH_LEVERAGE;
        return attn_sketch_bound(&promise, options->eps);
    default:
        promise.method = (enum attn_sketch_method)options->method;
        return attn_sketch_bound(&promise, options->eps);
    }
}

static attn_status_t choose_size(const work_t *work) {
    const sketching_x_t *x = work->features->x;
    const sketching_options_t *options = work->options;
    sketching_result_t *result = work->result;
    result->asked = asked_by(work);
    const double size = options->size ? (double)options->size : result->asked;
    if (isnan(size))
        return attn_fail(work->error, ATTN_ERROR_ARGUMENT,
                         "method uniform promises nothing: it has to be given a size");
    result->is_exact = size >= (double)x->columns;
    result->size = result->is_exact ? x->columns : (int64_t)size;
    if (!result->is_exact && options->method == SKETCHING_DETERMINISTIC &&
        result->size <= result->rank)
        return attn_fail(
            work->error, ATTN_ERROR_RANGE,
            "%lld features are too few: deterministic takes more than the rank of X, %lld",
            (long long)result->size, (long long)result->rank);
    return ATTN_OK;
}

/* ---- features that are kept ---------------------------------------------------------------------------- */

/* LAPACK is loaded here at the earliest. */
static int find_exact_basis(work_t *work) {
    const algebra_solver_t *asked = work->options->solver;
    const algebra_solver_t *solver = asked ? asked : algebra_best();
    const int done = sketching_basis_exact(work->features, solver, &work->basis);
    work->result->solver = work->basis.is_plain ? &algebra_plain : solver;
    work->result->rank = work->basis.rank;
    return done;
}

static double sum_of_scores(const work_t *work) {
    double total = 0;
    for (int64_t j = 0; j < work->features->x->columns; j++) total += work->result->scores[j];
    return total;
}

/* A quarter of delta for each matrix. */
static attn_status_t find_scores_embedded(work_t *work) {
    const sketching_options_t *options = work->options;
    return sketching_scores_embedded(work->features, factor_of(options), options->delta / 4,
                                     options->seed, &work->result->rank, work->result->scores);
}

static attn_status_t find_scores(work_t *work) {
    const int64_t d = work->features->x->columns;
    const enum sketching_method method = work->options->method;
    double *scores = work->result->scores = sketching_allocate(d, 1, sizeof *scores);
    if (!scores) return no_memory(work);
    attn_status_t status = ATTN_OK;
    if (method == SKETCHING_UNIFORM)
        for (int64_t j = 0; j < d; j++) scores[j] = 1;
    else
        status = method == SKETCHING_LEVERAGE ? ATTN_ERROR_RANGE : find_scores_embedded(work);
    if (status == ATTN_ERROR_RANGE && find_exact_basis(work) &&
        sketching_scores(work->features, &work->basis, scores))
        status = ATTN_OK;
    work->result->total = sum_of_scores(work);
    return status ? no_memory(work) : ATTN_OK;
}

static attn_status_t draw(work_t *work) {
    const int64_t d = work->features->x->columns, size = work->result->size;
    work->weights = sketching_allocate(d, 1, sizeof *work->weights);
    work->draws = sketching_allocate(size, 1, sizeof *work->draws);
    if (!work->weights || !work->draws) return no_memory(work);
    memcpy(work->weights, work->result->scores, (size_t)d * sizeof *work->weights);
    attn_leverage_draw(work->weights, d, size, work->options->seed,
                       attn_sketch_stream(ATTN_SKETCH_LEVERAGE, 0), work->draws);
    return ATTN_OK;
}

/* Theorem 4.2: Y = X diag(sqrt w) on the features that have a weight. */
static attn_status_t weigh(work_t *work) {
    const int64_t d = work->features->x->columns, steps = work->result->size;
    int64_t kept = 0;
    attn_barrier_end_t end;
    work->weights = sketching_allocate(d, 1, sizeof *work->weights);
    work->draws = sketching_allocate(steps, 1, sizeof *work->draws);
    if (!work->weights || !work->draws ||
        !sketching_barrier(work->features, &work->basis, steps, work->weights, &end))
        return no_memory(work);
    if (!end.keeps)
        return attn_fail(work->error, ATTN_ERROR_RANGE,
                         "deterministic: rounding has ended it after %lld of %lld features, at a "
                         "distortion of %.3g, not the %.3g that is promised",
                         (long long)end.steps, (long long)steps, end.distortion,
                         attn_barrier_distortion(work->basis.rank, steps));
    for (int64_t j = 0; j < d; j++)
        if (work->weights[j] > 0)
            work->draws[kept++] = (attn_sketch_draw_t){j, (float)sqrt(work->weights[j])};
    work->result->size = kept;
    return ATTN_OK;
}

enum {
    FAR_AHEAD = 128
}; /* elements: what is asked for ahead comes from memory into the second cache */

/* A draw and its column of Y. */
typedef struct placed {
    attn_sketch_draw_t draw;
    int64_t column;
} placed_t;

static int by_feature(const void *a, const void *b) {
    const placed_t *x = a, *y = b;
    return (x->draw.feature > y->draw.feature) - (x->draw.feature < y->draw.feature);
}

static void take_row(const float *row, const placed_t *order, int64_t size, float *y) {
    for (int64_t t = 0; t < size; t++) {
        if (t + FAR_AHEAD < size) __builtin_prefetch(row + order[t + FAR_AHEAD].draw.feature, 0, 2);
        y[order[t].column] = order[t].draw.weight * row[order[t].draw.feature];
    }
}

/* Columns of Y from a dense X, whose rows are read from their beginning to their end. */
static int take_dense(const work_t *work) {
    const sketching_x_t *x = work->features->x;
    const int64_t size = work->result->size;
    placed_t *order = sketching_allocate(size, 1, sizeof *order);
    for (int64_t t = 0; order && t < size; t++) order[t] = (placed_t){work->draws[t], t};
    if (order) qsort(order, (size_t)size, sizeof *order, by_feature);
    for (int64_t i = 0; order && i < x->rows; i++)
        take_row(x->dense + i * x->columns, order, size, work->result->y + i * size);
    free(order);
    return order != NULL;
}

static void take_sparse(const work_t *work) {
    const int64_t size = work->result->size;
    for (int64_t t = 0; t < size; t++) {
        const attn_block_t block = attn_block(work->features, work->draws[t].feature);
        for (int64_t r = 0; r < block.count; r++)
            work->result->y[block.rows[r] * size + t] = work->draws[t].weight * block.values[r];
    }
}

/* Columns of Y: weight times a feature. */
static attn_status_t take(work_t *work) {
    sketching_result_t *result = work->result;
    result->y = sketching_allocate(result->rows, result->size, sizeof *result->y);
    result->kept = sketching_allocate(result->size, 1, sizeof *result->kept);
    if (!result->y || !result->kept) return no_memory(work);
    for (int64_t t = 0; t < result->size; t++) result->kept[t] = work->draws[t].feature;
    if (!work->features->x->dense)
        take_sparse(work);
    else if (!take_dense(work))
        return no_memory(work);
    return ATTN_OK;
}

/* Y = X. A CSR is written out, which is no more than the m >= d features that were asked for. */
static attn_status_t take_all(const work_t *work) {
    const sketching_x_t *x = work->features->x;
    float *y = work->result->y = sketching_allocate(x->rows, x->columns, sizeof *y);
    if (!y) return no_memory(work);
    if (x->dense) memcpy(y, x->dense, (size_t)sketching_stored(x) * sizeof *y);
    for (int64_t i = 0; i < x->rows && !x->dense; i++)
        for (int64_t at = x->starts[i]; at < x->starts[i + 1]; at++)
            y[i * x->columns + x->indices[at]] = x->data[at];
    return ATTN_OK;
}

/* ---- a sketch -------------------------------------------------------------------------------------------- */

/* The backend's parameters have the same limits. */
static attn_status_t check_share(const char *name, double value, double least,
                                 attn_error_t *error) {
    if (value >= least && value <= ATTN_SKETCH_MOST) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE, "%s is %.10g, has to be %g to %g", name, value, least,
                     ATTN_SKETCH_MOST);
}

attn_status_t sketching_check_options(const sketching_options_t *options, attn_error_t *error) {
    attn_status_t status = check_share("eps", options->eps, ATTN_SKETCH_LEAST_EPS, error);
    if (!status) status = check_share("delta", options->delta, ATTN_SKETCH_LEAST_DELTA, error);
    if (status) return status;
    if (!(options->factor >= 0 && factor_of(options) >= ATTN_SCORES_LEAST_FACTOR &&
          factor_of(options) <= ATTN_SCORES_MOST_FACTOR))
        return attn_fail(error, ATTN_ERROR_RANGE, "factor is %.10g, has to be 2 to 1000",
                         options->factor);
    if (options->size < 0 || options->size > SKETCHING_MOST_COLUMNS)
        return attn_fail(error, ATTN_ERROR_RANGE, "size is %lld, has to be 1 to 2^31",
                         (long long)options->size);
    return ATTN_OK;
}

static attn_status_t check(const work_t *work) {
    const sketching_x_t *x = work->features->x;
    const float *data = x->dense ? x->dense : x->data;
    const attn_status_t status = sketching_check_options(work->options, work->error);
    if (status) return status;
    for (int64_t at = 0; at < sketching_stored(x); at++)
        if (data[at] != 0) return ATTN_OK;
    return attn_fail(
        work->error, ATTN_ERROR_RANGE,
        "X: all elements are 0 in float32: it has rank 0, and there is nothing to sketch");
}

static attn_status_t make(work_t *work) {
    const enum sketching_method method = work->options->method;
    attn_status_t status = check(work);
    if (!status && method == SKETCHING_DETERMINISTIC && !find_exact_basis(work))
        status = no_memory(work);
    if (!status && samples(method)) status = find_scores(work);
    if (!status) status = choose_size(work);
    if (status) return status;
    if (work->result->is_exact) return take_all(work);
    if (method != SKETCHING_DETERMINISTIC && !samples(method))
        return sketching_mix(work->features, work->options, work->result, work->error);
    status = samples(method) ? draw(work) : weigh(work);
    return status ? status : take(work);
}

static attn_status_t check_range(const work_t *work) {
    const sketching_result_t *result = work->result;
    for (int64_t at = 0; at < result->rows * result->size; at++)
        if (!isfinite(result->y[at]))
            return attn_fail(work->error, ATTN_ERROR_RANGE,
                             "row %lld of the sketch is larger than float32 holds: scale X",
                             (long long)(at / result->size));
    return ATTN_OK;
}

attn_status_t sketching_sketch(const sketching_features_t *features,
                               const sketching_options_t *options, sketching_result_t *result,
                               attn_error_t *error) {
    work_t work = {.features = features, .options = options, .result = result, .error = error};
    *result = (sketching_result_t){.rows = features->x->rows, .rank = -1, .total = NAN};
    attn_status_t status = make(&work);
    if (!status) status = check_range(&work);
    sketching_basis_destroy(&work.basis);
    free(work.weights);
    free(work.draws);
    return status;
}

void sketching_result_destroy(sketching_result_t *result) {
    free(result->y);
    free(result->scores);
    free(result->kept);
    *result = (sketching_result_t){.y = NULL};
}
