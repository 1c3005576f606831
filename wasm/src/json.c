#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int reserve(attnjs_text_t *text, size_t more) {
    if (text->failed) return 0;
    if (more < text->capacity - text->length) return 1;
    size_t capacity = 2 * text->capacity + more + 256;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    return 1;
}

void attnjs_text_add(attnjs_text_t *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(text, (size_t)length + 1)) {
        text->failed = 1;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void attnjs_text_string(attnjs_text_t *text, const char *string) {
    if (!string) {
        attnjs_text_add(text, "null");
        return;
    }
    attnjs_text_add(text, "\"");
    for (; *string; string++) {
        unsigned char byte = (unsigned char)*string;
        if (byte == '"' || byte == '\\')
            attnjs_text_add(text, "\\%c", byte);
        else if (byte < 0x20)
            attnjs_text_add(text, "\\u%04x", byte);
        else
            attnjs_text_add(text, "%c", byte);
    }
    attnjs_text_add(text, "\"");
}

void attnjs_text_number(attnjs_text_t *text, double number) {
    if (isfinite(number))
        attnjs_text_add(text, "%.17g", number);
    else
        attnjs_text_add(text, "null");
}

char *attnjs_text_take(attnjs_text_t *text) {
    char *data = text->data;
    if (text->failed) {
        free(data);
        data = NULL;
    }
    *text = (attnjs_text_t){0};
    return data;
}
