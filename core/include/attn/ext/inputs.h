/*
 * attn.inputs/1 (backend): arrays of a backend's own, declared as data like its parameters: gates,
 * decay and state of a linear backend, a block mask, a sketch's sparse input.
 *
 * The host checks them like its own (attn/arrays.h), and the command line (--input, --output),
 * the JavaScript package and its checks take them from here. A run has them in attn_io_t.own, in
 * the order of this list; attn_own_array() of attn/support.h gets one, or NULL where the run
 * does not have it: an input that the problem does not name, an output that nobody asked for.
 *
 * A program names inputs before the plan, and brings the arrays with each run:
 *
 *     const attn_backend_t *linear = attn_backend_find(context, "linear");
 *     attn_problem_add_input(&problem, linear, "decay", &error);
 *     ...
 *     attn_tensor_t decay = attn_tensor_bhnd(gates, batch, kv_heads, keys, dim);
 *     const attn_tensor_t *own[] = {&decay};      // by number; attn_backend_array() tells names
 *     io.own = own;
 *     io.own_count = 1;
 *
 * Streams: those with an axis of keys and none of queries come with tokens, all others with
 * queries. An output without an axis of queries, such as a state, is then what all tokens so far
 * have come to.
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
    /** `count` of them: inputs that are REQUIRED or NAMED, outputs that are OPTIONAL. A NAMED one
     *  may stand for query, key or value (`replaces`): runs of a problem that names it bring no
     *  such array, and streams of it are refused. */
    const attn_array_info_t *const *arrays;
    /**
     * Set the extents of array number `index` whose axes are ATTN_AXIS_PLAN, each at least 1;
     * the others are set already. Depends on the plan alone. NULL when there is none.
     * [any thread]
     */
    void (*shape)(const attn_backend_plan_t *plan, uint32_t index, int64_t shape[4]);
} attn_ext_inputs_t;

#endif
