/*
 * The logits that a sketch plan really used, from what it gives away: S'_ij = log A'_ij + lse_i.
 */
#ifndef ATTN_TESTS_SKETCH_LOGITS_H
#define ATTN_TESTS_SKETCH_LOGITS_H

#include "support/fixture.h"

/** logits[i*m + j] of head 0, with scale 1 in the problem; runs the plan made from `settings`. */
void sketch_logits(const attn_context_t *context, arrays_t *arrays, const char *settings,
                   double *logits);

/** Exact q_i . k_j of head 0. */
double exact_logit(const arrays_t *arrays, int64_t i, int64_t j);

#endif
