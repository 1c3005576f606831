/*
 * cli/mpi/ranks.h: `attn run --mpi`, over the ranks of mpirun. The program `attn` knows no MPI: it becomes `attn-mpi`, which
 * lies beside it.
 */
#ifndef ATTN_CLI_MPI_RANKS_H
#define ATTN_CLI_MPI_RANKS_H

#include "cli/gradients.h"
#include "cli/inputs.h"
#include "cli/settings.h"

/**
 * Whether --mpi is asked for and is not done in this program. It does not return where the other program takes over; *status
 * is an exit status where that cannot be.
 */
int ranks_elsewhere(int argc, char **argv, int *status);

/** A run whose options are checked, of files that have not been read. */
typedef struct ranks_run {
    const attn_context_t *context;
    const attn_backend_t *backend;
    const settings_t *settings;
    inputs_t *inputs;
    gradients_t *gradients;
    int json;
} ranks_run_t;

/** Whether ranks_run() has been called: the ranks have settled on a status then. */
int ranks_have_settled(void);

/** Read this rank's rows, run, write; an exit status, the same on every rank. */
int ranks_run(ranks_run_t *run);

#endif
