/* attn_format() writes what the C library's snprintf() does in the C locale, byte for byte. */
#include "number/format.h"
#include "attn/random.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 2000 };

static void compare(size_t room, const char *format, ...) {
    char own[ROOM] = "untouched", wanted[ROOM] = "untouched";
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int own_length = attn_vformat(own, room, format, arguments);
    const int wanted_length = vsnprintf(wanted, room, format, again);
    va_end(again);
    va_end(arguments);
    test_label("\"%s\" in %zu bytes", format, room);
    if (own_length != wanted_length || memcmp(own, wanted, ROOM) != 0)
        test_fail("\"%s\" (%d), not \"%s\" (%d)", own, own_length, wanted, wanted_length);
}

static void text_and_integers(void **state) {
    (void)state;
    static const size_t rooms[] = {0, 1, 2, 7, 20, ROOM};
    for (size_t r = 0; r < TEST_COUNT(rooms); r++) {
        compare(rooms[r], "plain");
        compare(rooms[r], "100%% of %s and '%.3s', %.9s, %c", "text", "cut here", "short", 'x');
        compare(rooms[r], "%d %d %d %u", 0, -7, INT32_MIN, UINT32_MAX);
        compare(rooms[r], "%lld %lld %llu", (long long)INT64_MIN, 5LL,
                (unsigned long long)UINT64_MAX);
        compare(rooms[r], "%zu %zu %td %ld", (size_t)0, SIZE_MAX, (ptrdiff_t)-9, -3L);
        compare(rooms[r], "\\u%04x %x", 0x1f, 0xabcdefu);
        compare(rooms[r], "[%.*s] %d", 2, "abc", 1); // as many arguments as asked for
    }
}

static void number(double x) {
    static const char *formats[] = {"%g",    "%.0g", "%.3g", "%.12g", "%.16g",
                                    "%.17g", "%.0f", "%f",   "%.3f"};
    for (size_t f = 0; f < TEST_COUNT(formats); f++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        compare(ROOM, formats[f], x);
#pragma GCC diagnostic pop
    }
    compare(ROOM, "%.*g|%.*g", 9, x, 40, x);
}

static void numbers(void **state) {
    (void)state;
    static const double chosen[] = {0,        -0.0,      1,
                                    0.5,      1.5,       2.5,
                                    9.5,      0.05,      999999,
                                    1e6,      999999.5,  1e-4,
                                    1e-5,     99999.95,  1e15,
                                    1e17,     1e22,      1e23,
                                    0.1,      1.0 / 3,   NAN,
                                    INFINITY, -INFINITY, DBL_MAX,
                                    DBL_MIN,  0x1p-1074, 0x1.fffffffffffffp-1023,
                                    0x1p53};
    for (size_t i = 0; i < TEST_COUNT(chosen); i++) number(chosen[i]), number(-chosen[i]);
    for (uint64_t i = 0; i < 3000; i++) {
        double x;
        const uint64_t bits = attn_random_u64(test_seed(), 1, i);
        memcpy(&x, &bits, sizeof x);
        if (!isnan(x)) number(x);
        number(attn_random_normal(test_seed(), 2, i));
        number((double)(bits >> 40) / 16); // ties
    }
}

TEST_MAIN(cmocka_unit_test(text_and_integers), cmocka_unit_test(numbers))
