/*
 * cli/lab/points.h: compute the points of a panel that are missing, on several threads, and keep each
 * in the checkpoint as soon as it is finished.
 */
#ifndef ATTN_CLI_LAB_POINTS_H
#define ATTN_CLI_LAB_POINTS_H

#include "cli/lab/checkpoint.h"
#include "cli/lab/progress.h"

/** As many as the machine has processors; 1 where there are no threads. */
uint32_t points_threads(void);

/**
 * Between lab_run_begin() and lab_run_end(). A point that is spoilt is marked. Ends early, after the points in flight, when a point
 * fails, the checkpoint cannot be written, or the user wants it; an exit status, CLI_OK when the user
 * did. Of a panel that run->store keeps, first those that are finished there.
 */
int points_compute(checkpoint_t *checkpoint, uint32_t threads, progress_t *progress);

#endif
