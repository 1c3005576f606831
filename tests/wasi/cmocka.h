/*
 * The part of cmocka (https://cmocka.org) that these tests use, for WASI, which has no setjmp and so
 * no way back from a failed assertion: it prints the place and ends the program with status 1.
 */
#ifndef ATTN_TESTS_WASI_CMOCKA_H
#define ATTN_TESTS_WASI_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
};

#define cmocka_unit_test(function)                                                                 \
    { #function, function }

static inline void cmocka_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: error: failure: %s\n[  FAILED  ]\n", file, line, what);
    exit(1);
}

static inline int cmocka_run(const struct CMUnitTest *tests, size_t count) {
    printf("[==========] running %zu tests\n", count);
    for (size_t t = 0; t < count; t++) {
        void *state = NULL;
        printf("[ RUN      ] %s\n", tests[t].name);
        fflush(stdout);
        tests[t].test_func(&state);
        printf("[       OK ] %s\n", tests[t].name);
    }
    printf("[  PASSED  ] %zu tests\n", count);
    return 0;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    ((void)(setup), (void)(teardown), cmocka_run(tests, sizeof(tests) / sizeof((tests)[0])))

#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    (printf("[==========] %s\n", name), cmocka_run_group_tests(tests, setup, teardown))

#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define print_message(...) printf(__VA_ARGS__)
#define fail() cmocka_failed(__FILE__, __LINE__, "fail()")

#define assert_true(c) ((c) ? (void)0 : cmocka_failed(__FILE__, __LINE__, #c))
#define assert_false(c) ((c) ? cmocka_failed(__FILE__, __LINE__, "not " #c) : (void)0)
#define assert_null(p) assert_true((p) == NULL)
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_int_equal(a, b) assert_true((intmax_t)(a) == (intmax_t)(b))
#define assert_int_not_equal(a, b) assert_true((intmax_t)(a) != (intmax_t)(b))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)

#endif
