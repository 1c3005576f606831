/*
 * labs/programs/machine.h: transformers whose weights are written out by hand, as the proofs of "Do Efficient
 * Transformers Really Save Computation?" have them. A token is a row of numbers. Each layer reads columns of it and writes
 * new ones behind them: the paper's Appendix B has concatenation in place of residual connections. A layer is a
 * perceptron of two layers with GeLU, in double precision, or a causal head of attention, by a plugin's stream. Tokens
 * come one by one, so that what a head knows of earlier ones is in its stream alone.
 */
#ifndef ATTN_LABS_PROGRAMS_MACHINE_H
#define ATTN_LABS_PROGRAMS_MACHINE_H

#include "attn/attn.h"

enum { MACHINE_LAYERS = 40, MACHINE_PARAMS = 3 };

/** A weight of a matrix that is nearly all zero. */
typedef struct machine_term {
    int32_t row, column;
    double weight;
} machine_term_t;

/** A matrix by its terms. */
typedef struct machine_map {
    machine_term_t *terms;
    int32_t count, room;
} machine_map_t;

typedef struct machine_layer {
    int32_t first, outputs; /**< columns that it writes */
    int32_t step; /**< layers of one step work side by side: heads of one layer of attention */

    int32_t neurons; /**< of a perceptron; 0: a head of attention */
    int32_t
        task; /**< 1: what the task itself asks for, which Assumptions B.1 and B.2 have of constant size */
    machine_map_t inner, outer;

    const char *backend; /**< of a head */
    char values[MACHINE_PARAMS][16];
    attn_param_t params[MACHINE_PARAMS];
    int32_t param_count, dim;
    machine_map_t query, key, value; /**< W_Q, W_K, W_V */
    attn_stream_t *stream;
    float *qkv, *out;
} machine_layer_t;

typedef struct machine {
    int32_t width;    /**< columns of a token, all layers' with it */
    int32_t inputs;   /**< columns of the embedding: the first ones */
    int32_t one;      /**< a column of the embedding that is always 1 */
    int32_t position; /**< a column of the embedding that is the token's number, from 1 */
    int32_t outputs;  /**< columns of the answer */
    int32_t answer;   /**< the first of them */
    machine_layer_t layers[MACHINE_LAYERS];
    int32_t count, steps;
    int32_t failed; /**< memory was missing, or there were too many layers */
    double *token, *hidden;
    int64_t length; /**< tokens so far */
} machine_t;

/** What a machine is made of, for the theorem's statement. */
typedef struct machine_size {
    int32_t width;       /**< D: the widest of a token, a layer of neurons and a head */
    int32_t attention;   /**< layers of attention */
    int32_t heads;       /**< of the layer that has most */
    int32_t perceptrons; /**< of two layers each */
    int32_t task;        /**< neurons of the perceptrons that are the task's own */
    double norm;         /**< the largest weight, in magnitude */
} machine_size_t;

/** An empty machine with an embedding of `inputs` columns. */
void machine_init(machine_t *machine, int32_t inputs, int32_t one, int32_t position);

/** Zeroed machines are fine. */
void machine_destroy(machine_t *machine);

/** Begin a perceptron; its outputs are columns from machine->width on. */
machine_layer_t *machine_perceptron(machine_t *machine);

/**
 * Begin a causal head of `backend` with scale 1. `beside`: of the same layer of attention as the head before. Its outputs,
 * `value_dim` columns, are there at once.
 */
machine_layer_t *machine_head(machine_t *machine, const char *backend, int32_t dim,
                              int32_t value_dim, int beside);

/** A parameter of the head's plugin. */
void machine_param(machine_layer_t *head, const char *name, int64_t value);

/** Add a weight to a matrix. */
void machine_weight(machine_t *machine, machine_map_t *map, int32_t row, int32_t column,
                    double weight);

/** A new column of the last perceptron's; returns its number. */
int32_t machine_column(machine_t *machine);

/** A new neuron of the last perceptron's; returns its number. */
int32_t machine_neuron(machine_t *machine);

/** ATTN_ERROR_MEMORY where it could not be built. */
attn_status_t machine_check(const machine_t *machine, attn_error_t *error);

/** Make its streams for at most `length` tokens. The context must outlive the machine. */
attn_status_t machine_begin(machine_t *machine, const attn_context_t *context, int64_t length,
                            attn_error_t *error);

/** Forget all tokens. */
attn_status_t machine_restart(machine_t *machine, attn_error_t *error);

/** Take in a token, `inputs` numbers of which position and one are filled in here; answer has `outputs` numbers. */
attn_status_t machine_step(machine_t *machine, const double *token, double *answer,
                           attn_error_t *error);

machine_size_t machine_size(const machine_t *machine);

#endif
