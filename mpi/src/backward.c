/*
 * Gradients of softmax over ranks. With lse and out of all keys a block of keys gives its part of dQ and its own dK and dV
 * (core/attention/backward_block.h): D and the weights do not depend on other keys. dQ stays with the queries, dK and dV go
 * round with their block.
 */
#include "piece.h"

#include <math.h>
#include <string.h>
#include <time.h>

void attn_mpi_add(float *sums, const float *others, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) sums[i] += others[i];
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static int64_t kv_heads(const attn_problem_t *problem) {
    return problem->batch * problem->kv_heads;
}

uint64_t attn_mpi_gradient_bytes(const attn_mpi_plan_t *plan, int64_t rows) {
    const attn_problem_t *p = &plan->whole;
    return (uint64_t)(kv_heads(p) * rows * (p->dim + p->value_dim)) * sizeof(float);
}

static float *take(attn_arena_t *arena, int64_t rows, int64_t columns) {
    return attn_arena_take(arena, rows, (uint64_t)columns * sizeof(float));
}

void attn_mpi_back_lay_out(attn_mpi_plan_t *plan, int64_t most_rows, attn_arena_t *arena) {
    const attn_problem_t *p = &plan->whole;
    const int64_t rows = p->batch * p->heads * plan->rows,
                  most_keys = attn_mpi_most_rows(plan, p->keys);
    const int64_t tokens = kv_heads(p) * most_keys, group = group_of(p);
    back_t *back = &plan->back;
    for (int i = 0; i < 2; i++) back->sums[i] = (char *)take(arena, tokens, p->dim + p->value_dim);
    if (plan->size > 1) back->came = (char *)take(arena, tokens, p->dim + p->value_dim);
    const uint64_t bytes = attn_mpi_gradient_bytes(plan, most_keys);
    attn_mpi_transfer_lay_out(&back->coming, plan->comm, 1, bytes, arena);
    attn_mpi_transfer_lay_out(&back->going, plan->comm, 1, bytes, arena);
    if (p->dtype != ATTN_F32) {
        back->out = take(arena, rows, p->value_dim);
        back->out_gradient = take(arena, rows, p->value_dim);
    }
    if (p->kv_dtype != ATTN_F32) {
        back->key = take(arena, most_keys, p->dim);
        back->value = take(arena, most_keys, p->value_dim);
    }
    back->query_sums = take(arena, rows, p->dim);
    back->part_query = take(arena, group * most_rows, p->dim);
    back->part_key = take(arena, most_keys, p->dim);
    back->part_value = take(arena, most_keys, p->value_dim);
    if (p->inputs & ATTN_INPUT_BIAS) back->part_bias = take(arena, group * most_rows, most_keys);
    back->part_slopes = take(arena, group, 1);
    back->heads = attn_arena_take(arena, plan->size + 1, 2 * (uint64_t)p->heads * sizeof(double));
}

/* ---- a piece ------------------------------------------------------------------------------------------- */

static attn_tensor_t widened(float *room, const attn_tensor_t *tensor) {
    const int64_t *shape = tensor->shape;
    if (!room) return *tensor;
    const attn_tensor_t wide = attn_tensor_bhnd(room, shape[0], shape[1], shape[2], shape[3]);
    attn_mpi_widen(&wide, tensor);
    return wide;
}

/* An array of the same shape without gaps; none where nobody wants it. */
static attn_tensor_t part_like(float *room, const attn_tensor_t *of, const attn_tensor_t *wanted) {
    const int64_t *shape = of->shape;
    if (!wanted->data) return (attn_tensor_t){.data = NULL};
    return attn_tensor_bhnd(room, shape[0], shape[1], shape[2], shape[3]);
}

/* A part of the gradient of a bias, where that stands: axes that are the same for all get sums. */
static void add_bias(const mpi_run_t *run, const piece_t *piece, const attn_tensor_t *part) {
    const attn_tensor_t to = attn_mpi_pairs_of(&run->gradients->bias, &run->plan->whole, piece);
    const int64_t *shape = part->shape;
    const float *from = part->data;
    for (int64_t h = 0; part->data && h < shape[1]; h++)
        for (int64_t i = 0; i < shape[2]; i++)
            for (int64_t j = 0; j < shape[3]; j++)
                ((float *)to.data)[h * to.stride[1] + i * to.stride[2] + j * to.stride[3]] +=
                    *from++;
}

