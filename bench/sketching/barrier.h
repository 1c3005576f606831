/* sketching/barrier.h: the backend's barrier method (sketch/barrier.h), with memory of its own. */
#ifndef ATTN_SKETCHING_BARRIER_H
#define ATTN_SKETCHING_BARRIER_H

#include "sketch/barrier.h"
#include "sketching/basis.h"

/** attn_barrier_weights(). 0 when there is no memory. */
int sketching_barrier(const sketching_features_t *features, const sketching_basis_t *basis,
                      int64_t steps, double *weights, attn_barrier_end_t *end);

#endif
