/*
 * cli/mpi/write.h: output files of which each rank writes its rows. They appear all together or not at all.
 */
#ifndef ATTN_CLI_MPI_WRITE_H
#define ATTN_CLI_MPI_WRITE_H

#include "cli/arrays.h"
#include "cli/beside.h"
#include "cli/rows.h"

typedef struct write_file {
    const char *path;
    attn_tensor_t rows;               /**< this rank's, without gaps; no data where it has none */
    attn_dtype_t dtype;               /**< in the file */
    int64_t shape[4];                 /**< of the whole */
    rows_range_t ranges[ROWS_RANGES]; /**< which rows those are */
    int32_t rank, left_out;           /**< of the file's shape, as declared_rank() has them */
    place_t place;                    /**< of the first rank, as all below */
    beside_t beside;
} write_file_t;

/** Write all files; an exit status, the same on every rank. Collective. */
int write_files(write_file_t *files, int count);

#endif
