/* plan.c: plans, and what can be done with one. */
#include "attn/oracle.h"
#include "bindings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making and describing ------------------------------------------------------------------- */

attn_problem_t attnjs_problem(const double *numbers) {
    attn_problem_t problem;
    int64_t size[ATTNJS_VALUE_DIM + 1];
    for (int i = 0; i <= ATTNJS_VALUE_DIM; i++) size[i] = attnjs_integer(numbers[i]);
    attn_problem_init(&problem, size[ATTNJS_BATCH], size[ATTNJS_HEADS], size[ATTNJS_QUERIES],
                      size[ATTNJS_KEYS], size[ATTNJS_DIM], size[ATTNJS_VALUE_DIM]);
    problem.kv_heads = size[ATTNJS_KV_HEADS];
    problem.causal = (int32_t)numbers[ATTNJS_CAUSAL];
    problem.scale = (float)numbers[ATTNJS_SCALE];
    problem.past = attnjs_integer(numbers[ATTNJS_PAST]);
    problem.window_left = attnjs_integer(numbers[ATTNJS_WINDOW_LEFT]);
    problem.window_right = attnjs_integer(numbers[ATTNJS_WINDOW_RIGHT]);
    problem.softcap = (float)numbers[ATTNJS_SOFTCAP];
    problem.scores = (int32_t)numbers[ATTNJS_SCORES_MODE];
    problem.inputs = (uint32_t)numbers[ATTNJS_INPUTS];
    problem.dtype = (int32_t)numbers[ATTNJS_DTYPE];
    problem.kv_dtype = (int32_t)numbers[ATTNJS_KV_DTYPE];
    problem.own_inputs = (uint32_t)numbers[ATTNJS_OWN_INPUTS];
    return problem;
}

attn_param_t *attnjs_params(attnjs_t *js, const char *packed, size_t count) {
    attn_param_t *params = calloc(count + 1, sizeof *params);
    if (!params) {
        attnjs_no_memory(js, "the parameters");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        params[i].name = packed;
        params[i].value = packed += strlen(packed) + 1;
        packed += strlen(packed) + 1;
    }
    return params;
}

static attn_plan_t *make(attnjs_t *js, const char *backend, const attn_problem_t *problem,
                         const char *params, size_t count) {
    attn_param_t *list = attnjs_params(js, params, count);
    if (!list) return NULL;
    attn_plan_t *plan = NULL;
    if (attn_plan_create(js->context, backend, problem, list, (uint32_t)count, &plan, &js->error) !=
        ATTN_OK)
        plan = NULL;
    free(list);
    return plan;
}

attn_plan_t *attnjs_plan_create(attnjs_t *js, const char *backend, const double *numbers,
                                const char *params, size_t count) {
    const attn_problem_t problem = attnjs_problem(numbers);
    return make(js, backend, &problem, params, count);
}

void attnjs_plan_destroy(attn_plan_t *plan) { attn_plan_destroy(plan); }

static void write_cost(attn_json_t *json, const attn_plan_t *plan) {
    attn_cost_t cost = {.struct_size = sizeof cost};
    if (attn_plan_cost(plan, &cost, NULL) != ATTN_OK) {
        attn_json_string(json, "cost", NULL);
        return;
    }
    attn_json_open(json, "cost", '{');
    attn_json_number(json, "flops", cost.flops);
    attn_json_number(json, "bytes", cost.bytes);
    attn_json_number(json, "pairs", cost.pairs);
    attn_json_number(json, "computed", cost.computed);
    attn_json_string(json, "form", cost.form);
    attn_json_close(json, '}');
}

static void write_facts(attn_json_t *json, const attn_plan_t *plan) {
    attn_json_open(json, "facts", '[');
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++) {
        attn_json_open(json, NULL, '{');
        attn_json_string(json, "name", fact.name);
        attn_json_string(json, "label", fact.label);
        if (fact.text)
            attn_json_string(json, "value", fact.text);
        else
            attn_json_number(json, "value", fact.number);
        attn_json_close(json, '}');
        fact = (attn_fact_t){.struct_size = sizeof fact};
    }
    attn_json_close(json, ']');
}

void attnjs_write_own(attn_json_t *json, const attnjs_scope_t *scope) {
    attn_tensor_t tensor;
    attn_json_open(json, "own", '[');
    for (uint32_t number = ATTN_ARRAY_OWN; scope->array(scope->item, number, &tensor); number++) {
        attn_json_open(json, NULL, '[');
        for (int k = 0; k < 4; k++) attn_json_number(json, NULL, (double)tensor.shape[k]);
        attn_json_close(json, ']');
    }
    attn_json_close(json, ']');
}

static void write_plan(attn_json_t *json, const void *plan) {
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "kernel", attn_plan_kernel(plan));
    attn_json_number(json, "workspaceBytes", (double)attn_plan_workspace_size(plan));
    write_cost(json, plan);
    write_facts(json, plan);
    const attnjs_scope_t scope = attnjs_plan_scope(plan);
    attnjs_write_own(json, &scope);
    attn_json_close(json, '}');
}

char *attnjs_plan_describe(attnjs_t *js, attn_plan_t *plan) {
    return attnjs_json(js, "the description of the plan", write_plan, plan);
}

/* ---- running --------------------------------------------------------------------------------- */

