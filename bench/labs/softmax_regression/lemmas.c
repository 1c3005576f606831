/* labs/softmax_regression/lemmas.c: see lemmas.h. */
#include "labs/softmax_regression/lemmas.h"

#include "algebra/algebra.h"

#include <math.h>
#include <stdlib.h>

static double sum(const double *x, int64_t n) {
    double all = 0;
    for (int64_t i = 0; i < n; i++) all += x[i];
    return all;
}

/* Differences come from expm1, since those of steps as short as the last ones would be lost in exp's roundings. All are
 * divided by the largest exp(logit), of which `scale` is the logarithm. */
void regression_lemmas(const double *logits, const double *moved, int64_t n, double radius,
                       double step, double *work, double parts[LEMMAS]) {
    double *after = work, *change = work + n, alpha = 0, largest = -INFINITY;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, logits[i]);
    for (int64_t i = 0; i < n; i++) {
        const double u = exp(logits[i] - largest);
        alpha += u;
        change[i] = u * expm1(moved[i]);
        after[i] = u + change[i];
    }
    const double grown = sum(change, n), turned = fabs(grown) / (alpha * (alpha + grown));
    const double scale = largest / log(10);
    const double beta = fmin(0, log10(fmin(alpha, alpha + grown)) + scale);
    const double exponent = radius * radius / log(10), rows = log10((double)n), s = log10(step);
    const double length = log10(algebra_norm(change, n)), slope = log10(2 * radius) + rows / 2;
    parts[LEMMA_EXP] = length + scale - (slope + exponent + s);
    parts[LEMMA_SUM] = log10(fabs(grown)) - (rows / 2 + length);
    parts[LEMMA_INVERSE] =
        grown == 0 ? -INFINITY : log10(turned) - log10(fabs(grown)) + 2 * (beta - scale);
    parts[LEMMA_FIRST] = log10(turned * algebra_norm(after, n)) -
                         (log10(2) + 1.5 * rows + 2 * exponent + s - 2 * beta);
    parts[LEMMA_SECOND] = length - log10(alpha) - (slope + exponent + s - beta);
    /* f' - f = (change - f grown) / alpha' */
    for (int64_t i = 0; i < n; i++)
        after[i] = (change[i] - exp(logits[i] - largest) / alpha * grown) / (alpha + grown);
    parts[LEMMA_SHIFT] = log10(algebra_norm(after, n)) -
                         (log10(4 * radius) + 1.5 * rows + 2 * exponent + s - 2 * beta);
}

int regression_step_lemmas(const regression_t *regression, double parts[2][LEMMAS]) {
    const int64_t n = regression->rows, d = regression->dim;
    double *logits = malloc((size_t)(4 * n + d + n * d + d * (d + 1)) * sizeof *logits);
    if (!logits) return 0;
    double *moved = logits + n, *work = moved + n, *step = work + 2 * n;
    double *updated = step + d, *scratch = updated + n * d;
    for (int64_t i = 0; i < n; i++)
        logits[i] = algebra_dot(regression->a + i * d, regression->x, d);
    for (int64_t k = 0; k < d; k++) step[k] = regression->next[k] - regression->x[k];
    regression_lemmas(logits, regression->moved, n, regression->radius, algebra_norm(step, d), work,
                      parts[0]);
    for (int l = 0; l < LEMMAS; l++) parts[1][l] = NAN;
    if (regression_data_update(regression, updated)) {
        for (int64_t i = 0; i < n * d; i++) updated[i] -= regression->a[i];
        for (int64_t i = 0; i < n; i++) moved[i] = algebra_dot(updated + i * d, regression->x, d);
        const double length = algebra_spectral_norm(updated, n, d, scratch);
        regression_lemmas(logits, moved, n, regression->radius, length, work, parts[1]);
    }
    free(logits);
    return 1;
}
