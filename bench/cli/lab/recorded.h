/*
 * cli/lab/recorded.h: LAB-PANEL.json, as `attn lab run` writes it, read back: the points and what was found of them.
 */
#ifndef ATTN_CLI_LAB_RECORDED_H
#define ATTN_CLI_LAB_RECORDED_H

#include "cli/lab/task.h"

typedef struct recorded {
    task_t task; /**< begun, with the rows and the origin of the file */
    conclusion_t conclusion;
    char command[1 << 13];
} recorded_t;

/**
 * Read the file of a panel; an exit status. `recorded->task` has run.lab, run.panel and a context; what it gets is
 * released by recorded_free(), after an error, too.
 */
int recorded_read(recorded_t *recorded, const char *path);

void recorded_free(recorded_t *recorded);

#endif
