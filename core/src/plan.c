/* Plans: problem + backend + parameters, and running them. */
#include "internal.h"

#include "attn/ext/backward.h"
#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/ext/weights.h"

#include <string.h>

struct attn_plan {
    const attn_context_t *context;
    attn_problem_t problem;
    attn_backend_plan_t *prepared;
    attn_scope_t scope; /* of its runs */
    attn_array_info_t own[];
};

/* Only inputs that the backend lets a problem name; for others they may stand. */
static attn_status_t check_own_inputs(const attn_backend_t *backend, const attn_problem_t *problem,
                                      attn_error_t *error) {
    attn_array_info_t copy;
    const attn_array_info_t *info;
    uint32_t bits = problem->own_inputs;
    uint64_t replaced = 0;
    for (uint32_t i = ATTN_ARRAY_OWN; (info = attn_array_declared(backend, i, &copy)); i++) {
        if (bits & info->bit) replaced |= info->replaces;
        bits &= ~info->bit;
    }
    if (!bits) return attn_problem_fits(problem, replaced, error);
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "problem: own_inputs 0x%x are none that backend '%.60s' declares", bits,
                     backend->id);
}

static attn_status_t refuse_id(const attn_context_t *context, const char *id, attn_error_t *error) {
    char ids[128] = "";
    for (uint32_t i = 0; i < context->backend_count; i++)
        attn_list_name(ids, sizeof ids, context->backends[i].backend->id);
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "unknown backend '%.60s' (there are %s)", id,
                     ids);
}

static attn_status_t read_values(const attn_context_t *context, const attn_param_t *params,
                                 uint32_t count, attn_request_t *request, attn_error_t *error) {
    const uint32_t declared = attn_params_count(request->backend);
    if (!declared) return attn_params_read(request->backend, params, count, NULL, error);
    request->values = attn_allocate(context, declared * sizeof *request->values);
    if (!request->values) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for parameters");
    attn_status_t status =
        attn_params_read(request->backend, params, count, request->values, error);
    if (status != ATTN_OK) attn_release(context, request->values);
    return status;
}

attn_status_t attn_request_read(const attn_context_t *context, const char *backend,
                                const attn_problem_t *problem, const attn_param_t *params,
                                uint32_t param_count, attn_request_t *request,
                                attn_error_t *error) {
    *request = (attn_request_t){.values = NULL};
    attn_status_t status = attn_problem_read(&request->problem, problem, error);
    if (status != ATTN_OK) return status;
    request->backend = attn_backend_find(context, backend);
    if (!request->backend) return refuse_id(context, backend, error);
    status = attn_features_check(request->backend, attn_problem_features(&request->problem), error);
    if (!ATTN_SMALL && status == ATTN_OK)
        status = check_own_inputs(request->backend, &request->problem, error);
    if (status == ATTN_OK && request->backend->supports)
        status = attn_answer(request->backend->supports(&request->problem, error), error);
    return status == ATTN_OK ? read_values(context, params, param_count, request, error) : status;
}

/* What a plugin made may be no plan. */
static attn_status_t check_prepared(const attn_plan_t *plan, attn_error_t *error) {
    const attn_backend_plan_t *prepared = plan->prepared;
    if (prepared && prepared->run && prepared->destroy)
        return attn_arrays_check(&plan->scope, error);
    return attn_fail(error, ATTN_ERROR_PLUGIN, "backend '%.60s': its plan is malformed",
                     plan->scope.backend->id);
}

/* Let the backend prepare, and go on only with what it may. */
static attn_status_t prepare(attn_plan_t *plan, const attn_request_t *request,
                             attn_error_t *error) {
    const attn_host_t *host = &plan->context->host;
    attn_status_t status = attn_answer(
        request->backend->plan(host, &plan->problem, request->values, &plan->prepared, error),
        error);
    if (ATTN_SMALL || status != ATTN_OK) return status;
    plan->scope.prepared = plan->prepared;
    status = check_prepared(plan, error);
    if (status != ATTN_OK && plan->prepared && plan->prepared->destroy)
        plan->prepared->destroy(plan->prepared);
    return status;
}

