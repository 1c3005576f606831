/*
 * cli/files.h: whole files in, and bytes out.
 */
#ifndef ATTN_CLI_FILES_H
#define ATTN_CLI_FILES_H

#include "attn/types.h"

#include <stddef.h>

/** Read all of `path` ("-": standard input) into memory that the caller frees; an exit status. */
int file_read(const char *path, char **bytes, size_t *size);

/** The same; what is no regular file, and may have no end (/dev/zero), is refused behind `most` bytes. */
int file_read_bounded(const char *path, size_t most, char **bytes, size_t *size);

/** Write all bytes; 0, or the errno that says why not. */
int file_write(int descriptor, const char *bytes, size_t size);

/** Wait until it is on the disk, where this kind of file can; 0, or an errno. */
int file_flush(int descriptor);

/** Complain that `path` cannot be written for the reason `code`, an errno; an exit status. */
int file_not_written(const char *path, int code);

#endif
