/* cli/check/checks.h: what a backend has to keep, one function each. */
#ifndef ATTN_CLI_CHECK_CHECKS_H
#define ATTN_CLI_CHECK_CHECKS_H

#include "cli/check/scene.h"

enum verdict { CHECK_OK, CHECK_FAILED, CHECK_SKIPPED };

/** A check's outcome, and what it has to say: the numbers, or why it was skipped. */
typedef struct result {
    enum verdict verdict;
    char text[400];
} result_t;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
/** Set the outcome; returns 0 for CHECK_OK. Later outcomes do not hide a failure. */
int check_say(result_t *result, enum verdict verdict, const char *format, ...);

/** Fail where two outputs differ by more than the tolerance (0: in any bit). */
int check_same(result_t *result, const attn_tensor_t *a, const attn_tensor_t *b, double tolerance,
               const char *what);

typedef void check_function_t(const check_context_t *check, result_t *result);
check_function_t check_runs, check_guards, check_strides, check_corners, check_batch, check_threads,
    check_hidden, check_streams, check_gradients, check_told, check_again;

#endif
