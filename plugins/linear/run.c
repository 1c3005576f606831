/*
 * A run of the plain rule. Where there are key/value heads enough for all workers, one task is a head's group
 * of query heads, which share the state. Else a task is the next segment of a head: its chunks of keys are summed
 * up, which needs nothing of the segments before; with what those come to, these are the states before
 * each chunk, and the next segment's beginning; then the queries of the chunks are attended to. The same
 * additions in the same order as in one task, so the same bits.
 */
#include "plan.h"

#include <stdatomic.h>

/* Chunks of a segment: their states stay in a core's second cache, and one of them goes to the next core. */
enum { SEGMENT = 4 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t kv_head_count(const linear_plan_t *plan) {
    return plan->problem.batch * plan->problem.kv_heads;
}

/* How many parts a group is cut into, where heads are the tasks: each builds the state anew. */
static int64_t part_count(const linear_plan_t *plan) {
    const int64_t group = plan->problem.heads / plan->problem.kv_heads;
    return least(group, (attn_host_workers(plan->host) - 1) / kv_head_count(plan) + 1);
}

/* ---- chunks of keys ------------------------------------------------------------------------------ */

/* The key that query 0 sees last, or where it sees none or all of them as causal queries do not, 0. */
static int64_t first_diagonal(const attn_problem_t *problem) {
    if (problem->causal == ATTN_CAUSAL_NONE) return 0;
    return most(0, least(problem->keys, attn_query_position(problem, problem->keys, 0)));
}

/* Keys that any query sees. */
static int64_t seen_keys(const attn_problem_t *problem) {
    return attn_causal_limit(problem, problem->queries - 1);
}

/* Where chunk number `index` begins: as one worker alone takes them, so that query 0 begins one. */
static int64_t chunk_start(const linear_plan_t *plan, int64_t index) {
    const int64_t chunk = plan->kernels->chunk, diagonal = first_diagonal(&plan->problem);
    const int64_t before = (diagonal + chunk - 1) / chunk;
    const int64_t start =
        index <= before ? least(index * chunk, diagonal) : diagonal + (index - before) * chunk;
    return least(start, seen_keys(&plan->problem));
}

static int64_t chunk_count(const linear_plan_t *plan) {
    const int64_t seen = seen_keys(&plan->problem);
    int64_t count = seen / plan->kernels->chunk;
    while (chunk_start(plan, count) < seen) count++;
    return count;
}

/* Segments of all heads; 0 where heads are the tasks. */
static int64_t segment_count(const linear_plan_t *plan) {
    const int64_t workers = attn_host_workers(plan->host), heads = kv_head_count(plan);
    const int64_t segments = (chunk_count(plan) + SEGMENT - 1) / SEGMENT;
    const int enough = heads % workers == 0 || heads > 4 * workers;
    return enough || segments < 2 ? 0 : heads * segments;
}

/* ---- the workspace ------------------------------------------------------------------------------- */

linear_space_t attn_linear_space(const linear_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t scratch = {.base = NULL}, sums = {.base = NULL};
    const int64_t workers = attn_host_workers(plan->host);
    plan->kernels->scratch(&plan->problem, &scratch);
    arena->overflow |= scratch.overflow;
    linear_space_t space = {.scratch_size = scratch.used};
    space.degenerate = attn_arena_take(arena, workers, sizeof(int64_t));
    space.scratch = attn_arena_take(arena, workers, scratch.used);
    if (!plan->is_plain || segment_count(plan) == 0) return space;
    space.size = plan->kernels->sums_size(&plan->problem);
    attn_arena_take(&sums, space.size, sizeof(float)); /* whole cache lines */
    space.size = (int64_t)(sums.used / sizeof(float));
    space.known = attn_arena_take(arena, kv_head_count(plan), sums.used);
    space.chunks = attn_arena_take(arena, workers * SEGMENT, sums.used);
    space.claimed = attn_arena_take(arena, 1, sizeof *space.claimed);
    space.done = attn_arena_take(arena, kv_head_count(plan), sizeof *space.done);
    return space;
}

attn_head_t attn_linear_head(const linear_plan_t *plan, const attn_io_t *io, int64_t batch,
                             int64_t kv_head) {
    return (attn_head_t){
        .problem = &plan->problem,
        .io = io,
        .batch = batch,
        .kv_head = kv_head,
        .scale = plan->scale,
    };
}

typedef struct run {
    const linear_plan_t *plan;
    const attn_io_t *io;
    linear_space_t space;
} run_t;

/* Sums of chunk number `place` of the worker's segment, and once the scan has been, of all keys before it. */
static float *chunk_sums(const run_t *run, uint32_t worker, int64_t place) {
    return run->space.chunks + (worker * SEGMENT + place) * run->space.size;
}

/* Sums of all keys of the segments that are done. */
static float *known_sums(const run_t *run, int64_t kv_index) {
    return run->space.known + kv_index * run->space.size;
}

static attn_head_t head_of(const run_t *run, int64_t kv_index) {
    const int64_t kv_heads = run->plan->problem.kv_heads;
    return attn_linear_head(run->plan, run->io, kv_index / kv_heads, kv_index % kv_heads);
}

static void *scratch_of(const run_t *run, uint32_t worker) {
    return run->space.scratch + worker * run->space.scratch_size;
}

/* Queries of a part of a head's group, which see the keys [0, known) by their sums. */
static void attend(const run_t *run, int64_t kv_index, int64_t part, int64_t parts, float *sums,
                   int64_t known, int64_t first, int64_t count, uint32_t worker) {
    const attn_problem_t *problem = &run->plan->problem;
    const attn_head_t head = head_of(run, kv_index);
    const int64_t group = problem->heads / problem->kv_heads;
    const int64_t from = part * group / parts, to = (part + 1) * group / parts;
    const attn_queries_t queries = {
        .head = head.kv_head * group + from,
        .first = first,
        .count = count,
        .scratch = scratch_of(run, worker),
    };
    run->space.degenerate[worker] +=
        run->plan->kernels->attend(&head, run->plan->map, sums, known, &queries, to - from);
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static void attend_head(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const int64_t parts = part_count(run->plan);
    attend(run, task / parts, task % parts, parts, NULL, 0, 0, run->plan->problem.queries, worker);
}

static void wait_for(const _Atomic int64_t *done, int64_t segment) {
    while (atomic_load_explicit(done, memory_order_acquire) < segment) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

/* What the worker's chunks come to becomes what all keys before each come to. */
static void scan(const run_t *run, int64_t kv_index, uint32_t worker) {
    float *known = known_sums(run, kv_index);
    for (int64_t place = 0; place < SEGMENT; place++) {
        float *sums = chunk_sums(run, worker, place);
        for (int64_t i = 0; i < run->space.size; i++) {
            const float sum = sums[i];
            sums[i] = known[i];
            known[i] += sum;
        }
    }
}

/* The queries whose own keys are in the chunk, and before the first those that see no key. */
static void attend_own(const run_t *run, int64_t kv_index, int64_t chunk, float *sums,
                       uint32_t worker) {
    const attn_problem_t *problem = &run->plan->problem;
    const int64_t known = chunk_start(run->plan, chunk), end = chunk_start(run->plan, chunk + 1);
    const int64_t shift = attn_query_position(problem, problem->keys, 0);
    const int64_t first = chunk == 0 ? 0 : most(0, known - shift);
    const int64_t last = most(0, least(problem->queries, end - shift));
    if (first < last) attend(run, kv_index, 0, 1, sums, known, first, last - first, worker);
}

/*
 * The next segment, whichever task this is: so those before are done or another thread is at them, and waiting
 * comes to an end in whatever order, and on however many threads, tasks are run.
 */
static void take_segment(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const int64_t number = atomic_fetch_add_explicit(run->space.claimed, 1, memory_order_relaxed);
    const int64_t kv_index = number % kv_head_count(plan), segment = number / kv_head_count(plan);
    const attn_head_t head = head_of(run, kv_index);
    (void)task;
    for (int64_t place = 0; place < SEGMENT; place++) {
        const int64_t chunk = segment * SEGMENT + place;
        plan->kernels->sum(&head, plan->map, chunk_start(plan, chunk), chunk_start(plan, chunk + 1),
                           chunk_sums(run, worker, place), scratch_of(run, worker));
    }
    wait_for(&run->space.done[kv_index], segment);
    scan(run, kv_index, worker);
    atomic_store_explicit(&run->space.done[kv_index], segment + 1, memory_order_release);
    for (int64_t place = 0; plan->problem.causal != ATTN_CAUSAL_NONE && place < SEGMENT; place++)
        attend_own(run, kv_index, segment * SEGMENT + place, chunk_sums(run, worker, place),
                   worker);
}

static int64_t query_blocks(const linear_plan_t *plan) {
    return attn_query_blocks(&plan->problem, SEGMENT * plan->kernels->chunk);
}

/* The queries that see all keys. */
static void attend_all(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const attn_problem_t *problem = &run->plan->problem;
    const int64_t blocks = query_blocks(run->plan), kv_index = task / blocks;
    const int64_t rows = SEGMENT * run->plan->kernels->chunk, block = task % blocks * rows;
    const int64_t shift = attn_query_position(problem, problem->keys, 0);
    const int64_t all = problem->causal == ATTN_CAUSAL_NONE ? 0 : most(0, problem->keys - shift);
    const int64_t first = most(all, block), last = least(problem->queries, block + rows);
    if (first < last)
        attend(run, kv_index, 0, 1, known_sums(run, kv_index), problem->keys, first, last - first,
               worker);
}

/* ---- runs ---------------------------------------------------------------------------------------- */

static void run_segments(run_t *run) {
    const linear_plan_t *plan = run->plan;
    const int64_t heads = kv_head_count(plan);
    atomic_init(run->space.claimed, 0);
    for (int64_t h = 0; h < heads; h++) {
        atomic_init(&run->space.done[h], 0);
        for (int64_t i = 0; i < run->space.size; i++) known_sums(run, h)[i] = 0.0f;
    }
    attn_host_parallel_for(plan->host, segment_count(plan), take_segment, run);
    attn_host_parallel_for(plan->host, heads * query_blocks(plan), attend_all, run);
}

attn_status_t attn_linear_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_arena_t arena = {.base = io->workspace};
    run_t run = {.plan = plan, .io = io, .space = attn_linear_space(plan, &arena)};
    const int64_t workers = attn_host_workers(plan->host);
    (void)error;
    for (int64_t w = 0; w < workers; w++) run.space.degenerate[w] = 0;
    if (run.space.chunks)
        run_segments(&run);
    else
        attn_host_parallel_for(plan->host, kv_head_count(plan) * part_count(plan), attend_head,
                               &run);
    for (int64_t w = 0; io->report && w < workers; w++)
        io->report->degenerate_rows += run.space.degenerate[w];
    return ATTN_OK;
}
