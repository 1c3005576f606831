/*
 * cli/files.h: whole files in, and outputs that appear all together or not at all.
 */
#ifndef ATTN_CLI_FILES_H
#define ATTN_CLI_FILES_H

#include "attn/types.h"

#include <stddef.h>

/** Read all of `path` ("-": standard input) into memory that the caller frees; an exit status. */
int file_read(const char *path, char **bytes, size_t *size);

/** Write all bytes; 0, or the errno that says why not. */
int file_write(int descriptor, const char *bytes, size_t size);

/** Complain that `path` cannot be written for the reason `code`, an errno; an exit status. */
int file_not_written(const char *path, int code);

enum { OUTPUT_FILES = 8 };

/**
 * Files on their way: each is written under a temporary name beside its target, and renamed only
 * when all have been. A target that is no regular file (a pipe, /dev/null) is written to directly
 * then.
 */
typedef struct output {
    int count;
    struct output_file {
        const char *path;
        char *temporary; /**< NULL: `path` is no regular file */
        const char *head;
        size_t head_size;
        const void *body;
        size_t body_size;
    } files[OUTPUT_FILES];
} output_t;

/** Add a file of two parts, whose memory must live until output_write(). Paths must differ. */
void output_add(output_t *output, const char *path, const void *head, size_t head_size,
                const void *body, size_t body_size);

/** Write all files; an exit status. On failure nothing is left behind but what was there before. */
int output_write(output_t *output);

#endif
