/* cli/trial.c: see trial.h. */
#include "cli/trial.h"

#include "cli/arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float *trial_floats(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
    const int64_t sizes[4] = {batch, heads, rows, columns};
    return array_allocate(ATTN_F32, sizes);
}

attn_status_t trial_plan(trial_t *trial, const attn_context_t *context,
                         const attn_backend_t *backend, const attn_problem_t *problem,
                         const settings_t *settings) {
    parameters_t parameters;
    settings_parameters(settings, backend, &parameters);
    *trial = (trial_t){.backend = backend};
    attn_status_t status = attn_plan_create(context, backend->id, problem, parameters.params,
                                            parameters.count, &trial->plan, &trial->error);
    trial->cost = (attn_cost_t){.struct_size = sizeof trial->cost};
    if (status || attn_plan_cost(trial->plan, &trial->cost, NULL))
        trial->cost.flops = trial->cost.bytes = trial->cost.pairs = NAN;
    return status;
}

static attn_status_t no_memory(trial_t *trial, const char *what, double bytes) {
    return attn_fail(&trial->error, ATTN_ERROR_MEMORY, "no memory for the %s of %s: %.3g bytes",
                     what, trial->backend->id, bytes);
}

static attn_status_t make_workspace(trial_t *trial) {
    const uint64_t needed = attn_plan_workspace_size(trial->plan);
    const uint64_t size =
        needed ? (needed + ATTN_ALIGNMENT - 1) / ATTN_ALIGNMENT * ATTN_ALIGNMENT : ATTN_ALIGNMENT;
    if (needed < SIZE_MAX / 2) trial->workspace = aligned_alloc(ATTN_ALIGNMENT, (size_t)size);
    if (!trial->workspace) return no_memory(trial, "workspace", (double)size);
    trial->io.workspace = trial->workspace;
    trial->io.workspace_size = size;
    return ATTN_OK;
}

/* An output (B, H, n, columns) of the problem, in C order. */
static attn_status_t make_output(trial_t *trial, const char *what, attn_dtype_t dtype,
                                 int64_t columns, attn_tensor_t *tensor) {
    const attn_problem_t *problem = attn_plan_problem(trial->plan);
    const int64_t b = problem->batch, h = problem->heads, n = problem->queries;
    const int64_t shape[4] = {b, h, n, columns};
    *tensor = attn_tensor_bhnd(array_allocate(dtype, shape), b, h, n, columns);
    tensor->dtype = dtype;
    if (tensor->data) return ATTN_OK;
    return no_memory(trial, what,
                     (double)npy_element_size(dtype) * (double)b * (double)h * (double)n *
                         (double)columns);
}

attn_status_t trial_prepare(trial_t *trial, const attn_io_t *inputs, int outputs) {
    const attn_problem_t *problem = attn_plan_problem(trial->plan);
    attn_io_t *io = &trial->io;
    *io = *inputs;
    trial->report = (attn_report_t){.struct_size = sizeof trial->report};
    io->report = &trial->report;
    attn_status_t status = make_workspace(trial);
    if (!status)
        status = make_output(trial, "output", problem->dtype, problem->value_dim, &io->out);
    if (!status && outputs & TRIAL_LSE) status = make_output(trial, "lse", ATTN_F32, 1, &io->lse);
    if (!status && outputs & TRIAL_SCORES)
        status = make_output(trial, "scores", ATTN_F32, problem->keys, &io->scores);
    trial->out = io->out.data;
    trial->lse = io->lse.data;
    trial->scores = io->scores.data;
    return status;
}

attn_status_t trial_run(trial_t *trial) { return attn_run(trial->plan, &trial->io, &trial->error); }

static attn_status_t run_once(void *data) { return trial_run(data); }

attn_status_t trial_time(trial_t *trial, double budget, measure_t *time) {
    return measure_repeat(run_once, trial, budget, time);
}

const char *trial_facts(const trial_t *trial, char *text, size_t size) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; attn_plan_fact(trial->plan, i, &fact) && used < size; i++) {
        const char *separator = i ? "; " : "";
        const int length = fact.text ? snprintf(text + used, size - used, "%s%s %s", separator,
                                                fact.label, fact.text)
                                     : snprintf(text + used, size - used, "%s%s %.4g", separator,
                                                fact.label, fact.number);
        used += length > 0 ? (size_t)length : 0;
    }
    return text;
}

void trial_free(trial_t *trial) {
    attn_plan_destroy(trial->plan);
    free(trial->workspace);
    free(trial->out);
    free(trial->lse);
    free(trial->scores);
    *trial = (trial_t){.plan = NULL};
}
