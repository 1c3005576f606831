/* plan.h: what a linear plan holds, its run, and streams of its own. */
#ifndef ATTN_LINEAR_PLAN_H
#define ATTN_LINEAR_PLAN_H

#include "attn/ext/stream.h"
#include "kernels.h"

typedef struct linear_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const linear_kernels_t *kernels;
    attn_problem_t problem;
    float scale;
    linear_map_t map;
} linear_plan_t;

/* The workspace: a count of degenerate rows for each task, then a scratch for each worker. */
typedef struct linear_space {
    int64_t *degenerate;
    char *scratch;
    uint64_t scratch_size;
} linear_space_t;

/** Of a plan; it depends on the problem's heads and dimensions alone. */
linear_space_t attn_linear_space(const linear_plan_t *plan, attn_arena_t *arena);

/** attn_backend_t.plan and attn_backend_plan_t.run. */
attn_status_t attn_linear_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error);
attn_status_t attn_linear_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error);

/** A run whose queries also see the keys that are in the sums of each key/value head. */
void attn_linear_attend(const linear_plan_t *plan, const attn_io_t *io,
                        const linear_sums_t *before);

/** Add the keys of io to the sums of each key/value head. Uses io's workspace. */
void attn_linear_add(const linear_plan_t *plan, const attn_io_t *io, linear_sums_t *sums);

/** A key/value head of a run. */
attn_head_t attn_linear_head(const linear_plan_t *plan, const attn_io_t *io, int64_t batch,
                             int64_t kv_head);

/** attn_ext_stream_t.create. */
attn_status_t attn_linear_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error);

#endif