attn_status_t attn_plan_create(const attn_context_t *context, const char *backend,
                               const attn_problem_t *problem, const attn_param_t *params,
                               uint32_t param_count, attn_plan_t **result, attn_error_t *error) {
    if (result) *result = NULL;
    if (!context || !backend || !result || (param_count && !params))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "plan: the context, the backend id, the parameters or the result is null");
    attn_request_t request;
    attn_status_t status =
        attn_request_read(context, backend, problem, params, param_count, &request, error);
    if (status != ATTN_OK) return status;
    const uint32_t own = attn_own_count(request.backend);
    attn_plan_t *plan = attn_allocate(context, sizeof *plan + own * sizeof *plan->own);
    if (plan) {
        *plan = (attn_plan_t){.context = context, .problem = request.problem};
        plan->scope = (attn_scope_t){.problem = &plan->problem,
                                     .backend = request.backend,
                                     .own = plan->own,
                                     .own_count = own};
        attn_own_read(request.backend, plan->own);
        status = prepare(plan, &request, error);
    } else {
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a plan");
    }
    attn_release(context, request.values);
    if (status != ATTN_OK) {
        attn_release(context, plan);
        return status;
    }
    *result = plan;
    return ATTN_OK;
}

void attn_plan_destroy(attn_plan_t *plan) {
    if (!plan) return;
    plan->prepared->destroy(plan->prepared);
    attn_release(plan->context, plan);
}

/* Rounded up, as aligned_alloc() wants sizes; plugins say what they use. */
uint64_t attn_plan_workspace_size(const attn_plan_t *plan) {
    const uint64_t largest = UINT64_MAX - UINT64_MAX % ATTN_ALIGNMENT;
    const uint64_t used = plan ? plan->prepared->workspace_size : 0;
    return used > largest ? largest : (used + ATTN_ALIGNMENT - 1) / ATTN_ALIGNMENT * ATTN_ALIGNMENT;
}

const char *attn_plan_kernel(const attn_plan_t *plan) {
    if (!plan) return NULL;
    return plan->prepared->kernel ? plan->prepared->kernel : "";
}

const attn_problem_t *attn_plan_problem(const attn_plan_t *plan) {
    return plan ? &plan->problem : NULL;
}

const attn_host_t *attn_plan_host(const attn_plan_t *plan) { return &plan->context->host; }

const attn_scope_t *attn_plan_scope(const attn_plan_t *plan) { return &plan->scope; }

const attn_backend_t *attn_plan_backend(const attn_plan_t *plan) {
    return plan ? plan->scope.backend : NULL;
}

int32_t attn_plan_array(const attn_plan_t *plan, uint32_t number, attn_tensor_t *tensor) {
    if (!plan || !tensor) return 0;
    const attn_array_info_t *info = attn_array_of(&plan->scope, number);
    if (info) *tensor = attn_array_wanted(&plan->scope, number, info);
    return info != NULL;
}

attn_status_t attn_plan_cost(const attn_plan_t *plan, attn_cost_t *result, attn_error_t *error) {
    if (!plan || !result)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "cost: plan or result is null");
    const attn_ext_cost_t *costs =
        attn_extension(plan->scope.backend, ATTN_EXT_COST, sizeof *costs);
    if (!costs || !costs->cost)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' does not tell its cost",
                         plan->scope.backend->id);
    attn_cost_t cost = {.struct_size = sizeof cost, .form = ""};
    costs->cost(plan->prepared, &cost);
    if (!attn_struct_write(result, &cost, sizeof cost, ATTN_COST_FIRST))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "cost: struct_size is %u, expected %zu",
                         result->struct_size, sizeof cost);
    return ATTN_OK;
}

