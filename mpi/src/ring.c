/* Keys and values go round: each rank hands on the block that it has while it computes with it. */
#include "plan.h"

/* ---- which blocks come by ------------------------------------------------------------------------ */

/* Whether some rank has queries that see keys of the rank `hop` places before it. */
static int is_needed(const attn_mpi_plan_t *plan, int hop) {
    const attn_problem_t *whole = &plan->whole;
    if (whole->causal == ATTN_CAUSAL_BOTTOM_RIGHT && whole->inputs & ATTN_INPUT_KV_LENGTHS)
        return 1; /* positions are known to a run alone */
    for (int rank = 0; rank < plan->size; rank++) {
        const int source = (rank - hop + plan->size) % plan->size;
        const attn_mpi_rows_t q = attn_mpi_shard(plan->layout, whole->queries, rank, plan->size);
        const attn_mpi_rows_t k = attn_mpi_shard(plan->layout, whole->keys, source, plan->size);
        for (int pair = 0; pair < CHUNKS * CHUNKS; pair++)
            if (attn_mpi_meets(whole, start_of(whole, whole->keys), chunk_of(&q, pair / CHUNKS),
                               chunk_of(&k, pair % CHUNKS)))
                return 1;
    }
    return 0;
}

/* The ring begins behind the longest row of hops that nobody needs, as where windows look to both sides. */
void attn_mpi_plan_hops(attn_mpi_plan_t *plan) {
    int longest = 0, gap = 0;
    plan->first_hop = 0;
    for (int i = 0; i < 2 * plan->size - 1; i++) {
        gap = is_needed(plan, i % plan->size) ? 0 : gap + 1;
        if (gap <= longest || gap > plan->size) continue;
        longest = gap;
        plan->first_hop = (i + 1) % plan->size;
    }
    plan->hops = plan->size - longest;
}

/* ---- buffers --------------------------------------------------------------------------------------- */

static uint64_t place(kv_layout_t *layout, int64_t elements, int64_t size) {
    const uint64_t at = layout->size;
    layout->size += ((uint64_t)elements * (uint64_t)size + ATTN_PIECE_ALIGNMENT - 1) /
                    ATTN_PIECE_ALIGNMENT * ATTN_PIECE_ALIGNMENT;
    return at;
}

kv_layout_t attn_mpi_kv_layout(const attn_problem_t *whole, int64_t rows) {
    const int64_t tokens = whole->batch * whole->kv_heads * rows;
    const int64_t size = attn_dtype_size(whole->kv_dtype);
    const int64_t scales = whole->kv_dtype == ATTN_I8 ? tokens : 0;
    kv_layout_t layout = {.rows = rows};
    layout.key = place(&layout, tokens * whole->dim, size);
    layout.value = place(&layout, tokens * whole->value_dim, size);
    layout.key_scales = place(&layout, scales, (int64_t)sizeof(float));
    layout.value_scales = place(&layout, scales, (int64_t)sizeof(float));
    return layout;
}

static attn_tensor_t tensor_in(char *block, uint64_t offset, attn_dtype_t dtype,
                               const attn_problem_t *whole, int64_t rows, int64_t columns) {
    return attn_tensor_bhnd_of(dtype, block + offset, whole->batch, whole->kv_heads, rows, columns);
}

/* Keys and values of rank `rank`, in a buffer. */
static kv_block_t block_in(const attn_mpi_plan_t *plan, char *block, int rank) {
    const attn_problem_t *whole = &plan->whole;
    kv_block_t kv = {.rows = attn_mpi_shard(plan->layout, whole->keys, rank, plan->size)};
    const int64_t rows = kv.rows.total;
    const kv_layout_t layout = attn_mpi_kv_layout(whole, rows);
    kv.key = tensor_in(block, layout.key, whole->kv_dtype, whole, rows, whole->dim);
    kv.value = tensor_in(block, layout.value, whole->kv_dtype, whole, rows, whole->value_dim);
    if (whole->kv_dtype != ATTN_I8) return kv;
    kv.key_scales = tensor_in(block, layout.key_scales, ATTN_F32, whole, rows, 1);
    kv.value_scales = tensor_in(block, layout.value_scales, ATTN_F32, whole, rows, 1);
    return kv;
}

