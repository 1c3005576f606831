/* What a rank's queries get of a block of keys, and the result that is combined of that. */
#include "piece.h"

#include <math.h>
#include <time.h>

void attn_mpi_note(mpi_run_t *run, attn_status_t status, const attn_error_t *error) {
    if (run->status != ATTN_OK || status == ATTN_OK) return;
    run->status = status;
    run->error = *error;
}

attn_part_t attn_mpi_sum(const attn_mpi_plan_t *plan, float *out, double *lse) {
    const attn_problem_t *p = &plan->whole;
    return (attn_part_t){.out = attn_tensor_bhnd(out, p->batch, p->heads, plan->rows, p->value_dim),
                         .lse =
                             attn_tensor_bhnd_of(ATTN_F64, lse, p->batch, p->heads, plan->rows, 1)};
}

/* ---- combining on threads ------------------------------------------------------------------------- */

enum { MOST_COMBINED = 4, ROWS_A_TASK = 64 };

typedef struct combination {
    const attn_part_t *parts;
    int count;
    const attn_tensor_t *out, *lse;
    int64_t pieces; /* of the rows of a head */
} combination_t;

/* What of a tensor belongs to a task: some rows of one head; axes of 1 are the same for all. */
static attn_tensor_t rows_of(attn_tensor_t tensor, int64_t head, int64_t heads, int64_t first,
                             int64_t count) {
    tensor = attn_mpi_slice_shared(tensor, 0, head / heads, 1);
    tensor = attn_mpi_slice_shared(tensor, 1, head % heads, 1);
    return attn_mpi_slice_shared(tensor, 2, first, count);
}

static void combine_rows(void *data, int64_t task, uint32_t worker) {
    const combination_t *all = data;
    const int64_t heads = all->out->shape[1], rows = all->out->shape[2];
    const int64_t head = task / all->pieces, first = task % all->pieces * ROWS_A_TASK;
    const int64_t count = attn_min(ROWS_A_TASK, rows - first);
    attn_part_t parts[MOST_COMBINED];
    (void)worker;
    for (int p = 0; p < all->count; p++)
        parts[p] = (attn_part_t){rows_of(all->parts[p].out, head, heads, first, count),
                                 rows_of(all->parts[p].lse, head, heads, first, count)};
    const attn_tensor_t out = rows_of(*all->out, head, heads, first, count);
    const attn_tensor_t lse = rows_of(*all->lse, head, heads, first, count);
    attn_combine(parts, all->count, &out, &lse, NULL);
}

void attn_mpi_combine(const attn_context_t *context, const attn_part_t *parts, int count,
                      const attn_tensor_t *out, const attn_tensor_t *lse) {
    const attn_ext_threads_t *threads = attn_context_threads(context);
    combination_t all = {parts, count, out, lse, (out->shape[2] - 1) / ROWS_A_TASK + 1};
    threads->parallel_for(threads->pool, out->shape[0] * out->shape[1] * all.pieces, combine_rows,
                          &all);
}

/* ---- one piece --------------------------------------------------------------------------------- */

/* Results of the piece's rows so far. */
static attn_part_t sum_of(const attn_mpi_plan_t *plan, const piece_t *piece) {
    attn_part_t sum = attn_mpi_sum(plan, plan->out, plan->lse);
    const int64_t group = group_of(&plan->whole);
    attn_tensor_t *const both[] = {&sum.out, &sum.lse};
    for (int i = 0; i < 2; i++) {
        *both[i] = attn_mpi_slice(*both[i], 0, piece->batch, piece->batches);
        *both[i] = attn_mpi_slice(*both[i], 1, piece->kv_head * group, piece->kv_heads * group);
        *both[i] = attn_mpi_slice(*both[i], 2, piece->query_row, piece->queries.count);
    }
    return sum;
}

static attn_status_t run_piece(mpi_run_t *run, const kv_block_t *block, const piece_t *piece,
                               attn_error_t *error) {
    attn_mpi_plan_t *plan = run->plan;
    const int64_t heads = piece->kv_heads * group_of(&plan->whole);
    const attn_plan_t *local;
    piece_own_t own;
    attn_status_t status = attn_mpi_plan_piece(plan, piece, 0, &local, error);
    if (status == ATTN_OK) {
        attn_io_t io = attn_mpi_piece_io(run, block, piece, &own);
        io.out = attn_tensor_bhnd(plan->part_out, piece->batches, heads, piece->queries.count,
                                  plan->whole.value_dim);
        io.lse = attn_tensor_bhnd(plan->part_lse, piece->batches, heads, piece->queries.count, 1);
        const attn_part_t sum = sum_of(plan, piece), parts[2] = {sum, {io.out, io.lse}};
        status = attn_run(local, &io, error);
        if (status == ATTN_OK) attn_mpi_combine(plan->context, parts, 2, &sum.out, &sum.lse);
    }
    return status;
}

