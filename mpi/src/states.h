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

/* What gradients take (states_back.c); arrays in f32, of the rank's rows. NULL: they are read in place. */
typedef struct states_back {
    attn_plan_t *sums, *rows,
        *keys; /* keys for their state; rows from a state on; keys as queries of a state */
    float *query, *out, *out_gradient, *key, *value;
    float *by_query, *by_key, *by_value, *more_by_key;
    float *results,
        *factors; /* of keys as queries: (B, Hkv, rows, dv, and one with a normaliser) */
    float *by_state, *behind,
        *joined; /* gradients by the state before the rank's keys, and by the one behind */
    float *row;
} states_back_t;

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
    states_back_t back;
} states_t;

/** Whether the problem is one of states that can be passed on. */
attn_status_t attn_mpi_states_check(const attn_problem_t *problem,
                                    const attn_mpi_options_t *options, attn_error_t *error);

/** Make its plans, before memory is laid out; attn_mpi_states_destroy() in any case. */
attn_status_t attn_mpi_states_prepare(attn_mpi_plan_t *plan, attn_error_t *error);
void attn_mpi_states_lay_out(attn_mpi_plan_t *plan, attn_arena_t *arena);
uint64_t attn_mpi_states_workspace(const attn_mpi_plan_t *plan);
void attn_mpi_states_destroy(attn_mpi_plan_t *plan);

/** The same for gradients, where the problem asks for them; whether its parameters are of a rule that has them. */
attn_status_t attn_mpi_states_check_back(const attn_param_t *params, uint32_t count,
                                         attn_error_t *error);
attn_status_t attn_mpi_states_prepare_back(attn_mpi_plan_t *plan, attn_error_t *error);
void attn_mpi_states_back_lay_out(attn_mpi_plan_t *plan, attn_arena_t *arena);
uint64_t attn_mpi_states_back_workspace(const attn_mpi_plan_t *plan);
void attn_mpi_states_back_destroy(attn_mpi_plan_t *plan);

/** All gradients of a run that is checked; errors stay in the run. Collective. Then, without errors, write them. */
void attn_mpi_states_backward_run(mpi_run_t *run);
void attn_mpi_states_backward_finish(mpi_run_t *run);

/** The states of all heads, or their normalisers, in a buffer of them. */
attn_tensor_t attn_mpi_states_in(const attn_mpi_plan_t *plan, float *states, int z);

/** The states that the first rank's caller gives, zeros where there are none. */
void attn_mpi_states_take_given(const mpi_run_t *run, float *states);

/** Which outputs of states a rank asks for, as bits; the same on every rank. */
int64_t attn_mpi_states_wanted(const attn_mpi_plan_t *plan, const attn_io_t *io);

/** The run, and its states to those who asked for them. Nothing fails: arrays are checked, plans are there. Collective. */
void attn_mpi_states_run(mpi_run_t *run);

#endif
