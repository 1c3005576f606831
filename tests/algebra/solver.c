/* QR, Cholesky and eigenvectors: what they are by definition, from the fallback and from LAPACK alike. */
#include "algebra/solver.h"
#include "algebra/algebra.h"

#include "attn/random.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Rounding of n terms as large as `size`; the factor is Higham's for Householder, with room. */
static double rounding(int64_t n, double size) { return 16 * (double)n * 0x1p-52 * size; }

enum { SOLVERS = 2, KINDS = 5 };

static const algebra_solver_t *solver(int number) {
    return number == 0 ? &algebra_plain : algebra_lapack();
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
    for (int number = 0; number < SOLVERS && solver(number); number++)
        for (size_t s = 0; s < TEST_COUNT(shapes); s++)
            for (int kind = 0; kind < KINDS; kind++) {
                const int64_t rows = shapes[s][0], columns = shapes[s][1];
                double *a = room(rows * columns), *r = room(columns * columns);
                double *before = room(columns * columns), *after = room(columns * columns);
                test_label("%s, %d x %d, kind %d", solver(number)->name, (int)rows, (int)columns,
                           kind);
                fill(a, rows, columns, kind);
                gram_of(a, rows, columns, before);
                assert_true(solver(number)->triangle(a, rows, columns, r));
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

/** L L^T = S, and a matrix that is not positive definite is refused. */
static void cholesky_factors(void **state) {
    (void)state;
    for (int number = 0; number < SOLVERS && solver(number); number++)
        for (size_t s = 0; s < TEST_COUNT(shapes); s++) {
            const int64_t n = shapes[s][1];
            double *a = room((n + 3) * n), *gram = room(n * n), *l = room(n * n);
            test_label("%s, %d", solver(number)->name, (int)n);
            fill(a, n + 3, n, 0);
            gram_of(a, n + 3, n, gram);
            memcpy(l, gram, (size_t)(n * n) * sizeof *l);
            assert_true(solver(number)->cholesky(l, n));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j <= i; j++) {
                    const double sum = algebra_dot(l + i * n, l + j * n, j + 1);
                    const double size = sqrt(gram[i * n + i] * gram[j * n + j]);
                    assert_true(fabs(sum - gram[i * n + j]) <= rounding(n, size));
                }
            gram[(n - 1) * n + n - 1] = -1;
            assert_false(solver(number)->cholesky(gram, n));
            free(a);
            free(gram);
            free(l);
        }
}

/** A v = value v, vectors are orthonormal, values ascend. */
static void eigenvectors_are_that(void **state) {
    (void)state;
    for (int number = 0; number < SOLVERS && solver(number); number++)
        for (size_t s = 0; s < TEST_COUNT(shapes); s++)
            for (int kind = 0; kind < KINDS; kind++) {
                const int64_t n = shapes[s][1];
                double *a = room((n + 1) * n), *gram = room(n * n), *vectors = room(n * n);
                double *values = room(n);
                test_label("%s, %d, kind %d", solver(number)->name, (int)n, kind);
                fill(a, n + 1, n, kind);
                const double size = gram_of(a, n + 1, n, gram) * (double)n;
                memcpy(vectors, gram, (size_t)(n * n) * sizeof *gram);
                assert_true(solver(number)->eigen(vectors, n, values));
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
                assert_false(solver(number)->eigen(gram, n, values));
                free(a);
                free(gram);
                free(vectors);
                free(values);
            }
}

/** Where there is LAPACK, R and the eigenvalues are the same within rounding. */
static void solvers_agree(void **state) {
    (void)state;
    enum { ROWS = 90, N = 30 };
    const algebra_solver_t *other = algebra_lapack();
    if (!other) {
        print_message("no LAPACK here\n");
        return;
    }
    double *a = room(ROWS * N), *b = room(ROWS * N), r[N * N], s[N * N], gram[N * N], also[N * N];
    double values[N], others[N];
    fill(a, ROWS, N, 0);
    memcpy(b, a, ROWS * N * sizeof *b);
    const double size = gram_of(a, ROWS, N, gram) * N;
    memcpy(also, gram, sizeof gram);
    assert_true(algebra_plain.triangle(a, ROWS, N, r) && other->triangle(b, ROWS, N, s));
    assert_true(algebra_plain.eigen(gram, N, values) && other->eigen(also, N, others));
    /* R is as sensitive as its condition, about 4 here, squared. */
    for (int i = 0; i < N * N; i++)
        assert_true(fabs(r[i] - s[i]) <= rounding(ROWS, 16 * sqrt(size)));
    for (int i = 0; i < N; i++) assert_true(fabs(values[i] - others[i]) <= rounding(N, size));
    free(a);
    free(b);
}

TEST_MAIN(cmocka_unit_test(triangles_have_the_gram_matrix), cmocka_unit_test(cholesky_factors),
          cmocka_unit_test(eigenvectors_are_that), cmocka_unit_test(solvers_agree))
