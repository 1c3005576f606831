/* labs/head.c: see head.h. */
#include "labs/head.h"

#include "attn/support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

attn_problem_t head_problem(int64_t queries, int64_t keys, int64_t dim, int64_t value_dim) {
    attn_problem_t problem;
    attn_problem_init(&problem, 1, 1, queries, keys, dim, value_dim);
    problem.scale = 1;
    return problem;
}

attn_status_t head_create(const attn_context_t *context, const char *backend,
                          const attn_problem_t *problem, const attn_param_t *params, uint32_t count,
                          head_t *head, attn_error_t *error) {
    *head = (head_t){.problem = *problem};
    attn_status_t status =
        attn_plan_create(context, backend, problem, params, count, &head->plan, error);
    if (status) return status;
    const uint64_t size = attn_plan_workspace_size(head->plan);
    /* aligned_alloc() wants a multiple; and it may have NULL for nothing. */
    const uint64_t pieces = size / ATTN_ALIGNMENT + 1;
    if (pieces < SIZE_MAX / 2 / ATTN_ALIGNMENT)
        head->workspace = aligned_alloc(ATTN_ALIGNMENT, (size_t)pieces * ATTN_ALIGNMENT);
    if (!head->workspace) {
        head_destroy(head);
        return attn_fail(error, ATTN_ERROR_MEMORY, "%s: no memory for a workspace of %.0f bytes",
                         backend, (double)size);
    }
    return ATTN_OK;
}

void head_destroy(head_t *head) {
    free(head->workspace);
    attn_plan_destroy(head->plan);
    *head = (head_t){.plan = NULL};
}

/* A library tensor of one head; it is not written to where the library only reads. */
static attn_tensor_t matrix(const float *data, int64_t rows, int64_t columns) {
    float *writable;
    memcpy(&writable, &data, sizeof writable);
    return attn_tensor_bhnd(writable, 1, 1, rows, columns);
}

static attn_io_t head_io(const head_t *head, const float *query, const float *key) {
    const attn_problem_t *problem = &head->problem;
    return (attn_io_t){
        .struct_size = sizeof(attn_io_t),
        .query = matrix(query, problem->queries, problem->dim),
        .key = matrix(key, problem->keys, problem->dim),
        .workspace = head->workspace,
        .workspace_size = attn_plan_workspace_size(head->plan),
    };
}

attn_status_t head_run(const head_t *head, const float *query, const float *key, const float *value,
                       float *out, float *lse, attn_error_t *error) {
    const attn_problem_t *problem = &head->problem;
    attn_io_t io = head_io(head, query, key);
    io.value = matrix(value, problem->keys, problem->value_dim);
    io.out = matrix(out, problem->queries, problem->value_dim);
    if (lse) io.lse = matrix(lse, problem->queries, 1);
    return attn_run(head->plan, &io, error);
}

attn_status_t head_weights(const head_t *head, const float *query, const float *key, int64_t first,
                           int64_t count, float *weights, attn_error_t *error) {
    const attn_io_t io = head_io(head, query, key);
    return attn_weights(head->plan, &io, 0, 0, first, count, weights, head->problem.keys, error);
}

double head_fact(const head_t *head, const char *name, double otherwise) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(head->plan, i, &fact); i++)
        if (strcmp(fact.name, name) == 0) return fact.number;
    return otherwise;
}
