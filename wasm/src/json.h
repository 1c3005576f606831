/*
 * json.h: text that grows, and just enough JSON on it. A failed allocation is remembered and shows
 * once, in attnjs_text_take().
 */
#ifndef ATTNJS_JSON_H
#define ATTNJS_JSON_H

#include <stddef.h>

typedef struct attnjs_text {
    char *data;
    size_t length, capacity;
    int failed;
} attnjs_text_t;

/** Append formatted text as it is. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void attnjs_text_add(attnjs_text_t *text, const char *format, ...);

/** Append a JSON string, quoted and escaped; NULL becomes null. */
void attnjs_text_string(attnjs_text_t *text, const char *string);

/** Append a JSON number that reads back as the same double; null when it is not finite. */
void attnjs_text_number(attnjs_text_t *text, double number);

/** The finished text, the caller's to free; NULL when memory ran out on the way. */
char *attnjs_text_take(attnjs_text_t *text);

#endif