void attn_mpi_attend(mpi_run_t *run, const kv_block_t *block) {
    attn_mpi_times_t *times = &run->plan->times;
    const double start = MPI_Wtime();
    const clock_t worked = clock();
    attn_mpi_each_piece(run, block, run_piece);
    times->computing += MPI_Wtime() - start;
    times->working += (double)(clock() - worked) / CLOCKS_PER_SEC;
    times->hops++;
}

kv_block_t attn_mpi_own_block(const mpi_run_t *run) {
    return (kv_block_t){.rows = run->plan->key_rows,
                        .key = run->io->key,
                        .value = run->io->value,
                        .key_scales = run->io->key_scales,
                        .value_scales = run->io->value_scales};
}

/* ---- scores ------------------------------------------------------------------------------------- */

static float *score_row(const attn_tensor_t *scores, int64_t batch, int64_t head, int64_t row) {
    return (float *)scores->data + batch * scores->stride[0] + head * scores->stride[1] +
           row * scores->stride[2];
}

/* Of pairs that no piece has. */
static void hide_scores(const attn_tensor_t *scores) {
    const int64_t *shape = scores->shape;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t j = 0; j < shape[3]; j++)
                    score_row(scores, b, h, i)[j * scores->stride[3]] = -INFINITY;
}

/* The sum of exponentials of all keys, and of the head's sink. */
static double whole_lse(const mpi_run_t *run, int64_t batch, int64_t head, int64_t row) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_tensor_t *sinks = &run->io->sinks;
    const double lse = plan->lse[(batch * plan->whole.heads + head) * plan->rows + row];
    const double sink = sinks->data ? (double)*score_row(sinks, 0, head, 0) : (double)-INFINITY;
    const double most = lse > sink || isnan(lse) ? lse : sink;
    return isfinite(most) ? most + log(exp(lse - most) + exp(sink - most)) : most;
}

/* Logits become weights, where the problem asks for these: a row is known when all blocks have come by. */
static void weigh_scores(const mpi_run_t *run) {
    const attn_tensor_t *scores = &run->io->scores;
    const int64_t *shape = scores->shape;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++) {
                const double lse = whole_lse(run, b, h, i);
                float *row = score_row(scores, b, h, i);
                for (int64_t j = 0; j < shape[3]; j++) {
                    float *score = &row[j * scores->stride[3]];
                    *score = *score == -INFINITY ? 0.0f : (float)exp((double)*score - lse);
                }
            }
}

void attn_mpi_begin(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const int64_t rows = plan->whole.batch * plan->whole.heads * plan->rows;
    for (int64_t i = 0; i < rows; i++) plan->lse[i] = (double)-INFINITY;
    if (run->io->scores.data) hide_scores(&run->io->scores);
}

/* Nothing fails: the arrays have been checked. */
void attn_mpi_finish(mpi_run_t *run, const attn_mpi_rows_t *own, int is_whole) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_io_t *io = run->io;
    if (io->scores.data && plan->whole.scores == ATTN_SCORES_WEIGHTS) weigh_scores(run);
    for (int q = 0; q < CHUNKS; q++) {
        const int64_t row = q ? own->count[0] : 0, count = own->count[q];
        if (!count) continue;
        attn_part_t parts[2] = {attn_mpi_sum(plan, plan->out, plan->lse), {.lse = io->sinks}};
        const int64_t from = is_whole ? own->first[q] : row;
        parts[0].out = attn_mpi_slice(parts[0].out, 2, from, count);
        parts[0].lse = attn_mpi_slice(parts[0].lse, 2, from, count);
        const attn_tensor_t out = attn_mpi_slice(io->out, 2, row, count);
        const attn_tensor_t lse = attn_mpi_slice(io->lse, 2, row, count);
        attn_mpi_combine(plan->context, parts, plan->whole.inputs & ATTN_INPUT_SINKS ? 2 : 1, &out,
                         &lse);
    }
}
