/*
 * labs/sparsification.h: between the declaration of the sparsification experiment (sparsification.c) and
 * the computation of its points (sparsification_points.c).
 */
#ifndef ATTN_LABS_SPARSIFICATION_H
#define ATTN_LABS_SPARSIFICATION_H

#include "labs/lab.h"
#include "labs/sketches.h"

/** Parameters. */
enum { ROWS, DIM, R, SIZE, EPS, DELTA, DECAY, DENSITY, BUDGET, TRIALS, PARAMS };

/** Columns of the panels about errors; groups have one for each method. */
enum {
    X,
    ERROR,
    BOUND = ERROR + SKETCHES,
    DISTORTION,
    WITHIN = DISTORTION + SKETCHES,
    VIOLATIONS = WITHIN + SKETCHES,
    ERROR_COLUMNS
};

/** Of those about rates: a rate and its band side by side for each method. */
enum {
    RATE = 1,
    DELTA_LINE = RATE + 3 * SKETCHES,
    SIZES,
    ASKED = SIZES + SKETCHES,
    RATE_COLUMNS = ASKED + SKETCHES
};

/** Of those about times. */
enum { SECONDS = 1, NONZERO = SECONDS + SKETCHES, TIME_COLUMNS };

attn_status_t sparsification_errors(const lab_point_t *point, double *row, attn_error_t *error);

/** `automatic`: at the sizes that the promises ask for. */
attn_status_t sparsification_rates(const lab_point_t *point, int automatic, double *row,
                                   attn_error_t *error);

attn_status_t sparsification_times(const lab_point_t *point, double *row, attn_error_t *error);

#endif
