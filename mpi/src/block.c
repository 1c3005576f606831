/* Queries of a rank beside a block of keys: one plan of libattn for each key/value head and pair of row ranges. */
#include "plan.h"

#include <math.h>
#include <time.h>

/* A slice, unless the axis is the same for all. */
static attn_tensor_t slice_shared(attn_tensor_t tensor, int axis, int64_t first, int64_t count) {
    return tensor.shape[axis] == 1 ? tensor : attn_mpi_slice(tensor, axis, first, count);
}

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
    tensor = slice_shared(tensor, 0, head / heads, 1);
    tensor = slice_shared(tensor, 1, head % heads, 1);
    return slice_shared(tensor, 2, first, count);
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

/* Which queries of which heads beside which keys. Rows are those of the run's queries and of the block. */
typedef struct piece {
    int64_t batch, batches, kv_head, kv_heads;
    span_t queries, keys; /* of the whole sequence */
    int64_t query_row, key_row;
    int64_t start; /* position of query 0 */
} piece_t;

static int64_t group_of(const attn_problem_t *problem) {
    return problem->heads / problem->kv_heads;
}

static attn_problem_t problem_of(const attn_mpi_plan_t *plan, const piece_t *piece) {
    attn_problem_t p = attn_mpi_block(&plan->whole, piece->start, piece->queries, piece->keys);
    p.batch = piece->batches;
    p.kv_heads = piece->kv_heads;
    p.heads = piece->kv_heads * group_of(&plan->whole);
    return p;
}

static attn_tensor_t keys_of(const attn_tensor_t *tensor, const piece_t *piece) {
    attn_tensor_t of = attn_mpi_slice(*tensor, 0, piece->batch, piece->batches);
    of = attn_mpi_slice(of, 1, piece->kv_head, piece->kv_heads);
    return attn_mpi_slice(of, 2, piece->key_row, piece->keys.count);
}

static attn_tensor_t queries_of(const attn_tensor_t *tensor, const attn_problem_t *whole,
                                const piece_t *piece) {
    const int64_t group = group_of(whole);
    attn_tensor_t of = slice_shared(*tensor, 0, piece->batch, piece->batches);
    of = slice_shared(of, 1, piece->kv_head * group, piece->kv_heads * group);
    return of.shape[2] == 1 ? of : attn_mpi_slice(of, 2, piece->query_row, piece->queries.count);
}

/* A mask or a bias: rows of queries, columns of all keys. */
static attn_tensor_t pairs_of(const attn_tensor_t *tensor, const attn_problem_t *whole,
                              const piece_t *piece) {
    attn_tensor_t of = queries_of(tensor, whole, piece);
    return of.data ? attn_mpi_slice(of, 3, piece->keys.first, piece->keys.count) : of;
}

static int64_t length_of(const mpi_run_t *run, int64_t batch) {
    const attn_tensor_t *lengths = &run->io->kv_lengths;
    return ((const int64_t *)lengths->data)[batch * lengths->stride[0]];
}

/* Keys of the piece that count in each batch; returns the largest of them. */
static int64_t cut_lengths(const mpi_run_t *run, const piece_t *piece) {
    int64_t most = 0;
    for (int64_t b = 0; b < piece->batches; b++) {
        const int64_t length = length_of(run, piece->batch + b) - piece->keys.first;
        const int64_t count = attn_max(0, attn_min(length, piece->keys.count));
        run->plan->lengths[b] = count;
        most = attn_max(most, count);
    }
    return most;
}

static attn_status_t reserve(attn_mpi_plan_t *plan, uint64_t size, attn_error_t *error) {
    if (size <= plan->workspace_size) return ATTN_OK;
    attn_host_release(NULL, plan->workspace);
    plan->workspace = attn_host_allocate(NULL, (size_t)size);
    plan->workspace_size = plan->workspace ? size : 0;
    if (plan->workspace) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a workspace of %llu bytes",
                     (unsigned long long)size);
}

static attn_status_t plan_piece(const attn_mpi_plan_t *plan, const piece_t *piece,
                                attn_plan_t **local, attn_error_t *error) {
    const attn_problem_t problem = problem_of(plan, piece);
    return attn_plan_create(plan->context, plan->backend, &problem, plan->params, plan->param_count,
                            local, error);
}

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

static attn_io_t io_of(const mpi_run_t *run, const kv_block_t *block, const piece_t *piece) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *whole = &plan->whole;
    const int64_t heads = piece->kv_heads * group_of(whole);
    attn_io_t io;
    attn_io_init(&io);
    io.query = queries_of(&run->query, whole, piece);
    io.key = keys_of(&block->key, piece);
    io.value = keys_of(&block->value, piece);
    io.key_scales = keys_of(&block->key_scales, piece);
    io.value_scales = keys_of(&block->value_scales, piece);
    io.bias = pairs_of(&run->io->bias, whole, piece);
    io.mask = pairs_of(&run->io->mask, whole, piece);
    io.slopes = slice_shared(run->io->slopes, 1, piece->kv_head * group_of(whole), heads);
    if (whole->inputs & ATTN_INPUT_KV_LENGTHS)
        io.kv_lengths = attn_tensor_lengths(plan->lengths, piece->batches);
    io.out = attn_tensor_bhnd(plan->part_out, piece->batches, heads, piece->queries.count,
                              whole->value_dim);
    io.lse = attn_tensor_bhnd(plan->part_lse, piece->batches, heads, piece->queries.count, 1);
    io.workspace = plan->workspace;
    io.workspace_size = plan->workspace_size;
    return io;
}

