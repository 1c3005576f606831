/* Agreement of all ranks. */
#include "agree.h"

#include "attn/support.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a. */
uint64_t attn_mpi_hash(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return hash;
}

attn_status_t attn_mpi_agree(MPI_Comm comm, attn_status_t status, attn_error_t *error) {
    int rank, lowest;
    MPI_Comm_rank(comm, &rank);
    int mine = status == ATTN_OK ? INT_MAX : rank;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
    if (lowest == INT_MAX) return ATTN_OK;
    attn_error_t first = {.status = status};
    if (rank == lowest) {
        const char *what = error && *error->message ? error->message : attn_status_name(status);
        attn_fail(&first, status, "rank %d: %s", rank, what);
    }
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, lowest, comm);
    if (error) *error = first;
    return first.status;
}

attn_status_t attn_mpi_same(MPI_Comm comm, const fact_t *facts, int count, attn_error_t *error) {
    int64_t mine[2 * MOST_FACTS] = {0}, most[2 * MOST_FACTS] = {0};
    for (int i = 0; i < count; i++) {
        mine[i] = facts[i].value;
        mine[count + i] = ~facts[i].value; /* whose largest is that of the smallest */
    }
    MPI_Allreduce(mine, most, 2 * count, MPI_INT64_T, MPI_MAX, comm);
    for (int i = 0; i < count; i++) {
        const int64_t high = most[i], low = ~most[count + i];
        if (high == low) continue;
        if (facts[i].is_hash)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: ranks differ in %s", facts[i].name);
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: ranks differ in %s: %lld to %lld",
                         facts[i].name, (long long)low, (long long)high);
    }
    return ATTN_OK;
}
