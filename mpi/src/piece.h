/*
 * piece.h: one problem of libattn: queries of a rank beside keys of a block, of some heads.
 */
#ifndef ATTN_MPI_PIECE_H
#define ATTN_MPI_PIECE_H

#include "plan.h"

#include "attn/ext/inputs.h"

/* Which queries of which heads beside which keys. Rows are those of the run's queries and of the block. */
typedef struct piece {
    int64_t batch, batches, kv_head, kv_heads;
    span_t queries, keys; /* of the whole sequence */
    int64_t query_row, key_row;
    const struct method *method;
    int is_seen;   /* by all queries, whatever the positions */
    int64_t start; /* position of query 0 */
} piece_t;

static inline int64_t group_of(const attn_problem_t *problem) {
    return problem->heads / problem->kv_heads;
}

/* What is done with a piece. Its error stays in the run. */
typedef attn_status_t attn_mpi_act_t(mpi_run_t *run, const kv_block_t *block, const piece_t *piece,
                                     attn_error_t *error);

/** Do that with all pieces of a block whose queries see some of its keys, looking after MPI in between. */
void attn_mpi_each_piece(mpi_run_t *run, const kv_block_t *block, attn_mpi_act_t *act);

/** The piece's plan, for its result or, `backward`, for gradients, which stays the plan's until the next; and room in the
 *  workspace for its run. */
attn_status_t attn_mpi_plan_piece(attn_mpi_plan_t *plan, const piece_t *piece, int32_t backward,
                                  const attn_plan_t **local, attn_error_t *error);

/** The rows of an array of queries, of keys or of pairs that are the piece's; axes that are the same for all stay so. */
attn_tensor_t attn_mpi_queries_of(const attn_tensor_t *tensor, const attn_problem_t *whole,
                                  const piece_t *piece);
attn_tensor_t attn_mpi_keys_of(const attn_tensor_t *tensor, const piece_t *piece);
attn_tensor_t attn_mpi_pairs_of(const attn_tensor_t *tensor, const attn_problem_t *whole,
                                const piece_t *piece);

/** The piece's inputs. Its own arrays are in `own`. */
typedef struct piece_own {
    attn_tensor_t mask;
    const attn_tensor_t *arrays[ATTN_MOST_OWN_ARRAYS];
} piece_own_t;
attn_io_t attn_mpi_piece_io(const mpi_run_t *run, const kv_block_t *block, const piece_t *piece,
                            piece_own_t *own);

/** A slice, unless the axis is the same for all. */
attn_tensor_t attn_mpi_slice_shared(attn_tensor_t tensor, int axis, int64_t first, int64_t count);

#endif
