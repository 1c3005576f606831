/* Plans: problem + backend + parameters, and running them. */
#include "internal.h"

#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/ext/weights.h"

#include <string.h>

struct attn_plan {
    const attn_context_t *context;
    const attn_backend_t *backend;
    attn_backend_plan_t *prepared;
    attn_problem_t problem;
};

static attn_status_t check_features(const attn_backend_t *backend, uint64_t needed,
                                    attn_error_t *error) {
    const uint64_t missing = needed & ~backend->features;
    const char *what = NULL;
    if (!missing) return ATTN_OK;
#define NAME_FIRST(name, bit, text, words)                                                         \
    if (!what && (missing & ATTN_FEATURE_##name)) what = words;
    ATTN_FEATURES(NAME_FIRST)
#undef NAME_FIRST
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' does not do %s", backend->id,
                     what ? what : "all of this");
}

static attn_status_t prepare(attn_plan_t *plan, const attn_param_t *params, uint32_t param_count,
                             attn_error_t *error) {
    const attn_context_t *context = plan->context;
    uint32_t declared;
    attn_backend_params(plan->backend, &declared);
    attn_value_t *values = NULL;
    if (declared) {
        values = attn_allocate(context, declared * sizeof *values);
        if (!values) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for parameters");
    }
    attn_status_t status = attn_params_read(plan->backend, params, param_count, values, error);
    if (status == ATTN_OK && plan->backend->supports)
        status = plan->backend->supports(&plan->problem, error);
    if (status == ATTN_OK)
        status =
            plan->backend->plan(&context->host, &plan->problem, values, &plan->prepared, error);
    attn_release(context, values);
    return status;
}

static attn_status_t refuse_id(const attn_context_t *context, const char *id, attn_error_t *error) {
    char ids[128] = "";
    for (uint32_t i = 0; i < context->backend_count; i++)
        attn_list_name(ids, sizeof ids, context->backends[i].backend->id);
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "unknown backend '%.60s' (there are %s)", id,
                     ids);
}

attn_status_t attn_plan_create(const attn_context_t *context, const char *backend_id,
                               const attn_problem_t *problem, const attn_param_t *params,
                               uint32_t param_count, attn_plan_t **result, attn_error_t *error) {
    if (result) *result = NULL;
    if (!context || !backend_id || !result || (param_count && !params))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "plan: the context, the backend id, the parameters or the result is null");
    attn_status_t status = attn_problem_check(problem, error);
    if (status != ATTN_OK) return status;
    const attn_backend_t *backend = attn_backend_find(context, backend_id);
    if (!backend) return refuse_id(context, backend_id, error);
    status = check_features(backend, attn_problem_features(problem), error);
    if (status != ATTN_OK) return status;

    attn_plan_t *plan = attn_allocate(context, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a plan");
    *plan = (attn_plan_t){.context = context, .backend = backend, .problem = *problem};
    status = prepare(plan, params, param_count, error);
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

uint64_t attn_plan_workspace_size(const attn_plan_t *plan) {
    return plan ? plan->prepared->workspace_size : 0;
}

const char *attn_plan_kernel(const attn_plan_t *plan) {
    if (!plan) return NULL;
    return plan->prepared->kernel ? plan->prepared->kernel : "";
}

const attn_problem_t *attn_plan_problem(const attn_plan_t *plan) {
    return plan ? &plan->problem : NULL;
}

static const void *extension(const attn_plan_t *plan, const char *id) {
    return plan->backend->get_extension ? plan->backend->get_extension(id) : NULL;
}

attn_status_t attn_plan_cost(const attn_plan_t *plan, attn_cost_t *cost, attn_error_t *error) {
    if (!plan || !cost)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "cost: plan or result is null");
    const attn_ext_cost_t *costs = extension(plan, ATTN_EXT_COST);
    if (!costs)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' does not tell its cost",
                         plan->backend->id);
    *cost = (attn_cost_t){.struct_size = sizeof *cost, .form = ""};
    costs->cost(plan->prepared, cost);
    return ATTN_OK;
}

int32_t attn_plan_fact(const attn_plan_t *plan, uint32_t index, attn_fact_t *fact) {
    const attn_ext_facts_t *facts = plan && fact ? extension(plan, ATTN_EXT_FACTS) : NULL;
    if (!facts) return 0;
    *fact = (attn_fact_t){.struct_size = sizeof *fact};
    return facts->fact(plan->prepared, index, fact);
}

static attn_status_t check_workspace(const attn_plan_t *plan, const attn_io_t *io,
                                     attn_error_t *error) {
    const uint64_t needed = plan->prepared->workspace_size;
    if (needed == 0) return ATTN_OK;
    if (!io->workspace || io->workspace_size < needed)
        return attn_fail(error, ATTN_ERROR_WORKSPACE, "workspace: %llu bytes, the plan needs %llu",
                         (unsigned long long)(io->workspace ? io->workspace_size : 0),
                         (unsigned long long)needed);
    if ((uintptr_t)io->workspace % ATTN_ALIGNMENT != 0)
        return attn_fail(error, ATTN_ERROR_WORKSPACE, "workspace: not aligned to %d bytes",
                         ATTN_ALIGNMENT);
    return ATTN_OK;
}

attn_status_t attn_run(const attn_plan_t *plan, const attn_io_t *io, attn_error_t *error) {
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "run: the plan is null");
    attn_status_t status = attn_io_check(&plan->problem, io, true, error);
    if (status == ATTN_OK && io->lse.data)
        status = check_features(plan->backend, ATTN_FEATURE_LSE, error);
    if (status == ATTN_OK && io->scores.data)
        status = check_features(plan->backend, ATTN_FEATURE_SCORES, error);
    if (status == ATTN_OK) status = check_workspace(plan, io, error);
    if (status != ATTN_OK) return status;
    if (io->report) io->report->degenerate_rows = 0;
    return plan->prepared->run(plan->prepared, io, error);
}

attn_status_t attn_weights(const attn_plan_t *plan, const attn_io_t *io, int64_t batch,
                           int64_t head, int64_t first, int64_t count, float *rows,
                           int64_t row_stride, attn_error_t *error) {
    if (!plan || !rows)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "weights: the plan or the result is null");
    const attn_problem_t *problem = &plan->problem;
    const attn_ext_weights_t *weights = extension(plan, ATTN_EXT_WEIGHTS);
    if (!weights)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' does not tell its weights",
                         plan->backend->id);
    attn_status_t status = attn_io_check(problem, io, false, error);
    if (status == ATTN_OK) status = check_workspace(plan, io, error);
    if (status != ATTN_OK) return status;
    if (batch < 0 || batch >= problem->batch || head < 0 || head >= problem->heads || first < 0 ||
        count < 0 || first > problem->queries - count)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "weights: batch %lld, head %lld, queries %lld + %lld are not all inside "
                         "(%lld, %lld, %lld)",
                         (long long)batch, (long long)head, (long long)first, (long long)count,
                         (long long)problem->batch, (long long)problem->heads,
                         (long long)problem->queries);
    if (row_stride < problem->keys && count > 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "weights: row_stride %lld is below keys (%lld)",
                         (long long)row_stride, (long long)problem->keys);
    return weights->rows(plan->prepared, io, batch, head, first, count, rows, row_stride, error);
}
