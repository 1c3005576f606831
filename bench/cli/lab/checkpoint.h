/*
 * cli/lab/checkpoint.h: FOLDER/LAB-PANEL.points, a panel's checkpoint: its settings and each finished
 * point, as text, written as soon as it is finished. Whatever ends the program, the next run resumes.
 * It stays when the panel is complete: then there is nothing left to compute.
 *
 *     attn lab points 1
 *     lab=separation
 *     ...
 *     set n=1000
 *     (an empty line)
 *     17 18 1 0.996...         the point's number, and all its columns, x first, without loss
 */
#ifndef ATTN_CLI_LAB_CHECKPOINT_H
#define ATTN_CLI_LAB_CHECKPOINT_H

#include "cli/lab/task.h"

typedef struct checkpoint {
    task_t *task;
    char *path;
    char *header;
    size_t size;    /**< bytes of the file that are whole: the header and finished points */
    int descriptor; /**< -1: not open for writing */
} checkpoint_t;

/**
 * Take what the folder has of this panel, if anything; an exit status. Points of other settings are
 * a complaint, or ignored with `restart`; so are those of another build or tier, unless each point
 * has a checkpoint of its own, which goes on by any. Nothing is written.
 */
int checkpoint_load(checkpoint_t *checkpoint, task_t *task, int restart);

/** Open for writing, behind what was loaded; an exit status. */
int checkpoint_open(checkpoint_t *checkpoint);

/** Write a finished point; an exit status. One thread at a time. */
int checkpoint_add(checkpoint_t *checkpoint, uint32_t index);

void checkpoint_free(checkpoint_t *checkpoint);

#endif
