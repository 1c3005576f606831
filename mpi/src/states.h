/*
 * states.h: linear attention over ranks. What a rank's keys come to is a state of a fixed size: states are sent, no keys.
 *
 * Causal: a chain. Each rank begins with the state that the one before it ends with, head by head, so that the next rank
 * begins when the first head is done. Every rule has that; delta rules, whose states do not add up, have no other way that
 * gives one process's sums. Not causal: the sum of all ranks' states, in a tree.
 */
#ifndef ATTN_MPI_STATES_H
#define ATTN_MPI_STATES_H

#include "plan.h"

/* Which of attn_io_t.own is which. */
enum state_array { DECAY, BETA, STATE, STATE_Z, STATE_OUT, STATE_Z_OUT, STATE_ARRAYS };

typedef struct attn_mpi_states {
    uint32_t index[STATE_ARRAYS];
    attn_plan_t *keys; /* causal: a unit's rows; else all keys of the rank, for their state alone */
    attn_plan_t *apply; /* not causal: all queries of the rank, with a state and no key */
    int has_z;          /* a normaliser */
    int64_t features, heads, at_once; /* heads of all batches, and of a unit */
    uint64_t size;                    /* floats of a head's state */
    float *before, *after;            /* [heads]: states without and with this rank's keys */
    float *received;
    float *zeros; /* a row of a query or a key that a run has not */
    float *row;   /* of its result, of all heads */
    MPI_Request *requests;
    MPI_Status *statuses;
} states_t;

/** Whether the problem is one of states that can be passed on. */
attn_status_t attn_mpi_states_check(const attn_problem_t *problem,
                                    const attn_mpi_options_t *options, attn_error_t *error);

/** Make its plans, before memory is laid out; attn_mpi_states_destroy() in any case. */
attn_status_t attn_mpi_states_prepare(attn_mpi_plan_t *plan, attn_error_t *error);
void attn_mpi_states_lay_out(attn_mpi_plan_t *plan, attn_arena_t *arena);
uint64_t attn_mpi_states_workspace(const attn_mpi_plan_t *plan);
void attn_mpi_states_destroy(attn_mpi_plan_t *plan);

/** Which outputs of states a rank asks for, as bits; the same on every rank. */
int64_t attn_mpi_states_wanted(const attn_mpi_plan_t *plan, const attn_io_t *io);

/** The run, and its states to those who asked for them. Nothing fails: arrays are checked, plans are there. Collective. */
void attn_mpi_states_run(mpi_run_t *run);

#endif
