/* labs/layer.c: see layer.h. */
#include "labs/layer.h"

#include "labs/head.h"

#include <math.h>
#include <stdlib.h>

layer_t layer_create(const char *backend, int64_t width, int64_t dim, int64_t value_dim) {
    return (layer_t){
        .causal = ATTN_CAUSAL_TOP_LEFT,
        .backend = backend,
        .query = matrix_create(dim, width),
        .key = matrix_create(dim, width),
        .value = matrix_create(value_dim, width),
    };
}

void layer_destroy(layer_t *layer) {
    matrix_destroy(&layer->query);
    matrix_destroy(&layer->key);
    matrix_destroy(&layer->value);
}

double layer_norm(const layer_t *layer) {
    if (!layer->query.data || !layer->key.data || !layer->value.data) return 0;
    return fmax(matrix_norm(&layer->query),
                fmax(matrix_norm(&layer->key), matrix_norm(&layer->value)));
}

/* x W^T. Constructed weights are nearly all zero, and those cost nothing. */
static matrix_t project(const matrix_t *x, const matrix_t *weights) {
    matrix_t out = matrix_create(x->rows, weights->rows);
    int64_t *used = malloc((size_t)weights->columns * sizeof *used);
    if (!used) matrix_destroy(&out);
    for (int64_t o = 0; out.data && o < out.columns; o++) {
        const float *row = matrix_at(weights, o, 0);
        int64_t count = 0;
        for (int64_t k = 0; k < weights->columns; k++)
            if (row[k] != 0.0f) used[count++] = k;
        for (int64_t i = 0; i < out.rows; i++) {
            const float *token = matrix_at(x, i, 0);
            double sum = 0;
            for (int64_t c = 0; c < count; c++)
                sum += (double)token[used[c]] * (double)row[used[c]];
            *matrix_at(&out, i, o) = (float)sum;
        }
    }
    free(used);
    return out;
}

static attn_status_t attend_layer(const attn_context_t *context, const layer_t *layer,
                                  const matrix_t qkv[3], matrix_t *out, attn_error_t *error) {
    attn_problem_t problem =
        head_problem(out->rows, out->rows, layer->query.rows, layer->value.rows);
    problem.causal = layer->causal;
    head_t head;
    attn_status_t status = head_create(context, layer->backend, &problem, layer->params,
                                       layer->param_count, &head, error);
    if (status) return status;
    status = head_run(&head, qkv[0].data, qkv[1].data, qkv[2].data, out->data, NULL, error);
    head_destroy(&head);
    return status;
}

attn_status_t layer_run(const attn_context_t *context, const layer_t *layer, const matrix_t *tokens,
                        matrix_t *out, attn_error_t *error) {
    const matrix_t *weights[] = {&layer->query, &layer->key, &layer->value};
    matrix_t qkv[3] = {{.data = NULL}, {.data = NULL}, {.data = NULL}};
    attn_status_t status = ATTN_OK;
    int there = tokens->data && out->data;
    for (int i = 0; i < 3 && there; i++) {
        if (weights[i]->data) qkv[i] = project(tokens, weights[i]);
        there = qkv[i].data != NULL;
    }
    if (there)
        status = attend_layer(context, layer, qkv, out, error);
    else
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a layer of %lld tokens",
                           (long long)tokens->rows);
    for (int i = 0; i < 3; i++) matrix_destroy(&qkv[i]);
    return status;
}
