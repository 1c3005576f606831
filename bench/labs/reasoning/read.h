/*
 * reasoning/read.h: what readers of problems in words share, and the readers of each kind.
 */
#ifndef ATTN_REASONING_READ_H
#define ATTN_REASONING_READ_H

#include "labs/reasoning/task.h"

/** Behind the spaces, commas and the like that `text` begins with. */
const char *read_space(const char *text);

/** Bytes of the word that begins there, for a message: up to 20, and no part of a letter in UTF-8. */
int read_length(const char *text);

/** A whole number in [low, high]; *text is then behind it. Errors name what is there instead. */
attn_status_t read_number(const char **text, int32_t low, int32_t high, int32_t *number,
                          attn_error_t *error);

/** reasoning_read() of each kind; sample->count is 0. */
attn_status_t lis_read(const reasoning_task_t *task, const char *text, reasoning_sample_t *sample,
                       attn_error_t *error);
attn_status_t edit_read(const reasoning_task_t *task, const char *text, reasoning_sample_t *sample,
                        attn_error_t *error);
attn_status_t arithmetic_read(const reasoning_task_t *task, const char *text,
                              reasoning_sample_t *sample, attn_error_t *error);
attn_status_t corpus_task_read(const reasoning_task_t *task, const char *text,
                               reasoning_sample_t *sample, attn_error_t *error);

/** reasoning_unlike() of each kind; *text is "". */
void lis_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                char text[REASONING_UNLIKE]);
void edit_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                 char text[REASONING_UNLIKE]);
void arithmetic_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                       char text[REASONING_UNLIKE]);
void corpus_task_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                        char text[REASONING_UNLIKE]);

#endif
