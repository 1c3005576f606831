/*
 * strtod.c: strtod() for the numbers that js/ hands over as text, in a twentieth of the C library's
 * size, which carries 128-bit arithmetic, hexadecimal and locales.
 *
 * Decimal only. Correctly rounded up to 15 digits and powers of ten up to 22, where both factors
 * are exact (Clinger, "How to Read Floating Point Numbers Accurately", PLDI 1990, section 4), and
 * within a few units in the last place beyond.
 */
#include <stdint.h>
#include <stdlib.h>

typedef struct decimal {
    uint64_t digits; /* the first 19 significant ones */
    int exponent;    /* of ten */
    int any;         /* whether there was a digit at all */
} decimal_t;

static const char *read_digits(const char *text, decimal_t *number, int place) {
    for (; *text >= '0' && *text <= '9'; text++) {
        number->any = 1;
        if (number->digits < UINT64_MAX / 10 - 1) {
            number->digits = number->digits * 10 + (uint64_t)(*text - '0');
            number->exponent -= place;
        } else {
            number->exponent += 1 - place;
        }
    }
    return text;
}

/* "e5" or "E-12"; anything else is not an exponent and stays unread. */
static const char *read_exponent(const char *text, decimal_t *number) {
    const char *at = text + 1;
    int exponent = 0, sign = 1;
    if (*text != 'e' && *text != 'E') return text;
    if (*at == '+' || *at == '-') sign = *at++ == '-' ? -1 : 1;
    if (*at < '0' || *at > '9') return text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (exponent < 10000) exponent = exponent * 10 + (*at - '0');
    number->exponent += sign * exponent;
    return at;
}

static double power_of_ten(int exponent) {
    double power = 1, base = 10;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) power *= base;
    return power;
}

/* In two steps where one power would overflow though the result does not. */
static double scale(double x, int exponent) {
    const int half = 150;
    if (exponent < -half)
        return scale(x / power_of_ten(half), exponent + half > -400 ? exponent + half : -400);
    return exponent < 0 ? x / power_of_ten(-exponent) : x * power_of_ten(exponent);
}

double strtod(const char *restrict text, char **restrict end) {
    decimal_t number = {0};
    const char *at = text;
    const int negative = *at == '-';
    if (*at == '+' || *at == '-') at++;
    at = read_digits(at, &number, 0);
    if (*at == '.') at = read_digits(at + 1, &number, 1);
    if (number.any) at = read_exponent(at, &number);
    if (end) *end = (char *)(number.any ? at : text);
    const double value = number.digits ? scale((double)number.digits, number.exponent) : 0;
    return negative ? -value : value;
}
