/* Rates, lines and exponents, and what their intervals hold. */
#include "labs/statistics.h"

#include "attn/random.h"
#include "support/test.h"

#include <math.h>

static void intervals_are_wilsons(void **state) {
    (void)state;
    /* Newcombe (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29. */
    static const double known[][4] = {{81, 263, 0.2553, 0.3662},
                                      {15, 148, 0.0624, 0.1605},
                                      {0, 20, 0, 0.1611},
                                      {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < TEST_COUNT(known); i++) {
        const statistics_rate_t rate = statistics_rate(known[i][0], known[i][1]);
        if (!(fabs(rate.low - known[i][2]) <= 5e-5 && fabs(rate.high - known[i][3]) <= 5e-5))
            test_fail("%g of %g: %.4f to %.4f", known[i][0], known[i][1], rate.low, rate.high);
    }
}

/** Wilson's interval ends at 0 and 1 where it must; a known value between. */
static void rates_end_at_0_and_1(void **state) {
    (void)state;
    const statistics_rate_t none = statistics_rate(0, 20), all = statistics_rate(20, 20);
    const statistics_rate_t half = statistics_rate(5, 10);
    assert_true(none.low == 0 && none.rate == 0 && none.high > 0.1 && none.high < 0.2);
    assert_true(all.high == 1 && all.rate == 1 && fabs(all.low + none.high - 1) < 1e-12);
    assert_true(fabs(half.low - 0.2366) < 5e-5 && fabs(half.high - 0.7634) < 5e-5);
}

/** The interval of a fit holds the true slope 95 times of 100. */
static void fits_cover_the_slope(void **state) {
    (void)state;
    enum { POINTS = 6, TRIALS = 2000 };
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double x[POINTS], y[POINTS];
        for (int i = 0; i < POINTS; i++) {
            x[i] = i;
            y[i] =
                1.5 * i - 2 + attn_random_normal(test_seed(), 100 + (uint64_t)trial, (uint64_t)i);
        }
        const statistics_line_t line = statistics_line(x, y, POINTS);
        covered += fabs(line.slope - 1.5) <= line.half_width;
    }
    const double deviation = sqrt(0.95 * 0.05 / TRIALS);
    assert_true(fabs((double)covered / TRIALS - 0.95) < 4 * deviation + 0.005);
    const double two[] = {1, 3}, line[] = {5, 9};
    assert_true(fabs(statistics_line(two, line, 2).slope - 2) < 1e-12);
    assert_true(isnan(statistics_line(two, line, 2).half_width));
}

/** x^p over a range, and a law that has not reached its exponent there. */
static exponent_t exponent_of(double p, double offset) {
    static const double x[] = {512, 1024, 2048, 4096, 8192, 16384};
    double y[TEST_COUNT(x)];
    for (size_t i = 0; i < TEST_COUNT(x); i++) y[i] = pow(x[i], p) + offset;
    return statistics_exponent(x, y, TEST_COUNT(x));
}

static void exponents_tell_their_curvature(void **state) {
    (void)state;
    const exponent_t pure = exponent_of(1.5, 0), bent = exponent_of(2, 512 * 512);
    assert_true(fabs(pure.value - 1.5) < 1e-9 && pure.high - pure.low < 1e-6);
    /* 2 x^2 / (x^2 + 512^2) is 1 at 512 and 1.998 at 16384: the line's interval misses both. */
    assert_true(bent.value > 1.7 && bent.value < 1.97);
    assert_true(bent.low < 1.5 && bent.high > 2);
    const exponent_t none = exponent_of(0, 0.1); /* 1.1 everywhere: no "-0.00" */
    assert_true(none.value == 0 && !signbit(none.value) && !signbit(none.low));
    const double two[] = {1, 2};
    assert_true(isnan(statistics_exponent(two, two, 2).low));
}

TEST_MAIN(cmocka_unit_test(intervals_are_wilsons), cmocka_unit_test(rates_end_at_0_and_1),
          cmocka_unit_test(fits_cover_the_slope), cmocka_unit_test(exponents_tell_their_curvature))
