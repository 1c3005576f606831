/*
 * sketching/pile.h: R of A = Q R, Q^T Q = I, for a matrix A whose rows come a few at a time: never all of it in double.
 * Numbers for 5 columns^2, however many the rows are.
 */
#ifndef ATTN_SKETCHING_PILE_H
#define ATTN_SKETCHING_PILE_H

#include "algebra/solver.h"

typedef struct sketching_pile {
    const algebra_solver_t *solver;
    int64_t columns, room, used;
    double *
        rows; /**< columns + room: those of the triangle so far, and those that it has not taken yet */
    double *
        triangle; /**< columns x columns: R, once sketching_pile_reduce() has taken the last rows */
} sketching_pile_t;

/** 0 when there is no memory; sketching_pile_destroy() in any case. */
int sketching_pile_create(const algebra_solver_t *solver, int64_t columns, sketching_pile_t *pile);

/** Room for `count` <= SKETCHING_WIDTH rows of A more, all zeros as yet; NULL when the solver has no memory. */
double *sketching_pile_rows(sketching_pile_t *pile, int64_t count);

/** R of all rows so far. 0 when the solver has no memory. */
int sketching_pile_reduce(sketching_pile_t *pile);

void sketching_pile_destroy(sketching_pile_t *pile);

#endif
