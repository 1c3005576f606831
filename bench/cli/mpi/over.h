/*
 * cli/mpi/over.h: a run over ranks: what each of them has of it.
 */
#ifndef ATTN_CLI_MPI_OVER_H
#define ATTN_CLI_MPI_OVER_H

#include "cli/mpi/ranks.h"
#include "cli/mpi/write.h"
#include "cli/runner.h"

#include "attn/mpi.h"

/** What a call took: by the clock, and the longest that a rank of all was at it. */
typedef struct over_times {
    double seconds, computing, waiting;
} over_times_t;

typedef struct over {
    ranks_run_t *run;
    rows_file_t files[INPUT_COUNT], pasts[INPUT_COUNT];
    runner_t runner; /* the plan of one process: names of parameters, shapes and lists go by it */
    attn_mpi_plan_t *plan;
    attn_mpi_rows_t query_rows, key_rows;
    array_t arrays[DECLARED_MOST]; /* but Q, K and V; outputs too */
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS];
    attn_io_t io;
    array_t bias; /* type, rank and shape of its file, where its gradient is asked for */
    over_times_t run_times, back_times;
} over_t;

/** Of the last call, which began at `start` (measure_clock()). Collective. */
over_times_t over_times(const over_t *over, double start);

/** Rows of a plan as those of files. */
static inline void over_ranges(const attn_mpi_rows_t *rows, rows_range_t ranges[ROWS_RANGES]) {
    for (int r = 0; r < ROWS_RANGES; r++)
        ranges[r] = (rows_range_t){rows->first[r], rows->count[r]};
}

#endif