static attn_status_t run_piece(mpi_run_t *run, const kv_block_t *block, const piece_t *piece,
                               attn_error_t *error) {
    attn_mpi_plan_t *plan = run->plan;
    attn_plan_t *local = NULL;
    attn_status_t status = plan_piece(plan, piece, &local, error);
    if (status == ATTN_OK) status = reserve(plan, attn_plan_workspace_size(local), error);
    if (status == ATTN_OK) {
        const attn_io_t io = io_of(run, block, piece);
        const attn_part_t sum = sum_of(plan, piece), parts[2] = {sum, {io.out, io.lse}};
        status = attn_run(local, &io, error);
        if (status == ATTN_OK) attn_mpi_combine(plan->context, parts, 2, &sum.out, &sum.lse);
    }
    attn_plan_destroy(local);
    return status;
}

/* ---- all pieces ---------------------------------------------------------------------------------- */

/* Where positions are those of each batch, it has pieces of its own. */
static int has_own_positions(const attn_problem_t *whole) {
    return whole->causal == ATTN_CAUSAL_BOTTOM_RIGHT && whole->inputs & ATTN_INPUT_KV_LENGTHS;
}

/* In a ring heads go one at a time: MPI is looked after in between. */
static int64_t heads_at_once(const attn_mpi_plan_t *plan) {
    return plan->way == ATTN_MPI_WAY_RING ? 1 : plan->whole.kv_heads;
}

static int64_t batches_at_once(const attn_mpi_plan_t *plan) {
    if (has_own_positions(&plan->whole) || plan->way == ATTN_MPI_WAY_RING) return 1;
    return plan->whole.batch;
}

static void attend_heads(mpi_run_t *run, const kv_block_t *block, piece_t piece) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *whole = &plan->whole;
    attn_error_t error = {.status = ATTN_OK};
    piece.kv_heads = heads_at_once(plan);
    if (!attn_mpi_meets(whole, piece.start, piece.queries, piece.keys)) return;
    if (whole->inputs & ATTN_INPUT_KV_LENGTHS && cut_lengths(run, &piece) == 0) return;
    for (piece.kv_head = 0; piece.kv_head < whole->kv_heads; piece.kv_head += piece.kv_heads) {
        if (run->status == ATTN_OK)
            attn_mpi_note(run, run_piece(run, block, &piece, &error), &error);
        attn_mpi_poll(plan);
    }
}

static void attend_batches(mpi_run_t *run, const kv_block_t *block, piece_t piece) {
    const attn_problem_t *whole = &run->plan->whole;
    piece.batches = batches_at_once(run->plan);
    for (piece.batch = 0; piece.batch < whole->batch; piece.batch += piece.batches) {
        const int64_t keys = has_own_positions(whole) ? length_of(run, piece.batch) : whole->keys;
        piece.start = start_of(whole, keys);
        attend_heads(run, block, piece);
    }
}

static void attend_all(mpi_run_t *run, const kv_block_t *block) {
    piece_t piece = {.batch = 0};
    for (int q = 0; q < CHUNKS; q++) {
        piece.queries = chunk_of(&run->queries, q);
        piece.query_row = q ? run->queries.count[0] : 0;
        for (int k = 0; k < CHUNKS; k++) {
            piece.keys = chunk_of(&block->rows, k);
            piece.key_row = k ? block->rows.count[0] : 0;
            if (piece.queries.count && piece.keys.count) attend_batches(run, block, piece);
        }
    }
}

void attn_mpi_attend(mpi_run_t *run, const kv_block_t *block) {
    attn_mpi_times_t *times = &run->plan->times;
    const double start = MPI_Wtime();
    const clock_t worked = clock();
    attend_all(run, block);
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

void attn_mpi_begin(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const int64_t rows = plan->whole.batch * plan->whole.heads * plan->rows;
    for (int64_t i = 0; i < rows; i++) plan->lse[i] = (double)-INFINITY;
}

/* Nothing fails: the arrays have been checked. */
void attn_mpi_finish(mpi_run_t *run, const attn_mpi_rows_t *own, int is_whole) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_io_t *io = run->io;
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

/* ---- what it takes ----------------------------------------------------------------------------- */

static attn_status_t measure_piece(const attn_mpi_plan_t *plan, const piece_t *piece,
                                   uint64_t *size, attn_error_t *error) {
    attn_plan_t *local = NULL;
    const attn_status_t status = plan_piece(plan, piece, &local, error);
    *size = attn_max((int64_t)*size, (int64_t)attn_plan_workspace_size(local));
    attn_plan_destroy(local);
    return status;
}

/* Shards differ by a row in length at most: those of rank 0 are the longest, those of the last the shortest. */
attn_status_t attn_mpi_measure(attn_mpi_plan_t *plan, uint64_t *size, attn_error_t *error) {
    const attn_problem_t *whole = &plan->whole;
    const attn_mpi_rows_t all = {.count = {plan->rows}, .total = plan->rows};
    const attn_mpi_rows_t *queries = plan->way == ATTN_MPI_WAY_TREE ? &all : &plan->query_rows;
    attn_status_t status = ATTN_OK;
    *size = 0;
    for (int end = 0; end < 2; end++) {
        const attn_mpi_rows_t keys =
            attn_mpi_shard(plan->layout, whole->keys, end ? plan->size - 1 : 0, plan->size);
        for (int pair = 0; status == ATTN_OK && pair < CHUNKS * CHUNKS; pair++) {
            const piece_t piece = {.batches = batches_at_once(plan),
                                   .kv_heads = heads_at_once(plan),
                                   .queries = chunk_of(queries, pair / CHUNKS),
                                   .keys = chunk_of(&keys, pair % CHUNKS),
                                   .start = start_of(whole, whole->keys)};
            if (piece.queries.count && piece.keys.count)
                status = measure_piece(plan, &piece, size, error);
        }
    }
    return status;
}
