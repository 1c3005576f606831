/* labs/shifts.c: see shifts.h. */
#include "labs/shifts.h"

#include "attn/support.h"
#include "labs/algebra.h"

#include <math.h>
#include <stdlib.h>

attn_status_t shifts_create(const attn_context_t *context, int64_t rows, int64_t dim,
                            shifts_probe_t *probe, attn_error_t *error) {
    const size_t n = (size_t)rows, d = (size_t)dim;
    const attn_problem_t problem = head_problem(1, rows, dim, 1);
    *probe = (shifts_probe_t){.key = NULL};
    attn_status_t status = head_create(context, "softmax", &problem, NULL, 0, &probe->head, error);
    if (status) return status;
    probe->key = malloc((n * d + d + n) * sizeof *probe->key);
    probe->updated = malloc((2 * n * d + 3 * n + d * (d + 1)) * sizeof *probe->updated);
    if (!probe->key || !probe->updated) {
        shifts_destroy(probe);
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %lld x %lld data",
                         (long long)rows, (long long)dim);
    }
    probe->query = probe->key + n * d;
    probe->weights = probe->query + d;
    probe->before = probe->updated + n * d;
    probe->after = probe->before + n;
    probe->turned = probe->after + n;
    probe->scratch = probe->turned + n; /* n d for a difference, then d (d + 1) */
    return ATTN_OK;
}

void shifts_destroy(shifts_probe_t *probe) {
    head_destroy(&probe->head);
    free(probe->key);
    free(probe->updated);
    *probe = (shifts_probe_t){.key = NULL};
}

/* f = softmax(a x), by the plugin. */
static attn_status_t attend(shifts_probe_t *probe, const regression_t *regression, const double *a,
                            const double *x, double *f, attn_error_t *error) {
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

/* Steps and premises of the data update that is in probe->updated. */
static void measure_update(shifts_probe_t *probe, const regression_t *regression,
                           shifts_t *shifts) {
    const int64_t n = regression->rows, d = regression->dim;
    double *difference = probe->scratch, *work = probe->scratch + n * d;
    for (int64_t i = 0; i < n * d; i++) difference[i] = probe->updated[i] - regression->a[i];
    for (int64_t i = 0; i < n; i++)
        shifts->data_moved =
            fmax(shifts->data_moved, fabs(algebra_dot(difference + i * d, regression->x, d)));
    shifts->data_step = algebra_spectral_norm(difference, n, d, work);
    shifts->data_norm = algebra_spectral_norm(probe->updated, n, d, work);
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

attn_status_t shifts_measure(shifts_probe_t *probe, const regression_t *regression,
                             shifts_t *shifts, attn_error_t *error) {
    const int64_t n = regression->rows;
    *shifts = (shifts_t){.cosine = NAN};
    const int updated = regression_data_update(regression, probe->updated);
    attn_status_t status =
        attend(probe, regression, regression->a, regression->x, probe->before, error);
    if (!status)
        status = attend(probe, regression, regression->a, regression->next, probe->after, error);
    if (!status && updated)
        status = attend(probe, regression, probe->updated, regression->x, probe->turned, error);
    if (status) return status;
    shifts->loss = regression_loss(regression, probe->before);
    shifts->deviation = largest_difference(probe->before, regression->f, n);
    measure_step(probe, regression, shifts);
    shifts->weight = subtract(probe->after, probe->before, n);
    if (!updated) return ATTN_OK;
    measure_update(probe, regression, shifts);
    shifts->data = subtract(probe->turned, probe->before, n);
    /* Each f is off by a few 2^-24 of itself: a shift that is not 100 times as long has no angle. */
    const double noise = 8 * 0x1p-24 * algebra_norm(probe->before, n);
    if (fmin(shifts->weight, shifts->data) > 100 * noise)
        shifts->cosine = algebra_cosine(probe->after, probe->turned, n);
    return ATTN_OK;
}

int shifts_premises(const regression_t *regression, const shifts_t *shifts) {
    const double radius = regression->radius;
    return radius >= 4 && shifts->norm <= radius && shifts->data_norm <= radius &&
           shifts->length <= radius && shifts->moved < 0.01 && shifts->data_moved < 0.01;
}
