/* cli/trial.c: see trial.h. */
#include "cli/trial.h"

#include "cli/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float *trial_floats(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
    const int64_t sizes[4] = {batch, heads, rows, columns};
    return array_allocate(ATTN_F32, sizes);
}

attn_status_t trial_plan(trial_t *trial, const attn_context_t *context,
                         const attn_backend_t *backend, const attn_problem_t *problem,
                         const settings_t *settings, const given_t *given) {
    parameters_t parameters;
    attn_problem_t posed = *problem;
    settings_parameters(settings, backend, &parameters);
    *trial = (trial_t){.backend = backend, .given = given, .settings = *settings};
    attn_status_t status = given_pose(given, backend, &posed, &trial->error);
    if (!status)
        status = attn_plan_create(context, backend->id, &posed, parameters.params, parameters.count,
                                  &trial->plan, &trial->error);
    trial->cost = (attn_cost_t){.struct_size = sizeof trial->cost};
    if (status || attn_plan_cost(trial->plan, &trial->cost, NULL))
        trial->cost.flops = trial->cost.bytes = trial->cost.pairs = NAN;
    return status;
}

attn_status_t trial_plan_inputs(trial_t *trial, const attn_context_t *context,
                                const attn_backend_t *backend, inputs_t *inputs,
                                const settings_t *settings) {
    attn_problem_t problem = inputs->problem;
    settings_t posed = *settings;
    const int has_x =
        inputs->x.starts && (csr_fits(backend) || inputs->dense != INPUTS_DENSE_FOR_ALL);
    attn_status_t status = ATTN_OK;
    if (has_x) status = csr_pose(&inputs->x, backend, &problem, &posed, &trial->error);
    if (!status) status = trial_plan(trial, context, backend, &problem, &posed, &inputs->given);
    trial->backend = backend;
    trial->has_x = has_x;
    return status;
}

int trial_load(trial_t *trial, array_t shared[ATTN_ARRAY_OWN]) {
    const int status = load_inputs(trial->given, trial->plan, 0, ATTN_ARRAY_OWN, NULL, shared);
    trial->shared = shared;
    if (status) return status;
    return load_inputs(trial->given, trial->plan, ATTN_ARRAY_OWN, DECLARED_MOST, NULL,
                       &trial->arrays[ATTN_ARRAY_OWN]);
}

int trial_load_inputs(trial_t *trial, inputs_t *inputs) {
    if (trial->has_x) csr_place(&inputs->x, trial->backend, trial->arrays);
    return trial_load(trial, inputs->shared);
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

static attn_status_t make_output(trial_t *trial, uint32_t number, const attn_array_info_t *info) {
    array_t *array = &trial->arrays[number];
    attn_tensor_t *tensor = &array->tensor;
    attn_plan_array(trial->plan, number, tensor);
    if (tensor->dtype != ATTN_F32 && tensor->dtype != ATTN_F16 && tensor->dtype != ATTN_BF16)
        return attn_fail(&trial->error, ATTN_ERROR_UNSUPPORTED,
                         "output '%.60s': elements of %s are not written to files", info->name,
                         attn_dtype_name(tensor->dtype));
    array->memory = tensor->data = array_allocate(tensor->dtype, tensor->shape);
    double bytes = (double)npy_element_size(tensor->dtype);
    for (int axis = 0; axis < 4; axis++) bytes *= (double)tensor->shape[axis];
    return array->memory ? ATTN_OK : no_memory(trial, info->name, bytes);
}

static attn_status_t make_outputs(trial_t *trial) {
    attn_array_info_t info = {.struct_size = sizeof info};
    attn_status_t status = ATTN_OK;
    for (uint32_t number = 0; !status && attn_backend_array(trial->backend, number, &info);
         number++)
        if (info.role == ATTN_ROLE_OUTPUT && (info.presence == ATTN_PRESENCE_REQUIRED ||
                                              given_value(trial->given, number, &info, NULL)))
            status = make_output(trial, number, &info);
    return status;
}

/* Puts all arrays into their places in the trial's attn_io_t. */
static void place(trial_t *trial) {
    for (uint32_t number = 0; number < ATTN_ARRAY_OWN; number++) {
        const array_t *shared = trial->shared ? &trial->shared[number] : NULL;
        const array_t *array = shared && shared->memory ? shared : &trial->arrays[number];
        if (array->memory) *attn_io_array(&trial->io, number) = array->tensor;
    }
    for (int i = 0; i < ATTN_MOST_OWN_ARRAYS; i++) {
        const array_t *array = &trial->arrays[ATTN_ARRAY_OWN + i];
        trial->own[i] = array->memory ? &array->tensor : NULL;
    }
    trial->io.own = trial->own;
    trial->io.own_count = ATTN_MOST_OWN_ARRAYS;
}

attn_status_t trial_prepare(trial_t *trial, const attn_io_t *inputs) {
    trial->io = *inputs;
    if (trial->has_x) trial->io.query.data = trial->io.key.data = NULL;
    trial->report = (attn_report_t){.struct_size = sizeof trial->report};
    trial->io.report = &trial->report;
    attn_status_t status = make_workspace(trial);
    if (!status) status = make_outputs(trial);
    place(trial);
    return status;
}

attn_io_t trial_exact_io(const trial_t *trial, const inputs_t *inputs) {
    attn_io_t io = trial->io;
    io.query = inputs->io.query;
    io.key = inputs->io.key;
    return io;
}

attn_status_t trial_run(trial_t *trial) { return attn_run(trial->plan, &trial->io, &trial->error); }

static attn_status_t run_once(void *data) { return trial_run(data); }

attn_status_t trial_time(trial_t *trial, double budget, measure_t *time) {
    return measure_repeat(run_once, trial, budget, time);
}

static double share(double pairs, const attn_problem_t *problem) {
    return pairs / ((double)problem->batch * (double)problem->heads * (double)problem->queries *
                    (double)problem->keys);
}

double trial_pairs(const trial_t *trial, const attn_problem_t *problem) {
    return share(trial->cost.pairs, problem);
}

double trial_computed(const trial_t *trial, const attn_problem_t *problem) {
    return trial->cost.computed > 0 ? share(trial->cost.computed, problem) : NAN;
}

const char *trial_kernel(const trial_t *trial) {
    return trial->kernel[0] ? trial->kernel : attn_plan_kernel(trial->plan);
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
    for (int number = 0; number < DECLARED_MOST; number++) array_free(&trial->arrays[number]);
    *trial = (trial_t){.plan = NULL};
}
