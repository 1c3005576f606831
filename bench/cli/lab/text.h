/*
 * cli/lab/text.h: a text that grows in memory, written as a stream, and what XML asks of its text.
 */
#ifndef ATTN_CLI_LAB_TEXT_H
#define ATTN_CLI_LAB_TEXT_H

#include <stdio.h>

typedef struct text {
    FILE *out; /**< NULL: there was no memory */
    char *bytes;
    size_t size;
} text_t;

/** Open; an exit status. */
int text_open(text_t *text);

/** Close: `bytes` and `size` are valid afterwards, and the caller's to free; an exit status. */
int text_close(text_t *text);

/** Close and throw away. */
void text_drop(text_t *text);

/** Text between tags or in an attribute's quotes. */
void xml_string(FILE *out, const char *text);

#endif
