/*
 * cli/report.h: what `attn run` tells of a run, for people and as JSON.
 */
#ifndef ATTN_CLI_REPORT_H
#define ATTN_CLI_REPORT_H

#include "cli/gradients.h"
#include "cli/inputs.h"
#include "cli/runner.h"

typedef struct report {
    const runner_t *runner;
    const inputs_t *inputs;
    const gradients_t *gradients;
    double seconds, gradient_seconds; /**< of the first call */
    double error;                     /**< NaN: not asked for */
    int is_stream;
    uint64_t stream_memory;
} report_t;

void report_text(const report_t *report);

/** One object. What there is none of is null. */
void report_json(const report_t *report);

#endif
