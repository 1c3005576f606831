/*
 * Gradients (attn.backward/1) with the sketch held fixed: those of exact attention on the sketches, where
 * Q' = Q T and K' = K T are made once more, and then dQ = dQ' T^T, dK = dK' T^T. Where T depends on Q
 * and K (leverage, deterministic, approximate), that is by choices that have no derivative.
 */
#include "attn/ext/backward.h"
#include "attention/task.h"
#include "run.h"
#include "softmax/softmax.h"

#include <string.h>

/* What a worker has: a task's rows of d features, and what kernels take. */
typedef struct back_scratch {
    float *rows;
    void *kernel;
} back_scratch_t;

typedef struct back_space {
    float *query, *key; /* gradients of the sketches, as these are */
    char *scratch;      /* one for each worker */
    uint64_t scratch_size;
} back_space_t;

static back_scratch_t lay_out_scratch(const sketch_plan_t *plan, attn_arena_t *arena) {
    const int64_t dim = plan->problem.dim;
    back_scratch_t scratch = {.rows = attn_arena_take(arena, SKETCH_ROWS * dim, sizeof(float))};
    attn_arena_t kernel = {.base = NULL};
    plan->kernels->scratch(plan->method == ATTN_SKETCH_SRHT ? attn_sketch_order(dim) : plan->size,
                           dim, &kernel);
    arena->overflow |= kernel.overflow;
    scratch.kernel = attn_arena_take(arena, 1, kernel.used);
    return scratch;
}

static back_space_t lay_out_sketch_backward(const sketch_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const uint64_t row = (uint64_t)plan->size * sizeof(float);
    back_space_t space = {.query = NULL};
    if (plan->exact) return space;
    attn_arena_t one = {.base = NULL};
    lay_out_scratch(plan, &one);
    arena->overflow |= one.overflow;
    space.scratch_size = one.used;
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), one.used);
    space.query = attn_arena_take(arena, problem->batch * problem->heads * problem->queries, row);
    space.key = attn_arena_take(arena, problem->batch * problem->kv_heads * problem->keys, row);
    return space;
}

void attn_sketch_back_workspace(const sketch_plan_t *plan, attn_arena_t *arena) {
    lay_out_sketch_backward(plan, arena);
}

/* ---- a row times T^T ----------------------------------------------------------------------------- */

static void unmix_entries(const sketch_plan_t *plan, const float *from, float *to) {
    const attn_sketch_entry_t *entry = plan->entries;
    for (int64_t j = 0; j < plan->problem.dim; j++) {
        to[j] = 0.0f;
        for (int64_t e = 0; e < plan->sparsity; e++, entry++)
            to[j] += entry->weight * from[entry->column];
    }
}

static void unmix_draws(const sketch_plan_t *plan, const attn_sketch_draw_t *draws,
                        const float *from, float *to) {
    for (int64_t j = 0; j < plan->problem.dim; j++) to[j] = 0.0f;
    for (int64_t t = 0; t < plan->size; t++) to[draws[t].feature] += draws[t].weight * from[t];
}

/* By a kernel of the way there. */
static void unmix_rows(const sketch_plan_t *plan, const float *from, int64_t count,
                       const back_scratch_t *scratch) {
    const sketch_rows_t rows = {
        .source = from,
        .row_stride = plan->size,
        .column_stride = 1,
        .count = count,
        .dim = plan->size,
        .size = plan->problem.dim,
        .out = scratch->rows,
        .scratch = scratch->kernel,
    };
    if (plan->transposed)
        plan->kernels->dense(&rows, plan->transposed);
    else
        plan->kernels->hadamard_back(&rows, &plan->srht);
}

static void unmix(const sketch_plan_t *plan, const attn_sketch_draw_t *draws, const float *from,
                  int64_t count, const back_scratch_t *scratch) {
    if (plan->transposed || plan->method == ATTN_SKETCH_SRHT) {
        unmix_rows(plan, from, count, scratch);
        return;
    }
    for (int64_t r = 0; r < count; r++, from += plan->size) {
        float *to = scratch->rows + r * plan->problem.dim;
        if (plan->entries)
            unmix_entries(plan, from, to);
        else
            unmix_draws(plan, draws, from, to);
    }
}

