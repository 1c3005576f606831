/*
 * labs/judge.h: from the numbers of a panel to a verdict about its claim, for the experiments' judge():
 * each point (or comparison) is for the claim, against it or neither, and the verdict counts them.
 */
#ifndef ATTN_LABS_JUDGE_H
#define ATTN_LABS_JUDGE_H

#include "labs/lab.h"
#include "number/format.h"

/** Points, or comparisons, by what they say; those outside the claim's premises are not in it. */
typedef struct tally {
    uint32_t holds, fails, open;
} tally_t;

void tally_add(tally_t *tally, int32_t verdict);

/** `value`, known to be within [low, high], should be at most `bound`. NaN is undecided. */
int32_t judge_at_most(double low, double high, double bound);

/** The same for at least `bound`. */
int32_t judge_at_least(double low, double high, double bound);

/** Fails where anything fails; else undecided where anything is, or nothing was counted; else holds. */
int32_t tally_verdict(const tally_t *tally);

/** Verdict and "12 of 13 points for it, 1 undecided"; `what`: "points", in the plural. */
void judge_tally(const tally_t *tally, const char *what, lab_finding_t *finding);

/** Appends to finding->sure, cut where there is no room. */
void judge_sure(lab_finding_t *finding, const char *format, ...) ATTN_FORMAT_LIKE(2, 3);

/** The same for finding->found. */
void judge_found(lab_finding_t *finding, const char *format, ...) ATTN_FORMAT_LIKE(2, 3);

/** How far from what is claimed an exponent still counts as it, and how wide its interval may be. */
#define JUDGE_EXPONENT_SLACK 0.05
#define JUDGE_EXPONENT_WIDTH 0.5

/** An exponent of a column, and what is claimed of it. */
typedef struct judged_exponent {
    const char *name;
    uint32_t column;
    double claimed;
} judged_exponent_t;

/**
 * Exponents of columns over column `x`: one holds where its interval comes within the slack of what is
 * claimed, fails where it does not, and is undecided where the interval is wider than the width.
 */
void judge_exponents(const lab_run_t *run, const double *rows, uint32_t count, uint32_t x,
                     const judged_exponent_t *exponents, uint32_t exponent_count,
                     lab_finding_t *finding);

#endif
