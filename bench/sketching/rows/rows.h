/*
 * rows/rows.h: times of the algorithms, one core, beside what is known, as rows of Markdown tables: a subject a
 * file.
 */
#ifndef ATTN_ATTN_EMBED_ROWS_H
#define ATTN_ATTN_EMBED_ROWS_H

#include "attn/attn.h"
#include "measure/measure.h"
#include "sketching/sketch.h"

/** Zeros; the program ends where there is no memory for them. */
void *rows_room(int64_t count, size_t size);

float *rows_normals(int64_t count, uint64_t stream);

/** Seconds of processor time: median of the calls that the budget pays. */
double rows_time(measure_call_t *call, void *data);

/** A row; `most` seconds are asked for, NAN where nothing is. */
void rows_say(const char *what, double seconds, double most, const char *beside);

/** "reached" or "missed". */
const char *rows_verdict(int is_reached);

/** One of several calls that are timed by turns. */
typedef struct turn {
    measure_call_t *call;
    void *data;
    double seconds; /* the median of its rounds */
} turn_t;

/**
 * Medians of calls by turns, so that what else the machine does is alike for all: rounds for as many budgets as there
 * are calls, ROWS_LEAST to ROWS_MOST.
 */
void rows_take_turns(turn_t *turns, int count);

enum { ROWS_LEAST = 5, ROWS_MOST = 21, ROWS_TURNS = 8 };

/** seconds = start + slope x, by least squares. */
typedef struct line {
    double start, slope;
} line_t;

line_t rows_line(const double *x, const double *seconds, int count);

/** An X, and what is done with it. */
typedef struct problem {
    sketching_x_t x;
    sketching_features_t features;
    sketching_options_t options;
    double *scores; /* d */
} problem_t;

/** Normal X of rows about 0.2 long. */
problem_t rows_dense(int64_t rows, int64_t columns);

void rows_release(problem_t *problem);

/** A measure_call_t of a problem: the sketch that its options ask for. */
attn_status_t rows_sketch(void *data);

/* ---- subjects ------------------------------------------------------------------------------------------ */

void rows_embedding(void);
void rows_scores(void);
void rows_csr(void);
void rows_deterministic(void);
void rows_symmetric(void);
void rows_sketched(void);

#endif
