/*
 * What every test file includes: cmocka with the headers it wants first, and this machine's settings.
 *
 * The seed of all random inputs is ATTN_TEST_SEED, or a fixed one; every test program prints it.
 */
#ifndef ATTN_TESTS_TEST_H
#define ATTN_TESTS_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __wasi__ // has no setjmp; tests/wasi/cmocka.h does without
#include <setjmp.h>
#endif

#include <cmocka.h>

#define TEST_SKIPPED 77 /**< exit status of a test this machine cannot run */
#define TEST_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/** Seed of the random inputs. */
uint64_t test_seed(void);

/** Prints the seed; returns 0 when this machine has not the tier that ATTN_CPU asks for. With ATTN_TEST_FLUSH in the
 *  environment denormal floats are zero from then on (FTZ and DAZ). */
int test_begin(void);

/** Whether denormal floats are zero: ATTN_TEST_FLUSH. */
int test_flushes(void);

/** A float as it is, where denormal ones are zero, too. */
double test_number(float x);

/** Whether this is the lowest of the build's tiers: what has no tiers need be tested on one only. */
int test_is_lowest_tier(void);

/**
 * Whether to run this case of a sweep over many. All are, unless ATTN_TEST_SHARE says for which part of
 * them there is time, as under sanitizers, emulators and a second compiler: 0.2 runs one in five, spread evenly over
 * whatever loops there are (multiples of the golden ratio keep step with no whole number), and other ones on each
 * tier. That no branch is lost by it, tests/coverage.sh shows.
 */
int test_takes_case(void);

/** Remembers what is being tested, for the message of a later test_fail(). */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void test_label(const char *format, ...);

/** Ends the test as failed, with the label, the seed and this message. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void test_fail(const char *format, ...);

/** main() of a test program: TEST_MAIN(cmocka_unit_test(f), ...) */
#define TEST_MAIN(...)                                                                             \
    int main(void) {                                                                               \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        if (!test_begin()) return TEST_SKIPPED;                                                    \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

#endif
