/*
 * cli/lab/task.h: one panel that is to be made in a folder: its run, its rows, the names of its files.
 */
#ifndef ATTN_CLI_LAB_TASK_H
#define ATTN_CLI_LAB_TASK_H

#include "labs/lab.h"

#include <stdio.h>

/** Which library computed the points, with which kernels, and on which machine. */
typedef struct origin {
    char version[32], commit[64], tier[32], host[192];
} origin_t;

typedef struct task {
    lab_run_t run;
    origin_t origin;
    const attn_context_t *context;
    const char *folder;
    const char *cpu;   /**< --cpu, NULL when it was not given */
    double *rows;      /**< point_count x column_count, those of finished points are filled */
    char *done;        /**< by point */
    char **spoilt;     /**< by point: why it cannot be computed, or NULL */
    uint32_t finished; /**< points */
    double seconds;    /**< that computing took in this process */
} task_t;

/** Room for the rows, once all parameters are set; an exit status. */
int task_prepare(task_t *task);

void task_free(task_t *task);

int task_is_complete(const task_t *task);

/** A point cannot be computed, since `why`; an exit status. */
int task_spoil(task_t *task, uint32_t point, const char *why);

/** All points are forgotten, as if none had been computed. */
void task_forget(task_t *task);

/** How many points cannot be computed. */
uint32_t task_spoilt(const task_t *task);

/** What all points together say. */
typedef struct conclusion {
    lab_finding_t finding;
    char note[512];
} conclusion_t;

/** All points must be finished. */
void task_conclude(const task_t *task, conclusion_t *conclusion);

enum { TASK_NAME = 96 };

/** "separation-3b"; returns `name`. */
const char *task_name(const task_t *task, char name[TASK_NAME]);

/** "FOLDER/separation-3b.ENDING", the caller's to free; NULL without memory. */
char *task_path(const task_t *task, const char *ending);

/** The command that makes this panel, with every setting that is not the panel's own. */
void task_command(const task_t *task, FILE *out);

/** Whether parameter `index` is a setting of this panel: not its axis, and not without meaning. */
int task_has(const task_t *task, uint32_t index);

/** A value for people and for --set; a parameter that follows others is "auto". */
const char *task_value(const task_t *task, uint32_t index, char text[32]);

/** This program with this context, on this machine. */
origin_t task_here(const attn_context_t *context);

/** "0.1.0 (27f1b38), avx512" and, where times are measured, the machine; returns `text`. */
const char *task_origin(const task_t *task, char *text, size_t size);

#endif
