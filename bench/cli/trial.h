/*
 * cli/trial.h: one plan with everything it needs to run: what run does once, and compare and bench
 * do again and again.
 */
#ifndef ATTN_CLI_TRIAL_H
#define ATTN_CLI_TRIAL_H

#include "cli/settings.h"

#include "attn/attn.h"
#include "measure/measure.h"

typedef struct trial {
    const attn_backend_t *backend;
    attn_plan_t *plan;
    attn_io_t io;
    attn_report_t report;
    attn_cost_t cost; /**< NaN in all numbers where the backend does not tell */
    attn_error_t error;
    void *workspace;
    void *out; /**< of the problem's dtype */
    float *lse, *scores;
} trial_t;

/** The plan, without arrays. trial_free() in any case. */
attn_status_t trial_plan(trial_t *trial, const attn_context_t *context,
                         const attn_backend_t *backend, const attn_problem_t *problem,
                         const settings_t *settings);

/** Outputs that a trial makes beside `out`. */
enum trial_outputs { TRIAL_LSE = 1 << 0, TRIAL_SCORES = 1 << 1 };

/** Room for workspace, output and `outputs` (of enum trial_outputs); `inputs` has the inputs. */
attn_status_t trial_prepare(trial_t *trial, const attn_io_t *inputs, int outputs);

/** Run the plan once. */
attn_status_t trial_run(trial_t *trial);

/** Run it for about `budget` seconds. */
attn_status_t trial_time(trial_t *trial, double budget, measure_t *time);

/** The plan's facts as "name value; name value", cut to `size`; returns `text`. */
const char *trial_facts(const trial_t *trial, char *text, size_t size);

void trial_free(trial_t *trial);

/** Memory for batch * heads * rows * columns floats; NULL where that is too much. */
float *trial_floats(int64_t batch, int64_t heads, int64_t rows, int64_t columns);

#endif
