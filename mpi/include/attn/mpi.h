/*
 * attn/mpi.h: attention over the processes (ranks) of an MPI communicator, for sequences that no
 * machine has memory for. A library of its own (attn::mpi); libattn does not know MPI.
 *
 *     attn_mpi_plan_t *plan;      // of the whole problem; the same call on every rank
 *     attn_mpi_plan_create(context, MPI_COMM_WORLD, "softmax", &problem, NULL, 0, NULL, &plan,
 *                          &error);
 *     attn_mpi_rows_t rows;       // which queries and keys are this rank's
 *     attn_mpi_query_rows(plan, rank, &rows);
 *     attn_mpi_run(plan, &io, &error);   // io: this rank's rows
 *
 * Each rank has rows of Q, K and V and gets the same rows of the result. Keys and values go round
 * in a ring while the ranks compute with those that they have, or, where queries are few, all ranks
 * answer all queries with their own keys and the answers are combined in a tree: softmax, sparse
 * and sketch. Linear attention sends states, in f32: causal in a chain, head by head, by every
 * rule; else their sum.
 *
 * A block of keys gives its result and its lse in f32; the sum over blocks has its result in f32
 * and its lse in f64. So a block's lse is rounded before it is added. Where all that a row sees has
 * a large bias, as -1e9, this rounding (2^-24 |lse|) is larger than what tells blocks apart: their
 * shares of the row, and its gradients, are then wrong. Hide keys by a mask, or by a bias of -inf.
 *
 * The same bits come out of every run with as many ranks, the same tier and the same arrays. With
 * another number of ranks sums are in another order.
 *
 * Collective calls. Every rank of the communicator makes them, in the same order. They compare what
 * the ranks bring, and end on every rank with the same status and the same line, which names the
 * rank that failed ("rank 2: ..."). A plan sends in a communicator of its own. What MPI itself
 * cannot do, such as reach a rank that is gone, goes to that communicator's error handler,
 * inherited from yours: by default it ends the job.
 *
 * Threads. All calls are from the thread that called MPI_Init, or with MPI_THREAD_MULTIPLE from one
 * thread per plan. The context's threads do not call MPI.
 */
#ifndef ATTN_MPI_H
#define ATTN_MPI_H

#include "attn/attn.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attn_mpi_plan attn_mpi_plan_t;

/** Which rows a rank has. */
enum attn_mpi_layout_code {
    ATTN_MPI_LAYOUT_AUTO =
        0, /**< zigzag for causal problems without a left window, or a pattern like one, else
                contiguous */
    ATTN_MPI_LAYOUT_CONTIGUOUS = 1, /**< rank r of p: part r of p */
    ATTN_MPI_LAYOUT_ZIGZAG =
        2 /**< parts r and 2 p - 1 - r of 2 p: causal work is the same on all */
};

/** What is sent. */
enum attn_mpi_way_code {
    ATTN_MPI_WAY_AUTO = 0,
    ATTN_MPI_WAY_RING = 1, /**< keys and values */
    ATTN_MPI_WAY_TREE = 2, /**< queries and partial results: less, where queries are few */
    ATTN_MPI_WAY_STATES =
        3 /**< states of linear attention; not to be asked for: it has no other way */
};

/** The same on every rank. You set struct_size; zero in any other field means the default. */
typedef struct attn_mpi_options {
    uint32_t struct_size; /**< sizeof(attn_mpi_options_t) */
    int32_t layout;       /**< enum attn_mpi_layout_code */
    int32_t way;          /**< enum attn_mpi_way_code */
    int32_t reserved;     /**< 0; another number is refused */
} attn_mpi_options_t;

/** Two ranges of rows of the whole sequence, side by side in a rank's arrays. One may be empty.
 *  Those of sparse begin with a block. */
typedef struct attn_mpi_rows {
    int64_t first[2], count[2];
    int64_t total; /**< of both: rows of the rank's arrays */
} attn_mpi_rows_t;

/** Where the time of this rank's last run or gradients went, in seconds. You set struct_size. */
typedef struct attn_mpi_times {
    uint32_t struct_size;
    int32_t hops;      /**< blocks of keys that came by, its own with them */
    double total;      /**< the call */
    double computing;  /**< in runs of blocks, and combining them */
    double waiting;    /**< for blocks that were not there yet */
    double bytes_sent; /**< in the ring or the tree */
    double working;    /**< processor time of computing, all threads of the rank together */
} attn_mpi_times_t;

/**
 * Make a plan for the whole problem: `queries` and `keys` are those of all ranks together. Compares
 * problem, backend, parameters and options of all ranks before anything else. The context, another
 * one on each rank, stays yours and outlives the plan. You destroy the plan. Memory of a plan: two
 * blocks of keys and values, a partial result of the rank's queries, and the workspace of one
 * block. Collective.
 *
 * Errors, beside those of attn_plan_create():
 * - ATTN_ERROR_ARGUMENT: ranks differ, in what the message says; MPI is not there; an option is
 *   none.
 * - ATTN_ERROR_UNSUPPORTED: a backend, an input or an output that is not split over ranks. Causal
 *   linear has as many queries as keys, and no lengths with bottom-right alignment; its gradients
 *   are those of rule `linear`. Sparse: not topk, topkeys, lsh; no bigbird whose block is larger
 *   than all keys, whose first query stands within a block, or bottom-right with lengths; no
 *   block_full beside a mask. Sketch: no method that looks at all rows. Gradients of others go
 *   round in a ring.
 */
