/*
 * plan.h: a plan over ranks, and a run of it. Ring and tree differ in what is sent; a block of queries beside a block of
 * keys is computed in the same way.
 */
#ifndef ATTN_MPI_PLAN_H
#define ATTN_MPI_PLAN_H

#include "shard.h"
#include "transfer.h"

#include "attn/combine.h"
#include "attn/support.h"

/* A buffer of keys and values: the rows of one rank, each array without gaps, in the order of a send. */
typedef struct kv_layout {
    int64_t rows;
    uint64_t key, value, key_scales, value_scales; /* offsets in bytes */
    uint64_t size;
} kv_layout_t;

/* What gradients take beside that: NULL where the problem does not ask for them, or arrays are read in place. */
typedef struct back {
    char *sums[2],
        *came; /* gradients of a block's keys and values in f32: two in turn, and what other ranks send */
    transfer_t coming, going;
    float *out, *out_gradient; /* (B, H, rows, dv) in f32 */
    float *query_sums;         /* (B, H, rows, d) */
    float *key, *value;        /* of a piece, in f32 */
    float *part_query, *part_key, *part_value, *part_bias, *part_slopes; /* of a piece */
    double *heads; /* [size][2 H]: of sinks and slopes */
} back_t;

/* Of the ring: whose keys come by is rank - first - i, for i below count. */
typedef struct ring_hops {
    int first, count;
} ring_hops_t;

struct attn_mpi_plan {
    const attn_context_t *context;
    MPI_Comm comm;
    int rank, size;
    attn_problem_t whole;
    char *backend;
    attn_param_t *params; /* copies */
    uint32_t param_count;
    int32_t layout, way;
    attn_mpi_rows_t query_rows, key_rows; /* this rank's */
    int64_t rows;                         /* queries that it computes: its own, or all in a tree */

    char *memory;      /* all below, but the workspace */
    float *query;      /* (B, H, rows, d) in f32; NULL: it is read in place */
    char *blocks[2];   /* of keys and values */
    float *out;        /* (B, H, rows, dv): results of the keys so far */
    double *lse;       /* (B, H, rows, 1), right behind out */
    uint64_t sum_size; /* bytes of both */
    char *received;    /* as many, from another rank */
    float *part_out;   /* of a block */
    float *part_lse;
    int64_t *lengths; /* of a block */
    float *row;       /* of the result, where checks want one that a rank without queries has not */
    transfer_t moving; /* keys and values */
    char *workspace;
    uint64_t workspace_size;

    struct attn_mpi_states *states; /* of linear attention; else NULL, and: */
    struct attn_mpi_split *split;
    attn_plan_t *cached; /* of the last piece, which the next is often like */
    attn_problem_t cached_problem;
    const struct method *cached_method;

    back_t back;
    ring_hops_t hops; /* where no lengths move queries */
    int has_run;
    attn_mpi_times_t times;
};

/* A run: what a rank attends with, and what went wrong on the way, which it keeps until all ranks are done. */
typedef struct mpi_run {
    attn_mpi_plan_t *plan;
    const attn_io_t *io;
    attn_mpi_rows_t queries; /* that it computes */
    attn_tensor_t query;     /* f32, their rows */
    attn_status_t status;
    attn_error_t error;
    ring_hops_t hops;
    int takes_all; /* also blocks that nobody sees: some rank wants their scores */
    /* of gradients */
    const attn_io_t *gradients;
    attn_tensor_t out, out_gradient; /* f32, rows of the queries */
    attn_tensor_t key, value;        /* the same of the rank's keys, of linear */
    float *sums; /* of the block that is computed with; at last of the rank's own keys */
    int travels; /* whether some rank asks for gradients of keys or values */
} mpi_run_t;

/* Keys and values of a rank, wherever they are. */
typedef struct kv_block {
    attn_mpi_rows_t rows;
    attn_tensor_t key, value, key_scales, value_scales;
} kv_block_t;

/** Rows [first, first + count) of an axis. */
attn_tensor_t attn_mpi_slice(attn_tensor_t tensor, int axis, int64_t first, int64_t count);

