/*
 * cli/lab/journal.h: FOLDER/LAB-PANEL.points: the settings of a panel and each finished point, as
 * text, written as soon as it is finished. Whatever ends the program, the next run goes on from there.
 * It stays when the panel is complete: then there is nothing left to compute.
 *
 *     attn lab points 1
 *     lab=separation
 *     ...
 *     set n=1000
 *     (an empty line)
 *     17 18 1 0.996...         the point's number, and all its columns, x first, without loss
 */
#ifndef ATTN_CLI_LAB_JOURNAL_H
#define ATTN_CLI_LAB_JOURNAL_H

#include "cli/lab/task.h"

typedef struct journal {
    task_t *task;
    char *path;
    char *header;
    size_t size;    /**< bytes of the file that are whole: the header and finished points */
    int descriptor; /**< -1: not open for writing */
} journal_t;

/**
 * Take what the folder has of this panel, if anything; an exit status. Points of other settings are
 * a complaint, or ignored with `restart`. Nothing is written.
 */
int journal_load(journal_t *journal, task_t *task, int restart);

/** Open for writing, behind what was loaded; an exit status. */
int journal_open(journal_t *journal);

/** Write a finished point; an exit status. One thread at a time. */
int journal_add(journal_t *journal, uint32_t index);

void journal_free(journal_t *journal);

#endif
