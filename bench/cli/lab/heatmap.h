/*
 * cli/lab/heatmap.h: a panel whose points are tiles: maps side by side and below each other, each tile as dark as its
 * value is large.
 */
#ifndef ATTN_CLI_LAB_HEATMAP_H
#define ATTN_CLI_LAB_HEATMAP_H

#include "cli/lab/task.h"

#include <stdio.h>

/** Below `top`; returns how far down it goes. Tiles have the mean of their points; those without are empty. */
double heatmap_print(const task_t *task, double top, FILE *out);

#endif
