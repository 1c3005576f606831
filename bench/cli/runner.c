/* cli/runner.c: see runner.h. */
#include "cli/runner.h"

#include "cli/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

float *runner_floats(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
    const int64_t sizes[4] = {batch, heads, rows, columns};
    return array_allocate(ATTN_F32, sizes);
}

attn_status_t runner_plan(runner_t *runner, const attn_context_t *context,
                          const attn_backend_t *backend, const attn_problem_t *problem,
                          const settings_t *settings, const arguments_t *arguments) {
    parameters_t parameters;
    attn_problem_t asked = *problem;
    settings_parameters(settings, backend, &parameters);
    *runner = (runner_t){.backend = backend, .arguments = arguments, .settings = *settings};
    attn_status_t status = arguments_apply(arguments, backend, &asked, &runner->error);
    if (!status)
        status = attn_plan_create(context, backend->id, &asked, parameters.params, parameters.count,
                                  &runner->plan, &runner->error);
    runner->cost = (attn_cost_t){.struct_size = sizeof runner->cost};
    if (status || attn_plan_cost(runner->plan, &runner->cost, NULL))
        runner->cost.flops = runner->cost.bytes = runner->cost.pairs = NAN;
    return status;
}

attn_status_t runner_plan_inputs(runner_t *runner, const attn_context_t *context,
                                 const attn_backend_t *backend, inputs_t *inputs,
                                 const settings_t *settings) {
    attn_problem_t problem = inputs->problem;
    settings_t own = *settings;
    const int has_x =
        inputs->x.starts && (csr_fits(backend) || inputs->dense != INPUTS_DENSE_FOR_ALL);
    attn_status_t status = ATTN_OK;
    if (has_x) status = csr_apply(&inputs->x, backend, &problem, &own, &runner->error);
    if (!status) status = runner_plan(runner, context, backend, &problem, &own, &inputs->arguments);
    runner->backend = backend;
    runner->has_x = has_x;
    return status;
}

int runner_load(runner_t *runner, array_t shared[ATTN_ARRAY_OWN]) {
    const int status =
        load_inputs(runner->arguments, runner->plan, 0, ATTN_ARRAY_OWN, NULL, shared);
    runner->shared = shared;
    if (status) return status;
    return load_inputs(runner->arguments, runner->plan, ATTN_ARRAY_OWN, DECLARED_MOST, NULL,
                       &runner->arrays[ATTN_ARRAY_OWN]);
}

int runner_load_inputs(runner_t *runner, inputs_t *inputs) {
    if (runner->has_x) csr_place(&inputs->x, runner->backend, runner->arrays);
    return runner_load(runner, inputs->shared);
}

static attn_status_t no_memory(runner_t *runner, const char *what, double bytes) {
    return attn_fail(&runner->error, ATTN_ERROR_MEMORY, "no memory for the %s of %s: %.3g bytes",
                     what, runner->backend->id, bytes);
}

static attn_status_t make_workspace(runner_t *runner) {
    const uint64_t needed = attn_plan_workspace_size(runner->plan);
    const uint64_t size =
        needed ? (needed + ATTN_ALIGNMENT - 1) / ATTN_ALIGNMENT * ATTN_ALIGNMENT : ATTN_ALIGNMENT;
    if (needed < SIZE_MAX / 2) runner->workspace = aligned_alloc(ATTN_ALIGNMENT, (size_t)size);
    if (!runner->workspace) return no_memory(runner, "workspace", (double)size);
    runner->io.workspace = runner->workspace;
    runner->io.workspace_size = size;
    return ATTN_OK;
}

static attn_status_t make_output(runner_t *runner, uint32_t number, const attn_array_info_t *info) {
    array_t *array = &runner->arrays[number];
    attn_tensor_t *tensor = &array->tensor;
    attn_plan_array(runner->plan, number, tensor);
    if (tensor->dtype != ATTN_F32 && tensor->dtype != ATTN_F16 && tensor->dtype != ATTN_BF16)
        return attn_fail(&runner->error, ATTN_ERROR_UNSUPPORTED,
                         "output '%.60s': elements of %s are not written to files", info->name,
                         attn_dtype_name(tensor->dtype));
    array->memory = tensor->data = array_allocate(tensor->dtype, tensor->shape);
    double bytes = (double)npy_element_size(tensor->dtype);
    for (int axis = 0; axis < 4; axis++) bytes *= (double)tensor->shape[axis];
    return array->memory ? ATTN_OK : no_memory(runner, info->name, bytes);
}

