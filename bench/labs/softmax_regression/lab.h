/*
 * labs/softmax_regression/lab.h: what the files of the lab share: its parameters, and the panels about one layer with
 * explicit weights, which have columns of their own.
 */
#ifndef ATTN_LABS_SOFTMAX_REGRESSION_LAB_H
#define ATTN_LABS_SOFTMAX_REGRESSION_LAB_H

#include "labs/lab.h"

enum regression_param { ROWS, DIM, RADIUS, CAP, STEP, BETA, TRIALS, PARAMS };

/** Of panels of layers: the lab's descents by the point's values. Errors: no memory, the plugins'. */
attn_status_t regression_layer_point(const lab_point_t *point, double *row, attn_error_t *error);

/** Whether the row has descents that still move. */
int regression_layer_within(const double *row);

/** By the bound, which panels over beta are about. */
void judge_layer_bounds(const double *rows, uint32_t count, lab_finding_t *finding);

/** By the cosine. */
void judge_layer_cosines(const double *rows, uint32_t count, lab_finding_t *finding);

/** What counts as alike in panels of cosines. */
#define REGRESSION_ALIKE 0.9

enum regression_layer_column {
    LAYER_X,
    LAYER_ERROR,
    LAYER_LINEAR,
    LAYER_BOUND,
    LAYER_COSINE_MEAN,
    LAYER_COSINE_LOW,
    LAYER_COSINE_HIGH,
    LAYER_SHARE,
    LAYER_LINEAR_SHARE,
    LAYER_MOVING,
    LAYER_COLUMNS
};

extern const lab_column_t regression_layer_columns[LAYER_COLUMNS];        /**< over beta */
extern const lab_column_t regression_layer_cosine_columns[LAYER_COLUMNS]; /**< over steps */

#endif
