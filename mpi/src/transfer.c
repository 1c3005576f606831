/* Messages of any size (transfer.h). */
#include "transfer.h"

/* A count of MPI is an int, and a message that waits for its receiver goes on only while somebody looks. */
#define MESSAGE ((uint64_t)1 << 26)

static int part(uint64_t size, uint64_t at) {
    return (int)(size - at < MESSAGE ? size - at : MESSAGE);
}

void attn_mpi_transfer_lay_out(transfer_t *transfer, MPI_Comm comm, int arrays, uint64_t bytes,
                               attn_arena_t *arena) {
    const int64_t most = arrays * (int64_t)(bytes / MESSAGE + 1);
    transfer->comm = comm;
    transfer->requests = attn_arena_take(arena, most, sizeof *transfer->requests);
    transfer->statuses = attn_arena_take(arena, most, sizeof *transfer->statuses);
}

void attn_mpi_begin_send(transfer_t *transfer, const char *from, uint64_t size, int to, int tag) {
    for (uint64_t at = 0; at < size; at += MESSAGE)
        MPI_Isend(from + at, part(size, at), MPI_BYTE, to, tag, transfer->comm,
                  &transfer->requests[transfer->count++]);
}

void attn_mpi_begin_receive(transfer_t *transfer, char *to, uint64_t size, int from, int tag) {
    for (uint64_t at = 0; at < size; at += MESSAGE)
        MPI_Irecv(to + at, part(size, at), MPI_BYTE, from, tag, transfer->comm,
                  &transfer->requests[transfer->count++]);
}

double attn_mpi_complete(transfer_t *transfer) {
    const double start = MPI_Wtime();
    if (transfer->count) MPI_Waitall(transfer->count, transfer->requests, transfer->statuses);
    transfer->count = 0;
    return MPI_Wtime() - start;
}

void attn_mpi_progress(transfer_t *transfer) {
    int done;
    if (transfer->count)
        MPI_Testall(transfer->count, transfer->requests, &done, transfer->statuses);
}
