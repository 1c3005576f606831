/* labs/statistics.c: see statistics.h. */
#include "labs/statistics.h"

#include <math.h>

/* The normal distribution's 97.5% quantile. */
static const double Z = 1.959963984540054;

statistics_rate_t statistics_rate(double hits, double trials) {
    const double rate = hits / trials, scale = 1 + Z * Z / trials;
    const double center = rate + Z * Z / (2 * trials);
    const double half = Z * sqrt(rate * (1 - rate) / trials + Z * Z / (4 * trials * trials));
    /* Both ends without the rounding of center and half. */
    return (statistics_rate_t){rate, hits > 0 ? (center - half) / scale : 0,
                               hits < trials ? (center + half) / scale : 1};
}

void statistics_add(statistics_sum_t *sum, double value) {
    sum->count++;
    sum->sum += value;
    sum->squares += value * value;
}

statistics_mean_t statistics_mean(const statistics_sum_t *sum) {
    const double count = (double)sum->count;
    statistics_mean_t mean = {NAN, NAN, NAN};
    if (sum->count < 1) return mean;
    mean.mean = sum->sum / count;
    if (sum->count < 2) return mean;
    const double variance = fmax(0, (sum->squares - sum->sum * mean.mean) / (count - 1));
    const double half = statistics_student(sum->count - 1) * sqrt(variance / count);
    mean.low = mean.mean - half;
    mean.high = mean.mean + half;
    return mean;
}

/* ---- lines --------------------------------------------------------------------------------------- */

/*
 * The 97.5% quantile of Student's t. Exact for 1 and 2 degrees of freedom; else the expansion around
 * the normal quantile (Abramowitz and Stegun, 26.7.5), within 1% from 3 on.
 */
double statistics_student(int64_t freedom) {
    const double v = (double)freedom, z2 = Z * Z;
    if (freedom == 1) return 12.706204736432095;
    if (freedom == 2) return 4.302652729911275;
    return Z + Z * (z2 + 1) / (4 * v) + Z * ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
           Z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v);
}

statistics_line_t statistics_line(const double *x, const double *y, int64_t count) {
    double mean_x = 0, mean_y = 0, sxx = 0, sxy = 0, residuals = 0;
    for (int64_t i = 0; i < count; i++) mean_x += x[i], mean_y += y[i];
    mean_x /= (double)count, mean_y /= (double)count;
    for (int64_t i = 0; i < count; i++) {
        sxx += (x[i] - mean_x) * (x[i] - mean_x);
        sxy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    statistics_line_t line = {.slope = sxy / sxx, .half_width = NAN};
    line.intercept = mean_y - line.slope * mean_x;
    for (int64_t i = 0; i < count; i++) {
        const double off = y[i] - (line.intercept + line.slope * x[i]);
        residuals += off * off;
    }
    if (count > 2)
        line.half_width =
            statistics_student(count - 2) * sqrt(residuals / (double)(count - 2) / sxx);
    return line;
}

void statistics_end_slopes(const double *x, const double *y, int64_t count, double slopes[2]) {
    const double slope = statistics_line(x, y, count).slope;
    double mean = 0, square = 0, cube = 0, along = 0, all = 0, low = INFINITY, high = -INFINITY;
    slopes[0] = slopes[1] = slope;
    if (count < 4) return;
    for (int64_t i = 0; i < count; i++) {
        mean += x[i] / (double)count;
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        const double off = x[i] - mean;
        square += off * off;
        cube += off * off * off;
    }
    /* What the parabola adds is orthogonal to the line: (x - mean)^2 less its own line. */
    for (int64_t i = 0; i < count; i++) {
        const double off = x[i] - mean;
        const double bend = off * off - square / (double)count - off * cube / square;
        along += bend * y[i];
        all += bend * bend;
    }
    slopes[0] += along / all * (2 * (low - mean) - cube / square);
    slopes[1] += along / all * (2 * (high - mean) - cube / square);
}

/* ---- exponents ----------------------------------------------------------------------------------- */

enum { MAX_POINTS = 64 };

/* What rounding leaves of 0 is 0, and not "-0.00". */
static double settle(double exponent) { return round(exponent * 1e12) / 1e12 + 0.0; }

exponent_t statistics_exponent(const double *x, const double *y, int64_t count) {
    double log_x[MAX_POINTS], log_y[MAX_POINTS];
    if (count > MAX_POINTS) count = MAX_POINTS;
    if (count < 2) return (exponent_t){NAN, NAN, NAN};
    for (int64_t i = 0; i < count; i++) {
        log_x[i] = log(x[i]);
        log_y[i] = log(y[i]);
    }
    const statistics_line_t line = statistics_line(log_x, log_y, count);
    double ends[2];
    statistics_end_slopes(log_x, log_y, count, ends);
    if (count < 3) return (exponent_t){line.slope, NAN, NAN};
    return (exponent_t){
        .value = settle(line.slope),
        .low = settle(fmin(line.slope - line.half_width, fmin(ends[0], ends[1]))),
        .high = settle(fmax(line.slope + line.half_width, fmax(ends[0], ends[1]))),
    };
}

exponent_t statistics_exponent_of_columns(const double *rows, uint32_t count, uint32_t width,
                                          uint32_t x, uint32_t y) {
    double xs[MAX_POINTS], ys[MAX_POINTS];
    int64_t used = 0;
    for (uint32_t i = 0; i < count && used < MAX_POINTS; i++) {
        xs[used] = rows[i * width + x];
        ys[used] = rows[i * width + y];
        used += xs[used] > 0 && ys[used] > 0;
    }
    return statistics_exponent(xs, ys, used);
}
