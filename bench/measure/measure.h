/*
 * measure/measure.h: how long something takes: repeated until a time budget is spent, told as the
 * median and an interval that covers the true median with at least 95% confidence.
 *
 * The interval is between two order statistics, by the binomial distribution with p = 1/2: it
 * assumes nothing about how times are distributed (Le Boudec, "Performance Evaluation of Computer
 * and Communication Systems", 2010, section 2.2). Below 6 samples no such interval exists, and the
 * smallest and largest are given.
 */
#ifndef ATTN_MEASURE_H
#define ATTN_MEASURE_H

#include "attn/types.h"

#include <stddef.h>

/** Seconds of one call. */
typedef struct measure {
    double median, low, high;
    int64_t samples;
} measure_t;

/** What is timed; anything but ATTN_OK ends the measurement. */
typedef attn_status_t measure_call_t(void *data);

/** A clock that only goes forward, in seconds. */
double measure_clock(void);

/** Processor time of this thread, in seconds; measure_clock() where there is none (WebAssembly). */
double measure_processor_clock(void);

/** The median and its interval of times[count], which it sorts; count >= 1. */
measure_t measure_interval(double *times, int64_t count);

/**
 * Call for about `budget` seconds and at least twice: a tenth of it, and one call, to warm up (code
 * that a WASM engine compiles again, page faults), the rest timed. Short calls are timed in groups.
 */
attn_status_t measure_repeat(measure_call_t *call, void *data, double budget, measure_t *result);

/**
 * The same by measure_processor_clock(), for calls that stay on this thread: what other processes take
 * is not in it.
 */
attn_status_t measure_repeat_processor(measure_call_t *call, void *data, double budget,
                                       measure_t *result);

#endif
