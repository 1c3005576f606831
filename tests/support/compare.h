/*
 * Results against the exact formulas, number by number, within the bounds of reference.h.
 */
#ifndef ATTN_TESTS_COMPARE_H
#define ATTN_TESTS_COMPARE_H

#include "arrays.h"
#include "reference.h"

/** Fail unless `actual` is within `bound` of `expected`; NaN and infinities must be the same. */
void compare_number(double actual, double expected, double bound, const char *name,
                    const int64_t at[4]);

/**
 * Fail unless out and lse (when present) are the formula's, in every row. Rows of linear attention
 * whose normaliser drowns in rounding have no value to compare with: returns how many there are.
 */
int64_t compare_output(const arrays_t *arrays, const formula_t *formula);

/**
 * Ask the plan for all weights of all heads and fail unless they are the formula's, give
 * the output that arrays_run() left, and are 0 where the query does not see the key. Asks in pieces
 * of `step` queries.
 */
void compare_weights(arrays_t *arrays, const attn_plan_t *plan, const formula_t *formula,
                     int64_t step);

#endif
