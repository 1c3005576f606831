/*
 * number.h: numbers as text and back, exactly rounded and the same in every locale, which the C library's
 * printf() and strtod() are not: they take the decimal point from the locale of the program.
 */
#ifndef ATTN_NUMBER_H
#define ATTN_NUMBER_H

#include "ieee/ieee.h"

#include <stddef.h>

/** What printf() writes in the C locale for %.<precision>g (`kind` 'g') or %.<precision>f ('f');
 *  cut, ended and counted as by snprintf(). */
size_t attn_number_format(char *text, size_t room, double number, char kind, int precision);

/** %.<digits>g with at most 17 digits; returns `text`. */
const char *attn_number_digits(double number, int digits, char text[32]);

/** As many digits, 15 or more, as attn_number_read() needs for this double; returns `text`. */
const char *attn_number_text(double number, char text[32]);

/**
 * The double nearest to the decimal number at the start of `text`, as strtod() has it in the C locale,
 * but without space before it and without hexadecimal: "-12", ".5e-3", "inf", "nan". *end is behind
 * it, or `text` where there is no number. Too large is infinite, too small is 0.
 */
double attn_number_read(const char *text, const char **end);

/** Whether the number at the start of `text` is written as 0, however small or large one may be that is not. */
int attn_number_is_zero(const char *text);

#endif