static int32_t plan_array(const void *plan, uint32_t number, attn_tensor_t *tensor) {
    return attn_plan_array(plan, number, tensor);
}

attnjs_scope_t attnjs_plan_scope(const attn_plan_t *plan) {
    return (attnjs_scope_t){plan, plan_array, attn_plan_backend(plan)};
}

static attn_status_t read_arrays(attnjs_t *js, const attn_plan_t *plan, const double *list,
                                 attnjs_arrays_t *arrays) {
    const attnjs_scope_t scope = attnjs_plan_scope(plan);
    return attnjs_arrays(&scope, list, arrays, &js->error);
}

/* And scratch for one call: the session's, or else none is kept, so idle plans hold no large memory. */
static attn_status_t begin(attnjs_t *js, const attn_plan_t *plan, const double *list,
                           attnjs_arrays_t *arrays) {
    attn_io_t *io = &arrays->io;
    const attn_status_t status = read_arrays(js, plan, list, arrays);
    if (status != ATTN_OK) return status;
    io->workspace_size = attn_plan_workspace_size(plan);
    io->workspace = js->workspace && js->workspace_size >= io->workspace_size
                        ? js->workspace
                        : attnjs_allocate((double)io->workspace_size);
    if (io->workspace) return ATTN_OK;
    return attn_fail(&js->error, ATTN_ERROR_MEMORY, "no memory for the %llu bytes of workspace",
                     (unsigned long long)io->workspace_size);
}

static void end(const attnjs_t *js, const attnjs_arrays_t *arrays) {
    if (arrays->io.workspace != js->workspace) free(arrays->io.workspace);
}

double attnjs_run(attnjs_t *js, attn_plan_t *plan, const double *list) {
    attn_report_t report = {.struct_size = sizeof report};
    attnjs_arrays_t arrays;
    attn_status_t status = begin(js, plan, list, &arrays);
    arrays.io.report = &report;
    if (status == ATTN_OK) status = attn_run(plan, &arrays.io, &js->error);
    end(js, &arrays);
    return status == ATTN_OK ? (double)report.degenerate_rows : -1;
}

attn_status_t attnjs_weights(attnjs_t *js, attn_plan_t *plan, const double *list, double batch,
                             double head, double first, double count, float *rows, size_t room) {
    const int64_t keys = attn_plan_problem(plan)->keys;
    attnjs_arrays_t arrays;
    if (!(count * (double)keys <= (double)room))
        return attn_fail(&js->error, ATTN_ERROR_SHAPE, "rows: there is no room for the weights");
    attn_status_t status = begin(js, plan, list, &arrays);
    if (status == ATTN_OK)
        status = attn_weights(plan, &arrays.io, attnjs_integer(batch), attnjs_integer(head),
                              attnjs_integer(first), attnjs_integer(count), rows, keys, &js->error);
    end(js, &arrays);
    return status;
}

double attnjs_oracle_error(attnjs_t *js, attn_plan_t *plan, const double *list, double stride) {
    const attn_problem_t *p = attn_plan_problem(plan);
    attnjs_arrays_t arrays;
    if (read_arrays(js, plan, list, &arrays) != ATTN_OK ||
        attn_check(plan, &arrays.io, &js->error) != ATTN_OK)
        return -1;
    double *scratch = attnjs_allocate((double)(p->keys + p->value_dim) * (double)sizeof(double));
    if (!scratch) {
        attnjs_no_memory(js, "the rows of exact attention");
        return -1;
    }
    const double error = attn_oracle_error(p, &arrays.io, attnjs_integer(stride), scratch);
    free(scratch);
    return error;
}

/* ---- gradients ------------------------------------------------------------------------------- */

attn_plan_t *attnjs_gradients_create(attnjs_t *js, const char *backend, const double *numbers,
                                     const char *params, size_t count) {
    attn_problem_t problem = attnjs_problem(numbers);
    problem.backward = 1;
    return make(js, backend, &problem, params, count);
}

static void write_gradients(attn_json_t *json, const void *plan) {
    const attn_backend_t *backend = attn_plan_backend(plan);
    attn_array_info_t info = {.struct_size = sizeof info};
    attn_json_open(json, NULL, '{');
    attn_json_boolean(json, "lse", (backend->features & ATTN_FEATURE_LSE) != 0);
    attn_json_open(json, "arrays", '[');
    for (uint32_t number = 0; attn_backend_array(backend, number, &info); number++)
        if (info.flags & ATTN_ARRAY_DIFFERENTIABLE) attn_json_number(json, NULL, number);
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

char *attnjs_gradients_describe(attnjs_t *js, attn_plan_t *plan) {
    return attnjs_json(js, "the description of gradients", write_gradients, plan);
}

attn_status_t attnjs_backward(attnjs_t *js, attn_plan_t *plan, const double *list,
                              const double *gradients) {
    const attnjs_scope_t scope = attnjs_plan_scope(plan);
    attnjs_arrays_t arrays, to;
    attn_status_t status = attnjs_arrays(&scope, gradients, &to, &js->error);
    if (status != ATTN_OK) return status;
    status = begin(js, plan, list, &arrays);
    if (status == ATTN_OK) status = attn_backward(plan, &arrays.io, &to.io, &js->error);
    end(js, &arrays);
    return status;
}
