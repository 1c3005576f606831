/*
 * cli/lab/progress.h: on a terminal, one line that tells how far a panel is and how long it will take.
 */
#ifndef ATTN_CLI_LAB_PROGRESS_H
#define ATTN_CLI_LAB_PROGRESS_H

#include "cli/lab/task.h"

typedef struct progress {
    uint32_t panel, panels; /**< this is panel `panel` of `panels` */

    int is_terminal;
    const task_t *task;
    double total, done; /**< of the work to do now */
    double start, at;   /**< when it began, and when `done` last grew */
    int width;          /**< columns that the line takes now */
} progress_t;

/** A panel begins, with so much work to do. */
void progress_begin(progress_t *progress, const task_t *task, double work);

void progress_add(progress_t *progress, double work);

/** Where standard error is a terminal. */
void progress_draw(progress_t *progress);

/** Wipe the line; the seconds since progress_begin(). */
double progress_end(progress_t *progress);

#endif
