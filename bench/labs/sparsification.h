/*
 * labs/sparsification.h: between the sparsification experiment (sparsification.c), its panels
 * (sparsification_panels.c) and the computation of its points (sparsification_points.c).
 */
#ifndef ATTN_LABS_SPARSIFICATION_H
#define ATTN_LABS_SPARSIFICATION_H

#include "labs/lab.h"
#include "labs/sketches.h"
#include "labs/symmetric.h"

/** Parameters. */
enum { ROWS, DIM, R, SIZE, EPS, DELTA, DECAY, DENSITY, BUDGET, TRIALS, PARAMS };

/** Columns of the panels about errors; groups have one for each method. */
enum {
    X,
    ERROR,
    BOUND = ERROR + SKETCHES,
    PROOF,
    DISTORTION,
    WITHIN = DISTORTION + SKETCHES,
    VIOLATIONS = WITHIN + SKETCHES,
    SHARE,
    ERROR_COLUMNS
};

/** Of those about rates: a rate and its band side by side for each method. */
enum { RATE = 1, DELTA_LINE = RATE + 3 * SKETCHES, SIZES, ASKED, RATE_COLUMNS };

/** Of the one about the deterministic sketch, beside leverage's of as many features. */
enum {
    FIXED_DISTORTION = 1,
    DRAWN_DISTORTION,
    FIXED_BOUND,
    FIXED_ERROR,
    DRAWN_ERROR,
    FIXED_TWELVE,
    FIXED_KEPT,
    FIXED_ROUNDING,
    FIXED_COLUMNS
};

/** Of those about times. */
enum { SECONDS = 1, NONZERO = SECONDS + SKETCHES, TIME_COLUMNS };

extern const lab_column_t sparsification_error_columns[ERROR_COLUMNS];
extern const lab_column_t sparsification_rate_columns[RATE_COLUMNS];
extern const lab_column_t sparsification_fixed_columns[FIXED_COLUMNS];
extern const lab_column_t sparsification_time_columns[TIME_COLUMNS];

enum { SPARSIFICATION_PANELS = 12 };

extern const lab_panel_t sparsification_panels[SPARSIFICATION_PANELS];

/** A panel about rates: one measure for all methods. */
typedef struct rates {
    enum sketch_measure measure;
    int automatic; /* at the size that the bound for this measure asks, not at the size given */
} rates_t;

attn_status_t sparsification_errors(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_rates(const lab_point_t *point, const rates_t *rates, double *row,
                                   attn_error_t *error);

attn_status_t sparsification_fixed(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_times(const lab_point_t *point, double *row, attn_error_t *error);

/** lab_t.within, lab_t.note and lab_t.judge. */
int sparsification_within(const lab_run_t *run, const double *row);
void sparsification_note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                         size_t size);
void sparsification_judge(const lab_run_t *run, const double *rows, uint32_t count,
                          lab_finding_t *finding);

/** What a panel about rates measures. */
const rates_t *sparsification_rates_of(const lab_panel_t *panel);

#endif
