/* algebra/algebra.c: see algebra.h. */
#include "algebra/algebra.h"

#include <math.h>
#include <stddef.h>

/* Sums that need not wait for each other. */
double algebra_dot(const double *a, const double *b, int64_t n) {
    double sums[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void algebra_add_multiple(double *restrict y, double factor, const double *restrict x, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

double algebra_norm(const double *a, int64_t n) { return sqrt(algebra_dot(a, a, n)); }

double algebra_cosine(const double *a, const double *b, int64_t n) {
    const double lengths = algebra_norm(a, n) * algebra_norm(b, n);
    return lengths > 0 ? algebra_dot(a, b, n) / lengths : NAN;
}

/* ---- eigenvalues ------------------------------------------------------------------------------ */

/* Rows p and q of a, turned. */
static void turn_rows(double *a, int64_t n, int64_t p, int64_t q, double c, double s) {
    double *restrict first = a + p * n, *restrict second = a + q * n;
    for (int64_t k = 0; k < n; k++) {
        const double x = first[k], y = second[k];
        first[k] = c * x - s * y;
        second[k] = s * x + c * y;
    }
}

/* Turns rows and columns p and q so that a[p][q] becomes 0, and rows p and q of `vectors`. */
static void rotate(double *a, int64_t n, int64_t p, int64_t q, double *vectors) {
    const double off = a[p * n + q];
    if (off == 0) return;
    const double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t k = 0; k < n; k++) {
        const double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    turn_rows(a, n, p, q, c, s);
    if (vectors) turn_rows(vectors, n, p, q, c, s);
}

/* Sum of squares off the diagonal, against all. */
static double off_diagonal(const double *a, int64_t n) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double square = a[i * n + j] * a[i * n + j];
            all += square;
            if (i != j) off += square;
        }
    return all > 0 ? off / all : 0;
}

void algebra_rotate_to_diagonal(double *a, int64_t n, double *vectors, double *values) {
    enum { MAX_SWEEPS = 30 }; /* convergence is quadratic: six or seven are enough */
    for (int sweep = 0; sweep < MAX_SWEEPS && off_diagonal(a, n) > 0x1p-104; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) rotate(a, n, p, q, vectors);
    for (int64_t i = 0; i < n; i++) values[i] = a[i * n + i];
}

void algebra_eigenvalues(double *a, int64_t n, double *values) {
    algebra_rotate_to_diagonal(a, n, NULL, values);
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

int algebra_cholesky(double *s, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double sum = s[i * n + j] - algebra_dot(s + i * n, s + j * n, j);
            if (i == j && !(sum > 0)) return 0;
            s[i * n + j] = i == j ? sqrt(sum) : sum / s[j * n + j];
        }
    return 1;
}

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

/* Row by row: L^-1, below its diagonal in `inverse`, and the products of its rows, in a; both triangles of those. */
int algebra_invert(double *a, int64_t n, double *inverse) {
    if (!algebra_cholesky(a, n)) return 0;
    for (int64_t i = 0; i < n; i++) {
        double *row = inverse + i * n;
        for (int64_t j = 0; j <= i; j++) row[j] = i == j;
        for (int64_t k = 0; k < i; k++)
            algebra_add_multiple(row, -a[i * n + k], inverse + k * n, k + 1);
        for (int64_t j = 0; j <= i; j++) row[j] /= a[i * n + i];
    }
    for (int64_t i = 0; i < n * n; i++) a[i] = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i <= k; i++)
            algebra_add_multiple(a + i * n, inverse[k * n + i], inverse + k * n, i + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) inverse[i * n + j] = a[j <= i ? i * n + j : j * n + i];
    return 1;
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