int32_t attn_plan_fact(const attn_plan_t *plan, uint32_t index, attn_fact_t *result) {
    const attn_ext_facts_t *facts =
        plan && result ? attn_extension(plan->scope.backend, ATTN_EXT_FACTS, sizeof *facts) : NULL;
    attn_fact_t fact = {.struct_size = sizeof fact};
    if (!facts || !facts->fact || !facts->fact(plan->prepared, index, &fact)) return 0;
    if (!fact.name) fact.name = "";
    if (!fact.label) fact.label = "";
    return attn_struct_write(result, &fact, sizeof fact, sizeof fact);
}

static attn_status_t check_workspace(const attn_plan_t *plan, const attn_io_t *io,
                                     attn_error_t *error) {
    const uint64_t needed = attn_plan_workspace_size(plan);
    if (needed == 0) return ATTN_OK;
    if (!io->workspace)
        return attn_fail(error, ATTN_ERROR_WORKSPACE,
                         "workspace: is missing: the plan needs %llu bytes",
                         (unsigned long long)needed);
    if (io->workspace_size < needed)
        return attn_fail(error, ATTN_ERROR_WORKSPACE, "workspace: %llu bytes, the plan needs %llu",
                         (unsigned long long)io->workspace_size, (unsigned long long)needed);
    if ((uintptr_t)io->workspace % ATTN_ALIGNMENT != 0)
        return attn_fail(error, ATTN_ERROR_WORKSPACE, "workspace: not aligned to %d bytes",
                         ATTN_ALIGNMENT);
    return ATTN_OK;
}

/* What a run touches of the workspace is nothing else's. */
static attn_status_t check_workspace_apart(const attn_plan_t *plan, const attn_io_t *io,
                                           const attn_io_t *arrays, uint64_t unused,
                                           attn_error_t *error) {
    const attn_tensor_t bytes = attn_tensor_bytes(io->workspace, plan->prepared->workspace_size);
    const attn_written_t written = {"", "workspace", &bytes, ATTN_NO_NUMBER};
    if (plan->prepared->workspace_size == 0) return ATTN_OK;
    return attn_written_check(&plan->scope, &written, arrays, unused, error);
}

/* A caller's arrays, checked but for those in `unused`, and its workspace. */
static attn_status_t take(const attn_plan_t *plan, attn_io_t *io, const attn_io_t *given,
                          uint64_t unused, attn_error_t *error) {
    attn_status_t status = attn_io_read(io, given, "io", error);
    if (status == ATTN_OK) status = attn_io_check(&plan->scope, io, unused, error);
    if (status == ATTN_OK) status = check_workspace(plan, io, error);
    return status == ATTN_OK ? check_workspace_apart(plan, io, io, unused, error) : status;
}

attn_status_t attn_report_begin(attn_io_t *io, attn_report_t *own, attn_report_t **result,
                                attn_error_t *error) {
    *own = (attn_report_t){.struct_size = sizeof *own};
    *result = io->report;
    if (!io->report) return ATTN_OK;
    io->report = own;
    if (ATTN_SMALL || attn_struct_write(*result, own, sizeof *own, sizeof *own)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "report: struct_size is %u, expected %zu",
                     (*result)->struct_size, sizeof *own);
}

void attn_report_end(attn_report_t *result, const attn_report_t *own) {
    if (result) attn_struct_write(result, own, sizeof *own, sizeof *own);
}

attn_status_t attn_check(const attn_plan_t *plan, const attn_io_t *given, attn_error_t *error) {
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "check: the plan is null");
    attn_io_t io;
    attn_status_t status = attn_io_read(&io, given, "io", error);
    return status == ATTN_OK ? attn_io_check(&plan->scope, &io, 0, error) : status;
}

attn_status_t attn_run(const attn_plan_t *plan, const attn_io_t *given, attn_error_t *error) {
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "run: the plan is null");
    attn_io_t io;
    attn_report_t report, *result;
    attn_status_t status = take(plan, &io, given, 0, error);
    if (status == ATTN_OK) status = attn_report_begin(&io, &report, &result, error);
    if (status != ATTN_OK) return status;
    status = attn_answer(plan->prepared->run(plan->prepared, &io, error), error);
    attn_report_end(result, &report);
    return status;
}

