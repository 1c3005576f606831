/* plan.c: plans, and what can be done with one. */
#include "attn/oracle.h"
#include "bindings.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* js/ passes integers only; whatever else comes is no size, and the problem's check says so. */
static int64_t integer(double x) { return x >= -0x1p53 && x <= 0x1p53 ? (int64_t)x : -1; }

/* ---- making and describing ------------------------------------------------------------------- */

static int32_t causal_code(const char *name) {
    if (strcmp(name, "top-left") == 0) return ATTN_CAUSAL_TOP_LEFT;
    if (strcmp(name, "bottom-right") == 0) return ATTN_CAUSAL_BOTTOM_RIGHT;
    return ATTN_CAUSAL_NONE;
}

/* Points into `packed`; freed by the caller. */
static attn_param_t *unpack_params(const char *packed, uint32_t count) {
    attn_param_t *params = calloc((size_t)count + 1, sizeof *params);
    if (!params) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        params[i].name = packed;
        params[i].value = packed += strlen(packed) + 1;
        packed += strlen(packed) + 1;
    }
    return params;
}

attn_plan_t *attnjs_plan_create(attnjs_t *js, const char *backend, double batch, double heads,
                                double kv_heads, double queries, double keys, double dim,
                                double value_dim, const char *causal, double scale,
                                const char *params, uint32_t count) {
    attn_problem_t problem;
    attn_problem_init(&problem, integer(batch), integer(heads), integer(queries), integer(keys),
                      integer(dim), integer(value_dim));
    problem.kv_heads = integer(kv_heads);
    problem.causal = causal_code(causal);
    problem.scale = (float)scale;

    attn_param_t *list = unpack_params(params, count);
    if (!list) {
        attnjs_no_memory(js, "the parameters");
        return NULL;
    }
    attn_plan_t *plan = NULL;
    if (attn_plan_create(js->context, backend, &problem, list, count, &plan, &js->error) != ATTN_OK)
        plan = NULL;
    free(list);
    return plan;
}

void attnjs_plan_destroy(attn_plan_t *plan) { attn_plan_destroy(plan); }

static void describe_cost(attnjs_text_t *text, const attn_plan_t *plan) {
    attn_cost_t cost = {.struct_size = sizeof cost};
    if (attn_plan_cost(plan, &cost, NULL) != ATTN_OK) {
        attnjs_text_add(text, "null");
        return;
    }
    attnjs_text_add(text, "{\"flops\":");
    attnjs_text_number(text, cost.flops);
    attnjs_text_add(text, ",\"bytes\":");
    attnjs_text_number(text, cost.bytes);
    attnjs_text_add(text, ",\"pairs\":");
    attnjs_text_number(text, cost.pairs);
    attnjs_text_add(text, ",\"form\":");
    attnjs_text_string(text, cost.form);
    attnjs_text_add(text, "}");
}

static void describe_facts(attnjs_text_t *text, const attn_plan_t *plan) {
    attnjs_text_add(text, "[");
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++) {
        attnjs_text_add(text, "%s{\"name\":", i ? "," : "");
        attnjs_text_string(text, fact.name);
        attnjs_text_add(text, ",\"label\":");
        attnjs_text_string(text, fact.label);
        attnjs_text_add(text, ",\"value\":");
        if (fact.text)
            attnjs_text_string(text, fact.text);
        else
            attnjs_text_number(text, fact.number);
        attnjs_text_add(text, "}");
        fact = (attn_fact_t){.struct_size = sizeof fact};
    }
    attnjs_text_add(text, "]");
}

char *attnjs_plan_describe(attnjs_t *js, const attn_plan_t *plan) {
    attnjs_text_t text = {0};
    attnjs_text_add(&text, "{\"kernel\":");
    attnjs_text_string(&text, attn_plan_kernel(plan));
    attnjs_text_add(&text, ",\"workspaceBytes\":");
    attnjs_text_number(&text, (double)attn_plan_workspace_size(plan));
    attnjs_text_add(&text, ",\"cost\":");
    describe_cost(&text, plan);
    attnjs_text_add(&text, ",\"facts\":");
    describe_facts(&text, plan);
    attnjs_text_add(&text, "}");
    char *json = attnjs_text_take(&text);
    if (!json) attnjs_no_memory(js, "the description of the plan");
    return json;
}

