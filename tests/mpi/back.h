/*
 * Gradients on ranks, of a trial that every rank has whole.
 */
#ifndef ATTN_TESTS_BACK_H
#define ATTN_TESTS_BACK_H

#include "shard.h"

/** What trial_check_gradients_by() hands to back_solve(). */
typedef struct back_job {
    const attn_context_t *context;
    int32_t layout;
} back_job_t;

/** The run and its gradients, which are gathered from all ranks. Collective. */
void back_solve(void *job, trial_t *trial, typed_t *const whole[TRIAL_GRADIENTS]);

/** How often a sum of parts is rounded: twice a part, of which there are four a rank, and once more. */
static inline double back_steps(void) { return 8 * ranks_size() + 1; }

/** An array of the same type and shape; absent where that is. */
typed_t back_like(const typed_t *array);

#endif
