/*
 * cli/lab/curves.h: the columns of a panel on its axes.
 */
#ifndef ATTN_CLI_LAB_CURVES_H
#define ATTN_CLI_LAB_CURVES_H

#include "cli/lab/axis.h"
#include "cli/lab/task.h"

#include <stdio.h>

/** Least and greatest of what is drawn of column `column` (0: x); low > high when there is nothing. */
void curves_range(const task_t *task, uint32_t column, double *low, double *high);

/** Whether a column is drawn. */
int curves_draws(const lab_column_t *column);

/**
 * The CSS classes of a column: its kind and its colour, the same for a curve and its band; returns
 * `text`.
 */
const char *curves_class(const lab_panel_t *panel, uint32_t column, char text[48]);

/** Whether a curve is exactly 0 somewhere and its axis logarithmic: an arrow at the foot says so. */
int curves_have_zeros(const task_t *task, const axis_t *x, const axis_t *y);

/** All of them: bands below, then thin lines, bounds, the curves, and arrows for zeros. */
void curves_print(const task_t *task, const axis_t *x, const axis_t *y, FILE *out);

#endif
