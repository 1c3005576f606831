/* cli/trial.c: see trial.h. */
#include "cli/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float *trial_floats(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
    const int64_t sizes[4] = {batch, heads, rows, columns};
    size_t bytes = sizeof(float);
    for (int i = 0; i < 4; i++) {
        if ((uint64_t)sizes[i] > (SIZE_MAX / 2) / bytes) return NULL;
        bytes *= (size_t)sizes[i];
    }
    return malloc(bytes);
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

attn_status_t trial_prepare(trial_t *trial, const attn_tensor_t inputs[3], int wants_lse) {
    const attn_problem_t *problem = attn_plan_problem(trial->plan);
    const int64_t b = problem->batch, h = problem->heads, n = problem->queries;
    const uint64_t needed = attn_plan_workspace_size(trial->plan);
    const uint64_t size =
        needed ? (needed + ATTN_ALIGNMENT - 1) / ATTN_ALIGNMENT * ATTN_ALIGNMENT : ATTN_ALIGNMENT;
    if (needed < SIZE_MAX / 2) trial->workspace = aligned_alloc(ATTN_ALIGNMENT, (size_t)size);
    if (!trial->workspace) return no_memory(trial, "workspace", (double)size);
    trial->out = trial_floats(b, h, n, problem->value_dim);
    if (!trial->out)
        return no_memory(trial, "output",
                         4.0 * (double)b * (double)h * (double)n * (double)problem->value_dim);
    if (wants_lse && !(trial->lse = trial_floats(b, h, n, 1)))
        return no_memory(trial, "lse", 4.0 * (double)b * (double)h * (double)n);
    trial->report = (attn_report_t){.struct_size = sizeof trial->report};
    trial->io = (attn_io_t){.struct_size = sizeof trial->io,
                            .query = inputs[0],
                            .key = inputs[1],
                            .value = inputs[2],
                            .out = attn_tensor_bhnd(trial->out, b, h, n, problem->value_dim),
                            .workspace = trial->workspace,
                            .workspace_size = size,
                            .report = &trial->report};
    if (wants_lse) trial->io.lse = attn_tensor_bhnd(trial->lse, b, h, n, 1);
    return ATTN_OK;
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
    *trial = (trial_t){.plan = NULL};
}
