/*
 * sink.h: text of unknown length into a place of known size: it is cut there, and counted on, as snprintf()
 * does.
 */
#ifndef ATTN_NUMBER_SINK_H
#define ATTN_NUMBER_SINK_H

#include <stddef.h>

typedef struct sink {
    char *text;
    size_t room, length;
} sink_t;

static inline void sink_put(sink_t *sink, char c) {
    if (sink->length + 1 < sink->room) sink->text[sink->length] = c;
    sink->length++;
}

/** The zero that ends a text of `length` where there is `room`. */
static inline void sink_end(char *text, size_t room, size_t length) {
    if (room) text[length < room ? length : room - 1] = 0;
}

#endif
