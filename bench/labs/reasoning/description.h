/*
 * reasoning/description.h: the lines of text that say what a study is, read back: a checkpoint (study_save()) begins
 * with them, and so does a model (model.h).
 *
 *     attn study 1
 *     task=lis
 *     size=6
 *     ...
 *                      an empty line ends them
 */
#ifndef ATTN_REASONING_DESCRIPTION_H
#define ATTN_REASONING_DESCRIPTION_H

#include "labs/reasoning/study.h"

enum { DESCRIPTION_TEXT = 2048, DESCRIPTION_PARAMS = 32 };

typedef struct description {
    study_settings_t settings; /**< its texts are in `text`, its parameters in `params` */
    attn_param_t params[DESCRIPTION_PARAMS];
    size_t size;                 /**< bytes of the lines, the empty one among them */
    const char *next;            /**< the line to be read; "" behind the last */
    char text[DESCRIPTION_TEXT]; /**< the lines, each ended by a zero */
} description_t;

/**
 * The settings that bytes begin with, which are of a `kind`: "study" or "model". It stays where it is. Errors: another
 * kind, version or line, which is named (ATTN_ERROR_ARGUMENT), a task that is none (ATTN_ERROR_RANGE).
 */
attn_status_t description_read(const void *bytes, size_t size, const char *kind,
                               description_t *description, attn_error_t *error);

/** The value of the next line, which has to have this name; NULL where it has not. */
const char *description_line(description_t *description, const char *name, attn_error_t *error);

/** The same of a number. */
attn_status_t description_number(description_t *description, const char *name, double *value,
                                 attn_error_t *error);

/** The same of a whole number in [0, most]. */
attn_status_t description_integer(description_t *description, const char *name, int64_t most,
                                  int64_t *value, attn_error_t *error);

/** That there is no more line. */
attn_status_t description_end(const description_t *description, attn_error_t *error);

#endif
