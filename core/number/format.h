/*
 * format.h: snprintf() that is the same in every locale, in a fifth of the C library's size, which carries
 * wide characters and positional arguments.
 *
 * There are %c, %s, %d, %u, %x, %g and %f, with a width of zeros (%04x), a precision, `*` for it, and
 * the lengths l, ll, z and t. Numbers are exact and rounded to even. A small build (ATTN_SMALL) has no
 * %g and %f.
 */
#ifndef ATTN_FORMAT_H
#define ATTN_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

#if defined(__GNUC__)
#define ATTN_FORMAT_LIKE(at, arguments) __attribute__((format(printf, at, arguments)))
#else
#define ATTN_FORMAT_LIKE(at, arguments)
#endif

/** At most `room` bytes with the terminating zero; returns the length that the whole text has. */
int attn_format(char *text, size_t room, const char *format, ...) ATTN_FORMAT_LIKE(3, 4);
int attn_vformat(char *text, size_t room, const char *format, va_list arguments)
    ATTN_FORMAT_LIKE(3, 0);

#endif
