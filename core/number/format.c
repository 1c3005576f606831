/*
 * format.c: see format.h. Doubles are number.c's, all else is here.
 */
#include "number/format.h"

#include "number/number.h"
#include "number/sink.h"

#include <stdint.h>

/* ---- integers -------------------------------------------------------------------------------- */

static void put_unsigned(sink_t *sink, uint64_t number, unsigned base, int width) {
    char digits[20];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[number % base];
    while (number /= base);
    for (int i = count; i < width; i++) sink_put(sink, '0');
    while (count) sink_put(sink, digits[--count]);
}

static void put_signed(sink_t *sink, int64_t number) {
    if (number < 0) sink_put(sink, '-');
    put_unsigned(sink, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10, 0);
}

static void put_double(sink_t *sink, double x, char kind, int precision) {
    if (ATTN_SMALL) return;
    const size_t used = sink->length < sink->room ? sink->length : sink->room;
    sink->length += attn_number_format(sink->text + used, sink->room - used, x, kind,
                                       precision < 0 ? 6 : precision);
}

/* ---- formats --------------------------------------------------------------------------------- */

typedef struct spec {
    int width, precision; /* precision: -1 for none */
    size_t size;          /* of an integer */
} spec_t;

static int read_number(const char **format) {
    int number = 0;
    while (**format >= '0' && **format <= '9') number = 10 * number + (*(*format)++ - '0');
    return number;
}

/* What stands between % and the letter; `star`: the precision is an argument. */
static spec_t read_spec(const char **format, int *star) {
    spec_t spec = {.width = read_number(format), .precision = -1, .size = sizeof(int)};
    *star = 0;
    if (**format == '.') {
        ++*format;
        *star = **format == '*';
        if (*star)
            ++*format;
        else
            spec.precision = read_number(format);
    }
    for (; **format == 'l' || **format == 'z' || **format == 't'; ++*format)
        spec.size = (*format)[-1] == 'l' ? sizeof(long long) : sizeof(long);
    return spec;
}

static void put_string(sink_t *sink, const char *string, int precision) {
    for (int i = 0; string[i] && i != precision; i++) sink_put(sink, string[i]);
}

int attn_vformat(char *text, size_t room, const char *format, va_list arguments) {
    sink_t sink = {text, room, 0};
    for (const char *at = format; *at; at++) {
        if (*at != '%') {
            sink_put(&sink, *at);
            continue;
        }
        int star;
        at++;
        spec_t spec = read_spec(&at, &star);
        if (star) spec.precision = va_arg(arguments, int);
        const int wide = spec.size > sizeof(int);
        switch (*at) {
        case 'c':
            sink_put(&sink, (char)va_arg(arguments, int));
            break;
        case 's':
            put_string(&sink, va_arg(arguments, const char *), spec.precision);
            break;
        case 'd':
            put_signed(&sink, wide ? va_arg(arguments, long long) : va_arg(arguments, int));
            break;
        case 'u':
        case 'x':
            put_unsigned(&sink,
                         wide ? va_arg(arguments, unsigned long long) : va_arg(arguments, unsigned),
                         *at == 'x' ? 16 : 10, spec.width);
            break;
        case 'f':
        case 'g':
            put_double(&sink, va_arg(arguments, double), *at, spec.precision);
            break;
        default: /* %% */
            sink_put(&sink, *at);
        }
    }
    sink_end(text, room, sink.length);
    return (int)sink.length;
}

int attn_format(char *text, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = attn_vformat(text, room, format, arguments);
    va_end(arguments);
    return length;
}
