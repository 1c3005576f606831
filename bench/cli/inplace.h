/*
 * cli/inplace.h: overwriting a file where it is. Another file cannot take its place where it has more
 * names (hard links), where it would change its owner, or where its folder forbids it.
 *
 * Room comes first: a full disk, a quota or a limit leaves the old content. Signals that can be caught
 * wait until the content is whole. What remains is a process that is killed, or a machine that stops,
 * within the copy itself.
 */
#ifndef ATTN_CLI_INPLACE_H
#define ATTN_CLI_INPLACE_H

#include <stddef.h>

/** What the file is to hold: two parts, one behind the other. */
typedef struct inplace {
    const char *head;
    size_t head_size;
    const char *body;
    size_t body_size;
} inplace_t;

/** Reserve room for the whole content, and leave the file as it is; 0, or an errno. */
int inplace_reserve(const char *path, const inplace_t *content);

/**
 * Overwrite the file; 0, or an errno. `*is_damaged` says whether it has lost its old content then: that
 * takes a device that fails, or a file system that cannot reserve.
 */
int inplace_write(const char *path, const inplace_t *content, int *is_damaged);

#endif
