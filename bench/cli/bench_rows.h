/*
 * cli/bench_rows.h: the rows of `attn bench`. All of them are measured in each round, in the same order; a row's time is the
 * median of its rounds', so that what disturbs a few seconds does not decide it.
 */
#ifndef ATTN_CLI_BENCH_ROWS_H
#define ATTN_CLI_BENCH_ROWS_H

#include "cli/limits.h"
#include "cli/rules.h"
#include "cli/runner.h"
#include "cli/table.h"
#include "measure/counters.h"

enum { BENCH_MOST_ROUNDS = 100 };

typedef struct bench_rows {
    table_t table; /**< rows, once the last round has them */
    limits_t limits;
    int64_t rounds, round; /**< how many there are, and which one runs */
    int64_t row, count;    /**< the next row of this round, and rows that have been seen */
    double *seconds;       /**< [count][rounds] */
} bench_rows_t;

typedef struct bench_row {
    const runner_t *runner;
    const attn_problem_t *problem;
    measure_t time; /**< NaN: it could not be measured */
    double error;
    int64_t threads;
    int stream, backward;
    double counts[COUNTERS]; /**< of one run; NaN: not counted */
} bench_row_t;

/** One round, no rows. */
bench_rows_t bench_rows_make(void);
void bench_rows_free(bench_rows_t *rows);

/** Rows have columns for what the processor counts; before the first. */
void bench_rows_show_counts(bench_rows_t *rows);

/** Rows that follow run on this tier; limits get so much of the usual effort (measure/peak.h). */
void bench_rows_measure_on(bench_rows_t *rows, attn_tier_t tier, double share);

/** What this round measured of the next row. */
void bench_rows_add(bench_rows_t *rows, const bench_row_t *row);

void bench_rows_end_round(bench_rows_t *rows);

/** Where there are several rounds: the JSON member `rounds_ms`, milliseconds of each row in each of them. */
void bench_rows_print_rounds(const bench_rows_t *rows, FILE *out);

#endif
