/* labs/softmax_regression/regression.c: see regression.h. */
#include "labs/softmax_regression/regression.h"

#include "algebra/algebra.h"
#include "attn/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- problem ------------------------------------------------------------------------------------ */

enum { STREAM_A, STREAM_TARGET, STREAM_START, STREAMS };

static double to_float(double x) { return (double)(float)x; }

/* A vector of this length in a random direction, in floats. */
static void draw_vector(double *x, int64_t dim, double length, uint64_t seed, uint64_t stream) {
    for (int64_t k = 0; k < dim; k++) x[k] = attn_random_normal(seed, stream, (uint64_t)k);
    const double scale = length / algebra_norm(x, dim);
    for (int64_t k = 0; k < dim; k++) x[k] = to_float(x[k] * scale);
}

/* Normal numbers, scaled to spectral norm 0.95 R: the data update has room below R. */
static int draw_data(regression_t *regression, uint64_t seed, uint64_t stream) {
    const int64_t dim = regression->dim, count = regression->rows * dim;
    double *a = regression->a;
    double *scratch = malloc((size_t)(dim * (dim + 1)) * sizeof *scratch);
    if (!scratch) return 0;
    for (int64_t i = 0; i < count; i++) a[i] = attn_random_normal(seed, stream, (uint64_t)i);
    const double norm = algebra_spectral_norm(a, regression->rows, dim, scratch);
    const double scale = 0.95 * regression->radius / norm;
    for (int64_t i = 0; i < count; i++) a[i] = to_float(a[i] * scale);
    free(scratch);
    return 1;
}

static void lay_out_regression(regression_t *regression) {
    const int64_t n = regression->rows, d = regression->dim;
    double *at = regression->memory;
    double **const pieces[] = {&regression->a,        &regression->b,    &regression->x,
                               &regression->f,        &regression->u,    &regression->trial,
                               &regression->gradient, &regression->next, &regression->moved};
    const int64_t sizes[] = {n * d, n, d, n, n, n, d, d, n};
    for (int i = 0; i < 9; i++) {
        *pieces[i] = at;
        at += sizes[i];
    }
}

int regression_create(int64_t rows, int64_t dim, double radius, double cap, uint64_t seed,
                      uint64_t trial, regression_t *regression) {
    const uint64_t streams = trial * STREAMS;
    *regression = (regression_t){.rows = rows, .dim = dim, .radius = radius, .cap = cap, .rate = 1};
    regression->memory = calloc((size_t)(rows * (dim + 5) + 3 * dim), sizeof(double));
    if (!regression->memory) return 0;
    lay_out_regression(regression);
    if (!draw_data(regression, seed, streams + STREAM_A)) {
        regression_destroy(regression);
        return 0;
    }
    draw_vector(regression->x, dim, radius / 2, seed, streams + STREAM_TARGET);
    regression_softmax(regression, regression->a, regression->x, regression->b);
    draw_vector(regression->x, dim, radius / 2, seed, streams + STREAM_START);
    return 1;
}

void regression_destroy(regression_t *regression) {
    free(regression->memory);
    regression->memory = NULL;
}

/* ---- loss and gradient --------------------------------------------------------------------------- */

void regression_softmax(const regression_t *regression, const double *a, const double *x,
                        double *f) {
    const int64_t n = regression->rows, d = regression->dim;
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        f[i] = algebra_dot(a + i * d, x, d);
        largest = fmax(largest, f[i]);
    }
    for (int64_t i = 0; i < n; i++) sum += f[i] = exp(f[i] - largest);
    for (int64_t i = 0; i < n; i++) f[i] /= sum;
}

double regression_loss(const regression_t *regression, const double *f) {
    double sum = 0;
    for (int64_t i = 0; i < regression->rows; i++)
        sum += (f[i] - regression->b[i]) * (f[i] - regression->b[i]);
    return sum / 2;
}

