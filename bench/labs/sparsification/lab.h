/*
 * labs/sparsification/lab.h: between the sparsification experiment (sparsification.c), its panels
 * (panels.c) and the computation of its points (points.c).
 */
#ifndef ATTN_LABS_SPARSIFICATION_LAB_H
#define ATTN_LABS_SPARSIFICATION_LAB_H

#include "labs/lab.h"
#include "labs/sparsification/sketches.h"
#include "labs/sparsification/symmetric.h"
#include "sketching/sketch.h"

/** Parameters. */
enum { ROWS, DIM, R, SIZE, EPS, DELTA, DECAY, DENSITY, BUDGET, TRIALS, SPIKE, PARAMS };

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

/** Of those about times from CSR, where all methods but the last one are compared, and those that promise something are judged. */
enum {
    CSR_JUDGED = SKETCHING_APPROXIMATE + 1,
    CSR_METHODS = SKETCHING_METHODS - 1,
    CSR_NONZERO = SECONDS + CSR_METHODS,
    CSR_COLUMNS
};

/** Of those about the least size: for each of sketching_names, at d and at d / 4. */
enum {
    LEAST = 1,
    LEAST_NARROW = LEAST + SKETCHING_METHODS,
    LEAST_LINE = LEAST_NARROW + SKETCHING_METHODS,
    LEAST_COLUMNS
};

/** Of the one about Lemmas 3.1 to 3.4. */
enum { LEMMA = 1, LEMMA_BOUND = LEMMA + 4, LEMMA_WITHIN, LEMMA_ABOVE, LEMMA_COLUMNS };

/** Of those about the deterministic sparsifier's work. */
enum { WORK = 1, WORK_BOUND, WORK_STEPS, WORK_DISTORTION, WORK_EPS, WORK_COLUMNS };

extern const lab_column_t sparsification_error_columns[ERROR_COLUMNS];
extern const lab_column_t sparsification_rate_columns[RATE_COLUMNS];
extern const lab_column_t sparsification_fixed_columns[FIXED_COLUMNS];
extern const lab_column_t sparsification_time_columns[TIME_COLUMNS];
extern const lab_column_t sparsification_csr_columns[CSR_COLUMNS];
extern const lab_column_t sparsification_least_columns[LEAST_COLUMNS];
extern const lab_column_t sparsification_lemma_columns[LEMMA_COLUMNS];
extern const lab_column_t sparsification_work_columns[WORK_COLUMNS];

enum { SPARSIFICATION_PANELS = 20 };

extern const lab_panel_t sparsification_panels[SPARSIFICATION_PANELS];

/** A panel about rates: one measure for all methods. */
typedef struct rates {
    enum sketch_measure measure;
    int automatic; /* at the size that the bound for this measure asks, not at the size given */
    int error; /* counts entries of the attention matrix that move by more than 12 r, whatever the measure is */
} rates_t;

attn_status_t sparsification_errors(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_rates(const lab_point_t *point, const rates_t *rates, double *row,
                                   attn_error_t *error);

attn_status_t sparsification_fixed(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_times(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_csr(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_least(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_lemmas(const lab_point_t *point, double *row, attn_error_t *error);

attn_status_t sparsification_work(const lab_point_t *point, double *row, attn_error_t *error);

/** X of a trial; ATTN_ERROR_MEMORY where there is none for it. */
attn_status_t sparsification_draw(const lab_point_t *point, uint64_t trial, symmetric_t *symmetric,
                                  attn_error_t *error);

/** How many times as large as at d / 4 a least size would be that grew as sqrt d: less counts as the same. */
#define SPARSIFICATION_SAME 2.0

/** lab_t.within, lab_t.note and lab_t.judge. */
int sparsification_within(const lab_run_t *run, const double *row);
void sparsification_note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                         size_t size);
void sparsification_judge(const lab_run_t *run, const double *rows, uint32_t count,
                          lab_finding_t *finding);

/** What a panel about rates measures. */
const rates_t *sparsification_rates_of(const lab_panel_t *panel);

#endif
