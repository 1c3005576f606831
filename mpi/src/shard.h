/*
 * shard.h: which rows of a sequence a rank has.
 */
#ifndef ATTN_MPI_SHARD_H
#define ATTN_MPI_SHARD_H

#include "attn/mpi.h"

/* Rows [first, first + count) of a sequence. */
typedef struct span {
    int64_t first, count;
} span_t;

enum { CHUNKS = 2 };

/** Rows of rank `rank` of `size`, in a layout that is not automatic, cut at multiples of `unit`: what is left over is the
 *  last part's. */
attn_mpi_rows_t attn_mpi_shard(int32_t layout, int64_t rows, int64_t unit, int rank, int size);

static inline span_t chunk_of(const attn_mpi_rows_t *rows, int chunk) {
    return (span_t){rows->first[chunk], rows->count[chunk]};
}

/** Key position of query 0, when `keys` keys count. */
static inline int64_t start_of(const attn_problem_t *problem, int64_t keys) {
    return attn_query_position(problem, keys, 0);
}

/**
 * The problem of these queries beside these keys, the first query of the whole at position `start`: without sinks, which
 * count once for all keys. Its results are f32. `by_position`: its past counts, whatever its rules.
 */
attn_problem_t attn_mpi_block(const attn_problem_t *whole, int64_t start, span_t queries,
                              span_t keys, int by_position);

/** Whether some of these queries sees some of these keys, as far as positions say. */
int attn_mpi_meets(const attn_problem_t *whole, int64_t start, span_t queries, span_t keys);

#endif
