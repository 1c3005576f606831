/*
 * transfer.h: bytes that move while a rank computes.
 */
#ifndef ATTN_MPI_TRANSFER_H
#define ATTN_MPI_TRANSFER_H

#include "attn/mpi.h"
#include "attn/support.h"

/* Messages in flight. */
typedef struct transfer {
    MPI_Comm comm;
    MPI_Request *requests;
    MPI_Status
        *statuses; /* gcc 12 takes MPI_STATUSES_IGNORE of MPICH, 1, for an array without room */
    int count;
} transfer_t;

/** Room for what `arrays` arrays of at most so many bytes need. */
void attn_mpi_transfer_lay_out(transfer_t *transfer, MPI_Comm comm, int arrays, uint64_t bytes,
                               attn_arena_t *arena);

/** Bytes begin to move. They stay where they are until attn_mpi_complete(). */
void attn_mpi_begin_send(transfer_t *transfer, const char *from, uint64_t size, int to, int tag);
void attn_mpi_begin_receive(transfer_t *transfer, char *to, uint64_t size, int from, int tag);

/** Wait for all of them; the seconds that took. */
double attn_mpi_complete(transfer_t *transfer);

/** So that they go on while this rank computes. */
void attn_mpi_progress(transfer_t *transfer);

#endif
