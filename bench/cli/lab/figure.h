/*
 * cli/lab/figure.h: a panel as SVG: its columns drawn as their marks say, axes, legend, and a caption
 * with claim, verdict and what was found, the parameters, the seed and the note. Light and dark; <desc> has the command.
 */
#ifndef ATTN_CLI_LAB_FIGURE_H
#define ATTN_CLI_LAB_FIGURE_H

#include "cli/lab/task.h"

#include <stdio.h>

/** All points must be finished. */
void figure_print(const task_t *task, const conclusion_t *conclusion, FILE *out);

#endif
