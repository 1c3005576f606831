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
 * Row `query` of exact softmax attention (two passes: maximum, then sum), for one batch and
 * head: out[dv], and, where not NULL, *lse, weights[m] and magnitude[dv], the sum of absolute
 * terms sum_j A_ij |v_jc| that rounding errors are proportional to. Reads io->query, key, value
 * and whatever inputs the problem names; a row without keys gives zeros and lse = -inf.
 * `scratch` has room for m doubles. What is of no element type counts as NaN. [any thread]
 */
void attn_oracle_row(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                     int64_t head, int64_t query, double *out, double *lse, double *weights,
                     double *magnitude, double *scratch);

/**
 * One logit of exact attention at a stage before softmax (enum attn_scores_code, not the weights):
 * -inf after ATTN_SCORES_MASKED where the query does not see the key. [any thread]
 */
double attn_oracle_score(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                         int64_t head, int64_t query, int64_t key, int32_t stage);

/**
 * The way back through row `query` of attn_oracle_row(), for dO, that row of `out_gradient`:
 * logits[m] is dL/dS_j = A_j (dO . v_j - sum_k A_k dO . v_k) for the logit S after softcap, bias
 * and ALiBi, products[m] that before softcap, dL/d(scale q . k_j), and weights[m] A; all are 0
 * where the query does not see the key. With them dq = scale sum_j products_j k_j, dk_j = scale
 * sum_i products_ij q_i and dv_j = sum_i A_ij dO_i. Returns the sink's dL/dS, 0 where there is
 * none. `scratch` has room for m + dv doubles. [any thread]
 */
double attn_oracle_row_backward(const attn_problem_t *problem, const attn_io_t *io,
                                const attn_tensor_t *out_gradient, int64_t batch, int64_t head,
                                int64_t query, double *weights, double *logits, double *products,
                                double *scratch);

/**
 * How far io->out is from exact attention: the relative error in the Frobenius norm, ||O - O*||
 * / ||O*||, over every `stride`-th query row of every head (1: all). Rows where exact attention
 * is not finite are left out. Returns NaN when the output has a NaN elsewhere, or when no row is
 * left, -1 when `scratch` (m + dv doubles) is NULL or query, key, value or out is of no element
 * type. [any thread]
 */
double attn_oracle_error(const attn_problem_t *problem, const attn_io_t *io, int64_t stride,
                         double *scratch);

#ifdef __cplusplus
}
#endif
#endif