ATTN_API attn_status_t attn_mpi_plan_create(const attn_context_t *context, MPI_Comm comm,
                                            const char *backend, const attn_problem_t *problem,
                                            const attn_param_t *params, uint32_t param_count,
                                            const attn_mpi_options_t *options,
                                            attn_mpi_plan_t **plan, attn_error_t *error);

/** Destroy a plan; NULL is fine. Before MPI_Finalize. Collective. */
ATTN_API void attn_mpi_plan_destroy(attn_mpi_plan_t *plan);

/** Which queries (rows of query, out and lse) a rank has. Returns 0 where there is no such rank. */
ATTN_API int32_t attn_mpi_query_rows(const attn_mpi_plan_t *plan, int32_t rank,
                                     attn_mpi_rows_t *rows);

/** Which keys (rows of key, value and their scales) it has. */
ATTN_API int32_t attn_mpi_key_rows(const attn_mpi_plan_t *plan, int32_t rank,
                                   attn_mpi_rows_t *rows);

/** Layout and way of the plan, as options that name them. You set options->struct_size. Returns 0,
 *  and writes nothing, where that is not set. */
ATTN_API int32_t attn_mpi_plan_options(const attn_mpi_plan_t *plan, attn_mpi_options_t *options);

/**
 * Solve the problem. io has this rank's rows, q of queries and k of keys, in any strides:
 *
 *     query (B, H, q, d), key (B, Hkv, k, d), value (B, Hkv, k, dv)
 *     key_scales, value_scales (B, Hkv, k, 1), for keys and values in i8
 *     out (B, H, q, dv), lse (B, H, q, 1) or absent
 *     scores (B, H, q, m) or absent: rows of its queries, columns of all keys, in a ring
 *     mask, bias (B|1, H|1, q|1, m): rows of its queries, columns of all keys;
 *         with ATTN_MPI_WAY_TREE (B|1, H|1, 1, m), on every rank
 *     kv_lengths, sinks, slopes: whole, the same on every rank
 *     sparse: block_mask, or block_starts and block_columns, whole on every rank
 *     linear: decay and beta (B|1, Hkv|1, k|1, ...)
 *         state and state_z whole on every rank, of which the first rank's count
 *         state_out and state_z_out on every rank or on none
 *
 * A rank without queries brings neither query nor out, and one without keys neither key nor value.
 * The workspace is the plan's: io->workspace is ignored. Every array is checked first; when one is
 * wrong on any rank nothing is written on any. Collective.
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_ARGUMENT: lengths, sinks, slopes or the states that are asked for differ.
 * - ATTN_ERROR_UNSUPPORTED: scores of another backend than softmax, or in a tree.
 */
ATTN_API attn_status_t attn_mpi_run(attn_mpi_plan_t *plan, const attn_io_t *io,
                                    attn_error_t *error);

/**
 * Gradients of a loss through a run of this plan, whose problem says `backward`
 * (attn_backward()). io: this rank's arrays of the run, after it, with out and lse. gradients: each
 * at the place of its array, as many rows: out (dL/dout) is read; of query, key, value, bias, sinks
 * and slopes those with data are written. Sums are in f32. Collective.
 *
 * - key, value: also of the other ranks' queries. A rank may ask for those that others do not.
 * - bias: of this rank's array. Where that has one row for all queries, add the ranks' gradients.
 * - sinks, slopes: the sum of all ranks, on every rank or on none.
 * - linear: state and state_z, whole on every rank that asks for them; no lse.
 *
 * Gradients of keys and values go round with them, in f32: a plan takes three blocks more. Weights
 * are made anew of lse, in f32: of a large |lse| they are off by up to 2^-24 |lse|.
 *
 * Errors, beside those of attn_mpi_run(); nothing is written:
 * - ATTN_ERROR_ARGUMENT: the plan's problem does not say `backward`.
 */
ATTN_API attn_status_t attn_mpi_backward(attn_mpi_plan_t *plan, const attn_io_t *io,
                                         const attn_io_t *gradients, attn_error_t *error);

/** Where the time of this rank's last run, or its gradients, went: of the later call alone.
 *  Returns 0 before the first, and where times->struct_size is not set. */
ATTN_API int32_t attn_mpi_plan_times(const attn_mpi_plan_t *plan, attn_mpi_times_t *times);

/**
 * Whether all ranks are well, for programs that read files between collective calls. Each brings
 * its own status, and *error where that is an error. Returns on every rank ATTN_OK, or the error of
 * the lowest rank that has one; its line then begins with that rank. Collective.
 */
ATTN_API attn_status_t attn_mpi_agree(MPI_Comm comm, attn_status_t status, attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
