/*
 * Rows that were combined of parts (attn/combine.h), against the exact formula.
 */
#ifndef ATTN_TESTS_COMBINED_H
#define ATTN_TESTS_COMBINED_H

#include "exact.h"

/**
 * Fail unless row `row` of out and lse (when it has data) is the row at[] of the problem that `inputs` are of, which
 * exact_row() has computed. `steps`: how often a result was combined and rounded to f32 on the way.
 *
 * A weight is exp(S - lse_p) exp(lse_p - lse): beside what a run's own weight may be off by, each lse moves it by as much
 * as it is off itself, which exact_row() tells. A part whose lse is so much larger in magnitude that its rounding is,
 * too, has a weight that is as much smaller: |x| exp(x) is at most 1/e.
 */
void combined_compare_row(const exact_t *exact, const attn_problem_t *problem,
                          const attn_io_t *inputs, const int64_t at[4], const attn_tensor_t *out,
                          const attn_tensor_t *lse, int64_t row, double steps);

/** What a number of such an output may be off by. */
double combined_out_bound(const exact_t *exact, const attn_problem_t *problem,
                          const attn_io_t *inputs, const int64_t at[4], int64_t column,
                          double steps);

#endif
