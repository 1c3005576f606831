#include "choose.h"

#include "attention/task.h"

#include <math.h>

/* ---- memory -------------------------------------------------------------------------------------- */

typedef struct scratch {
    float *x;        /* n + m rows of d features */
    int32_t *rows;   /* their numbers */
    double *weights; /* d; or scores */
    double *room;    /* k */
    attn_basis_t basis;
    attn_triangle_t triangle;
    attn_basis_work_t basis_work; /* and, in the same place, as one comes after the other: */
    attn_barrier_work_t barrier_work;
    attn_scores_work_t scores_work;
} scratch_t;

/* X, whose numbers are still to come. */
static attn_x_t sizes_of(const sketch_plan_t *plan) {
    static const float none;
    const int64_t rows = attn_leverage_rows(&plan->problem);
    return (attn_x_t){.rows = rows, .columns = plan->problem.dim, .dense = &none};
}

/* Of the embedding and of the JL matrix each. */
static double delta_of(const sketch_plan_t *plan) { return plan->delta / 4; }

static int is_embedded(const sketch_plan_t *plan) {
    const attn_x_t x = sizes_of(plan);
    return plan->method == ATTN_SKETCH_APPROXIMATE &&
           attn_is_embedded(&x, plan->factor, delta_of(plan));
}

static void lay_out_choice(attn_arena_t *arena, const sketch_plan_t *plan, scratch_t *scratch) {
    const int64_t rows = attn_leverage_rows(&plan->problem), dim = plan->problem.dim;
    scratch->x = attn_arena_take(arena, rows, (uint64_t)dim * sizeof *scratch->x);
    scratch->rows = attn_arena_take(arena, rows, sizeof *scratch->rows);
    scratch->weights = attn_arena_take(arena, dim, sizeof *scratch->weights);
    scratch->room = attn_arena_take(arena, attn_min(rows, dim), sizeof *scratch->room);
    attn_basis_take(arena, rows, dim, &scratch->basis);
    if (is_embedded(plan)) attn_triangle_take(arena, rows, &scratch->triangle);
    attn_arena_t first = *arena, second = *arena;
    const attn_x_t x = sizes_of(plan);
    attn_basis_work_take(&first, rows, dim, &scratch->basis_work);
    if (plan->method == ATTN_SKETCH_DETERMINISTIC)
        attn_barrier_take(&second, rows, dim, dim / ATTN_BLOCK_WIDTH + 1, &scratch->barrier_work);
    if (is_embedded(plan))
        attn_scores_take(&second, &x, plan->factor, delta_of(plan), &scratch->scores_work);
    *arena = first.used > second.used ? first : second;
    arena->overflow |= first.overflow | second.overflow;
}

void attn_choose_take(attn_arena_t *arena, const sketch_plan_t *plan) {
    scratch_t scratch;
    lay_out_choice(arena, plan, &scratch);
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

/* Rank 0 keeps any. */
static int64_t choose_weights(const sketch_plan_t *plan, const attn_features_t *features,
                              scratch_t *scratch, attn_sketch_draw_t *draws) {
    attn_barrier_end_t end = {.keeps = 1};
    const int64_t rank = scratch->basis.rank;
    for (int64_t t = 0; t < plan->size; t++) draws[t] = (attn_sketch_draw_t){t, 1};
    if (rank > 0 && rank < plan->size) weigh(plan, features, scratch, &end, draws);
    return end.keeps ? rank : -1 - end.steps;
}

/* ---- Algorithms 1 and 2 -------------------------------------------------------------------------- */

/* Whether Algorithm 2 has found scores that keep its factor, as far as their sum tells. */
static int find_scores(const sketch_plan_t *plan, const attn_features_t *features,
                       scratch_t *scratch) {
    const embedding_kernels_t *kernels = attn_embedding_kernels(attn_host_tier(plan->host));
    return is_embedded(plan) &&
           attn_scores_embedded(kernels, features, plan->factor, delta_of(plan), plan->seed,
                                &scratch->scores_work, &scratch->triangle,
                                scratch->weights) == ATTN_OK;
}

static int64_t draw(const sketch_plan_t *plan, int64_t head, int64_t rank, scratch_t *scratch,
                    attn_sketch_draw_t *draws) {
    attn_leverage_draw(scratch->weights, plan->problem.dim, plan->size, plan->seed,
                       attn_sketch_stream(ATTN_SKETCH_LEVERAGE, head), draws);
    return rank;
}

/* ---- either -------------------------------------------------------------------------------------- */

int64_t attn_choose(const sketch_plan_t *plan, const attn_io_t *io, int64_t head,
                    attn_arena_t *arena, attn_sketch_draw_t *draws) {
    attn_x_t x = sizes_of(plan);
    scratch_t scratch;
    lay_out_choice(arena, plan, &scratch);
    stack(plan, io, head, &scratch);
    x.dense = scratch.x;
    const attn_features_t features = {.x = &x, .rows = scratch.rows};
    if (find_scores(plan, &features, &scratch))
        return draw(plan, head, scratch.triangle.rank, &scratch, draws);
    if (!attn_basis_exact(&features, NULL, &scratch.basis_work, &scratch.basis)) return -1;
    if (plan->method == ATTN_SKETCH_DETERMINISTIC)
        return choose_weights(plan, &features, &scratch, draws);
    attn_basis_scores(&features, &scratch.basis, scratch.room, scratch.weights);
    return draw(plan, head, scratch.basis.rank, &scratch, draws);
}

attn_status_t attn_choose_check(const sketch_plan_t *plan, const int64_t *ranks, int64_t first,
                                int64_t count, attn_error_t *error) {
    for (int64_t head = first; head < first + count; head++) {
        if (plan->method == ATTN_SKETCH_DETERMINISTIC && ranks[head] >= plan->size)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "sketch: size is %lld, deterministic takes more than the rank of "
                             "[Q; K], %lld of key/value head %lld",
                             (long long)plan->size, (long long)ranks[head], (long long)head);
        if (ranks[head] < 0)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "sketch: rounding has ended the choice after %lld of %lld "
                             "features of key/value head %lld",
                             (long long)(-1 - ranks[head]), (long long)plan->size, (long long)head);
    }
    return ATTN_OK;
}

double attn_choose_sum(const sketch_plan_t *plan) {
    return (double)plan->rank * (is_embedded(plan) ? plan->factor : 1);
}

double attn_choose_flops(const sketch_plan_t *plan) {
    const attn_x_t x = sizes_of(plan);
    const double k = (double)attn_min(x.rows, x.columns), d = (double)x.columns;
    if (is_embedded(plan)) return attn_scores_flops(&x, plan->factor, delta_of(plan));
    return attn_basis_flops(x.rows, x.columns) +
           (plan->method == ATTN_SKETCH_DETERMINISTIC
                ? attn_barrier_flops(x.rows, x.columns, (double)plan->size)
                : 2 * k * k * d);
}
