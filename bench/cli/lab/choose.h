/*
 * cli/lab/choose.h: from NAME, --panel, --set, --trials and --seed to the panels that are to be made.
 */
#ifndef ATTN_CLI_LAB_CHOOSE_H
#define ATTN_CLI_LAB_CHOOSE_H

#include "cli/lab/task.h"
#include "cli/options.h"

typedef struct choice {
    const char *name; /**< of a lab, or "all" */
    const char *trials, *preset;
    option_texts_t panels, assignments; /**< --panel, --set */
    int64_t seed;
} choice_t;

typedef struct tasks {
    uint32_t count;
    task_t *items;
} tasks_t;

/** The panels with all their settings; an exit status. Nothing is computed or written. */
int choose_tasks(const choice_t *choice, tasks_t *tasks);

/** In any case. */
void choose_free(tasks_t *tasks);

#endif
