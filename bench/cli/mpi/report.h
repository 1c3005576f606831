/*
 * cli/mpi/report.h: what a run over ranks took.
 */
#ifndef ATTN_CLI_MPI_REPORT_H
#define ATTN_CLI_MPI_REPORT_H

#include "cli/mpi/over.h"

/** By the first rank, to standard output: lines, or JSON. */
void report_print(const over_t *over);

#endif
