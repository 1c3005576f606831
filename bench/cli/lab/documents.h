/*
 * cli/lab/documents.h: the files of a panel: FOLDER/LAB-PANEL.csv, .json and .svg. They are made from its
 * points alone, so the same points make the same files. One that takes hours has them before it is complete, too.
 */
#ifndef ATTN_CLI_LAB_DOCUMENTS_H
#define ATTN_CLI_LAB_DOCUMENTS_H

#include "cli/lab/task.h"

/** Write all three, together or none; an exit status. */
int documents_write(const task_t *task);

/** Remove those of an older run, where there are any: its points are being dropped; an exit status. */
int documents_remove(const task_t *task);

#endif
