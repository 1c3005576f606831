/* algebra/algebra.c: see algebra.h. */
#include "algebra/algebra.h"

#include <math.h>
#include <stddef.h>

double algebra_norm(const double *a, int64_t n) { return sqrt(algebra_dot(a, a, n)); }

double algebra_cosine(const double *a, const double *b, int64_t n) {
    const double lengths = algebra_norm(a, n) * algebra_norm(b, n);
    return lengths > 0 ? algebra_dot(a, b, n) / lengths : NAN;
}

double algebra_spectral_norm(const double *a, int64_t rows, int64_t columns, double *scratch) {
    double *gram = scratch, *values = scratch + columns * columns, largest = 0;
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k < rows; k++) sum += a[k * columns + i] * a[k * columns + j];
            gram[i * columns + j] = gram[j * columns + i] = sum;
        }
    algebra_eigenvalues(gram, columns, values);
    for (int64_t i = 0; i < columns; i++) largest = fmax(largest, values[i]);
    return sqrt(largest);
}

/* ---- distortion -------------------------------------------------------------------------------- */

/* t := (L^-1 t)^T. Done twice to a symmetric t it is L^-1 t L^-T. */
static void solve_and_transpose(const double *l, double *t, int64_t n) {
    for (int64_t c = 0; c < n; c++)
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = 0; k < i; k++) t[i * n + c] -= l[i * n + k] * t[k * n + c];
            t[i * n + c] /= l[i * n + i];
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double kept = t[i * n + j];
            t[i * n + j] = t[j * n + i];
            t[j * n + i] = kept;
        }
}

double algebra_distortion(double *s, double *t, int64_t n, double *scratch) {
    double eps = 0;
    if (!algebra_cholesky(s, n)) return INFINITY;
    solve_and_transpose(s, t, n);
    solve_and_transpose(s, t, n);
    algebra_eigenvalues(t, n, scratch);
    for (int64_t i = 0; i < n; i++) eps = fmax(eps, fabs(scratch[i] - 1));
    return eps;
}
