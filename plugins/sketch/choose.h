/*
 * choose.h: methods that choose features by a factorisation of the stacked X = [Q; K] of a (batch, kv head), as `attn sketch`
 * does of a matrix: the barrier method (barrier.h), and sampling by approximate scores (approximate.h) or, where these are none,
 * exact ones (basis.h).
 *
 * Rows that hold a NaN or an infinity count as zeros.
 */
#ifndef ATTN_SKETCH_CHOOSE_H
#define ATTN_SKETCH_CHOOSE_H

#include "approximate.h"
#include "barrier.h"
#include "plan.h"

/** approximate: the sum of scores at most, of a rank that is the plan's; of exact ones, which are taken for few features, the rank. */
double attn_choose_sum(const sketch_plan_t *plan);

/** Working memory for one (batch, kv head): numbers for (n + m) d and for k^2, k = min(n + m, d). */
void attn_choose_take(attn_arena_t *arena, const sketch_plan_t *plan);

/**
 * The draws of this key/value head of all batches, in that memory: as many as the plan's size. The rank of X or, where
 * rounding has ended the method before, -1 less the features that it had taken.
 */
int64_t attn_choose(const sketch_plan_t *plan, const attn_io_t *io, int64_t head,
                    attn_arena_t *arena, attn_sketch_draw_t *draws);

/** Whether what came of `count` heads is what the method promises, or in words what it is not. */
attn_status_t attn_choose_check(const sketch_plan_t *plan, const int64_t *ranks, int64_t first,
                                int64_t count, attn_error_t *error);

/** Additions and multiplications of attn_choose(). */
double attn_choose_flops(const sketch_plan_t *plan);

#endif
