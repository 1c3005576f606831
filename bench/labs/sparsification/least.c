/*
 * labs/sparsification/least.c: the least size that keeps the spectrum, and times from CSR; see lab.h. Both
 * go through bench/sketching, whose methods the backend does not all have.
 */
#include "labs/sparsification/lab.h"

#include "algebra/algebra.h"
#include "attn/support.h"
#include "measure/measure.h"
#include "sketching/scores.h"

#include <math.h>
#include <stdlib.h>

/* ---- the least size ------------------------------------------------------------------------------------- */

/* X, and N with N^T X X^T N = I: the distortion of Y is how far the eigenvalues of N^T Y Y^T N are from 1. */
typedef struct subject {
    sketching_x_t x;
    sketching_features_t features;
    sketching_basis_t basis;
    sketching_options_t options;
    const lab_point_t *point;
    double *room; /* n d + n n + n */
} subject_t;

static double distortion(const subject_t *subject, const sketching_result_t *sketch) {
    const int64_t n = subject->x.rows, rank = subject->basis.rank, m = sketch->size;
    double *turned = subject->room, *gram = turned + n * subject->x.columns, *values = gram + n * n;
    double most = rank < n ? INFINITY : 0;
    for (int64_t a = 0; a < rank; a++)
        for (int64_t t = 0; t < m; t++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += subject->basis.matrix[i * rank + a] * (double)sketch->y[i * m + t];
            turned[a * m + t] = sum;
        }
    for (int64_t a = 0; a < rank; a++)
        for (int64_t b = 0; b < rank; b++)
            gram[a * rank + b] = algebra_dot(turned + a * m, turned + b * m, m);
    algebra_eigenvalues(gram, rank, values);
    for (int64_t a = 0; a < rank; a++) most = fmax(most, fabs(values[a] - 1));
    return most;
}

/* Whether at most a twentieth of the sketches of this size has a distortion of 1 or more. */
static int is_enough(subject_t *subject, int64_t size, attn_error_t *error, attn_status_t *status) {
    const double trials = subject->point->values[TRIALS];
    double failed = 0;
    subject->options.size = size;
    for (uint64_t trial = 0; trial < (uint64_t)trials && failed <= trials / 20; trial++) {
        sketching_result_t sketch;
        subject->options.seed = sketch_seed(subject->point->run->seed, trial);
        *status = sketching_sketch(&subject->features, &subject->options, &sketch, error);
        if (!*status) failed += !(distortion(subject, &sketch) < 1);
        sketching_result_destroy(&sketch);
        if (*status) return 0;
    }
    return failed <= trials / 20;
}

/* Sizes n + 1 and on, each a tenth more than the one before. */
static int64_t size_of(const subject_t *subject, int step) {
    int64_t size = subject->x.rows + 1;
    for (int s = 0; s < step; s++) size += 1 + size / 10;
    return size;
}

/* The first that is enough, by halving: what is enough stays so, but for chance. NaN where none below d is. */
static attn_status_t find_least(subject_t *subject, int method, double *least,
                                attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    int low = 0, high = 0;
    subject->options.method = (enum sketching_method)method;
    while (size_of(subject, high) < subject->x.columns) high++;
    const int none = high;
    while (low < high && !status) {
        const int middle = (low + high) / 2;
        if (is_enough(subject, size_of(subject, middle), error, &status))
            high = middle;
        else
            low = middle + 1;
    }
    *least = low < none ? (double)size_of(subject, low) : NAN;
    return status;
}

static attn_status_t find_all(const lab_point_t *point, const symmetric_t *symmetric, double *least,
                              attn_error_t *error) {
    const int64_t n = symmetric->rows, d = symmetric->dim;
    subject_t subject = {.x = {.rows = n, .columns = d, .dense = symmetric->x}, .point = point};
    subject.options =
        (sketching_options_t){.solver = &algebra_plain, .eps = 0.5, .delta = 0.1, .factor = 3};
    subject.room = malloc((size_t)(n * d + n * n + n) * sizeof *subject.room);
    attn_status_t status = ATTN_OK;
    if (!subject.room || !sketching_features_create(&subject.x, &subject.features) ||
        !sketching_basis_exact(&subject.features, &algebra_plain, &subject.basis))
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for the least size of %lld x %lld",
                           (long long)n, (long long)d);
    for (int method = 0; method < SKETCHING_METHODS && !status; method++)
        status = find_least(&subject, method, &least[method], error);
    sketching_basis_destroy(&subject.basis);
    sketching_features_destroy(&subject.features);
    free(subject.room);
    return status;
}

