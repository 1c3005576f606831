/*
 * cli/lab/figure.h: a panel as SVG: its columns drawn as their marks say, axes, legend, and a caption
 * with claim, verdict and what was found, the parameters, the seed and the note. Light and dark; <desc> has the command.
 */
#ifndef ATTN_CLI_LAB_FIGURE_H
#define ATTN_CLI_LAB_FIGURE_H

#include "cli/lab/task.h"
#include "cli/lab/text.h"

/**
 * The SVG, which the caller frees, of a panel whose points are all finished; `command` is the one that
 * makes it (cli/lab/task.h). An exit status.
 */
int figure_make(const task_t *task, const conclusion_t *conclusion, const char *command,
                text_t *svg);

#endif
