/* What the experiments measure with: eigenvalues and distortion. */
#include "algebra/algebra.h"

#include "attn/random.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { N = 7 };

static void fill(double *a, int64_t count, uint64_t stream) {
    for (int64_t i = 0; i < count; i++) a[i] = attn_random_normal(test_seed(), stream, (uint64_t)i);
}

/** a := b b^T + shift I. */
static void gram(const double *b, double shift, double *a) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = algebra_dot(b + i * N, b + j * N, N) + (i == j ? shift : 0);
}

static void eigenvalues_keep_trace_and_squares(void **state) {
    (void)state;
    double b[N * N], a[N * N], values[N], trace = 0, squares = 0;
    fill(b, (int64_t)(N * N), 1);
    gram(b, 1, a);
    for (int i = 0; i < N; i++) {
        trace += a[i * N + i];
        for (int j = 0; j < N; j++) squares += a[i * N + j] * a[i * N + j];
    }
    algebra_eigenvalues(a, N, values);
    for (int i = 0; i < N; i++) {
        assert_true(values[i] >= 1 - N * 0x1p-40);
        trace -= values[i];
        squares -= values[i] * values[i];
    }
    assert_true(fabs(trace) < 1e-10);
    assert_true(fabs(squares) < 1e-8);
}

/** L L^T = S within rounding of N terms, and a matrix that is not positive definite is refused. */
static void cholesky_factors(void **state) {
    (void)state;
    double b[N * N], s[N * N], l[N * N];
    fill(b, (int64_t)(N * N), 5);
    gram(b, 0, s);
    memcpy(l, s, sizeof l);
    assert_true(algebra_cholesky(l, N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            const double sum = algebra_dot(l + i * N, l + j * N, j + 1);
            assert_true(fabs(sum - s[i * N + j]) <=
                        2 * (N + 1) * 0x1p-53 * sqrt(s[i * N + i] * s[j * N + j]));
        }
    s[N * N - 1] = -1;
    assert_false(algebra_cholesky(s, N));
}

static void spectral_norm_of_a_product(void **state) {
    (void)state;
    double u[5], v[N], a[5 * N], scratch[N * (N + 1)];
    fill(u, 5, 2);
    fill(v, N, 3);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < N; j++) a[i * N + j] = u[i] * v[j];
    const double expected = algebra_norm(u, 5) * algebra_norm(v, N);
    assert_true(fabs(algebra_spectral_norm(a, 5, N, scratch) / expected - 1) < 1e-12);
}

/** T = C (I + diag(e)) C^T for S = C C^T has the eigenvalues 1 + e_i against S. */
static void distortion_is_the_largest_deviation(void **state) {
    (void)state;
    static const double e[N] = {0.1, -0.3, 0, 0.25, -0.2, 0.05, 0};
    double c[N * N], s[N * N], t[N * N], scaled[N * N], scratch[N];
    fill(c, (int64_t)(N * N), 4);
    gram(c, 0, s);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) scaled[i * N + k] = c[i * N + k] * (1 + e[k]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) t[i * N + j] = algebra_dot(scaled + i * N, c + j * N, N);
    assert_true(fabs(algebra_distortion(s, t, N, scratch) - 0.3) < 1e-7);
    double zero[N * N] = {0};
    assert_true(isinf(algebra_distortion(zero, t, N, scratch)));
}

TEST_MAIN(cmocka_unit_test(eigenvalues_keep_trace_and_squares), cmocka_unit_test(cholesky_factors),
          cmocka_unit_test(spectral_norm_of_a_product),
          cmocka_unit_test(distortion_is_the_largest_deviation))
