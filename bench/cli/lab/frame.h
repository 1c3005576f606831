/*
 * cli/lab/frame.h: the plot of a figure: axes, ticks and their labels around the curves.
 */
#ifndef ATTN_CLI_LAB_FRAME_H
#define ATTN_CLI_LAB_FRAME_H

#include "cli/lab/axis.h"
#include "cli/lab/task.h"

#include <stdio.h>

/* In the units of the figure, which are pixels where it is shown in its own size. */
enum {
    FRAME_WIDTH = 640, /**< of the whole figure */
    FRAME_LEFT = 72,
    FRAME_RIGHT = FRAME_WIDTH - 18,
    FRAME_BELOW = 48, /**< what the labels take below the frame */
};

typedef struct frame {
    axis_t x, y;
    double top, bottom;
} frame_t;

/** Below `top`, with room for what is drawn of the task. */
frame_t frame_make(const task_t *task, double top);

/** Whether it shows points outside of the claim's premises; they are shaded. */
int frame_has_outside(const frame_t *frame, const task_t *task);

void frame_print(const frame_t *frame, const task_t *task, FILE *out);

#endif
