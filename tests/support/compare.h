/*
 * Results against the exact formulas, number by number, within the bounds of reference.h.
 */
#ifndef ATTN_TESTS_COMPARE_H
#define ATTN_TESTS_COMPARE_H

#include "arrays.h"
#include "exact.h"
#include "reference.h"

/** Fail unless `actual` is within `bound` of `expected`; NaN and infinities must be the same. */
void compare_number(double actual, double expected, double bound, const char *name,
                    const int64_t at[4]);

/**
 * Fail unless out and lse (when present) are the formula's, in every row. Rows of linear attention
 * whose normaliser drowns in rounding have no value to compare with: returns how many there are.
 */
int64_t compare_output(const arrays_t *arrays, const formula_t *formula);

/** The rows of a problem: at[0] its batch, at[1] its head, at[2] its query; at[3] is 0. */
#define FOR_EACH_ROW(problem, at)                                                                  \
    for (int64_t at[4] = {0}; at[0] < (problem)->batch; at[0]++)                                   \
        for (at[1] = 0; at[1] < (problem)->heads; at[1]++)                                         \
            for (at[2] = 0; at[2] < (problem)->queries; at[2]++)

/** Fail unless out and lse (where io has it) of one row, which exact_row() has computed, are exact attention's. */
void compare_exact_row(const exact_t *exact, const attn_problem_t *problem, const attn_io_t *io,
                       const int64_t at[4]);

/** The same of all rows, computed from io's inputs by a plan that rounds so. */
void compare_exact(const attn_problem_t *problem, const attn_io_t *io,
                   const arithmetic_t *arithmetic);

/**
 * Ask the plan for all weights of all heads and fail unless they are the formula's, give
 * the output that arrays_run() left, and are 0 where the query does not see the key. Asks in pieces
 * of `step` queries.
 */
void compare_weights(arrays_t *arrays, const attn_plan_t *plan, const formula_t *formula,
                     int64_t step);

#endif
