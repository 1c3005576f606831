/*
 * cli/lab/axis.h: an axis of a figure: from values to places on the page, and its ticks.
 */
#ifndef ATTN_CLI_LAB_AXIS_H
#define ATTN_CLI_LAB_AXIS_H

#include "labs/lab.h"

typedef struct axis {
    int log;
    double low, high; /**< values; high is above low, and both above 0 when it is logarithmic */
    double from, to;  /**< where they are on the page */
} axis_t;

enum { AXIS_TICKS = 64 };

typedef struct tick {
    double value;
    char text[24]; /**< "" for a minor one */
    char power[8]; /**< "" or the exponent behind `text`, which is "10" then */
} tick_t;

/** An axis with the declared limits or, where there are none, room for values from `low` to `high`. */
axis_t axis_make(const lab_axis_t *declared, double low, double high);

/** Whether there is a place for the value: it is finite and, on a logarithmic axis, above 0. */
int axis_has(const axis_t *axis, double value);

double axis_place(const axis_t *axis, double value);

/** Ticks within the limits, in order; how many there are. */
int axis_ticks(const axis_t *axis, tick_t ticks[AXIS_TICKS]);

#endif
