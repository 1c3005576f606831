/*
 * split.h: which problems of libattn a block of queries beside a block of keys is. One, of softmax; sparse and sketch as
 * patterns and methods allow.
 *
 * - Patterns that depend on distances and on places in blocks alone are the same beside any keys, if those begin with a
 *   block. Rows are cut there.
 * - longformer's first keys are in the first block. Beside others its first queries see all keys, and the rest a window.
 * - Blocks that are drawn (bigbird) or given (blocks) become the lists of this rank's queries.
 * - A sketch without a look at the data is the same for all rows. Its plans have no past: causal blocks are cut into keys
 *   that all queries see and a square.
 */
#ifndef ATTN_MPI_SPLIT_H
#define ATTN_MPI_SPLIT_H

#include "piece.h"

/* What pieces are planned with; the parameters are those of the call, and behind them what a plan of the whole made of
 * automatic ones. */
typedef struct method {
    const char *backend;
    attn_param_t *params;
    uint32_t count;
} method_t;

/* Own arrays of sparse that say which blocks are seen. */
enum list_array { BLOCK_MASK, BLOCK_STARTS, BLOCK_COLUMNS, BLOCK_FULL, LISTS };

enum split_kind { SPLIT_ALIKE, SPLIT_FIRST, SPLIT_LISTED, SPLIT_SKETCH };

typedef struct attn_mpi_split {
    enum split_kind kind;
    method_t own, dense,
        other; /* dense: all keys; other: longformer's window, or lists of blocks */
    attn_problem_t bounds,
        window; /* the whole's rules, narrowed by how far the pattern, and longformer's window, reaches */
    int by_position; /* past counts without causal */
    int64_t unit;    /* rows are cut at its multiples */
    int64_t block, global;
    char *texts;           /* of parameters */
    uint32_t index[LISTS]; /* of the backend's own arrays */
    int is_given;          /* block_mask is the caller's; else there are lists: */
    int is_csr;            /* made of the caller's in each run; else drawn by the plan */
    uint8_t *lists;        /* [sequences][heads][blocks of own queries][columns] */
    uint64_t lists_size;
    int64_t sequences, heads; /* 1: the same for all */
    int64_t rows, columns;    /* of the whole: blocks of queries and of keys */
    int64_t entries;          /* of the caller's lists in CSR */
} split_t;

/** Whether the backend is split so; an error that says why not. */
attn_status_t attn_mpi_split_check(const char *backend, const attn_problem_t *problem,
                                   attn_error_t *error);

/** Read the parameters, before rows are shared out; attn_mpi_split_destroy() in any case. */
attn_status_t attn_mpi_split_prepare(attn_mpi_plan_t *plan, attn_error_t *error);

/** Draw lists, when rows are shared out. */
attn_status_t attn_mpi_split_draw(attn_mpi_plan_t *plan, attn_error_t *error);
void attn_mpi_split_destroy(attn_mpi_plan_t *plan);

/** The pieces that a piece is, of a run or, without io, for their sizes alone; returns how many. */
enum { MOST_PARTS = 2 };
int attn_mpi_split(const mpi_run_t *run, const piece_t *piece, piece_t parts[MOST_PARTS]);

/** The problem of such a piece, all its heads. */
attn_problem_t attn_mpi_part_problem(const attn_mpi_plan_t *plan, const piece_t *part);

/** block_mask of such a piece, where it has one. */
attn_tensor_t attn_mpi_part_mask(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                 const piece_t *part);

/** The caller's lists of blocks, whole on every rank, checked; those in CSR become the plan's. */
attn_status_t attn_mpi_split_read_lists(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                        attn_error_t *error);

#endif
