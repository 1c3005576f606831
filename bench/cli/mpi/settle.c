/* cli/mpi/settle.c: see settle.h. */
#include "cli/mpi/settle.h"

#include "cli/cli.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char kept[8192]; /* the last complaint, until it is known whether it is the one */

int settle_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int settle_size(void) {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static int hear(const char *prefix, const char *line) {
    if (strcmp(prefix, "attn: ") != 0) return settle_rank() == 0;
    snprintf(kept, sizeof kept, "%s", line);
    return 0;
}

void settle_begin(void) { cli_listen(hear); }

/* What all say alike needs no name. */
int settle(int status) {
    const int rank = settle_rank(), size = settle_size();
    int mine[2] = {status ? rank : size, 0}, lowest, failed, is_failed = status != CLI_OK;
    MPI_Allreduce(mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&is_failed, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!failed) return CLI_OK;
    if (rank == lowest && (status != SETTLE_HELPED || failed < size)) {
        char name[32] = "";
        if (failed < size) snprintf(name, sizeof name, "rank %d: ", rank);
        fprintf(stderr, "attn: %s%s\n", name, kept);
        fflush(stderr);
    }
    MPI_Bcast(&status, 1, MPI_INT, lowest, MPI_COMM_WORLD);
    if (status != SETTLE_HELPED) return status;
    return failed < size ? CLI_USAGE : CLI_OK;
}

int settle_alike(uint64_t number, const char *what) {
    const uint64_t mine[2] = {number, ~number}; /* whose largest is that of the smallest */
    uint64_t most[2];
    MPI_Allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (most[0] == ~most[1]) return CLI_OK;
    return settle(cli_complain(CLI_USAGE, "--mpi: ranks differ in %s", what));
}
