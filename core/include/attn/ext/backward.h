/*
 * attn.backward/1 (backend): gradients of a loss through attention, as training needs them.
 *
 * A plan does this when its problem says `backward`, which needs ATTN_FEATURE_BACKWARD.
 * Gradients stand in an attn_io_t of their own, each at the place of its array, with that
 * array's element type and shape (where the array has an axis of 1 for all, so has its gradient,
 * which is then the sum): `out` holds dL/dout and is read; of the inputs that are differentiable
 * (ATTN_ARRAY_DIFFERENTIABLE, the backend-specific tensors too) those whose data is not NULL are
 * written completely; everything else is absent.
 *
 * Gradients are as precise as the plan: where a parameter has products rounded (softmax's
 * `precision`), products of gradients are rounded likewise, and sums are in f32.
 */
#ifndef ATTN_EXT_BACKWARD_H
#define ATTN_EXT_BACKWARD_H

#include "attn/plugin.h"

#define ATTN_EXT_BACKWARD "attn.backward/1"

typedef struct attn_ext_backward {
    uint32_t struct_size;
    uint32_t reserved;
    /** Bit i: it can write the gradient of array number i (enum attn_array_number). Its own
     *  arrays have no bits: it has the gradients of all that it declares
     *  ATTN_ARRAY_DIFFERENTIABLE. */
    uint64_t arrays;
    /**
     * `io` are the arrays of a run of this plan, after it: inputs, out, and lse, which is there
     * unless the backend has none (ATTN_FEATURE_LSE); the workspace is the plan's. The host has
     * checked both. Does not allocate, lock or print. Several threads may call at once, each with
     * a workspace of its own. [any thread]
     */
    attn_status_t (*backward)(const attn_backend_plan_t *plan, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error);
} attn_ext_backward_t;

#endif