/* Rows of dQ lie head by head in the sum of all. */
static void add_queries(const mpi_run_t *run, const piece_t *piece) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const int64_t group = group_of(p), count = piece->queries.count * p->dim;
    const int64_t head = piece->batch * p->heads + piece->kv_head * group;
    for (int64_t h = 0; h < group; h++)
        attn_mpi_add(plan->back.query_sums + ((head + h) * plan->rows + piece->query_row) * p->dim,
                     plan->back.part_query + h * count, (uint64_t)count);
}

static void add_keys(const mpi_run_t *run, const kv_block_t *block, const piece_t *piece) {
    const attn_problem_t *p = &run->plan->whole;
    const back_t *back = &run->plan->back;
    const int64_t rows = block->rows.total, count = piece->keys.count;
    const int64_t row = (piece->batch * p->kv_heads + piece->kv_head) * rows + piece->key_row;
    float *keys = run->sums, *values = keys + kv_heads(p) * rows * p->dim;
    attn_mpi_add(keys + row * p->dim, back->part_key, (uint64_t)(count * p->dim));
    attn_mpi_add(values + row * p->value_dim, back->part_value, (uint64_t)(count * p->value_dim));
}

static attn_status_t go_back(mpi_run_t *run, const kv_block_t *block, const piece_t *piece,
                             attn_error_t *error) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const back_t *back = &plan->back;
    const int64_t group = group_of(p), queries = piece->queries.count, keys = piece->keys.count;
    const attn_plan_t *local;
    piece_own_t own;
    attn_io_t gradients;
    attn_status_t status = attn_mpi_plan_piece(plan, piece, 1, &local, error);
    if (status == ATTN_OK) {
        attn_io_t io = attn_mpi_piece_io(run, block, piece, &own);
        io.key = widened(back->key, &io.key);
        io.value = widened(back->value, &io.value);
        io.out = attn_mpi_queries_of(&run->out, p, piece);
        io.lse = attn_mpi_queries_of(&run->io->lse, p, piece);
        attn_io_init(&gradients);
        gradients.out = attn_mpi_queries_of(&run->out_gradient, p, piece);
        gradients.query = attn_tensor_bhnd(back->part_query, 1, group, queries, p->dim);
        gradients.key = attn_tensor_bhnd(back->part_key, 1, 1, keys, p->dim);
        gradients.value = attn_tensor_bhnd(back->part_value, 1, 1, keys, p->value_dim);
        gradients.bias = part_like(back->part_bias, &io.bias, &run->gradients->bias);
        gradients.slopes = part_like(back->part_slopes, &io.slopes, &run->gradients->slopes);
        status = attn_backward(local, &io, &gradients, error);
    }
    if (status != ATTN_OK) return status;
    add_queries(run, piece);
    add_keys(run, block, piece);
    add_bias(run, piece, &gradients.bias);
    for (int64_t h = 0; gradients.slopes.data && h < group; h++)
        back->heads[p->heads + piece->kv_head * group + h] += (double)back->part_slopes[h];
    return ATTN_OK;
}

void attn_mpi_go_back(mpi_run_t *run, const kv_block_t *block, char *sums) {
    attn_mpi_times_t *times = &run->plan->times;
    const double start = MPI_Wtime();
    const clock_t worked = clock();
    run->sums = (float *)(void *)sums;
    memset(sums, 0, (size_t)attn_mpi_gradient_bytes(run->plan, block->rows.total));
    attn_mpi_each_piece(run, block, go_back);
    times->computing += MPI_Wtime() - start;
    times->working += (double)(clock() - worked) / CLOCKS_PER_SEC;
    times->hops++;
}

/* ---- sums of heads --------------------------------------------------------------------------------------- */