/* ---- running --------------------------------------------------------------------------------- */

static attn_tensor_t view(int32_t bnhd, float *data, int64_t batch, int64_t heads, int64_t rows,
                          int64_t columns) {
    if (!data) return (attn_tensor_t){0};
    return bnhd ? attn_tensor_bnhd(data, batch, heads, rows, columns)
                : attn_tensor_bhnd(data, batch, heads, rows, columns);
}

static attn_io_t arrays(const attn_plan_t *plan, int32_t bnhd, float *query, float *key,
                        float *value, float *out) {
    const attn_problem_t *p = attn_plan_problem(plan);
    return (attn_io_t){
        .struct_size = sizeof(attn_io_t),
        .query = view(bnhd, query, p->batch, p->heads, p->queries, p->dim),
        .key = view(bnhd, key, p->batch, p->kv_heads, p->keys, p->dim),
        .value = view(bnhd, value, p->batch, p->kv_heads, p->keys, p->value_dim),
        .out = view(bnhd, out, p->batch, p->heads, p->queries, p->value_dim),
    };
}

/* Scratch for one call: nothing is kept between calls, so idle plans hold no large memory. */
static attn_status_t give_workspace(attnjs_t *js, const attn_plan_t *plan, attn_io_t *io) {
    io->workspace_size = attn_plan_workspace_size(plan);
    io->workspace = attnjs_allocate((double)io->workspace_size);
    if (io->workspace) return ATTN_OK;
    return attn_fail(&js->error, ATTN_ERROR_MEMORY, "no memory for the %.0f bytes of workspace",
                     (double)io->workspace_size);
}

attn_status_t attnjs_run(attnjs_t *js, const attn_plan_t *plan, int32_t bnhd, float *query,
                         float *key, float *value, float *out, float *lse) {
    const attn_problem_t *p = attn_plan_problem(plan);
    attn_io_t io = arrays(plan, bnhd, query, key, value, out);
    io.lse = view(0, lse, p->batch, p->heads, p->queries, 1);
    js->report = (attn_report_t){.struct_size = sizeof js->report};
    io.report = &js->report;
    attn_status_t status = give_workspace(js, plan, &io);
    if (status == ATTN_OK) status = attn_run(plan, &io, &js->error);
    free(io.workspace);
    return status;
}

double attnjs_degenerate_rows(const attnjs_t *js) { return (double)js->report.degenerate_rows; }

attn_status_t attnjs_weights(attnjs_t *js, const attn_plan_t *plan, int32_t bnhd, float *query,
                             float *key, double batch, double head, double first, double count,
                             float *rows) {
    attn_io_t io = arrays(plan, bnhd, query, key, NULL, NULL);
    attn_status_t status = give_workspace(js, plan, &io);
    if (status == ATTN_OK)
        status = attn_weights(plan, &io, integer(batch), integer(head), integer(first),
                              integer(count), rows, attn_plan_problem(plan)->keys, &js->error);
    free(io.workspace);
    return status;
}

double attnjs_oracle_error(attnjs_t *js, const attn_plan_t *plan, int32_t bnhd, float *query,
                           float *key, float *value, float *out, double stride) {
    const attn_problem_t *p = attn_plan_problem(plan);
    const attn_io_t io = arrays(plan, bnhd, query, key, value, out);
    double size = (double)(p->keys + p->value_dim) * (double)sizeof(double);
    double *scratch = attnjs_allocate(size);
    if (!scratch) {
        attnjs_no_memory(js, "the rows of exact attention");
        return -1;
    }
    double error = attn_oracle_error(p, &io, integer(stride), scratch);
    free(scratch);
    return error;
}
