/* labs/softmax_regression/shifts.c: see shifts.h. */
#include "labs/softmax_regression/shifts.h"

#include "algebra/algebra.h"
#include "attn/support.h"

#include <math.h>
#include <stdlib.h>

attn_status_t shifts_create(const attn_context_t *context, int64_t rows, int64_t dim,
                            shifts_probe_t *probe, attn_error_t *error) {
    const size_t n = (size_t)rows, d = (size_t)dim;
    const attn_problem_t problem = head_problem(1, rows, dim, 1);
    attn_problem_t layer = head_problem(rows, rows, dim, dim);
    layer.scale = (float)(1 / sqrt((double)dim));
    *probe = (shifts_probe_t){.key = NULL};
    attn_status_t status = head_create(context, "softmax", &problem, NULL, 0, &probe->head, error);
    if (!status) status = head_create(context, "softmax", &layer, NULL, 0, &probe->layer, error);
    if (status) {
        shifts_destroy(probe);
        return status;
    }
    probe->key = malloc((2 * n * d + d + n) * sizeof *probe->key);
    probe->updated = malloc((2 * n * d + 3 * n + d * (d + 1)) * sizeof *probe->updated);
    if (!probe->key || !probe->updated) {
        shifts_destroy(probe);
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %lld x %lld data",
                         (long long)rows, (long long)dim);
    }
    probe->query = probe->key + n * d;
    probe->weights = probe->query + d;
    probe->out = probe->weights + n;
    probe->before = probe->updated + n * d;
    probe->after = probe->before + n;
    probe->turned = probe->after + n;
    probe->scratch = probe->turned + n; /* n d for a difference, then d (d + 1) */
    return ATTN_OK;
}

void shifts_destroy(shifts_probe_t *probe) {
    head_destroy(&probe->head);
    head_destroy(&probe->layer);
    free(probe->key);
    free(probe->updated);
    *probe = (shifts_probe_t){.key = NULL};
}

/* f = softmax(a x), by the plugin. */
static attn_status_t attend_probe(shifts_probe_t *probe, const regression_t *regression,
                                  const double *a, const double *x, double *f,
                                  attn_error_t *error) {
    const int64_t n = regression->rows, d = regression->dim;
    for (int64_t i = 0; i < n * d; i++) probe->key[i] = (float)a[i];
    for (int64_t k = 0; k < d; k++) probe->query[k] = (float)x[k];
    const attn_status_t status =
        head_weights(&probe->head, probe->query, probe->key, 0, 1, probe->weights, error);
    for (int64_t i = 0; i < n && !status; i++) f[i] = (double)probe->weights[i];
    return status;
}

static double largest_difference(const double *a, const double *b, int64_t n) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* a - b, in a; its length. */
static double subtract(double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++) a[i] -= b[i];
    return algebra_norm(a, n);
}

/* What the layer adds to each token, by the plugin; in probe->updated. */
static attn_status_t attend_all(shifts_probe_t *probe, const regression_t *regression,
                                attn_error_t *error) {
    const int64_t count = regression->rows * regression->dim;
    for (int64_t i = 0; i < count; i++) probe->key[i] = (float)regression->a[i];
    const attn_status_t status =
        head_run(&probe->layer, probe->key, probe->key, probe->key, probe->out, NULL, error);
    for (int64_t i = 0; i < count && !status; i++) probe->updated[i] = (double)probe->out[i];
    return status;
}

/* The update that is in probe->updated; before and after - before are there. */
static attn_status_t measure_update(shifts_probe_t *probe, const regression_t *regression,
                                    shifts_update_t *update, attn_error_t *error) {
    const int64_t n = regression->rows, d = regression->dim;
    double *difference = probe->scratch, *work = probe->scratch + n * d;
    const attn_status_t status =
        attend_probe(probe, regression, probe->updated, regression->x, probe->turned, error);
    if (status) return status;
    for (int64_t i = 0; i < n * d; i++) difference[i] = probe->updated[i] - regression->a[i];
    for (int64_t i = 0; i < n; i++)
        update->moved =
            fmax(update->moved, fabs(algebra_dot(difference + i * d, regression->x, d)));
    update->step = algebra_spectral_norm(difference, n, d, work);
    update->norm = algebra_spectral_norm(probe->updated, n, d, work);
    update->shift = subtract(probe->turned, probe->before, n);
    update->cosine = algebra_cosine(probe->after, probe->turned, n);
    return ATTN_OK;
}

static void measure_step(shifts_probe_t *probe, const regression_t *regression, shifts_t *shifts) {
    const int64_t n = regression->rows, d = regression->dim;
    double *step = probe->scratch, *work = probe->scratch + n * d;
    for (int64_t k = 0; k < d; k++) step[k] = regression->next[k] - regression->x[k];
    shifts->weight_step = algebra_norm(step, d);
    shifts->length = fmax(algebra_norm(regression->x, d), algebra_norm(regression->next, d));
    for (int64_t i = 0; i < n; i++) shifts->moved = fmax(shifts->moved, fabs(regression->moved[i]));
    shifts->norm = algebra_spectral_norm(regression->a, n, d, work);
}

static attn_status_t measure_updates(shifts_probe_t *probe, const regression_t *regression,
                                     shifts_t *shifts, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    if (regression_data_update(regression, probe->updated))
        status = measure_update(probe, regression, &shifts->gradient, error);
    if (!status) status = attend_all(probe, regression, error);
    if (!status && regression_update(regression, probe->updated))
        status = measure_update(probe, regression, &shifts->layer, error);
    return status;
}

attn_status_t shifts_measure(shifts_probe_t *probe, const regression_t *regression,
                             shifts_t *shifts, attn_error_t *error) {
    const int64_t n = regression->rows;
    *shifts = (shifts_t){.told = 0};
    attn_status_t status =
        attend_probe(probe, regression, regression->a, regression->x, probe->before, error);
    if (!status)
        status =
            attend_probe(probe, regression, regression->a, regression->next, probe->after, error);
    if (status) return status;
    shifts->loss = regression_loss(regression, probe->before);
    shifts->deviation = largest_difference(probe->before, regression->f, n);
    measure_step(probe, regression, shifts);
    shifts->weight = subtract(probe->after, probe->before, n);
    status = measure_updates(probe, regression, shifts, error);
    /* Each f is off by a few 2^-24 of itself: a shift that is not 100 times as long has no angle. */
    const double noise = 8 * 0x1p-24 * algebra_norm(probe->before, n);
    const double least = fmin(shifts->gradient.shift, shifts->layer.shift);
    shifts->told = fmin(shifts->weight, least) > 100 * noise;
    return status;
}

static int update_premises(const regression_t *regression, const shifts_update_t *update) {
    return update->norm <= regression->radius && update->moved < 0.01;
}

int shifts_premises(const regression_t *regression, const shifts_t *shifts) {
    const double radius = regression->radius;
    return radius >= 4 && shifts->norm <= radius && shifts->length <= radius &&
           shifts->moved < 0.01 && update_premises(regression, &shifts->gradient) &&
           update_premises(regression, &shifts->layer);
}