static attn_status_t make_outputs(runner_t *runner) {
    attn_array_info_t info = {.struct_size = sizeof info};
    attn_status_t status = ATTN_OK;
    for (uint32_t number = 0; !status && attn_backend_array(runner->backend, number, &info);
         number++)
        if (info.role == ATTN_ROLE_OUTPUT &&
            (info.presence == ATTN_PRESENCE_REQUIRED ||
             arguments_value(runner->arguments, number, &info, NULL)))
            status = make_output(runner, number, &info);
    return status;
}

/* Puts all arrays into their places in the runner's attn_io_t. */
static void place(runner_t *runner) {
    for (uint32_t number = 0; number < ATTN_ARRAY_OWN; number++) {
        const array_t *shared = runner->shared ? &runner->shared[number] : NULL;
        const array_t *array = shared && shared->memory ? shared : &runner->arrays[number];
        if (array->memory) *attn_io_array(&runner->io, number) = array->tensor;
    }
    for (int i = 0; i < ATTN_MOST_OWN_ARRAYS; i++) {
        const array_t *array = &runner->arrays[ATTN_ARRAY_OWN + i];
        runner->own[i] = array->memory ? &array->tensor : NULL;
    }
    runner->io.own = runner->own;
    runner->io.own_count = ATTN_MOST_OWN_ARRAYS;
}

attn_status_t runner_prepare(runner_t *runner, const attn_io_t *inputs) {
    runner->io = *inputs;
    if (runner->has_x) runner->io.query.data = runner->io.key.data = NULL;
    runner->report = (attn_report_t){.struct_size = sizeof runner->report};
    runner->io.report = &runner->report;
    attn_status_t status = make_workspace(runner);
    if (!status) status = make_outputs(runner);
    place(runner);
    return status;
}

attn_io_t runner_exact_io(const runner_t *runner, const inputs_t *inputs) {
    attn_io_t io = runner->io;
    io.query = inputs->io.query;
    io.key = inputs->io.key;
    return io;
}

attn_status_t runner_run(runner_t *runner) {
    return attn_run(runner->plan, &runner->io, &runner->error);
}

static attn_status_t run_once(void *data) { return runner_run(data); }

attn_status_t runner_time(runner_t *runner, double budget, measure_t *time) {
    return measure_repeat(run_once, runner, budget, time);
}

static double share(double pairs, const attn_problem_t *problem) {
    return pairs / ((double)problem->batch * (double)problem->heads * (double)problem->queries *
                    (double)problem->keys);
}

double runner_pairs(const runner_t *runner, const attn_problem_t *problem) {
    return share(runner->cost.pairs, problem);
}

double runner_computed(const runner_t *runner, const attn_problem_t *problem) {
    return runner->cost.computed > 0 ? share(runner->cost.computed, problem) : NAN;
}

const char *runner_kernel(const runner_t *runner) {
    return runner->kernel[0] ? runner->kernel : attn_plan_kernel(runner->plan);
}

const char *runner_facts(const runner_t *runner, char *text, size_t size) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; attn_plan_fact(runner->plan, i, &fact) && used < size; i++) {
        const char *separator = i ? "; " : "";
        const int length = fact.text ? snprintf(text + used, size - used, "%s%s %s", separator,
                                                fact.label, fact.text)
                                     : snprintf(text + used, size - used, "%s%s %.4g", separator,
                                                fact.label, fact.number);
        used += length > 0 ? (size_t)length : 0;
    }
    return text;
}

void runner_free(runner_t *runner) {
    attn_plan_destroy(runner->plan);
    free(runner->workspace);
    for (int number = 0; number < DECLARED_MOST; number++) array_free(&runner->arrays[number]);
    *runner = (runner_t){.plan = NULL};
}
