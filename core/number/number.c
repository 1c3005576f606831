/*
 * number.c: see number.h. A double is m 2^e: an integer for e >= 0, else m 5^-e with the point -e digits
 * to the left. Both ways rest on these digits, all of them: writing cuts them, reading compares what
 * is read with the digits of what lies half way between two doubles (Clinger, "How to Read Floating
 * Point Numbers Accurately", PLDI 1990, with arithmetic that is exact from the start).
 */
#include "number/number.h"

#include "number/sink.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    WORDS = 87,            /* 2^54 5^1075, between 0 and the least double, in base 10^9 */
    DIGITS = 9 * WORDS + 2 /* a zero in front, which a carry may need, and one behind */
};
static const uint32_t BASE = 1000000000;

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

/* By so many factors at a time that their product is below BASE. */
static void multiply_power(uint32_t *words, int *count, uint32_t factor, int exponent) {
    while (exponent > 0) {
        uint32_t product = 1;
        for (int i = 0; i < 12 && exponent > 0; i++, exponent--) product *= factor;
        multiply(words, count, product);
    }
}

/* All digits of mantissa * 2^exponent. */
static void expand(decimal_t *number, uint64_t mantissa, int exponent) {
    uint32_t words[WORDS];
    int count = 2;
    words[0] = (uint32_t)(mantissa % BASE);
    words[1] = (uint32_t)(mantissa / BASE);
    multiply_power(words, &count, 2, exponent);
    multiply_power(words, &count, 5, -exponent);

    char *at = number->buffer + DIGITS;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 9; k++, words[i] /= 10) *--at = (char)('0' + words[i] % 10);
    number->count = 9 * count;
    while (number->count > 1 && *at == '0') at++, number->count--;
    number->digits = at;
    number->exponent = number->count - 1 + (mantissa && exponent < 0 ? exponent : 0);
    at[-1] = '0';
}

/* ---- doubles as they are stored ---------------------------------------------------------------- */

static const uint64_t HIDDEN = (uint64_t)1
                               << 52; /* the mantissa's first bit, which is not stored */
static const uint64_t INFINITE = (uint64_t)0x7FF << 52;

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A finite double that is not negative, or what lies half way to the next one. */
static void expand_bits(decimal_t *number, uint64_t bits, bool half_way) {
    const int exponent = (int)(bits >> 52);
    const uint64_t mantissa = (bits & (HIDDEN - 1)) | (exponent ? HIDDEN : 0);
    expand(number, 2 * mantissa + half_way, (exponent ? exponent : 1) - 1076);
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void put_text(sink_t *sink, const char *text) {
    while (*text) sink_put(sink, *text++);
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
        if (place == -1) sink_put(sink, '.');
        sink_put(sink, i >= 0 && i < number->count ? number->digits[i] : '0');
    }
}

static void put_fixed(sink_t *sink, const decimal_t *number, int last) {
    put_places(sink, number, number->exponent > 0 ? number->exponent : 0, last);
}

static void put_scientific(sink_t *sink, decimal_t *number) {
    const int exponent = number->exponent, size = exponent < 0 ? -exponent : exponent;
    number->exponent = 0;
    put_places(sink, number, 0, 1 - number->count);
    put_text(sink, exponent < 0 ? "e-" : "e+");
    if (size >= 100) sink_put(sink, (char)('0' + size / 100));
    sink_put(sink, (char)('0' + size / 10 % 10));
    sink_put(sink, (char)('0' + size % 10));
}

static void put_finite(sink_t *sink, uint64_t bits, char kind, int precision) {
    decimal_t number;
    expand_bits(&number, bits, false);
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

size_t attn_number_format(char *text, size_t room, double number, char kind, int precision) {
    sink_t sink = {text, room, 0};
    if (signbit(number)) sink_put(&sink, '-');
    if (isfinite(number))
        put_finite(&sink, bits_of(fabs(number)), kind, precision);
    else
        put_text(&sink, isnan(number) ? "nan" : "inf");
    sink_end(text, room, sink.length);
    return sink.length;
}

const char *attn_number_digits(double number, int digits, char text[32]) {
    attn_number_format(text, 32, number, 'g', digits);
    return text;
}

/* A decimal of 15 digits keeps them as a double, so that fewer would only be the same without zeros. */
const char *attn_number_text(double number, char text[32]) {
    const char *end;
    for (int digits = 15; digits <= 17; digits++) {
        attn_number_digits(number, digits, text);
        if (attn_number_read(text, &end) == number) break;
    }
    return text;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* What a text says: its digits from the first that is not 0, which counts units of 10^exponent. */
typedef struct written {
    const char *digits; /* with a point among them, perhaps */
    int64_t count, exponent;
} written_t;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits and at most one point; returns what is behind them, or `text` where there is no digit. */
static const char *read_digits(const char *text, written_t *number) {
    const char *at = text, *point = NULL;
    int64_t all = 0;
    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = at;
            continue;
        }
        all++;
        if (!number->count && *at != '0') number->digits = at;
        if (number->digits) number->count++;
    }
    const int64_t fraction = point ? at - point - 1 : 0;
    number->exponent = number->count - 1 - fraction;
    return all ? at : text;
}