attn_status_t attn_rows_check(const attn_problem_t *problem, int64_t batch, int64_t head,
                              int64_t first, int64_t count, const char *what, attn_error_t *error) {
    if (batch >= 0 && batch < problem->batch && head >= 0 && head < problem->heads && first >= 0 &&
        count >= 0 && first <= problem->queries - count)
        return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "%s: batch %lld, head %lld, queries %lld + %lld are not all inside "
                     "(%lld, %lld, %lld)",
                     what, (long long)batch, (long long)head, (long long)first, (long long)count,
                     (long long)problem->batch, (long long)problem->heads,
                     (long long)problem->queries);
}

attn_status_t attn_weights(const attn_plan_t *plan, const attn_io_t *given, int64_t batch,
                           int64_t head, int64_t first, int64_t count, float *rows,
                           int64_t row_stride, attn_error_t *error) {
    if (!plan || !rows)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "weights: the plan or the result is null");
    const attn_problem_t *problem = &plan->problem;
    const attn_ext_weights_t *weights =
        attn_extension(plan->scope.backend, ATTN_EXT_WEIGHTS, sizeof *weights);
    if (!weights || !weights->rows)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' does not tell its weights",
                         plan->scope.backend->id);
    attn_io_t io;
    attn_status_t status = take(plan, &io, given, ATTN_UNREAD_BY_WEIGHTS, error);
    io.report = NULL; /* a run's */
    if (status != ATTN_OK) return status;
    status = attn_rows_check(problem, batch, head, first, count, "weights", error);
    if (status != ATTN_OK) return status;
    if (row_stride < problem->keys && count > 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "weights: row_stride %lld is below keys (%lld)",
                         (long long)row_stride, (long long)problem->keys);
    const attn_tensor_t result = {.data = rows,
                                  .dtype = ATTN_F32,
                                  .shape = {1, 1, count, problem->keys},
                                  .stride = {0, 0, row_stride, 1}};
    const attn_written_t written = {"", "rows of weights", &result, ATTN_NO_NUMBER};
    if (count == 0) return ATTN_OK;
    status = attn_written_check(&plan->scope, &written, &io, ATTN_UNREAD_BY_WEIGHTS, error);
    if (status != ATTN_OK) return status;
    return attn_answer(
        weights->rows(plan->prepared, &io, batch, head, first, count, rows, row_stride, error),
        error);
}

/* ---- gradients ------------------------------------------------------------------------------------ */

static const uint64_t UNREAD_BY_GRADIENTS = 1u << ATTN_ARRAY_SCORES;

/* Which inputs may have a gradient, and that each is one of its array; dL/dout has to be there. */
static attn_status_t check_gradients(const attn_scope_t *scope, const attn_ext_backward_t *backward,
                                     const attn_io_t *io, const attn_io_t *gradients,
                                     attn_error_t *error) {
    const attn_array_info_t *info;
    uint32_t number = 0;
    for (; (info = attn_array_of(scope, number)); number++) {
        const attn_tensor_t *gradient = attn_array_in(gradients, number);
        const attn_tensor_t *array = attn_array_in(io, number);
        const bool is_read = number == ATTN_ARRAY_OUT;
        if (!gradient->data && !is_read) continue;
        const bool is_known = number >= ATTN_ARRAY_OWN || backward->arrays >> number & 1;
        if (!is_read && !(is_known && array->data && info->flags & ATTN_ARRAY_DIFFERENTIABLE))
            return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                             "backend '%.60s' has no gradient of %.60s in this run",
                             scope->backend->id, info->name);
        attn_error_t wrong;
        if (attn_tensor_check(scope, number, info, gradient, !is_read, &wrong))
            return attn_fail(error, wrong.status, "gradient of %.160s", wrong.message);
        for (int k = 0; k < 4; k++)
            if (gradient->shape[k] != array->shape[k])
                return attn_fail(error, ATTN_ERROR_SHAPE,
                                 "gradient of %.60s: its shape is not the array's", info->name);
    }
    return ATTN_SMALL ? ATTN_OK : attn_behind_check(scope, gradients, number, error);
}

