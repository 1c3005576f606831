/*
 * A run: sketch the queries and the keys, then exact softmax attention on the sketches. Heads are
 * numbered through all batches: query head b*H + h, key/value head b*Hkv + h.
 */
#include "run.h"
#include "attn/ext/weights.h"
#include "softmax/softmax.h"
#include "sparse.h"

#include <string.h>

static void lay_out_leverage(const sketch_plan_t *plan, attn_arena_t *arena,
                             attn_leverage_scratch_t *scratch) {
    attn_leverage_scratch_take(arena, &plan->problem, scratch);
}

static uint64_t worker_scratch_size(const sketch_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t one = {.base = NULL};
    if (attn_sketch_is_sparse(plan)) {
        attn_sparse_scratch(plan, &one);
    } else if (attn_sketch_chooses(plan)) {
        attn_choose_take(&one, plan);
    } else if (plan->method == ATTN_SKETCH_LEVERAGE) {
        attn_leverage_scratch_t scratch;
        lay_out_leverage(plan, &one, &scratch);
    } else {
        const int64_t dim = plan->problem.dim;
        plan->kernels->scratch(plan->method == ATTN_SKETCH_SRHT ? attn_sketch_order(dim) : dim,
                               plan->size, &one);
    }
    arena->overflow |= one.overflow;
    return one.used;
}

/* Those that may be at work at a time; of methods that choose features for a whole head, no more than heads. */
static uint32_t worker_count(const sketch_plan_t *plan) {
    const uint32_t workers = attn_host_workers(plan->host);
    const int64_t heads = plan->problem.batch * plan->problem.kv_heads;
    return attn_sketch_chooses(plan) && heads < workers ? (uint32_t)heads : workers;
}

sketch_space_t attn_sketch_space(const sketch_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t heads = problem->batch * problem->heads;
    const int64_t kv_heads = problem->batch * problem->kv_heads;
    const uint64_t row = (uint64_t)plan->size * sizeof(float);
    sketch_space_t space = {0};
    if (attn_sketch_makes(plan))
        space.query = attn_arena_take(arena, heads * problem->queries, row);
    if (!plan->exact && !attn_sketch_is_sparse(plan))
        space.key = attn_arena_take(arena, kv_heads * problem->keys, row);
    if (!plan->exact && attn_sketch_samples(plan)) {
        space.draws = attn_arena_take(arena, kv_heads * plan->size, sizeof *space.draws);
        space.ranks = attn_arena_take(arena, kv_heads, sizeof *space.ranks);
    }
    if (attn_sketch_is_sparse(plan)) attn_sparse_space(plan, arena, &space);
    if (!plan->exact) {
        space.scratch_size = worker_scratch_size(plan, arena);
        space.scratch = attn_arena_take(arena, worker_count(plan), space.scratch_size);
    }
    space.softmax = attn_arena_take(arena, 1, plan->softmax->workspace_size);
    return space;
}

void attn_sketch_workspace(const sketch_plan_t *plan, attn_arena_t *arena) {
    attn_sketch_space(plan, arena);
    if (plan->problem.backward) attn_sketch_back_workspace(plan, arena);
}

/* ---- leverage sampling ------------------------------------------------------------------------- */

typedef struct sampling {
    const sketch_plan_t *plan;
    const attn_io_t *io;
    const sketch_space_t *space;
    int64_t first_head;
} sampling_t;

static void sample_features(void *data, int64_t task, uint32_t worker) {
    const sampling_t *sampling = data;
    const sketch_plan_t *plan = sampling->plan;
    const sketch_space_t *space = sampling->space;
    const int64_t head = sampling->first_head + task, kv_heads = plan->problem.kv_heads;
    attn_arena_t arena = {.base = space->scratch + worker * space->scratch_size};
    attn_leverage_scratch_t scratch;
    if (attn_sketch_chooses(plan)) {
        /* Any worker may have one of few tasks. */
        if (worker_count(plan) < attn_host_workers(plan->host))
            arena.base = space->scratch + (uint64_t)task * space->scratch_size;
        attn_sketch_draw_t *draws = space->draws + head * plan->size;
        space->ranks[head] = attn_choose(plan, sampling->io, head, &arena, draws);
        return;
    }
    if (attn_sketch_is_sparse(plan)) {
        space->ranks[head] = attn_sparse_scores(plan, sampling->io, head, &arena, &scratch.scores);
    } else {
        lay_out_leverage(plan, &arena, &scratch);
        space->ranks[head] =
            attn_leverage_scores(&plan->problem, &sampling->io->query, &sampling->io->key,
                                 head / kv_heads, head % kv_heads, &scratch);
    }
    attn_leverage_draw(scratch.scores, plan->problem.dim, plan->size, plan->seed,
                       attn_sketch_stream(ATTN_SKETCH_LEVERAGE, head),
                       space->draws + head * plan->size);
    if (attn_sketch_is_sparse(plan)) attn_sparse_chain(plan, space, head);
}

