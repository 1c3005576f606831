/*
 * reasoning/study.h: one cell of the experiment: a model that learns a task, how well it does, and its checkpoint.
 *
 *     study_create(context, &settings, &study, &error);
 *     while (!study_is_done(&study)) study_train(&study, 100, &error);
 *     study_solve(&study, 500, &score, &error);
 *
 * Everything follows from the settings: sample i of the training is reasoning_draw()'s number i. A study that is
 * saved and restored goes on as if nothing had been.
 */
#ifndef ATTN_REASONING_STUDY_H
#define ATTN_REASONING_STUDY_H

#include "labs/nn/train.h"
#include "labs/reasoning/task.h"
#include "labs/store.h"

#define STUDY_WARM 0.05 /**< part of the steps that are warm-up: the paper's */

/** A cell as a person asks for it. */
typedef struct study_choice {
    int32_t kind, size, modulus, band; /**< reasoning_make()'s */
    const char *backend;
    const attn_param_t *params;
    uint32_t param_count;
    int64_t width, layers, heads, batch;
    double samples;   /**< thousands to train on, at most; the task's unless above 0 */
    double rate;      /**< the highest learning rate; likewise */
    double embedding; /**< nn_weights_draw()'s; likewise */
    double warm;      /**< part of the steps that are warm-up; not a number: the task's */
    int constant;     /**< nn_schedule_t's */
    double dropout;
    uint64_t seed;
} study_choice_t;

typedef struct study_settings {
    reasoning_task_t task;
    const char *backend; /**< of the attention; outlives the study, like its parameters */
    const attn_param_t *params;
    uint32_t param_count;
    int64_t width, heads, layers;
    nn_training_t training;
    double rate;   /**< the highest learning rate */
    int64_t warm;  /**< steps of warm-up */
    int64_t steps; /**< at most */
    int constant;  /**< after warm-up the rate stays; else it falls to 0 at the end of the steps */
    int64_t cool;  /**< the last steps, in which the rate falls; 0: it falls from the warm-up on */
    double enough; /**< stop early at this share of test samples wholly right; above 1: never */
} study_settings_t;

/** What models learn a task by in minutes, where a choice says nothing else. */
typedef struct study_learning {
    double rate, samples, embedding;
    int64_t warm; /**< steps of warm-up; 0: STUDY_WARM of all */
    double cool;  /**< part of the steps in which the rate falls; 0: all after the warm-up */
    double beta2; /**< AdamW's; 0: the paper's */
} study_learning_t;

study_learning_t study_learning(int32_t kind);

/** The paper's AdamW, and an early stop at 99.5%. Errors: reasoning_make()'s. */
attn_status_t study_settings_make(const study_choice_t *choice, study_settings_t *settings,
                                  attn_error_t *error);

/** How well it does on test samples. */
typedef struct study_score {
    int64_t samples;
    int64_t answers; /**< right, decoded greedily from the question on: the paper's accuracy */
    int64_t whole;   /**< every token right under teacher forcing */
} study_score_t;

typedef struct study {
    study_settings_t settings;
    const attn_context_t *context;
    nn_trainer_t trainer;
    int32_t *tokens, *targets; /* of a batch */
    reasoning_sample_t *sample;
    double loss;    /**< of the last step */
    int64_t looked; /**< the step after which it was last looked whether it is enough */
    int enough;     /**< it is */
} study_t;

/** Of the model that is trained. */
nn_shape_t study_shape(const study_settings_t *settings);

/** It stays where it is. Errors: as nn_trainer_create(). */
attn_status_t study_create(const attn_context_t *context, const study_settings_t *settings,
                           study_t *study, attn_error_t *error);

/** Zeroed studies are fine. */
void study_destroy(study_t *study);

int study_is_done(const study_t *study);

/**
 * Up to `steps` steps. Now and then it is looked whether the model is good enough. Errors: a loss or a gradient that is
 * no number (ATTN_ERROR_RANGE); the weights are those before that step.
 */
attn_status_t study_train(study_t *study, int64_t steps, attn_error_t *error);

/**
 * Whether these weights are worth keeping: the step that comes has a loss. Errors: it has none (ATTN_ERROR_RANGE),
 * because the step before blew up.
 */
attn_status_t study_check(study_t *study, attn_error_t *error);

/** *loss is the mean of -log probability of each token of the first `samples` test samples. */
attn_status_t study_loss(study_t *study, int64_t samples, double *loss, attn_error_t *error);

/** score->whole of the first `samples` test samples. */
attn_status_t study_teach(study_t *study, int64_t samples, study_score_t *score,
                          attn_error_t *error);

/** Both of the first `samples` test samples. */
attn_status_t study_solve(study_t *study, int64_t samples, study_score_t *score,
                          attn_error_t *error);

/* ---- with a store (work.c) ------------------------------------------------------------------------- */

/** Go on from what the store has of this name, if anything. Errors: study_restore()'s; LAB_UNFINISHED: the store's. */
attn_status_t study_resume(study_t *study, const lab_store_t *store, const char *name,
                           attn_error_t *error);

/** Its checkpoint into the store. Errors: study_check()'s, no memory; LAB_UNFINISHED: the store's. */
attn_status_t study_keep(study_t *study, const lab_store_t *store, const char *name,
                         attn_error_t *error);

/** Step, loss, accuracy and, by the seconds a step takes, the time left. */
attn_status_t study_tell(study_t *study, const lab_store_t *store, const char *name, double pace,
                         attn_error_t *error);

/**
 * Train to the end: kept and told every store->seconds, kept at the end. Errors: study_train()'s and study_keep()'s, and
 * the checkpoint is then the last good one; LAB_UNFINISHED: the store wants it to stop, or cannot keep.
 */
attn_status_t study_work(study_t *study, const lab_store_t *store, const char *name,
                         attn_error_t *error);

/* ---- checkpoints (checkpoint.c) -------------------------------------------------------------------- */

/**
 * Text that says what the study is, then weights, moments and step: written to `buffer` (may be NULL when size is 0);
 * returns the bytes that takes. For machines of the same byte order.
 */
size_t study_save(const study_t *study, void *buffer, size_t size);

/**
 * Go on from a checkpoint. It may be of a training of other length where the rate falls in neither yet (settings.cool):
 * both are then the same so far. Errors, which change nothing: bytes that are none, of another version, truncated or
 * damaged (ATTN_ERROR_ARGUMENT), of another task, shape or setting, which is named (ATTN_ERROR_SHAPE).
 */
attn_status_t study_restore(study_t *study, const void *buffer, size_t size, attn_error_t *error);

#endif
