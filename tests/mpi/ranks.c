#include "ranks.h"

#include <stdio.h>

int ranks_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks_size(void) {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/* One test at a time: cmocka would go on behind one that failed, alone. */
int ranks_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (!test_begin()) {
        MPI_Finalize();
        return TEST_SKIPPED;
    }
    for (size_t i = 0; i < count; i++) {
        const struct CMUnitTest one[] = {tests[i]};
        if (cmocka_run_group_tests(one, NULL, NULL)) {
            fflush(NULL);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
