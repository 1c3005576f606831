/*
 * attn/oracle.h: exact attention in double precision and plain C: the truth that every backend's
 * error is measured against. A library of its own (attn::oracle): tests, benchmarks and the
 * visualizer link it; a program that only computes does not.
 */
#ifndef ATTN_ORACLE_H
#define ATTN_ORACLE_H

#include "attn/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Row `query` of exact softmax attention (two passes: maximum, then sum), for one batch and head:
 * out[dv], and, where not NULL, *lse, weights[m] and magnitude[dv], the sum of absolute terms
 * sum_j A_ij |v_jc| that rounding errors are proportional to. Reads io->query, key, value
 * and whatever inputs the problem names; a row without keys gives zeros and lse = -inf. `scratch` has room for m
 * doubles. What is of no element type counts as NaN. Any thread.
 */
void attn_oracle_row(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                     int64_t head, int64_t query, double *out, double *lse, double *weights,
                     double *magnitude, double *scratch);

/**
 * One logit of exact attention at a stage before softmax (enum attn_scores_code, not the weights):
 * -inf after ATTN_SCORES_MASKED where the query does not see the key. Any thread.
 */
double attn_oracle_score(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                         int64_t head, int64_t query, int64_t key, int32_t stage);

/**
 * How far io->out is from exact attention: the relative error in the Frobenius norm,
 * ||O - O*|| / ||O*||, over every `stride`-th query row of every head (1: all). Rows where exact
 * attention is not finite are left out. Returns NaN when the output has a NaN elsewhere, -1 when
 * `scratch` (m + dv doubles) is NULL or query, key, value or out is of no element type.
 */
double attn_oracle_error(const attn_problem_t *problem, const attn_io_t *io, int64_t stride,
                         double *scratch);

#ifdef __cplusplus
}
#endif
#endif