static float *row_of(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t row) {
    return (float *)tensor->data + batch * tensor->stride[0] + head * tensor->stride[1] +
           row * tensor->stride[2];
}

/* dL/dsink = -sum_i exp(sink - lse_i) D_i, of this rank's queries. */
static double by_sink(const mpi_run_t *run, int64_t head) {
    const attn_problem_t *p = &run->plan->whole;
    const float sink = *row_of(&run->io->sinks, 0, head, 0);
    double sum = 0;
    for (int64_t b = 0; sink != -INFINITY && b < p->batch; b++)
        for (int64_t i = 0; i < run->queries.total; i++) {
            const float *out = row_of(&run->out, b, head, i);
            const float *gradient = row_of(&run->out_gradient, b, head, i);
            double dot = 0;
            for (int64_t c = 0; c < p->value_dim; c++)
                dot += (double)out[c * run->out.stride[3]] *
                       (double)gradient[c * run->out_gradient.stride[3]];
            sum -= fmin(1, exp((double)sink - (double)*row_of(&run->io->lse, b, head, i))) * dot;
        }
    return sum;
}

/* In the order of the ranks: the same bits on all. */
static void add_heads(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const int64_t heads = plan->whole.heads, count = 2 * heads;
    double *own = plan->back.heads, *all = own + count;
    for (int64_t h = 0; run->gradients->sinks.data && h < heads; h++) own[h] = by_sink(run, h);
    MPI_Allgather(own, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, plan->comm);
    memset(own, 0, (size_t)count * sizeof *own);
    for (int rank = 0; rank < plan->size; rank++)
        for (int64_t i = 0; i < count; i++) own[i] += all[rank * count + i];
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static void clear(const attn_tensor_t *tensor) {
    const int64_t *shape = tensor->shape;
    for (int64_t b = 0; tensor->data && b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++)
                    row_of(tensor, b, h, i)[c * tensor->stride[3]] = 0;
}

void attn_mpi_backward_run(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const back_t *back = &plan->back;
    const int64_t rows = p->batch * p->heads * plan->rows;
    if (plan->rows) {
        run->out = widened(back->out, &run->io->out);
        run->out_gradient = widened(back->out_gradient, &run->gradients->out);
    }
    memset(back->query_sums, 0, (size_t)(rows * p->dim) * sizeof(float));
    memset(back->heads, 0, (size_t)p->heads * 2 * sizeof(double));
    clear(&run->gradients->bias);
    run->sums = (float *)(uintptr_t)attn_mpi_ring_back(run);
    if (run->gradients->sinks.data || run->gradients->slopes.data) add_heads(run);
}

static void write_keys(const attn_mpi_plan_t *plan, const attn_tensor_t *to, const float *from,
                       int64_t columns) {
    const attn_problem_t *p = &plan->whole;
    const attn_tensor_t sums =
        attn_tensor_bhnd(from, p->batch, p->kv_heads, plan->key_rows.total, columns);
    if (to->data) attn_mpi_narrow(to, &sums);
}

static void write_heads(const attn_tensor_t *to, const double *sums) {
    for (int64_t h = 0; to->data && h < to->shape[1]; h++) *row_of(to, 0, h, 0) = (float)sums[h];
}

/* What no hop brought is zero. */
void attn_mpi_backward_finish(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const attn_io_t *gradients = run->gradients;
    const int64_t rows = plan->key_rows.total;
    const attn_tensor_t query =
        attn_tensor_bhnd(plan->back.query_sums, p->batch, p->heads, plan->rows, p->dim);
    if (gradients->query.data) attn_mpi_narrow(&gradients->query, &query);
    if (!run->sums) {
        run->sums = (float *)(void *)plan->back.sums[0];
        memset(run->sums, 0, (size_t)attn_mpi_gradient_bytes(plan, rows));
    }
    write_keys(plan, &gradients->key, run->sums, p->dim);
    write_keys(plan, &gradients->value, run->sums + kv_heads(p) * rows * p->dim, p->value_dim);
    write_heads(&gradients->sinks, plan->back.heads);
    write_heads(&gradients->slopes, plan->back.heads + p->heads);
}