/* This rank's keys and values, into a buffer. */
static void pack(const mpi_run_t *run, char *buffer) {
    const kv_block_t kv = block_in(run->plan, buffer, run->plan->rank);
    if (!kv.rows.total) return;
    attn_mpi_copy(&kv.key, &run->io->key);
    attn_mpi_copy(&kv.value, &run->io->value);
    if (run->plan->whole.kv_dtype != ATTN_I8) return;
    attn_mpi_copy(&kv.key_scales, &run->io->key_scales);
    attn_mpi_copy(&kv.value_scales, &run->io->value_scales);
}

/* ---- messages -------------------------------------------------------------------------------------- */

/* A count of MPI is an int, and a message that waits for its receiver goes on only while somebody looks. */
#define MESSAGE ((uint64_t)1 << 26)

int attn_mpi_request_count(const attn_mpi_plan_t *plan) {
    const uint64_t most = attn_mpi_kv_layout(&plan->whole, plan->whole.keys / plan->size + 2).size;
    return 2 * (int)(most / MESSAGE + 1);
}

static uint64_t bytes_of(const attn_mpi_plan_t *plan, int rank) {
    const attn_mpi_rows_t rows = attn_mpi_shard(plan->layout, plan->whole.keys, rank, plan->size);
    return attn_mpi_kv_layout(&plan->whole, rows.total).size;
}

/* Blocks in and out begin to move: the one of rank `out` to rank `to`, that of rank `in` from `from`. */
static void begin_exchange(attn_mpi_plan_t *plan, char *sent, int out, int to, char *got, int in,
                           int from) {
    const uint64_t in_size = bytes_of(plan, in), out_size = bytes_of(plan, out);
    plan->request_count = 0;
    for (uint64_t at = 0; at < in_size; at += MESSAGE)
        MPI_Irecv(got + at, (int)(in_size - at < MESSAGE ? in_size - at : MESSAGE), MPI_BYTE, from,
                  0, plan->comm, &plan->requests[plan->request_count++]);
    for (uint64_t at = 0; at < out_size; at += MESSAGE)
        MPI_Isend(sent + at, (int)(out_size - at < MESSAGE ? out_size - at : MESSAGE), MPI_BYTE, to,
                  0, plan->comm, &plan->requests[plan->request_count++]);
    plan->times.bytes_sent += (double)out_size;
}

static void end_exchange(attn_mpi_plan_t *plan) {
    const double start = MPI_Wtime();
    MPI_Waitall(plan->request_count, plan->requests, plan->statuses);
    plan->request_count = 0;
    plan->times.waiting += MPI_Wtime() - start;
}

void attn_mpi_poll(attn_mpi_plan_t *plan) {
    int done;
    if (plan->request_count)
        MPI_Testall(plan->request_count, plan->requests, &done, plan->statuses);
}

/* ---- the ring ------------------------------------------------------------------------------------------ */

static int around(const attn_mpi_plan_t *plan, int rank) {
    return (rank % plan->size + plan->size) % plan->size;
}

/* Its own keys a rank has where its caller has them. */
static void attend_from(mpi_run_t *run, char *buffer, int source) {
    if (source == run->plan->rank) {
        const kv_block_t own = attn_mpi_own_block(run);
        attn_mpi_attend(run, &own);
    } else {
        const kv_block_t block = block_in(run->plan, buffer, source);
        attn_mpi_attend(run, &block);
    }
}

int attn_mpi_sends(const attn_mpi_plan_t *plan) { return plan->hops > 1 || plan->first_hop; }

void attn_mpi_ring(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const int rank = plan->rank, right = around(plan, rank + 1), left = around(plan, rank - 1);
    char *now = plan->blocks[0], *next = plan->blocks[1];
    int source = around(plan, rank - plan->first_hop);
    if (!plan->hops) return;
    if (attn_mpi_sends(plan)) pack(run, now);
    if (source != rank) {
        begin_exchange(plan, now, rank, around(plan, rank + plan->first_hop), next, source, source);
        end_exchange(plan);
        char *const held = now;
        now = next, next = held;
    }
    for (int hop = 0; hop < plan->hops; hop++) {
        const int behind = around(plan, source - 1), is_last = hop + 1 == plan->hops;
        if (!is_last) begin_exchange(plan, now, source, right, next, behind, left);
        attend_from(run, now, source);
        if (is_last) break;
        end_exchange(plan);
        char *const held = now;
        now = next, next = held;
        source = behind;
    }
}
