/*
 * pile.h: R of A = Q R, Q^T Q = I, for a matrix A whose rows come a few at a time: never all of it in double. Numbers for some
 * 6 columns^2, however many the rows are.
 */
#ifndef ATTN_SKETCH_PILE_H
#define ATTN_SKETCH_PILE_H

#include "ieee/ieee.h"

#include "attn/support.h"

/** Who makes triangles and eigenvectors instead of core/algebra: as bench/algebra/solver.h says of them. */
typedef struct attn_factoring {
    int (*triangle)(double *a, int64_t rows, int64_t columns, double *r);
    int (*eigen)(double *a, int64_t n, double *values);
} attn_factoring_t;

typedef struct attn_pile {
    const attn_factoring_t *factoring; /**< NULL: plain C */
    int64_t columns, room, used;
    double *
        rows; /**< columns + room: those of the triangle so far, and those that it has not taken yet */
    double *triangle; /**< columns x columns: R, once attn_pile_reduce() has taken the last rows */
    double *along;    /**< columns */
} attn_pile_t;

/** Room for any number of columns up to this. */
void attn_pile_take(attn_arena_t *arena, int64_t columns, attn_pile_t *pile);

/** A of no rows as yet, in that room. */
void attn_pile_start(attn_pile_t *pile, const attn_factoring_t *factoring, int64_t columns);

/** Room for `count` <= ATTN_BLOCK_WIDTH rows of A more, all zeros as yet; NULL when `factoring` has no memory. */
double *attn_pile_rows(attn_pile_t *pile, int64_t count);

/** R of all rows so far. 0 when `factoring` has no memory. */
int attn_pile_reduce(attn_pile_t *pile);

#endif
