/* Numbers as text and back: to the last digit, and as the C library has them in the C locale. */
#include "number/number.h"

#include "attn/random.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1200, TRIALS = 4000 };

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/** As strtod(): the value to its last bit, and where the number ends. */
static void compare_read(const char *text) {
    char *wanted_end;
    const char *end;
    const double wanted = strtod(text, &wanted_end), number = attn_number_read(text, &end);
    if (end != wanted_end || !same(number, wanted))
        test_fail("\"%s\" is %a for %d bytes, not %a for %d", text, number, (int)(end - text),
                  wanted, (int)(wanted_end - text));
}

static void forms(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "12",
        "+3.5",
        ".5",
        "5.",
        "-.5e3",
        "1e",
        "1e+",
        "1e5x",
        "1..2",
        "0,1",
        "00012.500",
        "inf",
        "-inf",
        "nan",
        "",
        ".",
        "e5",
        "abc",
        "0.000",
        "0e999999999999999999999",
        "1e-99999999999999999999",
        "1e99999999999999999999",
        "-1e400",
        "9007199254740993",
        "9007199254740992.99999999999999999999999999999999999",
        "9007199254740993.00000000000000000000000000000000001",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "4.9e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "0.00000000000000000000000000000000000000000000000000000000001e+60",
    };
    for (size_t i = 0; i < TEST_COUNT(texts); i++) compare_read(texts[i]);
}

/** What the C library reads beside: space, hexadecimal. */
static void not_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int read;
    } texts[] = {{" 1", 0}, {"0x10", 1}, {"--1", 0}, {"- 1", 0}, {"1 2", 1}, {"-", 0}, {"-.", 0}};
    for (size_t i = 0; i < TEST_COUNT(texts); i++) {
        const char *end;
        attn_number_read(texts[i].text, &end);
        if (end - texts[i].text != texts[i].read)
            test_fail("\"%s\": %d bytes are read", texts[i].text, (int)(end - texts[i].text));
    }
}

static void round_trips(void **state) {
    (void)state;
    for (uint64_t i = 0; i < TRIALS; i++) {
        const double x = from_bits(attn_random_u64(test_seed(), 1, i));
        char text[32], room[ROOM];
        const char *end;
        if (isnan(x)) continue;
        if (!same(attn_number_read(attn_number_text(x, text), &end), x) || *end)
            test_fail("%a becomes \"%s\"", x, text);
        for (int digits = 1; digits <= 17; digits += 8) {
            snprintf(room, sizeof room, "%.*g", digits, x);
            if (strcmp(attn_number_digits(x, digits, text), room) != 0)
                test_fail("\"%s\", not \"%s\"", text, room);
            compare_read(room);
        }
    }
}

static void nudge_and_compare(char *text) {
    char *last = text + strcspn(text, "e") - 1;
    compare_read(text);
    if (*last < '9') ++*last;
    compare_read(text);
    if (*last > '1') *last -= 2;
    compare_read(text);
}

/** Half way between two doubles, to the last of some hundred digits, and a digit to either side. */
static void half_ways(void **state) {
    (void)state;
    for (uint64_t i = 0; i < TRIALS / 10; i++) {
        const uint64_t bits = attn_random_u64(test_seed(), 2, i);
        char text[ROOM];
        const unsigned long long odd = bits >> 10 | 1ULL << 53 | 1; // 54 bits
        snprintf(text, sizeof text, "%llu", odd << 10);
        nudge_and_compare(text);
#if LDBL_MANT_DIG == 64 // holds the bit that is more
        const double low = from_bits(bits >> 1), high = from_bits((bits >> 1) + 1);
        if (!isfinite(high) || low < 1e-300) continue;
        snprintf(text, sizeof text, "%.800Lg", ((long double)low + (long double)high) / 2);
        nudge_and_compare(text);
#endif
    }
}

static void random_decimals(void **state) {
    (void)state;
    for (uint64_t i = 0; i < TRIALS; i++) {
        uint32_t r[4];
        char text[ROOM];
        attn_random_bits(test_seed(), 3, i, r);
        snprintf(text, sizeof text, "%s%u%u.%0*ue%d", r[0] % 2 ? "-" : "", r[1] >> r[0] % 32, r[2],
                 (int)(r[3] % 40 + 1), r[2], (int)(r[3] / 64 % 680) - 340);
        compare_read(text);
    }
}

TEST_MAIN(cmocka_unit_test(forms), cmocka_unit_test(not_numbers), cmocka_unit_test(round_trips),
          cmocka_unit_test(half_ways), cmocka_unit_test(random_decimals))
