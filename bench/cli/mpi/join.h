/*
 * cli/mpi/join.h: ranks that mpirun started come together, or give up.
 */
#ifndef ATTN_CLI_MPI_JOIN_H
#define ATTN_CLI_MPI_JOIN_H

#include <stdlib.h>

/** A number that an mpirun tells its ranks: OpenMPI under one name, others under another; -1: none does. */
static inline int join_told(const char *openmpi, const char *others) {
    const char *text = getenv(openmpi) ? getenv(openmpi) : getenv(others);
    return text ? atoi(text) : -1;
}
static inline int join_told_size(void) { return join_told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"); }
static inline int join_told_rank(void) { return join_told("OMPI_COMM_WORLD_RANK", "PMI_RANK"); }

/** How long a rank waits for the others, in seconds, unless --mpi-wait says so; 0 is for ever. */
enum { JOIN_WAIT = 600, JOIN_MOST = 1000000 };

/**
 * MPI_Init, and a barrier behind it. MPI has no limit of time for either, and mpirun none for ranks that end well without
 * having called the first: a rank that has waited for so long says so and exits, whereupon mpirun ends the others.
 */
void join(int *argc, char ***argv);

#endif
