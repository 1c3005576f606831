/*
 * attn/plan.h: plans, runs and gradients. Part of attn/attn.h, which
 * has the rules of errors, threads and structs.
 */
#ifndef ATTN_PLAN_H
#define ATTN_PLAN_H

#include "attn/api.h"
#include "attn/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A parameter as text, as a person writes it: {"method", "ams"}, {"eps", "0.1"}. Where a name
 *  stands twice, the last one counts. */
typedef struct attn_param {
    const char *name, *value;
} attn_param_t;

/**
 * Make a plan. The parameters are parsed and checked against the backend's declaration; the backend
 * says whether it can solve the problem, and prepares. A plan is immutable; threads may share it.
 * You destroy it, before the context. [any thread]
 * Errors:
 * - ATTN_ERROR_SHAPE, ATTN_ERROR_DTYPE: the problem.
 * - ATTN_ERROR_NOT_FOUND: there is no such backend or parameter.
 * - ATTN_ERROR_ARGUMENT: a parameter's text is no number, or a field has a wrong value.
 * - ATTN_ERROR_RANGE: a number is outside its range.
 * - ATTN_ERROR_UNSUPPORTED: the backend cannot do this; the message says why.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_plan_create(const attn_context_t *context, const char *backend,
                                        const attn_problem_t *problem, const attn_param_t *params,
                                        uint32_t param_count, attn_plan_t **plan,
                                        attn_error_t *error);

/** Destroy a plan; NULL is fine. No run may be under way. [one thread per plan] */
ATTN_API void attn_plan_destroy(attn_plan_t *plan);

/**
 * Bytes of workspace that attn_run(), attn_weights() and attn_backward() need, at an address that
 * is a multiple of ATTN_ALIGNMENT. The size is one, too, as aligned_alloc() wants it; 0: none is
 * needed. [any thread]
 */
ATTN_API uint64_t attn_plan_workspace_size(const attn_plan_t *plan);

/**
 * Which kernel runs, e.g. "avx512 12x32 prefill"; lives as long as the plan. For exact attention
 * the last word tells how keys and values are read: "decode" reads them in place, for few queries;
 * "prefill" packs them first. [any thread]
 */
ATTN_API const char *attn_plan_kernel(const attn_plan_t *plan);

/** The problem of the plan. [any thread] */
ATTN_API const attn_problem_t *attn_plan_problem(const attn_plan_t *plan);

/** The backend of the plan. [any thread] */
ATTN_API const attn_backend_t *attn_plan_backend(const attn_plan_t *plan);

/**
 * Array number `number` (attn_backend_array()) of this plan's runs: *tensor becomes a contiguous
 * tensor of its element type and shape, without data. Returns 0 past the last array. [any thread]
 */
ATTN_API int32_t attn_plan_array(const attn_plan_t *plan, uint32_t number, attn_tensor_t *tensor);

/**
 * What one run costs. You set cost->struct_size. [any thread]
 * Errors:
 * - ATTN_ERROR_UNSUPPORTED: the backend has no attn.cost/1.
 */
ATTN_API attn_status_t attn_plan_cost(const attn_plan_t *plan, attn_cost_t *cost,
                                      attn_error_t *error);

/**
 * Fact number `index` of the plan (attn/ext/facts.h). Returns 0 past the last. You set
 * fact->struct_size. [any thread]
 */
ATTN_API int32_t attn_plan_fact(const attn_plan_t *plan, uint32_t index, attn_fact_t *fact);

/**
 * Solve the plan's problem on these arrays. Every array is checked against the problem first; when
 * one is wrong, nothing is written. Does not allocate, lock or print. Several threads may run one
 * plan at once, each with a workspace of its own. [any thread]
 * Errors:
 * - ATTN_ERROR_SHAPE, ATTN_ERROR_DTYPE: an array's extents or element type.
 * - ATTN_ERROR_ARGUMENT: an array is missing, not expected, misaligned or overlaps another.
 * - ATTN_ERROR_RANGE: a KV length or a scale; the message says which element.
 * - ATTN_ERROR_WORKSPACE: the workspace is too small or misaligned.
 * - ATTN_ERROR_UNSUPPORTED: an output that the backend does not have, such as lse.
 */
ATTN_API attn_status_t attn_run(const attn_plan_t *plan, const attn_io_t *io, attn_error_t *error);

/**
 * Check these arrays as attn_run() does, and compute nothing. The workspace is not checked, nor are
 * the contents of a backend's lists (sparse's blocks, sketch's features), which are checked where
 * they are read. Errors as of attn_run(). [any thread]
 */
ATTN_API attn_status_t attn_check(const attn_plan_t *plan, const attn_io_t *io,
                                  attn_error_t *error);

/**
 * The effective attention weights of queries [first, first + count) of one batch and query head:
 * rows[r * row_stride + j] for 0 <= j < m, such that out = weights * value (beside what linear's
 * `state` adds). Uses io's query, key, own inputs and workspace; value, out and lse may be absent.
 * [any thread]
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_SHAPE: there is no such batch, head or query, or row_stride is below m.
 * - ATTN_ERROR_UNSUPPORTED: the backend has no attn.weights/1.
 */
ATTN_API attn_status_t attn_weights(const attn_plan_t *plan, const attn_io_t *io, int64_t batch,
                                    int64_t head, int64_t first, int64_t count, float *rows,
                                    int64_t row_stride, attn_error_t *error);

/**
 * Gradients of a loss through a run of this plan (attn/ext/backward.h). `io` are the run's arrays
 * after it, with out and, unless the backend has none, lse. In `gradients` each gradient stands at
 * the place of its array: out (dL/dout) is read; those of differentiable inputs that have data are
 * written. [any thread]
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_ARGUMENT: the plan's problem does not say `backward`.
 * - ATTN_ERROR_UNSUPPORTED: a gradient that the backend does not have.
 */
ATTN_API attn_status_t attn_backward(const attn_plan_t *plan, const attn_io_t *io,
                                     const attn_io_t *gradients, attn_error_t *error);

/**
 * Check these arrays as attn_backward() does, but for the workspace, and compute nothing. Errors as
 * of attn_backward(). [any thread]
 */
ATTN_API attn_status_t attn_check_backward(const attn_plan_t *plan, const attn_io_t *io,
                                           const attn_io_t *gradients, attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