attn_status_t sparsification_least(const lab_point_t *point, double *row, attn_error_t *error) {
    const double n = point->values[ROWS];
    row[LEAST_LINE] = n * log(10 * n);
    for (int narrow = 0; narrow < 2; narrow++) {
        lab_point_t at = *point;
        symmetric_t symmetric;
        if (narrow) at.values[DIM] = floor(at.values[DIM] / 4);
        attn_status_t status = sparsification_draw(&at, 0, &symmetric, error);
        if (status) return status;
        status = find_all(point, &symmetric, row + (narrow ? LEAST_NARROW : LEAST), error);
        symmetric_destroy(&symmetric);
        if (status) return status;
    }
    return ATTN_OK;
}

/* ---- CSR -------------------------------------------------------------------------------------------------- */

typedef struct timed {
    const sketching_x_t *x;
    sketching_options_t options;
    attn_error_t *error;
} timed_t;

/* From the three arrays to Y: with the features' order where a method goes over them. */
static attn_status_t sketch(void *data) {
    const timed_t *timed = data;
    sketching_features_t features;
    sketching_result_t result;
    if (!sketching_features_create(timed->x, &features))
        return attn_fail(timed->error, ATTN_ERROR_MEMORY, "no memory for the features of a CSR");
    const attn_status_t status =
        sketching_sketch(&features, &timed->options, &result, timed->error);
    sketching_result_destroy(&result);
    sketching_features_destroy(&features);
    return status;
}

static void fill_csr(const symmetric_t *symmetric, int64_t *starts, int32_t *indices, float *data) {
    int64_t used = 0;
    for (int64_t i = 0; i < symmetric->rows; i++) {
        starts[i] = used;
        for (int64_t j = 0; j < symmetric->dim; j++) {
            const float value = symmetric->x[i * symmetric->dim + j];
            indices[used] = (int32_t)j;
            data[used] = value;
            used += value != 0;
        }
    }
    starts[symmetric->rows] = used;
}

static attn_status_t time_all(const lab_point_t *point, const sketching_x_t *x, double *row,
                              attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int method = 0; method < CSR_METHODS && !status; method++) {
        timed_t timed = {.x = x, .error = error};
        measure_t measure = {0};
        timed.options = (sketching_options_t){.method = (enum sketching_method)method,
                                              .solver = &algebra_plain,
                                              .eps = 0.5,
                                              .delta = 0.1,
                                              .size = (int64_t)point->values[SIZE],
                                              .seed = point->run->seed,
                                              .factor = 3};
        status = measure_repeat_processor(sketch, &timed, point->values[BUDGET], &measure);
        row[SECONDS + method] = measure.median;
    }
    return status;
}

attn_status_t sparsification_csr(const lab_point_t *point, double *row, attn_error_t *error) {
    symmetric_t symmetric;
    attn_status_t status = sparsification_draw(point, 0, &symmetric, error);
    if (status) return status;
    const int64_t n = symmetric.rows, stored = symmetric.nonzero;
    int64_t *starts = malloc((size_t)(n + 1) * sizeof *starts);
    int32_t *indices = malloc((size_t)(stored + 1) * sizeof *indices);
    float *data = malloc((size_t)(stored + 1) * sizeof *data);
    const sketching_x_t x = {
        .rows = n, .columns = symmetric.dim, .starts = starts, .indices = indices, .data = data};
    if (starts && indices && data) {
        fill_csr(&symmetric, starts, indices, data);
        status = time_all(point, &x, row, error);
    } else {
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a CSR");
    }
    row[CSR_NONZERO] = (double)stored;
    free(starts);
    free(indices);
    free(data);
    symmetric_destroy(&symmetric);
    return status;
}
