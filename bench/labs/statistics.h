/*
 * labs/statistics.h: from samples to numbers with 95% intervals: rates, lines and exponents.
 */
#ifndef ATTN_LABS_STATISTICS_H
#define ATTN_LABS_STATISTICS_H

#include <stdint.h>

/** A part of all trials, with its Wilson score interval (Wilson, 1927). */
typedef struct statistics_rate {
    double rate, low, high;
} statistics_rate_t;

statistics_rate_t statistics_rate(double hits, double trials);

/** Of numbers that come one by one; zeroed at first. */
typedef struct statistics_sum {
    int64_t count;
    double sum, squares;
} statistics_sum_t;

void statistics_add(statistics_sum_t *sum, double value);

/** Their mean and its 95% interval (Student's); NaN for none, and no interval of one. */
typedef struct statistics_mean {
    double mean, low, high;
} statistics_mean_t;

statistics_mean_t statistics_mean(const statistics_sum_t *sum);

/** The 97.5% quantile of Student's t with `freedom` >= 1 degrees of freedom, within 1%. */
double statistics_student(int64_t freedom);

/** A straight line through points: slope, and half the width of its 95% confidence interval. */
typedef struct statistics_line {
    double slope, intercept, half_width;
} statistics_line_t;

/**
 * Least squares through (x_i, y_i), count >= 2; the interval is Student's for normal residuals, NaN
 * for fewer than three points.
 */
statistics_line_t statistics_line(const double *x, const double *y, int64_t count);

/**
 * Slopes of the parabola through the points, by least squares, at the least and the greatest x: how far
 * a line's slope is from being one number. Both the line's slope for fewer than four points.
 */
void statistics_end_slopes(const double *x, const double *y, int64_t count, double slopes[2]);

/**
 * The exponent of the growth of y over x, and an interval: the 95% interval of a line through the
 * logarithms, widened to the slopes that a parabola through them has at both ends. A short range may
 * look straight and not have reached its exponent: points that bend say so.
 */
typedef struct exponent {
    double value, low, high;
} exponent_t;

/** Least squares over at most 64 points; NaN for fewer than 2, and no interval for fewer than 3. */
exponent_t statistics_exponent(const double *x, const double *y, int64_t count);

/** The same for two columns of rows of `width` numbers; what is not above 0 is left out. */
exponent_t statistics_exponent_of_columns(const double *rows, uint32_t count, uint32_t width,
                                          uint32_t x, uint32_t y);

#endif
