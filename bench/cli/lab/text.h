/*
 * cli/lab/text.h: text printed into memory, and what XML asks of its text.
 */
#ifndef ATTN_CLI_LAB_TEXT_H
#define ATTN_CLI_LAB_TEXT_H

#include <stdio.h>

typedef struct text {
    char *bytes; /**< with a NUL behind them */
    size_t size;
} text_t;

/** Prints `data`, each time the same; its calls need not look whether they could. */
typedef void text_print_t(const void *data, FILE *out);

/**
 * All that `print` prints, which the caller frees; an exit status. (It is called again where there
 * was too little room: a memory stream that grows by itself may lose bytes without a word.)
 */
int text_make(text_t *text, text_print_t *print, const void *data);

/** Bytes in base64 (RFC 4648). */
void base64_bytes(FILE *out, const char *bytes, size_t size);

/** Text between tags or in an attribute's quotes. */
void xml_string(FILE *out, const char *text);

#endif
