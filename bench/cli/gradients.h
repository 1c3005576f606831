/*
 * cli/gradients.h: `attn run --grad NAME=FILE`: gradients of a loss through a run. That of out is read, all
 * others are written, each of its array's shape.
 */
#ifndef ATTN_CLI_GRADIENTS_H
#define ATTN_CLI_GRADIENTS_H

#include "cli/runner.h"

typedef struct gradients {
    option_texts_t files;          /* --grad: NAME=FILE */
    array_t arrays[DECLARED_MOST]; /* by the number of what they are gradients of */
    array_t lse;                   /* where the run has none for a file */
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS];
    attn_io_t io;
} gradients_t;

/* For option tables, with `gradients` a gradients_t. */
#define GRADIENTS_OPTION(gradients)                                                                \
    {                                                                                              \
        "grad", 0, OPTION_TEXTS, "NAME=FILE",                                                      \
            "gradient: out is read; query, key, value, bias ... are written; may be repeated",     \
            &(gradients).files, 0, 0                                                               \
    }

/** Check the form of every --grad and that the loss's gradient is there, if any is; an exit status. */
int gradients_check(const gradients_t *gradients);

/** The file of the gradient of array number `number`; NULL for none. */
const char *gradients_file(const gradients_t *gradients, const attn_array_info_t *info);

/** Check that every --grad names an array that the runner's backend has a gradient of, or out; an exit status. */
int gradients_check_names(const gradients_t *gradients, const runner_t *runner);

/** What a file of the gradient of out may hold, and that it is of out's shape, whole; an exit status. */
extern const npy_wanted_t gradients_loss;
int gradients_check_loss(const array_t *loss, const int64_t shape[4], const char *path);

/** Round it to out's type, which may not make an infinity of a number; an exit status. */
int gradients_round_loss(array_t *loss, attn_dtype_t dtype, const char *path);

/**
 * Read the gradient of out and make room for those that are written, and for lse, which the runner's run has then;
 * after runner_prepare(). An exit status; gradients_free() in any case.
 */
int gradients_prepare(gradients_t *gradients, runner_t *runner);

/**
 * For measuring: a normal gradient of out, and room for those of query, key and value; after runner_prepare() of
 * a runner in f32.
 */
int gradients_draw(gradients_t *gradients, runner_t *runner, uint64_t seed);

/** How far the gradient by the queries is from the oracle's, as attn_oracle_error() says of out. */
int gradients_error(const gradients_t *gradients, const runner_t *runner,
                    const attn_problem_t *problem, int64_t stride, double *relative);

/** Compute them, after the run; the second for about `budget` seconds. */
attn_status_t gradients_run(gradients_t *gradients, runner_t *runner);
attn_status_t gradients_time(gradients_t *gradients, runner_t *runner, double budget,
                             measure_t *time);

void gradients_free(gradients_t *gradients);

#endif
