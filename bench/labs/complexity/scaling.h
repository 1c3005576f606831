/*
 * labs/complexity/scaling.h: what one causal head of attention takes at length L: time, memory, counted work,
 * and what it has to carry from one token to the next (efficient-transformers, Table 1 and the
 * bottleneck of Theorem 4.4).
 */
#ifndef ATTN_LABS_COMPLEXITY_SCALING_H
#define ATTN_LABS_COMPLEXITY_SCALING_H

#include "attn/attn.h"

/** The kinds of attention of the paper, and sketch, which is measured beside them: each by the backend of its name. */
enum scaling_kind {
    SCALING_SOFTMAX,
    SCALING_SPARSE,
    SCALING_LINEAR,
    SCALING_KINDS, /**< of the paper */
    SCALING_SKETCH = SCALING_KINDS,
    SCALING_BACKENDS
};

const char *scaling_backend(enum scaling_kind kind);

/** One causal head: d = dv = dim, n = m = length; the backends' defaults: B ~ sqrt L for sparse, half of the features for sketch. */
typedef struct scaling_request {
    const attn_context_t *context; /**< NULL: the environment's tier; else its tier */
    enum scaling_kind kind;
    int64_t length, dim;
    double budget; /**< seconds to measure for; 0: do not run, no time */
    uint64_t seed;
} scaling_request_t;

typedef struct scaling {
    double seconds, low,
        high; /**< of a run: processor time, median and its 95% interval: NaN where samples are too few */
    double working;      /**< bytes of plan and workspace, beside the arrays */
    double arrays;       /**< bytes of query, key, value and out */
    double flops, pairs; /**< as attn.cost/1 counts them */
} scaling_t;

attn_status_t scaling_measure(const scaling_request_t *request, scaling_t *result,
                              attn_error_t *error);

/**
 * Tokens whose key and value a later query can still need when `length` tokens are there: all for
 * softmax, those that the plugin's weights show for sparse, none for linear. `block`: sparse attention's B, or 0 for
 * the plugin's own.
 */
attn_status_t scaling_kept_tokens(const attn_context_t *context, enum scaling_kind kind,
                                  int64_t length, int64_t block, double *tokens,
                                  attn_error_t *error);

/** Numbers that a head carries on: 2 dim a kept token, or linear attention's (s, z). */
double scaling_state(enum scaling_kind kind, double tokens, double dim);

/**
 * The least dim whose state holds `length` numbers: where it holds less, different inputs must share a
 * state (Theorem 4.4, Theorems B.5 and B.6).
 */
double scaling_needed_dim(enum scaling_kind kind, double tokens, double length);

/** Bytes of a real KV cache with `length` tokens: attn_stream_memory(). */
attn_status_t scaling_cache_bytes(const attn_context_t *context, int64_t length, int64_t dim,
                                  double *bytes, attn_error_t *error);

#endif
