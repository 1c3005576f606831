/* How near a sketch is said to be: the distortion where it is known exactly, and the attention matrix by definition. */
#include "algebra/algebra.h"
#include "sketching/sketch.h"
#include "support/test.h"

#include "attn/random.h"

#include <math.h>
#include <stdlib.h>

enum { FEATURES = 32, KEPT = 24, MOST_ROWS = 40 };

/* Row i of Hadamard's matrix: +-1, and rows are orthogonal. */
static double hadamard(int64_t i, int64_t j) {
    double sign = 1;
    for (int64_t both = i & j; both; both &= both - 1) sign = -sign;
    return sign;
}

static sketching_distance_t measure(const sketching_x_t *x, const algebra_solver_t *solver,
                                    const float *y, int64_t m) {
    sketching_features_t features;
    sketching_distance_t distance;
    assert_true(sketching_features_create(x, &features));
    assert_int_equal(sketching_measure(&features, solver, y, m, &distance, NULL), ATTN_OK);
    sketching_features_destroy(&features);
    return distance;
}

/* Of H' H'^T KEPT columns, each twice, against all: rows of H have the squared length FEATURES. */
static double distortion_of_kept(int64_t rank) {
    double form[FEATURES * FEATURES], values[FEATURES], most = 0;
    for (int64_t a = 0; a < rank; a++)
        for (int64_t b = 0; b < rank; b++) {
            form[a * rank + b] = 0;
            for (int64_t j = 0; j < KEPT; j++)
                form[a * rank + b] += 4 * hadamard(a, j) * hadamard(b, j) / FEATURES;
        }
    algebra_eigenvalues(form, rank, values);
    for (int64_t a = 0; a < rank; a++) most = fmax(most, fabs(values[a] - 1));
    return most;
}

/**
 * Rows h_0 and h_0 + part h_i, h being rows of Hadamard's matrix, and Y of some columns twice: all are exact in float, and
 * the distortion is that of rows of h, whatever the part. A condition of 1 / part times the rounding of a row is what may be
 * lost of it, where by X X^T it would be the square. More rows than features repeat others, times a power of 2.
 */
static void nearly_dependent_rows_have_their_distortion(void **state) {
    (void)state;
    static const int64_t ranks[] = {2, 5, 16};
    for (int bits = 0; bits <= 17; bits++)
        for (size_t c = 0; c < 2 * TEST_COUNT(ranks); c++) {
            const int64_t rank = ranks[c / 2], rows = c % 2 ? MOST_ROWS : rank;
            float x[MOST_ROWS * FEATURES], y[MOST_ROWS * KEPT];
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < FEATURES; j++) {
                    const double own = i % rank ? ldexp(hadamard(i % rank, j), -bits) : 0;
                    x[i * FEATURES + j] = (float)ldexp(hadamard(0, j) + own, (int)(-i / rank % 3));
                    if (j < KEPT) y[i * KEPT + j] = 2 * x[i * FEATURES + j];
                }
            const sketching_x_t dense = {.rows = rows, .columns = FEATURES, .dense = x};
            const double known = distortion_of_kept(rank);
            for (int way = 0; way < 2; way++) {
                const algebra_solver_t *solver = way ? algebra_best() : &algebra_plain;
                const sketching_distance_t found = measure(&dense, solver, y, KEPT);
                const double rounding =
                    8 * (double)((rows + FEATURES) * rank) * ldexp(0x1p-53, bits);
                test_label("%s, %d rows of rank %d, 2^-%d", solver->name, (int)rows, (int)rank,
                           bits);
                assert_int_equal(found.rank, rank);
                if (!(fabs(found.distortion - known) <= rounding))
                    test_fail("off by %g, not %g", fabs(found.distortion - known), rounding);
            }
        }
}

/* D^-1 exp(X X^T), n x n. */
static void attention(const float *x, int64_t n, int64_t d, double *weights) {
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            double logit = 0;
            for (int64_t k = 0; k < d; k++) logit += (double)x[i * d + k] * (double)x[j * d + k];
            sum += weights[i * n + j] = exp(logit);
        }
        for (int64_t j = 0; j < n; j++) weights[i * n + j] /= sum;
    }
}

/** Whether all rows are looked at together or some at a time, dense or CSR: the largest change is that of the definition. */
static void the_largest_change_is_that_of_all_entries(void **state) {
    (void)state;
    enum { ROWS = 150, MOST = 200 };
    static float x[ROWS * MOST], y[ROWS * MOST], data[ROWS * MOST];
    static int64_t starts[ROWS + 1];
    static int32_t indices[ROWS * MOST];
    static double exact[ROWS * ROWS], near[ROWS * ROWS];
    static const int64_t dims[] = {1, 5, 70, MOST};
    for (size_t c = 0; c < TEST_COUNT(dims); c++) {
        const int64_t d = dims[c], m = d > 1 ? d / 2 : 1;
        double most = 0;
        int64_t used = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t j = 0; j < d; j++) {
                const double value = attn_random_normal(test_seed(), 5, (uint64_t)(i * d + j));
                const int is_there = j == 0 || (i + j) % 3 == 0;
                x[i * d + j] = is_there ? (float)(value / sqrt((double)d)) : 0;
                if (is_there) indices[used] = (int32_t)j, data[used++] = x[i * d + j];
                if (j < m) y[i * m + j] = x[i * d + j] * 1.5f;
            }
            starts[i + 1] = used;
        }
        const sketching_x_t xs[] = {
            {.rows = ROWS, .columns = d, .dense = x},
            {.rows = ROWS, .columns = d, .starts = starts, .indices = indices, .data = data}};
        attention(x, ROWS, d, exact);
        attention(y, ROWS, m, near);
        for (int64_t at = 0; at < (int64_t)ROWS * ROWS; at++)
            most = fmax(most, fabs(near[at] - exact[at]));
        for (int form = 0; form < 2; form++) {
            const double entry = measure(&xs[form], &algebra_plain, y, m).entry;
            test_label("%d features, %s", (int)d, form ? "CSR" : "dense");
            /* Logits below 2^5, of d terms, and sums of ROWS weights, which are below 1. */
            if (!(fabs(entry - most) <= (double)(2 * d + ROWS) * 0x1p-47))
                test_fail("%g, not %g", entry, most);
        }
    }
}

TEST_MAIN(cmocka_unit_test(nearly_dependent_rows_have_their_distortion),
          cmocka_unit_test(the_largest_change_is_that_of_all_entries))
