/*
 * labs/reasoning/lab.h: what the files of the lab reasoning share: its columns, its grids of cells, its claims.
 */
#ifndef ATTN_LABS_REASONING_LAB_H
#define ATTN_LABS_REASONING_LAB_H

#include "labs/lab.h"

/** Attention, in the order of the paper's figures. */
enum { REASONING_SOFTMAX, REASONING_LINEAR, REASONING_SPARSE, REASONING_ATTENTIONS };
const char *reasoning_attention(int32_t attention);

#define REASONING_ENOUGH 0.9 /**< of answers: the share at which the paper compares widths */

/** Columns of a panel of cells. */
enum reasoning_column {
    REASONING_X, /**< the cell's number */
    REASONING_TASK,
    REASONING_SIZE,
    REASONING_ATTENTION,
    REASONING_WIDTH,
    REASONING_SEED,
    REASONING_RIGHT,
    REASONING_LOW,
    REASONING_HIGH,
    REASONING_WHOLE,
    REASONING_SAMPLES,
    REASONING_GFLOP,
    REASONING_COLUMNS,
    REASONING_BAND =
        REASONING_COLUMNS, /**< where localities are compared: of ED_LOCAL, 0: whole rows */
    REASONING_LOCALITY_COLUMNS
};

enum { REASONING_BANDS = 8 }; /**< at most, of a panel that compares localities */

/** Columns of tables: the attentions', behind x; of least widths also what a state can hold. */
enum {
    REASONING_TABLE_COLUMNS = 1 + REASONING_ATTENTIONS,
    REASONING_CAPACITY = REASONING_TABLE_COLUMNS,
    REASONING_WIDTH_COLUMNS
};

/** What a panel claims. */
enum reasoning_claim {
    REASONING_SOLVES,      /**< softmax reaches 90% on all problems, at one width */
    REASONING_WIDER,       /**< linear and sparse reach 90% at larger widths, which grow on LIS */
    REASONING_LOCAL,       /**< ED_LOCAL needs less width than ED */
    REASONING_LOCALITY,    /**< the less steps look back, the less width is needed */
    REASONING_LEAST_FLOPS, /**< softmax needs the fewest for 90% */
    REASONING_LEAST_WIDTH, /**< linear and sparse need more for larger problems, and what a state holds */
};

typedef struct reasoning_numbers {
    const int32_t *items;
    int32_t count;
} reasoning_numbers_t;

#define REASONING_NUMBERS(...)                                                                     \
    {                                                                                              \
        .items = (const int32_t[]){__VA_ARGS__},                                                   \
        .count = sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t),                         \
    }

/** The cells of a panel: tasks by sizes by attentions by widths, the last fastest. */
typedef struct reasoning_grid {
    enum reasoning_claim claim;
    int paper; /**< at the paper's sizes and widths, not a laptop's */
    reasoning_numbers_t tasks, attentions;
    reasoning_numbers_t
        bands; /**< none: the run's; else one for each of tasks, 0 for those without */
    reasoning_numbers_t sizes, widths; /**< none: the tasks' */
} reasoning_grid_t;

typedef struct reasoning_cell {
    int32_t task, size, attention, width;
    int32_t band; /**< 0: the run's */
    uint64_t seed;
} reasoning_cell_t;

uint32_t reasoning_cell_count(const reasoning_grid_t *grid);

/** Cells go on with the next seed behind the last. */
reasoning_cell_t reasoning_cell_at(const reasoning_grid_t *grid, uint32_t number, uint64_t seed);

/** Widths at which a share of answers may first be right: at least `low`, at most `high`; infinite for none. */
typedef struct reasoning_least {
    double low, high;
} reasoning_least_t;

/** By the intervals of the cells, over all seeds; a missing cell leaves it open. */
reasoning_least_t reasoning_least(const double *rows, uint32_t count, int32_t task, int32_t size,
                                  int32_t attention, double share);

/** lab_t's judge(), for a panel of this claim. */
void reasoning_judge(enum reasoning_claim claim, const double *rows, uint32_t count,
                     lab_finding_t *finding);

/** The same of REASONING_LOCALITY, whose rows have REASONING_LOCALITY_COLUMNS. */
void reasoning_judge_locality(const double *rows, uint32_t count, lab_finding_t *finding);

#endif
