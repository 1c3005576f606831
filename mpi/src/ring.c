/* Keys and values go round: each rank hands on the block that it has while it computes with it. */
#include "split.h"

/* ---- which blocks come by ------------------------------------------------------------------------ */

/* Whether some rank has queries that see keys of the rank `hop` places before it, when the first `keys` keys count. */
static int is_needed_of(const attn_mpi_plan_t *plan, int64_t keys, int hop) {
    const attn_problem_t *whole = &plan->whole;
    for (int rank = 0; rank < plan->size; rank++) {
        const int source = (rank - hop + plan->size) % plan->size;
        const attn_mpi_rows_t q = attn_mpi_rows_of(plan, whole->queries, rank);
        const attn_mpi_rows_t k = attn_mpi_rows_of(plan, whole->keys, source);
        for (int pair = 0; pair < CHUNKS * CHUNKS; pair++) {
            span_t span = chunk_of(&k, pair % CHUNKS);
            span.count = attn_max(0, attn_min(span.count, keys - span.first));
            if (attn_mpi_meets(&plan->split->bounds, start_of(whole, keys),
                               chunk_of(&q, pair / CHUNKS), span))
                return 1;
        }
    }
    return 0;
}

/* Lengths move queries that are aligned to them. */
static int moves_queries(const attn_problem_t *whole) {
    return whole->causal == ATTN_CAUSAL_BOTTOM_RIGHT && whole->inputs & ATTN_INPUT_KV_LENGTHS;
}

/* In some sequence. */
static int is_needed(const mpi_run_t *run, int hop) {
    const attn_problem_t *whole = &run->plan->whole;
    if (!moves_queries(whole)) return is_needed_of(run->plan, whole->keys, hop);
    for (int64_t b = 0; b < whole->batch; b++)
        if (is_needed_of(run->plan, attn_mpi_keys_in(run, b), hop)) return 1;
    return 0;
}

/* The ring begins behind the longest row of hops that nobody needs, as where windows look to both sides. */
static ring_hops_t look_for_hops(const mpi_run_t *run) {
    const int size = run->plan->size;
    ring_hops_t hops = {0, size};
    for (int i = 0, gap = 0; i < 2 * size - 1; i++) {
        gap = is_needed(run, i % size) ? 0 : gap + 1;
        if (gap <= size - hops.count || gap > size) continue;
        hops = (ring_hops_t){(i + 1) % size, size - gap};
    }
    return hops;
}

void attn_mpi_plan_hops(attn_mpi_plan_t *plan) {
    const mpi_run_t any = {.plan = plan};
    if (!moves_queries(&plan->whole)) plan->hops = look_for_hops(&any);
}

