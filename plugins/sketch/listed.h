/*
 * listed.h: leverage scores of a sparse X, of one head's rows: exact, as those of leverage.h, from the smaller Gram
 * matrix. With n rows, k = min(n, d) and e elements about n e + k^3 + k e additions and multiplications where n < d,
 * else sum e_i^2 + d^3, e_i being the elements of a row; numbers for k^2, d and e, and none for n d.
 */
#ifndef ATTN_SKETCH_LISTED_H
#define ATTN_SKETCH_LISTED_H

#include "csr.h"
#include "leverage.h"

typedef struct attn_listed_scratch {
    attn_leverage_scratch_t dense; /**< basis k x k, and no rows */
    double *row;                   /**< d */
    double *sums;                  /**< k */
    int64_t *places;               /**< n: of a row among the pivots */
    int64_t *starts;               /**< d + 2: the elements again, by features */
    int32_t *rows;                 /**< e */
    float *values;                 /**< e */
} attn_listed_scratch_t;

void attn_listed_scratch_take(attn_arena_t *arena, int64_t rows, int64_t dim, int64_t elements,
                              attn_listed_scratch_t *scratch);

/** Fill scratch->dense.scores for rows [first, first + rows) of `x`; returns the rank that was found. */
int64_t attn_listed_scores(const attn_csr_t *x, int64_t first, int64_t rows,
                           attn_listed_scratch_t *scratch);

/** Additions and multiplications of attn_listed_scores() for `elements` that are spread evenly. */
double attn_listed_flops(int64_t rows, int64_t dim, double elements);

#endif
