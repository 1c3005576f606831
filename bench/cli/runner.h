/*
 * cli/runner.h: one plan with everything it needs to run: what run does once, and compare and bench
 * do again and again.
 */
#ifndef ATTN_CLI_RUNNER_H
#define ATTN_CLI_RUNNER_H

#include "cli/arguments.h"
#include "cli/arrays.h"
#include "cli/inputs.h"
#include "cli/settings.h"

#include "attn/attn.h"
#include "measure/measure.h"

typedef struct runner {
    const attn_backend_t *backend;
    attn_plan_t *plan;
    attn_io_t io;
    attn_report_t report;
    attn_cost_t cost; /**< NaN in all numbers where the backend does not tell */
    attn_error_t error;
    void *workspace;
    const arguments_t *arguments;
    const array_t *shared; /**< the library's inputs; NULL: none but those of runner_prepare() */
    array_t
        arrays[DECLARED_MOST]; /**< its own: outputs, and the inputs that the backend declares */
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS];
    char kernel[96];     /**< of a stream's queries; empty: the plan's */
    settings_t settings; /**< those of its plan */
    int has_x;           /**< CSR among its own arrays, in place of Q and K */
} runner_t;

/**
 * The plan for `problem` with the inputs that are arguments, without arrays. runner_free() in any case;
 * `arguments` lives as long.
 */
attn_status_t runner_plan(runner_t *runner, const attn_context_t *context,
                          const attn_backend_t *backend, const attn_problem_t *problem,
                          const settings_t *settings, const arguments_t *arguments);

/**
 * The same for the problem of files. A backend that takes X as CSR gets it as it is, the first of several: arrays have one
 * owner. Others have it written out, or, where it is not, are refused.
 */
attn_status_t runner_plan_inputs(runner_t *runner, const attn_context_t *context,
                                 const attn_backend_t *backend, inputs_t *inputs,
                                 const settings_t *settings);

/**
 * Read what is given for the plan: the library's arrays into `shared`, unless they are there, the
 * backend's own into the runner; an exit status. `shared` lives as long as the runner.
 */
int runner_load(runner_t *runner, array_t shared[ATTN_ARRAY_OWN]);

/** The same for the problem of files, whose X is now the runner's, where the backend takes it. */
int runner_load_inputs(runner_t *runner, inputs_t *inputs);

/**
 * Room for workspace and outputs: those that every run has and those that are given a file; `inputs` has
 * Q, K and V, of which a runner with X takes V alone. The runner stays where it is from then on.
 */
attn_status_t runner_prepare(runner_t *runner, const attn_io_t *inputs);

/** The arrays of its run as exact attention takes them: Q and K, where X is written out, too. */
attn_io_t runner_exact_io(const runner_t *runner, const inputs_t *inputs);

/** Run the plan once. */
attn_status_t runner_run(runner_t *runner);

/** Run it for about `budget` seconds. */
attn_status_t runner_time(runner_t *runner, double budget, measure_t *time);

/** Of all pairs of queries and keys the share that is kept, and that is computed for those; NaN where the
 * backend does not tell. */
double runner_pairs(const runner_t *runner, const attn_problem_t *problem);
double runner_computed(const runner_t *runner, const attn_problem_t *problem);

/** Which code runs. */
const char *runner_kernel(const runner_t *runner);

/** The plan's facts as "name value; name value", cut to `size`; returns `text`. */
const char *runner_facts(const runner_t *runner, char *text, size_t size);

void runner_free(runner_t *runner);

/** Memory for batch * heads * rows * columns floats; NULL where that is too much. */
float *runner_floats(int64_t batch, int64_t heads, int64_t rows, int64_t columns);

#endif
