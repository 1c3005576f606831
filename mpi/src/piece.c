/* Queries of a rank beside a block of keys: one plan of libattn for each key/value head and pair of row ranges. */
#include "split.h"

#include <string.h>

attn_tensor_t attn_mpi_slice_shared(attn_tensor_t tensor, int axis, int64_t first, int64_t count) {
    return tensor.shape[axis] == 1 ? tensor : attn_mpi_slice(tensor, axis, first, count);
}

/* ---- one piece --------------------------------------------------------------------------------- */

static attn_problem_t problem_of(const attn_mpi_plan_t *plan, const piece_t *piece,
                                 int32_t backward) {
    attn_problem_t p = attn_mpi_part_problem(plan, piece);
    p.batch = piece->batches;
    p.backward = backward;
    if (backward) p.kv_dtype = ATTN_F32; /* so that gradients are */
    p.kv_heads = piece->kv_heads;
    p.heads = piece->kv_heads * group_of(&plan->whole);
    return p;
}

attn_tensor_t attn_mpi_keys_of(const attn_tensor_t *tensor, const piece_t *piece) {
    attn_tensor_t of = attn_mpi_slice(*tensor, 0, piece->batch, piece->batches);
    of = attn_mpi_slice(of, 1, piece->kv_head, piece->kv_heads);
    return attn_mpi_slice(of, 2, piece->key_row, piece->keys.count);
}

attn_tensor_t attn_mpi_queries_of(const attn_tensor_t *tensor, const attn_problem_t *whole,
                                  const piece_t *piece) {
    const int64_t group = group_of(whole);
    attn_tensor_t of = attn_mpi_slice_shared(*tensor, 0, piece->batch, piece->batches);
    of = attn_mpi_slice_shared(of, 1, piece->kv_head * group, piece->kv_heads * group);
    return of.shape[2] == 1 ? of : attn_mpi_slice(of, 2, piece->query_row, piece->queries.count);
}

/* A mask or a bias: rows of queries, columns of all keys. */
attn_tensor_t attn_mpi_pairs_of(const attn_tensor_t *tensor, const attn_problem_t *whole,
                                const piece_t *piece) {
    attn_tensor_t of = attn_mpi_queries_of(tensor, whole, piece);
    return of.data ? attn_mpi_slice(of, 3, piece->keys.first, piece->keys.count) : of;
}

int64_t attn_mpi_keys_in(const mpi_run_t *run, int64_t batch) {
    const attn_tensor_t *lengths = &run->io->kv_lengths;
    if (!lengths->data) return run->plan->whole.keys;
    return ((const int64_t *)lengths->data)[batch * lengths->stride[0]];
}

