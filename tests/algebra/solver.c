/* QR and eigenvectors: what they are by definition, from the fallback or, in test_algebra_lapack, from LAPACK. */
#include "algebra/solver.h"
#include "algebra/algebra.h"

#include "attn/random.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Rounding of n terms as large as `size`; the factor is Higham's for Householder, with room. */
static double rounding(int64_t n, double size) { return 16 * (double)n * 0x1p-52 * size; }

enum { KINDS = 5 };

/** The one that is tested. A LAPACK that CMake has found has to be there. */
static const algebra_solver_t *solver(void) {
#ifdef TEST_LAPACK
    assert_non_null(algebra_lapack());
    return algebra_lapack();
#else
    return &algebra_plain;
#endif
}

static double *room(int64_t count) {
    double *numbers = calloc((size_t)count, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

/** Random; columns from 1e-9 to 1e9; of rank 2 or less; zeros; the identity. */
static void fill(double *a, int64_t rows, int64_t columns, int kind) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double normal =
                attn_random_normal(test_seed(), (uint64_t)kind, (uint64_t)(i * columns + j));
            const double low = (double)(i % 5) + (double)((i % 3) * j);
            const double kinds[KINDS] = {normal, normal * pow(10, (double)(j % 19) - 9), low, 0,
                                         i == j};
            a[i * columns + j] = kinds[kind];
        }
}

/** a^T a, and the largest number in it. */
static double gram_of(const double *a, int64_t rows, int64_t columns, double *gram) {
    double most = 0;
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0;
            for (int64_t k = 0; k < rows; k++) sum += a[k * columns + i] * a[k * columns + j];
            gram[i * columns + j] = sum;
            most = fmax(most, fabs(sum));
        }
    return most;
}

static const int64_t shapes[][2] = {{1, 1}, {2, 1}, {3, 3}, {17, 5}, {40, 40}, {130, 33}};

/** R^T R = A^T A column by column, R is triangular, and its diagonal is not negative. */
static void triangles_have_the_gram_matrix(void **state) {
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(shapes); s++)
        for (int kind = 0; kind < KINDS; kind++) {
            const int64_t rows = shapes[s][0], columns = shapes[s][1];
            double *a = room(rows * columns), *r = room(columns * columns);
            double *before = room(columns * columns), *after = room(columns * columns);
            test_label("%s, %d x %d, kind %d", solver()->name, (int)rows, (int)columns, kind);
            fill(a, rows, columns, kind);
            gram_of(a, rows, columns, before);
            assert_true(solver()->triangle(a, rows, columns, r));
            gram_of(r, columns, columns, after);
            for (int64_t i = 0; i < columns; i++)
                for (int64_t j = 0; j < columns; j++) {
                    const double size = sqrt(before[i * columns + i] * before[j * columns + j]);
                    const double off = fabs(before[i * columns + j] - after[i * columns + j]);
                    if (!(off <= rounding(rows + columns, size)))
                        test_fail("(%d, %d) is off by %g of %g", (int)i, (int)j, off, size);
                    assert_true(j > i || r[i * columns + j] >= 0);
                    assert_true(j >= i || r[i * columns + j] == 0);
                }
            free(a);
            free(r);
            free(before);
            free(after);
        }
}

/** A v = value v, vectors are orthonormal, values ascend. */
static void eigenvectors_are_that(void **state) {
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(shapes); s++)
        for (int kind = 0; kind < KINDS; kind++) {
            const int64_t n = shapes[s][1];
            double *a = room((n + 1) * n), *gram = room(n * n), *vectors = room(n * n);
            double *values = room(n);
            test_label("%s, %d, kind %d", solver()->name, (int)n, kind);
            fill(a, n + 1, n, kind);
            const double size = gram_of(a, n + 1, n, gram) * (double)n;
            memcpy(vectors, gram, (size_t)(n * n) * sizeof *gram);
            assert_true(solver()->eigen(vectors, n, values));
            for (int64_t k = 0; k < n; k++) {
                const double *v = vectors + k * n;
                assert_true(k == 0 || values[k] >= values[k - 1]);
                for (int64_t i = 0; i < n; i++) {
                    const double off = algebra_dot(gram + i * n, v, n) - values[k] * v[i];
                    assert_true(fabs(off) <= rounding(n, size));
                    const double product = algebra_dot(v, vectors + i * n, n);
                    assert_true(fabs(product - (i == k)) <= rounding(n, 1));
                }
            }
            gram[0] = NAN;
            assert_false(solver()->eigen(gram, n, values));
            free(a);
            free(gram);
            free(vectors);
            free(values);
        }
}

#ifdef TEST_LAPACK
/** R and the eigenvalues are the plain C's within rounding. */
static void is_near_plain(void **state) {
    (void)state;
    enum { ROWS = 90, N = 30 };
    print_message("%s: %s\n", solver()->name, solver()->library);
    double *a = room(ROWS * N), *b = room(ROWS * N), r[N * N], s[N * N], gram[N * N], also[N * N];
    double values[N], others[N];
    fill(a, ROWS, N, 0);
    memcpy(b, a, ROWS * N * sizeof *b);
    const double size = gram_of(a, ROWS, N, gram) * N;
    memcpy(also, gram, sizeof gram);
    assert_true(algebra_plain.triangle(a, ROWS, N, r) && solver()->triangle(b, ROWS, N, s));
    assert_true(algebra_plain.eigen(gram, N, values) && solver()->eigen(also, N, others));
    /* R is as sensitive as its condition, about 4 here, squared. */
    for (int i = 0; i < N * N; i++)
        assert_true(fabs(r[i] - s[i]) <= rounding(ROWS, 16 * sqrt(size)));
    for (int i = 0; i < N; i++) assert_true(fabs(values[i] - others[i]) <= rounding(N, size));
    free(a);
    free(b);
}

TEST_MAIN(cmocka_unit_test(triangles_have_the_gram_matrix), cmocka_unit_test(eigenvectors_are_that),
          cmocka_unit_test(is_near_plain))
#else
TEST_MAIN(cmocka_unit_test(triangles_have_the_gram_matrix), cmocka_unit_test(eigenvectors_are_that))
#endif
