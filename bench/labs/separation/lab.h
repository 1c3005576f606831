/*
 * labs/separation/lab.h: what the experiment's declaration (panels.c) and its functions
 * (separation.c) share: the order of parameters and columns.
 */
#ifndef ATTN_LABS_SEPARATION_LAB_H
#define ATTN_LABS_SEPARATION_LAB_H

#include "labs/lab.h"
#include "labs/separation/entries.h"
#include "labs/separation/separation.h"

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
    SEPARATION_FACTOR,
    SEPARATION_PARAMS
};

/** Columns of trials. */
enum separation_column {
    SEPARATION_X,
    SEPARATION_SUCCESS,
    SEPARATION_LOW,
    SEPARATION_HIGH,
    SEPARATION_FEXP1,
    SEPARATION_FLIN1,
    SEPARATION_FEXP0,
    SEPARATION_FLIN0,
    SEPARATION_FORMULA,
    SEPARATION_COUNT,
    SEPARATION_CLOSE,
    SEPARATION_DEGENERATE,
    SEPARATION_COLUMNS
};

/** Columns of a lemma about entries: x, its parts, and what float's rounding can add to each. */
enum {
    SEPARATION_PART = 1,
    SEPARATION_SLACK = SEPARATION_PART + SEPARATION_PARTS,
    SEPARATION_ENTRY_COLUMNS
};

enum {
    SEPARATION_FIGURES = 19,
    SEPARATION_INSIDE = 18,
    SEPARATION_THEOREMS = 13,
    SEPARATION_LEMMAS = 18
};
enum {
    SEPARATION_PANELS =
        SEPARATION_FIGURES + SEPARATION_INSIDE + SEPARATION_THEOREMS + SEPARATION_LEMMAS
};

/** What of a trial a panel counts as it should be. */
enum separation_decision {
    SEPARATION_ALL,   /**< all four: success */
    SEPARATION_EXP_1, /**< F_exp(D1) > 0 */
    SEPARATION_LIN_1, /**< F_lin(D1) = 0 */
    SEPARATION_EXP_0,
    SEPARATION_LIN_0,
};

/** What a panel is beside its declaration. */
typedef struct separation_panel {
    enum separation_decision decision;
    separation_lemma_t lemma;
    const char *parts[SEPARATION_PARTS]; /* of a lemma: the numbers that the paper gives them */
} separation_panel_t;

const separation_panel_t *separation_panel(const lab_panel_t *panel);

/** Whether it is about entries, not trials. */
int separation_is_lemma(const lab_panel_t *panel);

extern const attn_param_info_t separation_params[SEPARATION_PARAMS];
extern const lab_panel_t separation_panels[SEPARATION_PANELS];

/** lab_t.within and lab_t.judge. */
int separation_within(const lab_run_t *run, const double *row);
void separation_judge(const lab_run_t *run, const double *rows, uint32_t count,
                      lab_finding_t *finding);

#endif
