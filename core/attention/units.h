/*
 * attention/units.h: the keys and values that a run reads once. Heads or batches whose keys and values are the same memory
 * (stride 0) are one unit, and all their queries are its rows.
 */
#ifndef ATTN_ATTENTION_UNITS_H
#define ATTN_ATTENTION_UNITS_H

#include "attention/plan.h"

/* What a unit has of the problem's batches and key/value heads: one, or all. */
typedef struct exact_units {
    int64_t batches, kv_heads;
} exact_units_t;

/** Every head by itself. */
static inline exact_units_t attn_single_units(void) { return (exact_units_t){1, 1}; }

/* Whether a tensor, where it is there, is the same along an axis. */
static inline int attn_is_same(const attn_tensor_t *tensor, int axis) {
    return !tensor->data || tensor->stride[axis] == 0;
}

static inline int attn_are_same(const attn_io_t *io, int axis) {
    return attn_is_same(&io->key, axis) && attn_is_same(&io->value, axis) &&
           attn_is_same(&io->key_scales, axis) && attn_is_same(&io->value_scales, axis);
}

/** The units of a run. What a pattern chooses by a head's keys is that head's, and so is what integers are scaled by; a
 * pattern's key spans are of sequences of one length. */
static inline exact_units_t attn_units_of(const exact_plan_t *plan, const attn_io_t *io) {
    const attn_pattern_t *pattern = plan->pattern;
    exact_units_t units = attn_single_units();
    if (ATTN_SMALL || (!plan->decode && plan->kernels->kind == EXACT_INTEGERS)) return units;
    if (pattern && pattern->by_head) return units;
    if (attn_are_same(io, 0) && !(pattern && (plan->problem.inputs & ATTN_INPUT_KV_LENGTHS)))
        units.batches = plan->problem.batch;
    if (attn_are_same(io, 1)) units.kv_heads = plan->problem.kv_heads;
    return units;
}

static inline int64_t attn_unit_count(const exact_plan_t *plan, exact_units_t units) {
    return plan->problem.batch / units.batches * (plan->problem.kv_heads / units.kv_heads);
}

/** Unit number `index`. */
static inline attn_head_t attn_unit(const exact_plan_t *plan, const attn_io_t *io,
                                    exact_units_t units, int64_t index) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t heads = problem->kv_heads / units.kv_heads;
    return (attn_head_t){
        .problem = problem,
        .io = io,
        .batch = index / heads,
        .kv_head = index % heads,
        .batches = units.batches,
        .heads = attn_group(problem) * units.kv_heads,
        .scale = plan->scale,
        .integers = plan->integers,
    };
}

/** Rows of each unit. */
static inline int64_t attn_unit_rows(const exact_plan_t *plan, exact_units_t units) {
    return units.batches * units.kv_heads * attn_group(&plan->problem) * plan->problem.queries;
}

#endif
