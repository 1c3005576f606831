/*
 * attn.weights/1 (backend): the effective attention weights, also where a backend never forms
 * them.
 *
 * For every backend, out = weights * value up to rounding; that is what "effective" means. What
 * an array such as linear's `state` adds to out has no weights here, but counts in a normaliser.
 */
#ifndef ATTN_EXT_WEIGHTS_H
#define ATTN_EXT_WEIGHTS_H

#include "attn/plugin.h"

#define ATTN_EXT_WEIGHTS "attn.weights/1"

typedef struct attn_ext_weights {
    uint32_t struct_size;
    uint32_t reserved;
    /**
     * Write the weights of queries [first, first + count) of one batch and query head:
     * rows[r*row_stride + j], 0 <= j < m, for query first + r, zero where a key is not attended
     * to. Reads io->query, io->key and own inputs, uses io->workspace like a run; the host has
     * checked the bounds. Does not allocate, lock or print. [any thread]
     */
    attn_status_t (*rows)(const attn_backend_plan_t *plan, const attn_io_t *io, int64_t batch,
                          int64_t head, int64_t first, int64_t count, float *rows,
                          int64_t row_stride, attn_error_t *error);
} attn_ext_weights_t;

#endif
