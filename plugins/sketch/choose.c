#include "choose.h"

#include "simd/task.h"

#include <math.h>

/* ---- memory -------------------------------------------------------------------------------------- */

typedef struct scratch {
    float *x;      /* n + m rows of d features */
    int32_t *rows; /* their numbers */
    double *weights;
    attn_basis_t basis;
    attn_basis_work_t basis_work;     /* and, in the same place, */
    attn_barrier_work_t barrier_work; /* as the one comes after the other */
} scratch_t;

static void lay_out(attn_arena_t *arena, const sketch_plan_t *plan, scratch_t *scratch) {
    const int64_t rows = attn_leverage_rows(&plan->problem), dim = plan->problem.dim;
    scratch->x = attn_arena_take(arena, rows, (uint64_t)dim * sizeof *scratch->x);
    scratch->rows = attn_arena_take(arena, rows, sizeof *scratch->rows);
    scratch->weights = attn_arena_take(arena, dim, sizeof *scratch->weights);
    attn_basis_take(arena, rows, dim, &scratch->basis);
    attn_arena_t first = *arena, second = *arena;
    attn_basis_work_take(&first, rows, dim, &scratch->basis_work);
    attn_barrier_take(&second, rows, dim, dim / ATTN_BLOCK_WIDTH + 1, &scratch->barrier_work);
    *arena = first.used > second.used ? first : second;
    arena->overflow |= first.overflow | second.overflow;
}

void attn_choose_take(attn_arena_t *arena, const sketch_plan_t *plan) {
    scratch_t scratch;
    lay_out(arena, plan, &scratch);
}

/* ---- the stacked rows ---------------------------------------------------------------------------- */

/* A row in one piece; zeros where an element is not finite. */
static void put_row(const float *source, int64_t stride, int64_t dim, float *row) {
    int finite = 1;
    for (int64_t j = 0; j < dim; j++) {
        row[j] = source[j * stride];
        finite &= isfinite(row[j]) != 0;
    }
    if (!finite) memset(row, 0, (size_t)dim * sizeof *row);
}

static float *put_head(const attn_tensor_t *tensor, int64_t batch, int64_t head, float *x) {
    for (int64_t i = 0; i < tensor->shape[2]; i++, x += tensor->shape[3])
        put_row(attn_row(tensor, batch, head, i), tensor->stride[3], tensor->shape[3], x);
    return x;
}

/* The queries of all heads that share the keys, and these. */
static void stack(const sketch_plan_t *plan, const attn_io_t *io, int64_t kv_head,
                  scratch_t *scratch) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t group = problem->heads / problem->kv_heads;
    const int64_t batch = kv_head / problem->kv_heads, head = kv_head % problem->kv_heads;
    float *x = scratch->x;
    for (int64_t h = 0; h < group; h++) x = put_head(&io->query, batch, head * group + h, x);
    put_head(&io->key, batch, head, x);
    for (int64_t i = 0; i < attn_leverage_rows(problem); i++) scratch->rows[i] = (int32_t)i;
}

/* ---- the barrier method -------------------------------------------------------------------------- */

/* Theorem 4.2: X diag(sqrt w) on the features that have a weight, the last again with 0 behind them. */
static void weigh(const sketch_plan_t *plan, const attn_features_t *features, scratch_t *scratch,
                  attn_barrier_end_t *end, attn_sketch_draw_t *draws) {
    const double *weights = scratch->weights;
    int64_t kept = 0;
    attn_barrier_weights(features, &scratch->basis, plan->size, &scratch->barrier_work,
                         scratch->weights, end);
    for (int64_t j = 0; j < plan->problem.dim; j++)
        if (weights[j] > 0) draws[kept++] = (attn_sketch_draw_t){j, (float)sqrt(weights[j])};
    for (int64_t t = kept; t < plan->size; t++)
        draws[t] = (attn_sketch_draw_t){kept ? draws[kept - 1].feature : 0, 0};
}

int64_t attn_choose(const sketch_plan_t *plan, const attn_io_t *io, int64_t head,
                    attn_arena_t *arena, attn_sketch_draw_t *draws) {
    const int64_t rows = attn_leverage_rows(&plan->problem);
    attn_barrier_end_t end = {.keeps = 1};
    scratch_t scratch;
    lay_out(arena, plan, &scratch);
    stack(plan, io, head, &scratch);
    const attn_x_t x = {.rows = rows, .columns = plan->problem.dim, .dense = scratch.x};
    const attn_features_t features = {.x = &x, .rows = scratch.rows};
    for (int64_t t = 0; t < plan->size; t++) draws[t] = (attn_sketch_draw_t){t, 1};
    if (!attn_basis_exact(&features, NULL, &scratch.basis_work, &scratch.basis)) return -1;
    const int64_t rank = scratch.basis.rank;
    if (rank > 0 && rank < plan->size) weigh(plan, &features, &scratch, &end, draws);
    return end.keeps ? rank : -1 - end.steps;
}

attn_status_t attn_choose_check(const sketch_plan_t *plan, const int64_t *ranks, int64_t first,
                                int64_t count, attn_error_t *error) {
    for (int64_t head = first; head < first + count; head++) {
        if (ranks[head] >= plan->size)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "sketch: size is %lld, deterministic takes more than the rank of "
                             "[Q; K], %lld of key/value head %lld",
                             (long long)plan->size, (long long)ranks[head], (long long)head);
        if (ranks[head] < 0)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "sketch: deterministic: rounding has ended it after %lld of %lld "
                             "features of key/value head %lld",
                             (long long)(-1 - ranks[head]), (long long)plan->size, (long long)head);
    }
    return ATTN_OK;
}

double attn_choose_flops(const sketch_plan_t *plan) {
    const int64_t rows = attn_leverage_rows(&plan->problem), dim = plan->problem.dim;
    return attn_basis_flops(rows, dim) + attn_barrier_flops(rows, dim, (double)plan->size);
}
