/*
 * labs/layer.h: a layer of one attention head, as the constructions of efficient transformers have it:
 * token embeddings times explicit weight matrices give queries, keys and values, which a plugin takes.
 */
#ifndef ATTN_LABS_LAYER_H
#define ATTN_LABS_LAYER_H

#include "attn/attn.h"
#include "labs/matrix.h"

/** W (out x in) for q = W x and its like; zeros to be filled in by the construction. */
typedef struct layer {
    int32_t causal; /**< enum attn_causal_code; layer_create() has it causal */
    const char *backend;
    const attn_param_t *params;
    uint32_t param_count;
    matrix_t query, key, value; /**< W_Q, W_K, W_V */
} layer_t;

/** Weights for tokens of `width` numbers; without data where there is no memory. */
layer_t layer_create(const char *backend, int64_t width, int64_t dim, int64_t value_dim);

void layer_destroy(layer_t *layer);

/** The largest entry of its weights, in magnitude; 0 where there was no memory for them. */
double layer_norm(const layer_t *layer);

/**
 * One head with scale 1: out (tokens x value_dim). Products with the weights are summed in
 * double precision, so that the plugin's rounding is all there is. ATTN_ERROR_MEMORY where tokens,
 * layer or out have no data.
 */
attn_status_t layer_run(const attn_context_t *context, const layer_t *layer, const matrix_t *tokens,
                        matrix_t *out, attn_error_t *error);

#endif
