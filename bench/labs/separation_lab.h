/*
 * labs/separation_lab.h: what the experiment's declaration (separation_panels.c) and its functions
 * (separation.c) share: the order of parameters and columns.
 */
#ifndef ATTN_LABS_SEPARATION_LAB_H
#define ATTN_LABS_SEPARATION_LAB_H

#include "labs/lab.h"
#include "labs/separation.h"

enum separation_param {
    SEPARATION_NET,
    SEPARATION_N,
    SEPARATION_D,
    SEPARATION_M,
    SEPARATION_DELTA,
    SEPARATION_A0,
    SEPARATION_A1,
    SEPARATION_B,
    SEPARATION_C,
    SEPARATION_TRIALS,
    SEPARATION_ROWS,
    SEPARATION_PARAMS
};

enum separation_column {
    SEPARATION_X,
    SEPARATION_SUCCESS,
    SEPARATION_LOW,
    SEPARATION_HIGH,
    SEPARATION_FEXP1,
    SEPARATION_FLIN1,
    SEPARATION_FEXP0,
    SEPARATION_FLIN0,
    SEPARATION_COUNT,
    SEPARATION_CLOSE,
    SEPARATION_DEGENERATE,
    SEPARATION_COLUMNS
};

enum { SEPARATION_PANELS = 19 };

extern const attn_param_info_t separation_params[SEPARATION_PARAMS];
extern const lab_panel_t separation_panels[SEPARATION_PANELS];

/** lab_t.within and lab_t.judge. */
int separation_within(const lab_run_t *run, const double *row);
void separation_judge(const lab_run_t *run, const double *rows, uint32_t count,
                      lab_finding_t *finding);

#endif
