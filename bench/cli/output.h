/*
 * cli/output.h: outputs that appear all together or not at all.
 */
#ifndef ATTN_CLI_OUTPUT_H
#define ATTN_CLI_OUTPUT_H

#include "cli/beside.h"
#include "cli/place.h"

#include <stddef.h>

/**
 * Files on their way: each is written beside its target (cli/beside.h), and takes its place when all
 * have been. As with `cp`, a file that is replaced keeps its mode and, where this user may give it
 * away, its owner; a symbolic link stays, and what it leads to is replaced; a file that this user
 * may not write to is refused.
 *
 * A file that another one cannot replace is overwritten where it is (cli/inplace.h): it has more names
 * (hard links, which all get the new content), it is another user's, its folder or a mount forbids it, or
 * there are no modes to keep. Its new content is beside it meanwhile, where the folder allows that.
 *
 * Standard output ("-"), pipes and devices are written to before any file is replaced.
 */
typedef struct output {
    int count;
    struct output_file {
        const char *path;
        place_t place;
        beside_t beside;
        const char *head;
        size_t head_size;
        const char *body;
        size_t body_size;
    } files[BESIDE_MOST];
} output_t;

/** Add a file of two parts, whose memory must live until output_write(). */
void output_add(output_t *output, const char *path, const void *head, size_t head_size,
                const void *body, size_t body_size);

/**
 * Write all files; an exit status. Two that would take each other's place are refused. On failure
 * nothing is left behind but what was there before.
 */
int output_write(output_t *output);

/**
 * CLI_OK, or a complaint where what is written to `path` would take the place of `kept`, the file
 * that is `what` and worth more ("-": the one that standard input is). Either may be NULL.
 */
int output_spare(const char *path, const char *kept, const char *what);

#endif