/* "e5" or "E-12"; anything else is not an exponent and stays unread. */
static const char *read_exponent(const char *text, written_t *number) {
    const int64_t most = INT64_MAX / 20;
    const char *at = text + 1;
    int64_t exponent = 0;
    if (*text != 'e' && *text != 'E') return text;
    const bool negative = *at == '-';
    if (*at == '+' || *at == '-') at++;
    if (!is_digit(*at)) return text;
    for (; is_digit(*at); at++)
        if (exponent < most) exponent = exponent * 10 + (*at - '0');
    number->exponent += negative ? -exponent : exponent;
    return at;
}

/* Below, at or above 0: the order of what is written and a number's digits. */
static int compare(const written_t *written, const decimal_t *number) {
    if (written->exponent != number->exponent) return written->exponent < number->exponent ? -1 : 1;
    const char *at = written->digits;
    for (int64_t i = 0; i < written->count || i < number->count; i++) {
        if (i < written->count && *at == '.') at++;
        const char left = i < written->count ? *at++ : '0';
        const char right = i < number->count ? number->digits[i] : '0';
        if (left != right) return left - right;
    }
    return 0;
}

static int compare_half_way(const written_t *written, uint64_t bits) {
    decimal_t number;
    expand_bits(&number, bits, true);
    return compare(written, &number);
}

/* A double that is some units in the last place away at most. */
static uint64_t guess(const written_t *written) {
    double x = 0, power = 1, base = 10;
    int64_t exponent = written->exponent;
    const char *at = written->digits;
    for (int64_t i = 0; i < written->count && i < 18; i++, exponent--) {
        if (*at == '.') at++;
        x = 10 * x + (*at++ - '0');
    }
    exponent++;
    if (exponent < -300)
        x /= 1e300, exponent += 300; /* one power would overflow; the result need not */
    for (int64_t left = exponent < 0 ? -exponent : exponent; left; left >>= 1, base *= base)
        if (left & 1) power *= base;
    x = exponent < 0 ? x / power : x * power;
    return isfinite(x) ? bits_of(x) : INFINITE - 1;
}

/* From the guess to the nearest; half way between two, to the one whose mantissa is even. */
static double nearest(const written_t *written) {
    if (!written->count || written->exponent < -330) return 0;
    if (written->exponent > 310) return double_of(INFINITE);
    uint64_t bits = guess(written);
    for (int order; bits < INFINITE; bits++) {
        order = compare_half_way(written, bits);
        if (order < 0 || (order == 0 && bits % 2 == 0)) break;
    }
    for (int order; bits > 0; bits--) {
        order = compare_half_way(written, bits - 1);
        if (order > 0 || (order == 0 && bits % 2 == 0)) break;
    }
    return double_of(bits);
}

double attn_number_read(const char *text, const char **end) {
    written_t written = {0};
    const bool negative = *text == '-';
    const char *start = text + (*text == '+' || *text == '-');
    const char *behind = read_digits(start, &written);
    double number = 0;
    *end = text;
    if (behind != start) {
        *end = read_exponent(behind, &written);
        number = nearest(&written);
    } else if (strncmp(start, "inf", 3) == 0 || strncmp(start, "nan", 3) == 0) {
        *end = start + 3;
        number = *start == 'i' ? (double)INFINITY : (double)NAN;
    }
    return negative ? -number : number;
}

int attn_number_is_zero(const char *text) {
    written_t written = {0};
    const char *start = text + (*text == '+' || *text == '-');
    return read_digits(start, &written) != start && !written.count;
}
