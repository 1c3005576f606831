/* A trial's gradients, and what the oracle (attn/oracle_linear.h) says of them. */
#ifndef ATTN_TESTS_LINEAR_TRIAL_GRADIENTS_H
#define ATTN_TESTS_LINEAR_TRIAL_GRADIENTS_H

#include "trial.h"

typedef struct way_back {
    trial_t *trial;
    typed_t out; /* dL/dout */
    typed_t query, key, value, own[OWN];
    const attn_tensor_t *tensors[OWN];
    attn_io_t io; /* the gradients */
} way_back_t;

/** Room for the gradients of a trial that is made; its problem now asks for them. */
void way_make(way_back_t *way, trial_t *trial);
void way_drop(way_back_t *way);

/** Runs the trial and goes back, which must succeed. */
attn_plan_t *way_run(way_back_t *way);

/** Fails unless all gradients are within first-order bounds of the oracle's. */
void way_compare(const way_back_t *way);

/** All gradients of a key/value head by the oracle, in one piece of memory that is to be freed. */
attn_oracle_linear_gradients_t way_oracle(const way_back_t *way, int64_t batch, int64_t kv_head,
                                          void **memory);

#endif
