/*
 * measure/counters.h: what the processor counts of this thread: cycles, instructions, reads that miss the last cache. Where
 * the system lets a program ask (Linux, perf_event_open(2); few virtual machines do).
 */
#ifndef ATTN_MEASURE_COUNTERS_H
#define ATTN_MEASURE_COUNTERS_H

enum { COUNTER_CYCLES, COUNTER_INSTRUCTIONS, COUNTER_MISSES, COUNTERS };

typedef struct counters {
    int files[COUNTERS]; /**< 0 or below: none */
} counters_t;

/** NULL, or in words why this system counts nothing. Zeros are counters that were never opened. */
const char *counters_open(counters_t *counters);
void counters_close(counters_t *counters);

/** Count from now on. */
void counters_start(counters_t *counters);

/** What has been counted since, estimated where counters took turns; NaN of what could not be. */
void counters_stop(counters_t *counters, double counts[COUNTERS]);

#endif
