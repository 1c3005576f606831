/*
 * cli/mpi/settle.h: ranks go on together or end together, with one line from one of them.
 */
#ifndef ATTN_CLI_MPI_SETTLE_H
#define ATTN_CLI_MPI_SETTLE_H

#include <stdint.h>

/** From now on complaints are kept until ranks settle, and warnings are the first rank's alone. After MPI_Init. */
void settle_begin(void);

/** Of a rank that was asked for help and nothing else. Where all were, that is well. */
enum { SETTLE_HELPED = -1 };

/**
 * This rank's exit status so far: returns the same one on every rank, that of the lowest rank that failed, whose line is
 * printed. Collective.
 */
int settle(int status);

/** The same of a number that has to be the same on all; `what` it is. Collective. */
int settle_alike(uint64_t number, const char *what);

int settle_rank(void);
int settle_size(void);

#endif