/* Keys of the piece that count in each batch; returns the largest of them. */
static int64_t cut_lengths(const mpi_run_t *run, const piece_t *piece) {
    int64_t most = 0;
    for (int64_t b = 0; b < piece->batches; b++) {
        const int64_t length = attn_mpi_keys_in(run, piece->batch + b) - piece->keys.first;
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

static attn_status_t make(const attn_mpi_plan_t *plan, const piece_t *piece,
                          const attn_problem_t *problem, attn_plan_t **local, attn_error_t *error) {
    const method_t *method = piece->method;
    return attn_plan_create(plan->context, method->backend, problem, method->params, method->count,
                            local, error);
}

/* Heads of a block are planned alike; what a plan draws it draws once for them. */
attn_status_t attn_mpi_plan_piece(attn_mpi_plan_t *plan, const piece_t *piece, int32_t backward,
                                  const attn_plan_t **local, attn_error_t *error) {
    const attn_problem_t problem = problem_of(plan, piece, backward);
    const attn_problem_t *last = plan->cached ? &plan->cached_problem : NULL;
    if (!last || plan->cached_method != piece->method ||
        memcmp(last, &problem, sizeof problem) != 0) {
        attn_plan_destroy(plan->cached);
        plan->cached = NULL;
        const attn_status_t status = make(plan, piece, &problem, &plan->cached, error);
        if (status != ATTN_OK) return status;
        plan->cached_problem = problem;
        plan->cached_method = piece->method;
    }
    *local = plan->cached;
    return reserve(plan, attn_plan_workspace_size(*local), error);
}

attn_io_t attn_mpi_piece_io(const mpi_run_t *run, const kv_block_t *block, const piece_t *piece,
                            piece_own_t *own) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *whole = &plan->whole;
    const int64_t heads = piece->kv_heads * group_of(whole);
    attn_io_t io;
    attn_io_init(&io);
    io.query = attn_mpi_queries_of(&run->query, whole, piece);
    io.key = attn_mpi_keys_of(&block->key, piece);
    io.value = attn_mpi_keys_of(&block->value, piece);
    io.key_scales = attn_mpi_keys_of(&block->key_scales, piece);
    io.value_scales = attn_mpi_keys_of(&block->value_scales, piece);
    io.bias = attn_mpi_pairs_of(&run->io->bias, whole, piece);
    io.mask = attn_mpi_pairs_of(&run->io->mask, whole, piece);
    if (run->io->scores.data) {
        io.scores = attn_mpi_queries_of(&run->io->scores, whole, piece);
        io.scores = attn_mpi_slice(io.scores, 3, piece->keys.first, piece->keys.count);
    }
    io.slopes = attn_mpi_slice_shared(run->io->slopes, 1, piece->kv_head * group_of(whole), heads);
    if (whole->inputs & ATTN_INPUT_KV_LENGTHS)
        io.kv_lengths = attn_tensor_lengths(plan->lengths, piece->batches);
    if (plan->split->kind == SPLIT_LISTED) {
        *own = (piece_own_t){.mask = attn_mpi_part_mask(plan, run->io, piece)};
        own->arrays[plan->split->index[BLOCK_MASK]] = &own->mask;
        io.own = own->arrays;
        io.own_count = ATTN_MOST_OWN_ARRAYS;
    }
    io.workspace = plan->workspace;
    io.workspace_size = plan->workspace_size;
    return io;
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

static void each_head(mpi_run_t *run, const kv_block_t *block, piece_t piece, attn_mpi_act_t *act) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *whole = &plan->whole;
    attn_error_t error = {.status = ATTN_OK};
    piece.kv_heads = heads_at_once(plan);
    if (whole->inputs & ATTN_INPUT_KV_LENGTHS && cut_lengths(run, &piece) == 0 && !run->takes_all)
        return;
    for (piece.kv_head = 0; piece.kv_head < whole->kv_heads; piece.kv_head += piece.kv_heads) {
        if (run->status == ATTN_OK) attn_mpi_note(run, act(run, block, &piece, &error), &error);
        attn_mpi_poll(plan);
    }
}

static void each_batch(mpi_run_t *run, const kv_block_t *block, piece_t piece,
                       attn_mpi_act_t *act) {
    const attn_problem_t *whole = &run->plan->whole;
    piece_t parts[MOST_PARTS];
    piece.batches = batches_at_once(run->plan);
    for (piece.batch = 0; piece.batch < whole->batch; piece.batch += piece.batches) {
        const int64_t keys =
            has_own_positions(whole) ? attn_mpi_keys_in(run, piece.batch) : whole->keys;
        piece.start = start_of(whole, keys);
        const int count = attn_mpi_split(run, &piece, parts);
        for (int i = 0; i < count; i++) each_head(run, block, parts[i], act);
    }
}

void attn_mpi_each_piece(mpi_run_t *run, const kv_block_t *block, attn_mpi_act_t *act) {
    piece_t piece = {.batch = 0};
    for (int q = 0; q < CHUNKS; q++) {
        piece.queries = chunk_of(&run->queries, q);
        piece.query_row = q ? run->queries.count[0] : 0;
        for (int k = 0; k < CHUNKS; k++) {
            piece.keys = chunk_of(&block->rows, k);
            piece.key_row = k ? block->rows.count[0] : 0;
            if (piece.queries.count && piece.keys.count) each_batch(run, block, piece, act);
        }
    }
}

/* ---- what it takes ----------------------------------------------------------------------------- */

static attn_status_t measure_piece(const attn_mpi_plan_t *plan, const piece_t *piece,
                                   uint64_t *size, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int32_t back = 0; status == ATTN_OK && back <= plan->whole.backward; back++) {
        const attn_problem_t problem = problem_of(plan, piece, back);
        attn_plan_t *local = NULL;
        status = make(plan, piece, &problem, &local, error);
        *size = attn_max((int64_t)*size, (int64_t)attn_plan_workspace_size(local));
        attn_plan_destroy(local);
    }
    return status;
}

/* Of keys of rank 0 and of the last: among them are the longest and the shortest, and those at both ends. */
attn_status_t attn_mpi_measure(attn_mpi_plan_t *plan, uint64_t *size, attn_error_t *error) {
    const attn_problem_t *whole = &plan->whole;
    const attn_mpi_rows_t all = {.count = {plan->rows}, .total = plan->rows};
    const attn_mpi_rows_t *queries = plan->way == ATTN_MPI_WAY_TREE ? &all : &plan->query_rows;
    const mpi_run_t nothing = {.plan = plan};
    attn_status_t status = ATTN_OK;
    *size = 0;
    for (int end = 0; end < 2; end++) {
        const attn_mpi_rows_t keys = attn_mpi_rows_of(plan, whole->keys, end ? plan->size - 1 : 0);
        for (int pair = 0; status == ATTN_OK && pair < CHUNKS * CHUNKS; pair++) {
            const piece_t piece = {.batches = batches_at_once(plan),
                                   .kv_heads = heads_at_once(plan),
                                   .queries = chunk_of(queries, pair / CHUNKS),
                                   .keys = chunk_of(&keys, pair % CHUNKS),
                                   .start = start_of(whole, whole->keys)};
            piece_t parts[MOST_PARTS];
            int count = 0;
            if (piece.queries.count && piece.keys.count)
                count = attn_mpi_split(&nothing, &piece, parts);
            for (int i = 0; status == ATTN_OK && i < count; i++)
                status = measure_piece(plan, &parts[i], size, error);
        }
    }
    return status;
}
