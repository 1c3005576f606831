/* plan.h: what a sketch plan holds, its run, and streams. */
#ifndef ATTN_SKETCH_PLAN_H
#define ATTN_SKETCH_PLAN_H

#include "attn/ext/backward.h"
#include "attn/ext/stream.h"
#include "csr.h"
#include "kernels.h"

enum { SKETCH_PARAMETERS = 9 };

typedef struct sketch_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    const sketch_kernels_t *kernels;
    attn_problem_t problem;
    enum attn_sketch_method method;
    int64_t size;
    int64_t rank;         /* leverage: what the guarantee takes the rank of [Q; K] to be at most */
    double factor, delta; /* approximate: what its scores may be off by, but for a part delta */
    uint64_t seed;
    int exact; /* size == dim: T = I, and the softmax plan runs on the caller's own arrays */
    int64_t
        elements;  /* of a CSR, which is written to rows of `size` features also then; 0: dense */
    float *matrix; /* gaussian, ams: dim x size */
    float *transposed; /* of a plan with gradients: size x dim */
    attn_sketch_entry_t
        *entries; /* `sparsity` a feature: see attn_sketch_scatters(); NULL: drawn in a run */
    int64_t sparsity;
    attn_sketch_srht_t srht;
    attn_backend_plan_t *softmax; /* of the reduced problem: `size` features */
    char guarantee[160];
} sketch_plan_t;

/** Whether X is a CSR. */
static inline int attn_sketch_is_sparse(const sketch_plan_t *plan) { return plan->elements != 0; }

/** Whether features are chosen by a factorisation of [Q; K] (choose.h). */
static inline int attn_sketch_chooses(const sketch_plan_t *plan) {
    return (int)plan->method > ATTN_SKETCH_SRHT;
}

/** Whether T is of the run's arrays: features drawn or chosen. */
#define attn_sketch_samples(plan)                                                                  \
    ((plan)->method == ATTN_SKETCH_LEVERAGE || attn_sketch_chooses(plan))

/** Whether T has a few entries a feature: osnap's, or one of all features that are kept of a CSR. */
static inline int attn_sketch_scatters(const sketch_plan_t *plan) {
    return plan->exact || plan->method == ATTN_SKETCH_OSNAP;
}

/** Whether runs make sketches. */
static inline int attn_sketch_makes(const sketch_plan_t *plan) {
    return !plan->exact || attn_sketch_is_sparse(plan);
}

/** attn_backend_t.plan. */
attn_status_t attn_sketch_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error);

/** The problem on sketches, for softmax. */
attn_problem_t attn_sketch_reduced(const sketch_plan_t *plan);

/** Memory of the plan and of softmax's. */
uint64_t attn_sketch_plan_bytes(const sketch_plan_t *plan);

/** Bytes of workspace that a run needs; sets arena->overflow when they would not fit. */
void attn_sketch_workspace(const sketch_plan_t *plan, attn_arena_t *arena);

/** attn_backend_plan_t.run. */
attn_status_t attn_sketch_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error);

/** attn_ext_weights_t.rows. */
attn_status_t attn_sketch_weights(const attn_backend_plan_t *base, const attn_io_t *io,
                                  int64_t batch, int64_t head, int64_t first, int64_t count,
                                  float *rows, int64_t row_stride, attn_error_t *error);

/** For `attn.backward/1`. */
extern const attn_ext_backward_t attn_sketch_backward;

/** Scratch of attn_sketch_tensor() for all workers. */
void attn_sketch_scratch(const sketch_plan_t *plan, attn_arena_t *arena);

/** All rows of a tensor times T, which is not the leverage method's: out is (B, H, rows, size). */
void attn_sketch_tensor(const sketch_plan_t *plan, const attn_tensor_t *source, float *out,
                        void *scratch);

/** The tensor's rows with `size` contiguous features at `data`. */
attn_tensor_t attn_sketched(const attn_tensor_t *tensor, float *data, int64_t size);

/** attn_ext_stream_t.create. */
attn_status_t attn_sketch_make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                      const attn_value_t *values, attn_backend_stream_t **stream,
                                      attn_error_t *error);

#endif
