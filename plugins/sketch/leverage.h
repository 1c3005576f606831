/*
 * leverage.h: leverage scores of features, and features sampled by them.
 *
 * The rows X of one (batch, kv head) are the queries of all its heads and its keys, stacked. The
 * leverage score of feature j is sigma_j = x_j^T (X X^T)^+ x_j, x_j being column j of X: between 0
 * and 1, and their sum is the rank of X. (Section 5 of Deng, Mahadevan, Song, arXiv:2304.04397,
 * where the features are the rows of M = X^T.)
 *
 * Computed exactly, up to rounding in double precision, from the smaller Gram matrix: with N rows
 * and k = min(N, d), about N d k + k^3 + d k^2 additions and multiplications; where the first 2 d rows have rank
 * d, about 3 d^3. X may have any rank.
 * Rows that hold a NaN or an infinity are left out.
 */
#ifndef ATTN_SKETCH_LEVERAGE_H
#define ATTN_SKETCH_LEVERAGE_H

#include "ieee/ieee.h"

#include "attn/support.h"

/** A feature that was drawn: column t of T is weight * e_feature. */
typedef struct attn_sketch_draw {
    int64_t feature;
    float weight;
} attn_sketch_draw_t;

/** Working memory for one (batch, kv head). */
typedef struct attn_leverage_scratch {
    double *scores;   /**< d: the result */
    double *diagonal; /**< k */
    int64_t *pivots;  /**< k */
    double *gram;     /**< k x k */
    double *factor;   /**< k x k */
    double *basis;    /**< k x d */
    double *rows;     /**< 4 x d */
} attn_leverage_scratch_t;

/** Rows that (batch, kv head) of this problem stacks: the N of the formulas. */
static inline int64_t attn_leverage_rows(const attn_problem_t *problem) {
    return problem->heads / problem->kv_heads * problem->queries + problem->keys;
}

void attn_leverage_scratch_take(attn_arena_t *arena, const attn_problem_t *problem,
                                attn_leverage_scratch_t *scratch);

/** Fill scratch->scores for one (batch, kv head); returns the rank that was found. */
int64_t attn_leverage_scores(const attn_problem_t *problem, const attn_tensor_t *query,
                             const attn_tensor_t *key, int64_t batch, int64_t kv_head,
                             attn_leverage_scratch_t *scratch);

/**
 * Pivoted Cholesky: factor (rank x n, in rows of n) with factor^T factor = gram; destroys gram. Step
 * t takes the largest remaining diagonal element, pivots[t]. A row whose remainder has fallen to
 * `tolerance` of its own diagonal element depends on the pivots already and is out; that test is
 * indifferent to the scale of each row. (Higham, "Accuracy and Stability of Numerical Algorithms",
 * 2002, section 10.3.) Returns the rank.
 */
int64_t attn_leverage_cholesky(double *gram, int64_t n, double tolerance, double *factor,
                               double *diagonal, int64_t *pivots);

/** That of the Gram matrix of a matrix of `terms` rows and columns together. */
double attn_leverage_tolerance(int64_t terms);

/** The scores of X from G = X^T X, d x d, whose upper triangle s->gram holds; returns the rank. */
int64_t attn_leverage_of_gram(int64_t dim, double tolerance, attn_leverage_scratch_t *s);

/** Additions and multiplications of attn_leverage_scores() at full rank. */
double attn_leverage_flops(const attn_problem_t *problem);

/**
 * Draw `size` features with replacement, p_j = scores[j] / sum (uniform where all scores are 0),
 * weight 1/sqrt(size p_j): Definition 5.3. Draw t uses number t of (seed, stream). Overwrites
 * scores with their running sums.
 */
void attn_leverage_draw(double *scores, int64_t dim, int64_t size, uint64_t seed, uint64_t stream,
                        attn_sketch_draw_t *draws);

#endif