/** Elements of one tensor to another of the same shape and type, whose rows have no gaps. */
void attn_mpi_copy(const attn_tensor_t *to, const attn_tensor_t *from);

/** The same of f32, f16 or bf16, as f32. */
void attn_mpi_widen(const attn_tensor_t *to, const attn_tensor_t *from);

/** The same of f32, rounded to the type of `to`, which may have any strides. */
void attn_mpi_narrow(const attn_tensor_t *to, const attn_tensor_t *from);

/** Which of `rows` rows a rank has. */
attn_mpi_rows_t attn_mpi_rows_of(const attn_mpi_plan_t *plan, int64_t rows, int rank);

/** The most that one has. */
int64_t attn_mpi_most_rows(const attn_mpi_plan_t *plan, int64_t rows);

/** Results so far, as tensors of all rows. */
attn_part_t attn_mpi_sum(const attn_mpi_plan_t *plan, float *out, double *lse);

/** No keys yet. */
void attn_mpi_begin(mpi_run_t *run);

/** How many keys of a sequence count. */
int64_t attn_mpi_keys_in(const mpi_run_t *run, int64_t batch);

/** This rank's keys and values, in place. */
kv_block_t attn_mpi_own_block(const mpi_run_t *run);

/** Let all queries of the run attend to a block of keys, and add the result to the sum. Errors stay in the run. */
void attn_mpi_attend(mpi_run_t *run, const kv_block_t *block);

/** Make out and lse of the sum, with sinks. Its rows are this rank's own, or, `is_whole`, those of the whole sequence. */
void attn_mpi_finish(mpi_run_t *run, const attn_mpi_rows_t *own, int is_whole);

/** Combine parts, on the context's threads: arrays that attn_combine() takes. The result may be a part's place. */
void attn_mpi_combine(const attn_context_t *context, const attn_part_t *parts, int count,
                      const attn_tensor_t *out, const attn_tensor_t *lse);

/** Bytes of workspace that any block of this rank needs; an error where a block cannot be planned. */
attn_status_t attn_mpi_measure(attn_mpi_plan_t *plan, uint64_t *size, attn_error_t *error);

/** Keep the first error of a run. */
void attn_mpi_note(mpi_run_t *run, attn_status_t status, const attn_error_t *error);

/** Read and check what a rank brings to a run (check.c), and, behind that, to its gradients. Of sparse the plan then has its
 *  lists of blocks. */
attn_status_t attn_mpi_check(const attn_mpi_plan_t *plan, const attn_io_t *given, attn_io_t *io,
                             attn_error_t *error);
attn_status_t attn_mpi_check_backward(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                      const attn_io_t *given, attn_io_t *gradients,
                                      attn_error_t *error);

kv_layout_t attn_mpi_kv_layout(const attn_problem_t *whole, int64_t rows);

/* backward.c */

/** Bytes of the gradients of so many rows of keys and values, in f32: those of keys, (B, Hkv, rows, d), first. */
uint64_t attn_mpi_gradient_bytes(const attn_mpi_plan_t *plan, int64_t rows);

/** Place what gradients take. */
void attn_mpi_back_lay_out(attn_mpi_plan_t *plan, int64_t most_rows, attn_arena_t *arena);

/** The gradients of a block's keys and values that come of this rank's queries, to `sums`; and their own. */
void attn_mpi_go_back(mpi_run_t *run, const kv_block_t *block, char *sums);

/** All gradients of a run that is checked; errors stay in the run. Collective. Then, without errors, write them. */
void attn_mpi_backward_run(mpi_run_t *run);
void attn_mpi_backward_finish(mpi_run_t *run);

/** sums[i] += others[i]. */
void attn_mpi_add(float *sums, const float *others, uint64_t count);

/* ring.c, tree.c */
void attn_mpi_plan_hops(attn_mpi_plan_t *plan);
void attn_mpi_ring(mpi_run_t *run);
void attn_mpi_tree(mpi_run_t *run);

/** Gradients: returns those of this rank's keys and values, in f32; NULL where no rank asks for them or no key is seen. */
const char *attn_mpi_ring_back(mpi_run_t *run);

/** So that what is in flight goes on while this rank computes. */
void attn_mpi_poll(attn_mpi_plan_t *plan);

#endif
