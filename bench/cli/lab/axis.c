/* cli/lab/axis.c: see axis.h. */
#include "cli/lab/axis.h"

#include <math.h>
#include <stdio.h>

/* ---- limits -------------------------------------------------------------------------------------- */

static void widen(axis_t *axis) {
    if (axis->high > axis->low) return;
    axis->high = axis->log ? 2 * axis->low : axis->low + fmax(1, 0.1 * fabs(axis->low));
    axis->low = axis->log ? axis->low / 2 : axis->low - fmax(1, 0.1 * fabs(axis->low));
}

axis_t axis_make(const lab_axis_t *declared, double low, double high) {
    axis_t axis = {.log = declared->log != 0, .low = low, .high = high};
    if (declared->low < declared->high) {
        axis.low = declared->low;
        axis.high = declared->high;
    }
    if (!(low <= high) && !(declared->low < declared->high)) { /* there are no values */
        axis.low = axis.log ? 1 : 0;
        axis.high = axis.log ? 10 : 1;
    }
    if (!(declared->low < declared->high)) widen(&axis);
    return axis;
}

/* ---- places -------------------------------------------------------------------------------------- */

int axis_has(const axis_t *axis, double value) {
    return isfinite(value) && (!axis->log || value > 0);
}

double axis_place(const axis_t *axis, double value) {
    const double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                                   : (value - axis->low) / (axis->high - axis->low);
    return axis->from + share * (axis->to - axis->from);
}

/* ---- ticks --------------------------------------------------------------------------------------- */

static int add(tick_t ticks[AXIS_TICKS], int count, double value) {
    if (count == AXIS_TICKS) return count;
    ticks[count] = (tick_t){.value = value};
    snprintf(ticks[count].text, sizeof ticks[count].text, "%.6g", value);
    return count + 1;
}

/* Steps of 1, 2 or 5 times a power of ten, four to eight of them. */
static int linear_ticks(const axis_t *axis, tick_t ticks[AXIS_TICKS]) {
    const double range = axis->high - axis->low, unit = pow(10, floor(log10(range / 4)));
    const double step = unit * (range / unit >= 20 ? 5 : range / unit >= 8 ? 2 : 1);
    int count = 0;
    for (double i = ceil(axis->low / step - 1e-9); i * step <= axis->high + 1e-9 * range; i++)
        count = add(ticks, count, i == 0 ? 0 : i * step);
    return count;
}

/* A whole axis has its labels as powers of ten or as plain numbers. */
static void label_power(tick_t *tick, int digit, int power) {
    snprintf(tick->text, sizeof tick->text, digit == 1 ? "10" : "%d\u00B710", digit);
    snprintf(tick->power, sizeof tick->power, "%d", power);
}

/* Powers of ten, not more of them than there is room for; 2 and 5, and the rest without a label. */
static int log_ticks(const axis_t *axis, tick_t ticks[AXIS_TICKS]) {
    const double decades = log10(axis->high / axis->low), slack = 1 + 1e-9;
    const int stride = (int)ceil(decades / 8), digits = decades < 4.5 ? 9 : 1;
    const int powers = axis->low < 0.0009 || axis->high > 99999;
    int count = 0;
    for (int power = (int)floor(log10(axis->low)); power <= ceil(log10(axis->high)); power++) {
        for (int digit = 1; digit <= digits && count < AXIS_TICKS; digit++) {
            const double value = digit * pow(10, power);
            if (value * slack < axis->low || value > axis->high * slack) continue;
            tick_t *tick = &ticks[count];
            count = add(ticks, count, value);
            if (digit == 1 ? power % stride != 0 : decades >= 2 || (digit != 2 && digit != 5))
                tick->text[0] = 0;
            else if (powers)
                label_power(tick, digit, power);
        }
    }
    return count;
}

int axis_ticks(const axis_t *axis, tick_t ticks[AXIS_TICKS]) {
    return axis->log ? log_ticks(axis, ticks) : linear_ticks(axis, ticks);
}
