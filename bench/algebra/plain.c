/* algebra/plain.c: the fallback of solver.h. */
#include "algebra/algebra.h"
#include "algebra/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- QR ------------------------------------------------------------------------------------------ */

/*
 * Reflects rows k and below so that column k becomes (norm, 0, ..., 0). The reflection is I - u u^T / h with
 * u_k = a_kk -+ norm, the sign that does not cancel (Golub and Van Loan, "Matrix Computations", 5.1).
 */
static void reflect(double *a, int64_t rows, int64_t columns, int64_t k, double *along) {
    double square = 0;
    for (int64_t i = k; i < rows; i++) square += a[i * columns + k] * a[i * columns + k];
    if (square == 0) return;
    const double corner = a[k * columns + k], norm = corner > 0 ? -sqrt(square) : sqrt(square);
    const double h = square - corner * norm;
    a[k * columns + k] = corner - norm;
    memset(along, 0, (size_t)columns * sizeof *along);
    for (int64_t i = k; i < rows; i++) {
        const double *row = a + i * columns, u = row[k];
        for (int64_t j = k + 1; j < columns; j++) along[j] += u * row[j];
    }
    for (int64_t i = k; i < rows; i++) {
        double *row = a + i * columns;
        const double u = row[k] / h;
        for (int64_t j = k + 1; j < columns; j++) row[j] -= u * along[j];
    }
    a[k * columns + k] = norm;
}

static int triangle(double *a, int64_t rows, int64_t columns, double *r) {
    double *along = malloc((size_t)columns * sizeof *along);
    if (!along) return 0;
    for (int64_t k = 0; k < columns; k++) reflect(a, rows, columns, k, along);
    free(along);
    for (int64_t i = 0; i < columns; i++) {
        const double sign = a[i * columns + i] < 0 ? -1 : 1;
        for (int64_t j = 0; j < columns; j++)
            r[i * columns + j] = j < i ? 0 : sign * a[i * columns + j];
    }
    return 1;
}

/* ---- eigenvectors ---------------------------------------------------------------------------------- */

static int put_in_order(double *a, const double *vectors, int64_t n, double *values) {
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0; /* how many come before; equal ones by their numbers */
        for (int64_t i = 0; i < n; i++)
            at += values[i] < values[k] || (values[i] == values[k] && i < k);
        memcpy(a + at * n, vectors + k * n, (size_t)n * sizeof *a);
    }
    for (int64_t i = 1; i < n; i++) {
        const double value = values[i];
        int64_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return 1;
}

static int eigen(double *a, int64_t n, double *values) {
    double *vectors = calloc((size_t)n * (size_t)n, sizeof *vectors);
    if (!vectors) return 0;
    for (int64_t i = 0; i < n; i++) vectors[i * n + i] = 1;
    algebra_rotate_to_diagonal(a, n, vectors, values);
    int is_finite = 1;
    for (int64_t i = 0; i < n; i++) is_finite &= isfinite(values[i]) != 0;
    if (is_finite) put_in_order(a, vectors, n, values);
    free(vectors);
    return is_finite;
}

const algebra_solver_t algebra_plain = {
    .name = "plain", .library = "this program", .triangle = triangle, .eigen = eigen};