/* ---- all rows ------------------------------------------------------------------------------------ */

typedef struct unmixing {
    const sketch_plan_t *plan;
    const back_space_t *back;
    const attn_sketch_draw_t *draws;
    const float *from; /* (B, H, rows, size) */
    const attn_tensor_t *to;
    int64_t heads_per_draw;
} unmixing_t;

static int64_t blocks_a_head(const unmixing_t *unmixing) {
    return (unmixing->to->shape[2] - 1) / SKETCH_ROWS + 1;
}

static void unmix_block(void *data, int64_t task, uint32_t worker) {
    const unmixing_t *unmixing = data;
    const sketch_plan_t *plan = unmixing->plan;
    const attn_tensor_t *to = unmixing->to;
    const int64_t blocks = blocks_a_head(unmixing), head = task / blocks;
    const int64_t first = task % blocks * SKETCH_ROWS, left = to->shape[2] - first;
    const int64_t count = left < SKETCH_ROWS ? left : SKETCH_ROWS;
    attn_arena_t arena = {.base = unmixing->back->scratch + worker * unmixing->back->scratch_size};
    const back_scratch_t scratch = lay_out_scratch(plan, &arena);
    const attn_sketch_draw_t *draws = unmixing->draws;
    if (draws) draws += head / unmixing->heads_per_draw * plan->size;
    unmix(plan, draws, unmixing->from + (head * to->shape[2] + first) * plan->size, count,
          &scratch);
    for (int64_t r = 0; r < count; r++) {
        float *row = attn_row(to, head / to->shape[1], head % to->shape[1], first + r);
        for (int64_t j = 0; j < plan->problem.dim; j++)
            row[j * to->stride[3]] = scratch.rows[r * plan->problem.dim + j];
    }
}

static void unmix_all(unmixing_t *unmixing) {
    const int64_t heads = unmixing->to->shape[0] * unmixing->to->shape[1];
    attn_host_parallel_for(unmixing->plan->host, heads * blocks_a_head(unmixing), unmix_block,
                           unmixing);
}

static attn_status_t backward(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const sketch_plan_t *plan = (const sketch_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    const attn_ext_backward_t *softmax = attn_softmax_backend.get_extension(ATTN_EXT_BACKWARD);
    attn_arena_t arena = {.base = io->workspace};
    const sketch_space_t space = attn_sketch_space(plan, &arena);
    const back_space_t back = lay_out_sketch_backward(plan, &arena);
    attn_status_t status = attn_sketch_heads(plan, io, &space, 0, problem->batch * problem->heads,
                                             0, problem->queries, error);
    if (status) return status;
    const attn_io_t small = attn_sketch_io(plan, io, &space);
    attn_io_t reduced = *gradients;
    const attn_tensor_t *query = &gradients->query, *key = &gradients->key;
    if (!plan->exact && query->data) reduced.query = attn_sketched(query, back.query, plan->size);
    if (!plan->exact && key->data) reduced.key = attn_sketched(key, back.key, plan->size);
    status = softmax->backward(plan->softmax, &small, &reduced, error);
    if (status || plan->exact) return status;
    unmixing_t all = {.plan = plan, .back = &back, .draws = space.draws};
    if (query->data) {
        all.from = back.query;
        all.to = query;
        all.heads_per_draw = problem->heads / problem->kv_heads;
        unmix_all(&all);
    }
    if (key->data) {
        all.from = back.key;
        all.to = key;
        all.heads_per_draw = 1;
        unmix_all(&all);
    }
    return ATTN_OK;
}

const attn_ext_backward_t attn_sketch_backward = {
    .struct_size = sizeof attn_sketch_backward,
    .arrays = 1u << ATTN_ARRAY_QUERY | 1u << ATTN_ARRAY_KEY | 1u << ATTN_ARRAY_VALUE,
    .backward = backward,
};
