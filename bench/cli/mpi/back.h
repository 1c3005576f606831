/*
 * cli/mpi/back.h: gradients of a run over ranks: each reads its rows of that of out, and writes its rows of the others.
 */
#ifndef ATTN_CLI_MPI_BACK_H
#define ATTN_CLI_MPI_BACK_H

#include "cli/mpi/over.h"

/** Read the rank's rows of the gradient of out, and make room for the others, when the run's arrays are there. */
int back_prepare(over_t *over);

/** After the run; nothing where no gradient is asked for. Collective. */
int back_compute(over_t *over);

/** Numbers as they are written, the sums of what is the same for all ranks on the first of them. Collective. */
int back_finish(over_t *over);

/** Their files behind `count` others; returns how many there are then. */
int back_add_files(const over_t *over, write_file_t *files, int count);

#endif
