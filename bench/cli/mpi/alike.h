/*
 * cli/mpi/alike.h: whether all ranks have been given the same files and lists. Shapes do not tell: another file may have the
 * same one.
 */
#ifndef ATTN_CLI_MPI_ALIKE_H
#define ATTN_CLI_MPI_ALIKE_H

#include "cli/mpi/over.h"

/** Inputs by their words, files and lists; an exit status, the same on every rank. Collective. */
int alike_inputs(const over_t *over);

/** Which outputs are asked for, and in which files: all ranks write to the same; likewise. Collective. */
int alike_outputs(const over_t *over);

#endif
