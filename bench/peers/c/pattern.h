/*
 * peers/pattern.h: the pairs that a task of sparse attention keeps, as libattn's backend `sparse` has them by
 * its parameters.
 */
#ifndef PEERS_PATTERN_H
#define PEERS_PATTERN_H

#include "worker.h"

#include <attn/attn.h>

enum { PATTERN_PARAMS = 8 };

typedef struct pattern {
    char text[128]; /* of the task, cut into words */
    attn_param_t params[PATTERN_PARAMS];
    uint32_t count;
    char block[24], entries[24];
    attn_tensor_t starts, columns; /* of a layout */
} pattern_t;

/** The parameters of task->sparse, none where it is NULL. Not to be copied. */
void pattern_read(pattern_t *pattern, const task_t *task);

/** The blocks of task->layout as parameters and arrays of pattern `blocks`; 0 when all is well. Not to be copied. */
int pattern_read_layout(pattern_t *pattern, const task_t *task);

#endif