/* The features of `count` key/value heads; the guarantee is void where their rank is above the plan's. */
attn_status_t attn_sketch_sample(const sketch_plan_t *plan, const attn_io_t *io,
                                 const sketch_space_t *space, int64_t first, int64_t count,
                                 attn_error_t *error) {
    sampling_t sampling = {plan, io, space, first};
    for (int64_t head = first; head < first + count; head++)
        space->ranks[head] = 0; /* of a task that is left out */
    attn_host_parallel_for(plan->host, count, sample_features, &sampling);
    for (int64_t head = first; head < first + count; head++)
        if (space->ranks[head] > plan->rank)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "sketch: parameter 'rank' is %lld, and [Q; K] of key/value head %lld "
                             "has rank %lld",
                             (long long)plan->rank, (long long)head, (long long)space->ranks[head]);
    return attn_sketch_chooses(plan) ? attn_choose_check(plan, space->ranks, first, count, error)
                                     : ATTN_OK;
}

/* ---- sketching ---------------------------------------------------------------------------------- */

/* Some rows of some heads of the queries or keys. */
typedef struct sketching {
    const sketch_plan_t *plan;
    const sketch_space_t *space;
    const attn_tensor_t *source;
    float *out;
    int64_t heads_per_draw; /* heads of this tensor that share a key/value head */
    int64_t first_head, head_count, first_row, row_count;
} sketching_t;

static int64_t blocks_a_head(const sketching_t *sketching) {
    return (sketching->row_count - 1) / SKETCH_ROWS + 1;
}

static void sketch_block(void *data, int64_t task, uint32_t worker) {
    const sketching_t *sketching = data;
    const sketch_plan_t *plan = sketching->plan;
    const attn_tensor_t *source = sketching->source;
    const int64_t blocks = blocks_a_head(sketching), done = task % blocks * SKETCH_ROWS;
    const int64_t head = sketching->first_head + task / blocks;
    const int64_t row = sketching->first_row + done, left = sketching->row_count - done;
    const sketch_rows_t rows = {
        .source = (const float *)source->data + head / source->shape[1] * source->stride[0] +
                  head % source->shape[1] * source->stride[1] + row * source->stride[2],
        .row_stride = source->stride[2],
        .column_stride = source->stride[3],
        .count = left < SKETCH_ROWS ? left : SKETCH_ROWS,
        .dim = plan->problem.dim,
        .size = plan->size,
        .out = sketching->out + (head * source->shape[2] + row) * plan->size,
        .scratch = sketching->space->scratch + worker * sketching->space->scratch_size,
    };
    switch (plan->method) {
    case ATTN_SKETCH_GAUSSIAN:
    case ATTN_SKETCH_AMS:
        plan->kernels->dense(&rows, plan->matrix);
        return;
    case ATTN_SKETCH_OSNAP:
        plan->kernels->sparse(&rows, plan->entries, plan->sparsity);
        return;
    case ATTN_SKETCH_SRHT:
        plan->kernels->hadamard(&rows, &plan->srht);
        return;
    case ATTN_SKETCH_LEVERAGE:
    case ATTN_SKETCH_DETERMINISTIC:
    case ATTN_SKETCH_APPROXIMATE:
        plan->kernels->sample(&rows, sketching->space->draws +
                                         head / sketching->heads_per_draw * plan->size);
        return;
    }
}

static void sketch(sketching_t *sketching) {
    attn_host_parallel_for(sketching->plan->host, sketching->head_count * blocks_a_head(sketching),
                           sketch_block, sketching);
}

void attn_sketch_scratch(const sketch_plan_t *plan, attn_arena_t *arena) {
    const uint64_t size = worker_scratch_size(plan, arena);
    attn_arena_take(arena, attn_host_workers(plan->host), size);
}

void attn_sketch_tensor(const sketch_plan_t *plan, const attn_tensor_t *source, float *out,
                        void *scratch) {
    attn_arena_t arena = {.base = NULL};
    const sketch_space_t space = {.scratch = scratch,
                                  .scratch_size = worker_scratch_size(plan, &arena)};
    sketching_t all = {
        .plan = plan,
        .space = &space,
        .source = source,
        .out = out,
        .heads_per_draw = 1,
        .head_count = source->shape[0] * source->shape[1],
        .row_count = source->shape[2],
    };
    sketch(&all);
}