void regression_gradient(regression_t *regression) {
    const int64_t n = regression->rows, d = regression->dim;
    double *f = regression->f, *u = regression->u, mean = 0;
    regression_softmax(regression, regression->a, regression->x, f);
    for (int64_t i = 0; i < n; i++) mean += f[i] * (f[i] - regression->b[i]);
    for (int64_t i = 0; i < n; i++) u[i] = f[i] * (f[i] - regression->b[i] - mean);
    memset(regression->gradient, 0, (size_t)d * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++) regression->gradient[k] += regression->a[i * d + k] * u[i];
}

/* ---- descent ------------------------------------------------------------------------------------- */

/* next = x - rate gradient in floats, and moved; 1 when that keeps to the theorems' premises. */
static int try_rate(regression_t *regression, double rate) {
    const int64_t n = regression->rows, d = regression->dim;
    const double *x = regression->x;
    double *next = regression->next, largest = 0;
    for (int64_t k = 0; k < d; k++) next[k] = to_float(x[k] - rate * regression->gradient[k]);
    for (int64_t i = 0; i < n; i++) {
        regression->moved[i] = 0;
        for (int64_t k = 0; k < d; k++)
            regression->moved[i] += regression->a[i * d + k] * (next[k] - x[k]);
        largest = fmax(largest, fabs(regression->moved[i]));
    }
    return largest < regression->cap && algebra_norm(next, d) <= regression->radius;
}

int regression_step(regression_t *regression) {
    static const double armijo = 1e-4; /* Nocedal and Wright, "Numerical Optimization", 2006, 3.1 */
    enum { MAX_HALVINGS = 200 };
    const double loss = regression_loss(regression, regression->f);
    const double square = algebra_dot(regression->gradient, regression->gradient, regression->dim);
    double rate = 2 * regression->rate;
    for (int halving = 0; halving < MAX_HALVINGS && square > 0; halving++, rate /= 2) {
        if (!try_rate(regression, rate)) continue;
        regression_softmax(regression, regression->a, regression->next, regression->trial);
        if (regression_loss(regression, regression->trial) > loss - armijo * rate * square)
            continue;
        regression->rate = rate;
        return memcmp(regression->next, regression->x, (size_t)regression->dim * sizeof(double)) !=
               0;
    }
    return 0;
}

void regression_advance(regression_t *regression) {
    memcpy(regression->x, regression->next, (size_t)regression->dim * sizeof(double));
}

double regression_arrival(const regression_t *regression) {
    const double off = 4 * 0x1p-24 * algebra_norm(regression->b, regression->rows);
    return off * off / 2;
}

int regression_descend(regression_t *regression, int64_t steps) {
    const double least = regression_arrival(regression);
    for (int64_t step = 0;; step++) {
        regression_gradient(regression);
        if (!(regression_loss(regression, regression->f) > least && regression_step(regression)))
            return 0;
        if (step >= steps) return 1;
        regression_advance(regression);
    }
}

int regression_update(const regression_t *regression, double *direction) {
    const int64_t n = regression->rows, d = regression->dim;
    double largest = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        const double move = algebra_dot(direction + i * d, regression->x, d);
        largest = fmax(largest, fabs(move));
        square += move * move;
    }
    if (!(square > 0)) return 0;
    double rate = algebra_norm(regression->moved, n) / sqrt(square);
    /* A hair below the cap: A' is rounded to float. */
    if (rate * largest >= regression->cap) rate = regression->cap * (1 - 0x1p-10) / largest;
    for (int64_t i = 0; i < n * d; i++)
        direction[i] = to_float(regression->a[i] + rate * direction[i]);
    return 1;
}

int regression_data_update(const regression_t *regression, double *updated) {
    const int64_t n = regression->rows, d = regression->dim;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++) updated[i * d + k] = -regression->u[i] * regression->x[k];
    return regression_update(regression, updated);
}

/* ---- bounds, in logarithms: M is 10^72 for R = 4 and overflows a double from R = 9 on ------------ */

double regression_log_bound(int64_t rows, double radius) {
    return 1.5 * log10((double)rows) + 10 * radius * radius / log(10);
}

double regression_log_tight_bound(int64_t rows, double radius) {
    return log10(4 * radius) + 1.5 * log10((double)rows) + 4 * radius * radius / log(10);
}
