/*
 * Tests on several ranks: a failure on one of them ends all.
 */
#ifndef ATTN_TESTS_RANKS_H
#define ATTN_TESTS_RANKS_H

#include "attn/mpi.h"
#include "support/test.h"

int ranks_rank(void);
int ranks_size(void);

/** main() of a test on ranks. */
#define RANKS_MAIN(...)                                                                            \
    int main(int argc, char **argv) {                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return ranks_main(argc, argv, tests, TEST_COUNT(tests));                                   \
    }
int ranks_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

#endif
