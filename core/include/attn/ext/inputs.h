/*
 * attn.inputs/1 (backend): arrays of a backend's own, declared as data like its parameters: gates,
 * decay and state of a linear backend, a block mask, a sketch's sparse input.
 *
 * The host checks them like its own (attn/arrays.h), and the command line (--input, --output), the
 * JavaScript package and its checks take them from here. A run has them in attn_io_t.own, in the order
 * of this list; attn_own_array() of attn/support.h gets one.
 */
#ifndef ATTN_EXT_INPUTS_H
#define ATTN_EXT_INPUTS_H

#include "attn/arrays.h"
#include "attn/plugin.h"

#define ATTN_EXT_INPUTS "attn.inputs/1"

/** A backend has no more, as own_inputs has a bit for each. */
#define ATTN_MOST_OWN_ARRAYS 32

typedef struct attn_ext_inputs {
    uint32_t struct_size;
    uint32_t count; /**< at most ATTN_MOST_OWN_ARRAYS */
    /** `count` of them: inputs that are REQUIRED or NAMED, outputs that are OPTIONAL. */
    const attn_array_info_t *const *arrays;
    /**
     * Set the extents of array number `index` whose axes are ATTN_AXIS_PLAN, each at least 1; the others
     * are set already. NULL when there is none. Any thread; depends on the plan alone.
     */
    void (*shape)(const attn_backend_plan_t *plan, uint32_t index, int64_t shape[4]);
} attn_ext_inputs_t;

#endif
