/*
 * printf.c: vsnprintf() for the formats that the library uses, in a fifth of the C library's size,
 * which carries 128-bit arithmetic, wide characters and positional arguments.
 *
 * There are %c, %s, %d, %u, %x, %g and %f, with a width of zeros (%04x),
 * a precision, `*` for it, and the lengths l, ll, z and t. Numbers are exact and rounded to even, as
 * in the C library: m 2^e is an integer for e >= 0, and m 5^-e digits with the point e to the left.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    WORDS = 92,            /* 2^52 5^1126, from the least number there is, in base 10^9 */
    DIGITS = 9 * WORDS + 2 /* a zero in front, which a carry may need, and one behind */
};
static const uint32_t BASE = 1000000000;

typedef struct sink {
    char *text;
    size_t room, length;
} sink_t;

static void put(sink_t *sink, char c) {
    if (sink->length + 1 < sink->room) sink->text[sink->length] = c;
    sink->length++;
}

static void put_text(sink_t *sink, const char *text, size_t count) {
    while (count--) put(sink, *text++);
}

/* ---- integers -------------------------------------------------------------------------------- */

static void put_unsigned(sink_t *sink, uint64_t number, unsigned base, int width) {
    char digits[20];
    int count = 0;
    do digits[count++] = "0123456789abcdef"[number % base];
    while (number /= base);
    for (int i = count; i < width; i++) put(sink, '0');
    while (count) put(sink, digits[--count]);
}

static void put_signed(sink_t *sink, int64_t number) {
    if (number < 0) put(sink, '-');
    put_unsigned(sink, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10, 0);
}

/* ---- floating point -------------------------------------------------------------------------- */

/* The first digit counts units of 10^exponent; digits[-1] is a '0'. */
typedef struct decimal {
    char buffer[DIGITS];
    char *digits;
    int count, exponent;
} decimal_t;

static void multiply(uint32_t *words, int *count, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < *count; i++, carry /= BASE) {
        carry += (uint64_t)words[i] * factor;
        words[i] = (uint32_t)(carry % BASE);
    }
    if (carry) words[(*count)++] = (uint32_t)carry;
}

/* All digits of a finite number that is not negative. */
static void expand(decimal_t *number, double x) {
    uint32_t words[WORDS];
    int exponent = 0, count = 2;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53);
    exponent = x > 0 ? exponent - 53 : 0;
    words[0] = (uint32_t)(mantissa % BASE);
    words[1] = (uint32_t)(mantissa / BASE);
    for (int i = 0; i < exponent; i++) multiply(words, &count, 2);
    for (int i = exponent; i < 0; i++) multiply(words, &count, 5);

    char *at = number->buffer + DIGITS;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 9; k++, words[i] /= 10) *--at = (char)('0' + words[i] % 10);
    number->count = 9 * count;
    while (number->count > 1 && *at == '0') at++, number->count--;
    number->digits = at;
    number->exponent = number->count - 1 + (exponent < 0 ? exponent : 0);
    at[-1] = '0';
}

/* Keep `count` digits; 0 or fewer leave at most what is rounded up. */
static void cut(decimal_t *number, int count) {
    if (count >= number->count) return;
    if (count < 0) count = 0, number->digits[0] = '0';
    const char *rest = number->digits + count;
    int half = *rest - '5';
    for (int i = count + 1; half == 0 && i < number->count; i++) half = number->digits[i] != '0';
    const int odd = count > 0 && (rest[-1] - '0') % 2;
    number->count = count;
    if (half < 0 || (half == 0 && !odd)) return;
    char *at = number->digits + count - 1;
    while (*at == '9') *at-- = '0';
    ++*at;
    if (at < number->digits) number->digits = at, number->count++, number->exponent++;
}

/* Digits from place 10^first to 10^last; outside of those that are known there are zeros. */
static void put_places(sink_t *sink, const decimal_t *number, int first, int last) {
    for (int place = first; place >= last; place--) {
        const int i = number->exponent - place;
        if (place == -1) put(sink, '.');
        put(sink, i >= 0 && i < number->count ? number->digits[i] : '0');
    }
}

static void put_fixed(sink_t *sink, const decimal_t *number, int last) {
    put_places(sink, number, number->exponent > 0 ? number->exponent : 0, last);
}

static void put_scientific(sink_t *sink, decimal_t *number) {
    const int exponent = number->exponent;
    number->exponent = 0;
    put_places(sink, number, 0, 1 - number->count);
    put_text(sink, exponent < 0 ? "e-" : "e+", 2);
    put_unsigned(sink, (uint64_t)(exponent < 0 ? -exponent : exponent), 10, 2);
}

static void put_double(sink_t *sink, double x, char kind, int precision) {
    decimal_t number;
    if (signbit(x)) put(sink, '-');
    if (!isfinite(x)) {
        put_text(sink, isnan(x) ? "nan" : "inf", 3);
        return;
    }
    if (precision < 0) precision = 6;
    expand(&number, fabs(x));
    if (kind == 'f') {
        cut(&number, number.exponent + 1 + precision);
        put_fixed(sink, &number, -precision);
        return;
    }
    if (precision == 0) precision = 1;
    cut(&number, precision);
    while (number.count > 1 && number.digits[number.count - 1] == '0') number.count--;
    const int last = number.exponent + 1 - number.count;
    if (number.exponent < -4 || number.exponent >= precision)
        put_scientific(sink, &number);
    else
        put_fixed(sink, &number, last < 0 ? last : 0);
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
    for (int i = 0; string[i] && i != precision; i++) put(sink, string[i]);
}

int vsnprintf(char *restrict text, size_t room, const char *restrict format, va_list arguments) {
    sink_t sink = {text, room, 0};
    for (const char *at = format; *at; at++) {
        if (*at != '%') {
            put(&sink, *at);
            continue;
        }
        int star;
        at++;
        spec_t spec = read_spec(&at, &star);
        if (star) spec.precision = va_arg(arguments, int);
        const int wide = spec.size > sizeof(int);
        switch (*at) {
        case 'c':
            put(&sink, (char)va_arg(arguments, int));
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
            put(&sink, *at);
        }
    }
    if (room) text[sink.length < room ? sink.length : room - 1] = 0;
    return (int)sink.length;
}