/* Queries [first, first + count) of `heads` query heads, and all keys that they read. */
static attn_status_t sketch_dense(const sketch_plan_t *plan, const attn_io_t *io,
                                  const sketch_space_t *space, int64_t first_head, int64_t heads,
                                  int64_t first, int64_t count, attn_error_t *error) {
    const int64_t group = plan->problem.heads / plan->problem.kv_heads;
    const int64_t first_kv = first_head / group;
    const int64_t kv_heads = (first_head + heads - 1) / group - first_kv + 1;
    attn_status_t status = ATTN_OK;
    if (attn_sketch_samples(plan))
        status = attn_sketch_sample(plan, io, space, first_kv, kv_heads, error);
    if (status) return status;
    sketching_t queries = {
        .plan = plan,
        .space = space,
        .source = &io->query,
        .out = space->query,
        .heads_per_draw = group,
        .first_head = first_head,
        .head_count = heads,
        .first_row = first,
        .row_count = count,
    };
    sketching_t keys = {
        .plan = plan,
        .space = space,
        .source = &io->key,
        .out = space->key,
        .heads_per_draw = 1,
        .first_head = first_kv,
        .head_count = kv_heads,
        .row_count = plan->problem.keys,
    };
    sketch(&queries);
    sketch(&keys);
    return ATTN_OK;
}

/* ---- the reduced problem ------------------------------------------------------------------------- */

attn_tensor_t attn_sketched(const attn_tensor_t *tensor, float *data, int64_t size) {
    const int64_t heads = tensor->shape[1], rows = tensor->shape[2];
    return (attn_tensor_t){
        .data = data,
        .dtype = tensor->dtype,
        .shape = {tensor->shape[0], heads, rows, size},
        .stride = {heads * rows * size, rows * size, size, 1},
    };
}

attn_status_t attn_sketch_heads(const sketch_plan_t *plan, const attn_io_t *io,
                                const sketch_space_t *space, int64_t first_head, int64_t heads,
                                int64_t first, int64_t count, attn_error_t *error) {
    if (attn_sketch_is_sparse(plan))
        return attn_sketch_sparse(plan, io, space, first_head, heads, error);
    if (plan->exact) return ATTN_OK;
    return sketch_dense(plan, io, space, first_head, heads, first, count, error);
}

attn_io_t attn_sketch_io(const sketch_plan_t *plan, const attn_io_t *io,
                         const sketch_space_t *space) {
    attn_io_t result = {
        .struct_size = sizeof result,
        .query = io->query,
        .key = io->key,
        .value = io->value,
        .out = io->out,
        .lse = io->lse,
        .workspace = space->softmax,
        .workspace_size = plan->softmax->workspace_size,
        .report = io->report,
    };
    if (attn_sketch_is_sparse(plan)) {
        const attn_problem_t *p = &plan->problem;
        const attn_tensor_t x = {.dtype = ATTN_F32, .shape = {p->batch, p->heads, p->queries}};
        result.query = result.key = attn_sketched(&x, space->query, plan->size);
    } else if (!plan->exact) {
        result.query = attn_sketched(&io->query, space->query, plan->size);
        result.key = attn_sketched(&io->key, space->key, plan->size);
    }
    return result;
}

attn_status_t attn_sketch_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error) {
    const sketch_plan_t *plan = (const sketch_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    attn_arena_t arena = {.base = io->workspace};
    const sketch_space_t space = attn_sketch_space(plan, &arena);
    const attn_status_t status = attn_sketch_heads(
        plan, io, &space, 0, problem->batch * problem->heads, 0, problem->queries, error);
    if (status) return status;
    const attn_io_t small = attn_sketch_io(plan, io, &space);
    return plan->softmax->run(plan->softmax, &small, error);
}

attn_status_t attn_sketch_weights(const attn_backend_plan_t *base, const attn_io_t *io,
                                  int64_t batch, int64_t head, int64_t first, int64_t count,
                                  float *rows, int64_t row_stride, attn_error_t *error) {
    const sketch_plan_t *plan = (const sketch_plan_t *)base;
    const attn_ext_weights_t *weights = attn_softmax_backend.get_extension(ATTN_EXT_WEIGHTS);
    attn_arena_t arena = {.base = io->workspace};
    const sketch_space_t space = attn_sketch_space(plan, &arena);
    if (count < 1) return ATTN_OK;
    const attn_status_t status = attn_sketch_heads(
        plan, io, &space, batch * plan->problem.heads + head, 1, first, count, error);
    if (status) return status;
    const attn_io_t small = attn_sketch_io(plan, io, &space);
    return weights->rows(plan->softmax, &small, batch, head, first, count, rows, row_stride, error);
}
