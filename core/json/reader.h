/*
 * json/reader.h: JSON, value by value, from a text that need not end in a zero. Each function reads what it is
 * named after, with the space before it, and returns 0 where something else stands there.
 */
#ifndef ATTN_JSON_READER_H
#define ATTN_JSON_READER_H

#include <stddef.h>
#include <stdint.h>

typedef struct json_reader {
    const char *at, *end;
} json_reader_t;

void json_skip_space(json_reader_t *text);

/** One of {}[]:, */
int json_accept(json_reader_t *text, char token);

/**
 * A string, unescaped, into `room` bytes; NULL: into nothing. It has no zero byte. Of a longer one, which is refused,
 * `text` stays within it.
 */
int json_read_string(json_reader_t *text, char *string, size_t room);

/** Digits alone, of a number that fits an int64_t. */
int json_read_size(json_reader_t *text, uint64_t *value);

/** A number; null is NaN. */
int json_read_number(json_reader_t *text, double *value);

/** Any value, of which nothing is kept. */
int json_skip_value(json_reader_t *text);

#endif