static ring_hops_t hops_of(const mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    if (run->takes_all) return (ring_hops_t){0, plan->size};
    return moves_queries(&plan->whole) ? look_for_hops(run) : plan->hops;
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
    kv_block_t kv = {.rows = attn_mpi_rows_of(plan, whole->keys, rank)};
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

/* ---- the ring ------------------------------------------------------------------------------------------ */

enum { KEYS = 0, GRADIENTS = 3, HOME = 4 }; /* tags; those of tree.c and states.c lie between */

static int around(const attn_mpi_plan_t *plan, int rank) {
    return (rank % plan->size + plan->size) % plan->size;
}

static int64_t rows_of(const attn_mpi_plan_t *plan, int rank) {
    return attn_mpi_rows_of(plan, plan->whole.keys, rank).total;
}

static uint64_t bytes_of(const attn_mpi_plan_t *plan, int rank) {
    return attn_mpi_kv_layout(&plan->whole, rows_of(plan, rank)).size;
}

void attn_mpi_poll(attn_mpi_plan_t *plan) {
    attn_mpi_progress(&plan->moving);
    attn_mpi_progress(&plan->back.coming);
    attn_mpi_progress(&plan->back.going);
}

static void wait_for(attn_mpi_plan_t *plan, transfer_t *transfer) {
    plan->times.waiting += attn_mpi_complete(transfer);
}

static void send(attn_mpi_plan_t *plan, transfer_t *transfer, const char *from, uint64_t size,
                 int to, int tag) {
    attn_mpi_begin_send(transfer, from, size, to, tag);
    plan->times.bytes_sent += (double)size;
}

/* Where a rank is in the ring: whose keys it has, where, and room for the next. */
typedef struct place {
    int source;
    char *now, *next;
} place_t;

static void turn(place_t *at, int source) {
    char *const held = at->now;
    at->now = at->next, at->next = held;
    at->source = source;
}

/* Its first block: its own, or, where the ring begins further on, another's. */
static place_t begin(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    place_t at = {.source = plan->rank, .now = plan->blocks[0], .next = plan->blocks[1]};
    const int source = around(plan, plan->rank - run->hops.first);
    if (run->hops.count > 1 || run->hops.first) pack(run, at.now);
    if (source == plan->rank) return at;
    attn_mpi_begin_receive(&plan->moving, at.next, bytes_of(plan, source), source, KEYS);
    send(plan, &plan->moving, at.now, bytes_of(plan, plan->rank),
         around(plan, plan->rank + run->hops.first), KEYS);
    wait_for(plan, &plan->moving);
    turn(&at, source);
    return at;
}

/* The block that it has goes on to the right, the next one comes from the left. */
static void begin_hop(attn_mpi_plan_t *plan, const place_t *at) {
    const int behind = around(plan, at->source - 1);
    attn_mpi_begin_receive(&plan->moving, at->next, bytes_of(plan, behind),
                           around(plan, plan->rank - 1), KEYS);
    send(plan, &plan->moving, at->now, bytes_of(plan, at->source), around(plan, plan->rank + 1),
         KEYS);
}

static void end_hop(attn_mpi_plan_t *plan, place_t *at) {
    wait_for(plan, &plan->moving);
    turn(at, around(plan, at->source - 1));
}

/* Its own keys a rank has where its caller has them. */
static kv_block_t block_at(const mpi_run_t *run, const place_t *at) {
    return at->source == run->plan->rank ? attn_mpi_own_block(run)
                                         : block_in(run->plan, at->now, at->source);
}

void attn_mpi_ring(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    run->hops = hops_of(run);
    if (!run->hops.count) return;
    place_t at = begin(run);
    for (int hop = 0; hop < run->hops.count; hop++) {
        const int is_last = hop + 1 == run->hops.count;
        if (!is_last) begin_hop(plan, &at);
        const kv_block_t block = block_at(run, &at);
        attn_mpi_attend(run, &block);
        if (!is_last) end_hop(plan, &at);
    }
}

/* ---- the ring backwards ---------------------------------------------------------------------------------- */

/* What the ranks before have added to the gradients of this block joins what this rank adds. */
static void join(attn_mpi_plan_t *plan, const place_t *at, char *sums) {
    wait_for(plan, &plan->back.coming);
    attn_mpi_add((float *)(void *)sums, (const float *)(const void *)plan->back.came,
                 attn_mpi_gradient_bytes(plan, rows_of(plan, at->source)) / sizeof(float));
}

/* From who has them last to whose keys they are of; NULL: from nobody, as no key is seen. */
static char *bring_home(mpi_run_t *run, const place_t *at, char *sums) {
    attn_mpi_plan_t *plan = run->plan;
    const int holder = around(plan, plan->rank + run->hops.first + run->hops.count - 1);
    if (holder == plan->rank) return sums;
    attn_mpi_begin_receive(&plan->back.coming, plan->back.came,
                           attn_mpi_gradient_bytes(plan, plan->key_rows.total), holder, HOME);
    send(plan, &plan->back.going, sums, attn_mpi_gradient_bytes(plan, rows_of(plan, at->source)),
         at->source, HOME);
    wait_for(plan, &plan->back.coming);
    wait_for(plan, &plan->back.going);
    return plan->back.came;
}

/*
 * As forward; the gradients of a block's keys and values follow it by a hop. Of `sums` one buffer is added to while the
 * other is on its way.
 */
const char *attn_mpi_ring_back(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    back_t *back = &plan->back;
    run->hops = hops_of(run);
    if (!run->hops.count) return NULL;
    place_t at = begin(run);
    for (int hop = 0;; hop++) {
        const int is_last = hop + 1 == run->hops.count;
        char *const sums = back->sums[hop % 2];
        if (!is_last) begin_hop(plan, &at);
        kv_block_t block = block_at(run, &at);
        attn_mpi_go_back(run, &block, sums);
        if (run->travels && hop) join(plan, &at, sums);
        wait_for(plan, &back->going);
        if (is_last) return run->travels ? bring_home(run, &at, sums) : NULL;
        if (run->travels) {
            const int behind = around(plan, at.source - 1);
            send(plan, &back->going, sums, attn_mpi_gradient_bytes(plan, rows_of(plan, at.source)),
                 around(plan, plan->rank + 1), GRADIENTS);
            attn_mpi_begin_receive(&back->coming, back->came,
                                   attn_mpi_gradient_bytes(plan, rows_of(plan, behind)),
                                   around(plan, plan->rank - 1), GRADIENTS);
        }
        end_hop(plan, &at);
    }
}
