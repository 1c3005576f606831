/*
 * nn/train.h: training steps: gradients of a batch on all threads of a context, and AdamW.
 *
 * A batch is cut into NN_PARTS parts whatever the number of threads; each goes, sequence after sequence, into
 * sums of its own, which are added up in their order. So the weights are the same to the bit for any number of
 * threads, of which at most NN_PARTS have work. A step allocates nothing.
 */
#ifndef ATTN_NN_TRAIN_H
#define ATTN_NN_TRAIN_H

#include "labs/nn/net.h"

enum { NN_PARTS = 8 };

/** What does not change from step to step. */
typedef struct nn_training {
    double beta1, beta2, epsilon, decay; /**< AdamW's */
    float dropout;                       /**< share that is dropped */
    double embedding;                    /**< nn_weights_draw()'s */
    int64_t batch;                       /**< sequences a step */
    uint64_t seed;
} nn_training_t;

/** The paper's: 0.9, 0.999, 1e-8, 0.01, dropout 0.1, 512 sequences. */
nn_training_t nn_training_paper(uint64_t seed);

typedef struct nn_trainer {
    nn_net_t net;
    nn_training_t training;
    int64_t step;                    /**< steps taken */
    float *weights, *first, *second; /**< layout.count floats each: what a checkpoint has to keep */

    const attn_ext_threads_t *threads; /**< the rest is scratch */
    nn_pass_t *passes;                 /**< one a worker */
    float *gradients;                  /**< NN_PARTS times layout.count */
} nn_trainer_t;

/**
 * With drawn weights. The context outlives it, and it stays where it is: passes point to it. Errors: as
 * nn_net_create(), a batch below 1.
 */
attn_status_t nn_trainer_create(const attn_context_t *context, const nn_shape_t *shape,
                                const nn_training_t *training, nn_trainer_t *trainer,
                                attn_error_t *error);

/** Zeroed trainers are fine. */
void nn_trainer_destroy(nn_trainer_t *trainer);

/**
 * One step at this learning rate: tokens and targets are batch x length, of which targets below 0 do not count.
 * *loss is the mean over the others, before the step. ATTN_ERROR_RANGE where it is no finite number, or a gradient
 * has no finite square: then weights and moments are what they were. Other errors: the plan's.
 */
attn_status_t nn_trainer_step(nn_trainer_t *trainer, const int32_t *tokens, const int32_t *targets,
                              double rate, double *loss, attn_error_t *error);

/** The loss that nn_trainer_step() would find, without dropout, and the same errors. Nothing is learned. */
attn_status_t nn_trainer_loss(nn_trainer_t *trainer, const int32_t *tokens, const int32_t *targets,
                              double *loss, attn_error_t *error);

/**
 * How a learning rate goes, in steps that count from 0: linearly up to its peak, then linearly to 0, or it stays; or
 * it stays until the last `cool` steps, in which it falls to 0, so that longer trainings begin as shorter ones.
 */
typedef struct nn_schedule {
    double peak;
    int64_t warm;  /**< steps of warm-up */
    int64_t total; /**< steps at whose end it is 0 */
    int constant;  /**< 1: after warm-up it is the peak */
    int64_t cool;  /**< 0: it falls from the warm-up on */
} nn_schedule_t;

double nn_rate(const nn_schedule_t *schedule, int64_t step);

/** Floating-point operations of a step: both ways, for a batch. */
double nn_step_flops(const nn_trainer_t *trainer);

#endif