/* What is written shares no memory with what is read, nor with another gradient. */
static attn_status_t check_gradients_apart(const attn_plan_t *plan, const attn_io_t *io,
                                           const attn_io_t *gradients, attn_error_t *error) {
    const attn_scope_t *scope = &plan->scope;
    const attn_array_info_t *info;
    attn_status_t status = ATTN_OK;
    for (uint32_t number = 0; !status && (info = attn_array_of(scope, number)); number++) {
        attn_written_t written = {"gradient of ", info->name, attn_array_in(gradients, number),
                                  ATTN_NO_NUMBER};
        if (!written.tensor->data || number == ATTN_ARRAY_OUT) continue;
        status = attn_written_check(scope, &written, io, UNREAD_BY_GRADIENTS, error);
        written.number = number;
        if (status == ATTN_OK) status = attn_written_check(scope, &written, gradients, 0, error);
    }
    return status;
}

/* A run's arrays and those of its gradients, but for the workspace. */
static attn_status_t take_gradients(const attn_plan_t *plan, attn_io_t *io, const attn_io_t *given,
                                    attn_io_t *gradients, const attn_io_t *given_gradients,
                                    const attn_ext_backward_t **backward, attn_error_t *error) {
    const attn_backend_t *backend = plan->scope.backend;
    if (!plan->problem.backward)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "backward: the plan's problem does not ask for it");
    *backward = attn_extension(backend, ATTN_EXT_BACKWARD, sizeof **backward);
    if (!*backward || !(*backward)->backward)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' has no gradients",
                         backend->id);
    attn_status_t status = attn_io_read(io, given, "io", error);
    if (status == ATTN_OK) status = attn_io_check(&plan->scope, io, UNREAD_BY_GRADIENTS, error);
    io->report = NULL;
    if (status == ATTN_OK && !io->lse.data && backend->features & ATTN_FEATURE_LSE)
        status = attn_fail(error, ATTN_ERROR_ARGUMENT, "backward: lse of the run is missing");
    if (status == ATTN_OK) status = attn_io_read(gradients, given_gradients, "gradients", error);
    if (status == ATTN_OK) status = check_gradients(&plan->scope, *backward, io, gradients, error);
    return status;
}

attn_status_t attn_check_backward(const attn_plan_t *plan, const attn_io_t *given,
                                  const attn_io_t *given_gradients, attn_error_t *error) {
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "backward: the plan is null");
    const attn_ext_backward_t *backward = NULL;
    attn_io_t io, gradients;
    const attn_status_t status =
        take_gradients(plan, &io, given, &gradients, given_gradients, &backward, error);
    return status == ATTN_OK ? check_gradients_apart(plan, &io, &gradients, error) : status;
}

attn_status_t attn_backward(const attn_plan_t *plan, const attn_io_t *given,
                            const attn_io_t *given_gradients, attn_error_t *error) {
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "backward: the plan is null");
    const attn_ext_backward_t *backward = NULL;
    attn_io_t io, gradients;
    attn_status_t status =
        take_gradients(plan, &io, given, &gradients, given_gradients, &backward, error);
    if (status == ATTN_OK) status = check_workspace(plan, &io, error);
    if (status == ATTN_OK)
        status = check_workspace_apart(plan, &io, &io, UNREAD_BY_GRADIENTS, error);
    if (status == ATTN_OK) status = check_workspace_apart(plan, &io, &gradients, 0, error);
    if (status == ATTN_OK) status = check_gradients_apart(plan, &io, &gradients, error);
    if (status != ATTN_OK) return status;
    return attn_answer(backward->backward(plan->prepared, &io, &gradients, error), error);
}
