/*
 * A run of the plain rule. Where there are key/value heads enough for all workers, one task is a head's group
 * of query heads, which share the state. Else a task is the next segment of a head: its chunks of keys are summed
 * up, which needs nothing of the segments before; with what those come to, these are the states before
 * each chunk, and the next segment's beginning; then the queries of the chunks are attended to. The same
 * additions in the same order as in one task, so the same bits.
 */
#include "plan.h"

#include "attn/support.h"

#include <math.h>
#if !defined(__wasm__)
#include <sched.h>
#endif
#include <stdatomic.h>
#include <string.h>

/* Chunks of a segment, at most: their states stay in a core's second cache, and one of them goes to the next core.
 * As few chunks as FEW are not worth several workers. */
enum { SEGMENT = 8, FEW = 4 };

static int64_t kv_head_count(const linear_plan_t *plan) {
    return plan->problem.batch * plan->problem.kv_heads;
}

/* How many parts a group is cut into, where heads are the tasks: each builds the state anew. */
static int64_t part_count(const linear_plan_t *plan) {
    const int64_t group = plan->problem.heads / plan->problem.kv_heads;
    return attn_min(group, (attn_host_workers(plan->host) - 1) / kv_head_count(plan) + 1);
}

/* ---- chunks of keys ------------------------------------------------------------------------------ */

/* The keys of a sequence that are taken: with `all` also those that no query sees. */
typedef struct span {
    const linear_plan_t *plan;
    int64_t keys;
    int all;
} span_t;

/* The key that query 0 sees last, or where it sees none or all of them as causal queries do not, 0. */
static int64_t first_diagonal(const span_t *span) {
    const attn_problem_t *problem = &span->plan->problem;
    if (problem->causal == ATTN_CAUSAL_NONE) return 0;
    return attn_max(0, attn_min(span->keys, attn_query_position(problem, span->keys, 0)));
}

static int64_t taken_keys(const span_t *span) {
    const attn_problem_t *problem = &span->plan->problem;
    int64_t first, last = span->keys;
    if (!span->all) attn_key_range(problem, span->keys, problem->queries - 1, &first, &last);
    return last;
}

/* Where chunk number `index` begins: as one worker alone takes them, so that query 0 begins one. */
static int64_t chunk_start(const span_t *span, int64_t index) {
    const int64_t chunk = linear_chunk_keys(&span->plan->problem), diagonal = first_diagonal(span);
    const int64_t before = (diagonal + chunk - 1) / chunk;
    const int64_t start =
        index <= before ? attn_min(index * chunk, diagonal) : diagonal + (index - before) * chunk;
    return attn_min(start, taken_keys(span));
}

/* Segments of a head, of a shorter sequence the last ones empty; none where heads are the tasks. */
typedef struct segments {
    int64_t count, chunks; /* of each */
} segments_t;

static segments_t segments_of(const linear_plan_t *plan, int all) {
    const span_t span = {plan, plan->problem.keys, all};
    const int64_t workers = attn_host_workers(plan->host), heads = kv_head_count(plan);
    int64_t chunks = taken_keys(&span) / linear_chunk_keys(&plan->problem);
    while (chunk_start(&span, chunks) < taken_keys(&span)) chunks++;
    if (heads % workers == 0 || heads > 4 * workers || chunks <= FEW) return (segments_t){0, 0};
    /* So many that all workers end at about the same time */
    const int64_t length = attn_min(SEGMENT, attn_max(1, chunks / (2 * workers)));
    return (segments_t){(chunks + length - 1) / length, length};
}

/* ---- the workspace ------------------------------------------------------------------------------- */

linear_space_t attn_linear_space(const linear_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t scratch = {.base = NULL}, state = {.base = NULL};
    const int64_t workers = attn_host_workers(plan->host);
    plan->kernels->scratch(&plan->problem, &plan->form, &scratch);
    linear_space_t space = {.scratch_size = scratch.used};
    space.state = plan->recurrence->take_state(&plan->problem, &plan->form, 0, &state);
    space.size = (int64_t)(state.used / sizeof(float)); /* whole cache lines */
    arena->overflow |= scratch.overflow | state.overflow;
    space.degenerate = attn_arena_take(arena, workers, sizeof(int64_t));
    space.scratch = attn_arena_take(arena, workers, scratch.used);
    if (plan->problem.own_inputs) space.given = attn_arena_take(arena, workers, state.used);
    if (!plan->has_segments) return space;
    space.known = attn_arena_take(arena, kv_head_count(plan), state.used);
    space.chunks = attn_arena_take(arena, workers * SEGMENT, state.used);
    space.features = attn_arena_take(
        arena, workers * SEGMENT,
        (uint64_t)plan->kernels->chunk_floats(&plan->problem, &plan->form) * sizeof(float));
    space.claimed = attn_arena_take(arena, 1, sizeof *space.claimed);
    space.done = attn_arena_take(arena, kv_head_count(plan), sizeof *space.done);
    return space;
}

int attn_linear_has_segments(const linear_plan_t *plan) { return segments_of(plan, 1).count > 0; }

attn_head_t attn_linear_head(const linear_plan_t *plan, const attn_io_t *io, int64_t batch,
                             int64_t kv_head) {
    return (attn_head_t){.problem = &plan->problem, .io = io, .batch = batch, .kv_head = kv_head};
}

typedef struct linear_run {
    const linear_plan_t *plan;
    const attn_io_t *io;
    linear_space_t space;
    segments_t segments;
    linear_state_t *states; /* a stream's; or NULL */
    int tell;               /* the states of all keys go to the run's arrays */
} linear_run_t;

static attn_head_t head_of(const linear_run_t *run, int64_t kv_index) {
    const int64_t kv_heads = run->plan->problem.kv_heads;
    return attn_linear_head(run->plan, run->io, kv_index / kv_heads, kv_index % kv_heads);
}

static void *scratch_of(const linear_run_t *run, uint32_t worker) {
    return run->space.scratch + worker * run->space.scratch_size;
}

static span_t span_of(const linear_run_t *run, int64_t kv_index) {
    const attn_problem_t *problem = &run->plan->problem;
    return (span_t){run->plan, attn_keys_of(problem, run->io, kv_index / problem->kv_heads),
                    run->tell};
}

/* What comes before a head's keys; `room` is for what arrays give. */
static linear_state_t begin(const linear_run_t *run, int64_t kv_index, float *room) {
    if (run->states) return run->states[kv_index];
    if (!run->plan->problem.own_inputs) return run->space.state;
    const attn_head_t head = head_of(run, kv_index);
    linear_state_t state = attn_linear_state_at(&run->space.state, room);
    attn_linear_state_load(run->plan, &head, &state);
    return state;
}

/* Queries of a part of a head's group, which see the state, with the keys [0, known) in it. */
static void attend_part(const linear_run_t *run, int64_t kv_index, int64_t part, int64_t parts,
                        linear_state_t *state, int64_t known, int64_t first, int64_t count,
                        const linear_chunk_t *chunk, int all, uint32_t worker) {
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
    run->space.degenerate[worker] += run->plan->kernels->attend(
        &head, &run->plan->form, state, known, &queries, to - from, chunk, all);
}

/* ---- heads --------------------------------------------------------------------------------------- */

static void attend_head(void *data, int64_t task, uint32_t worker) {
    const linear_run_t *run = data;
    const int64_t parts = part_count(run->plan), kv_index = task / parts, part = task % parts;
    const attn_head_t head = head_of(run, kv_index);
    const int tell = run->tell && part == 0;
    float *room = run->space.given ? run->space.given + worker * run->space.size : NULL;
    linear_state_t state = begin(run, kv_index, room);
    attend_part(run, kv_index, part, parts, &state, 0, 0, run->plan->problem.queries, NULL, tell,
                worker);
    if (tell) attn_linear_state_store(run->plan, &head, &state);
}

/* All keys of a head join its stream's state. */
static void add_head(void *data, int64_t kv_index, uint32_t worker) {
    const linear_run_t *run = data;
    const attn_head_t head = head_of(run, kv_index);
    run->plan->kernels->add(&head, &run->plan->form, 0, span_of(run, kv_index).keys,
                            &run->states[kv_index], scratch_of(run, worker));
}

/* ---- segments ------------------------------------------------------------------------------------ */

enum { PATIENCE = 20000 /* pauses */, NAP = 50000 /* ns */ };

static void rest(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* In a module a worker sleeps; the caller, worker 0, may be a browser's window, which may not. */
static void offer_processor(const _Atomic int64_t *done, int64_t seen, uint32_t worker) {
#if defined(__wasm_atomics__)
    if (worker) __builtin_wasm_memory_atomic_wait64((int64_t *)(uintptr_t)done, seen, NAP);
#elif !defined(__wasm__)
    sched_yield();
#endif
    (void)done, (void)seen, (void)worker;
}

/* Who is waited for may have lost its processor to those who wait: after some tenths of a millisecond they offer theirs. */
static void wait_for(const _Atomic int64_t *done, int64_t segment, uint32_t worker) {
    int64_t seen;
    for (int pauses = 0; (seen = atomic_load_explicit(done, memory_order_acquire)) < segment;) {
        if (pauses < PATIENCE)
            pauses++, rest();
        else
            offer_processor(done, seen, worker);
    }
}

/* The state of chunk number `place` of the worker's segment; once the scan has been, of all before it. */
static linear_state_t chunk_state(const linear_run_t *run, uint32_t worker, int64_t place) {
    return attn_linear_state_at(&run->space.state,
                                run->space.chunks + (worker * SEGMENT + place) * run->space.size);
}

/* The state of all segments that are done. */
static linear_state_t known_state(const linear_run_t *run, int64_t kv_index) {
    return attn_linear_state_at(&run->space.state, run->space.known + kv_index * run->space.size);
}

/* How many tokens came before a head's keys. */
static int64_t before(const linear_run_t *run, int64_t kv_index) {
    return run->states ? run->states[kv_index].keys : run->plan->problem.own_inputs != 0;
}

/* Chunk number `place` of a segment that the worker is at. */
static linear_chunk_t chunk_of(const linear_run_t *run, int64_t kv_index, int64_t segment,
                               int64_t place, uint32_t worker) {
    const span_t span = span_of(run, kv_index);
    const int64_t chunk = segment * run->segments.chunks + place;
    const int64_t floats = run->plan->kernels->chunk_floats(&run->plan->problem, &run->plan->form);
    return (linear_chunk_t){chunk_start(&span, chunk), chunk_start(&span, chunk + 1),
                            run->space.features + (worker * SEGMENT + place) * floats};
}

/* What the worker's chunks come to becomes what all keys before each come to. */
static void scan(const linear_run_t *run, int64_t kv_index, int64_t segment, uint32_t worker) {
    const linear_state_t known = known_state(run, kv_index);
    for (int64_t place = 0; place < run->segments.chunks; place++) {
        const linear_chunk_t chunk = chunk_of(run, kv_index, segment, place, worker);
        float *sums = chunk_state(run, worker, place).s;
        if (chunk.first < chunk.last)
            run->plan->kernels->pass_on(&known, sums);
        else
            memcpy(sums, known.s, (size_t)known.rest * sizeof *sums);
    }
}

/* The queries whose own keys are in the chunk, and before the first those that see no key. */
static void attend_own(const linear_run_t *run, int64_t kv_index, const linear_chunk_t *chunk,
                       int is_first, linear_state_t *state, uint32_t worker) {
    const attn_problem_t *problem = &run->plan->problem;
    const int64_t shift = attn_query_position(problem, span_of(run, kv_index).keys, 0);
    const int64_t first = is_first ? 0 : attn_max(0, chunk->first - shift);
    const int64_t last = attn_max(0, attn_min(problem->queries, chunk->last - shift));
    state->keys = before(run, kv_index) + chunk->first;
    if (first < last)
        attend_part(run, kv_index, 0, 1, state, chunk->first, first, last - first, chunk, 0,
                    worker);
}

/*
 * The next segment, whichever task this is: so those before are done or another thread is at them, and waiting
 * comes to an end in whatever order, and on however many threads, tasks are run.
 */
static void take_segment(void *data, int64_t task, uint32_t worker) {
    const linear_run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const int64_t number = atomic_fetch_add_explicit(run->space.claimed, 1, memory_order_relaxed);
    const int64_t kv_index = number % kv_head_count(plan), segment = number / kv_head_count(plan);
    const attn_head_t head = head_of(run, kv_index);
    (void)task;
    for (int64_t place = 0; place < run->segments.chunks; place++) {
        const linear_chunk_t chunk = chunk_of(run, kv_index, segment, place, worker);
        const linear_state_t state = chunk_state(run, worker, place);
        if (chunk.first < chunk.last)
            plan->kernels->sum(&head, &plan->form, &chunk, &state, scratch_of(run, worker));
    }
    wait_for(&run->space.done[kv_index], segment, worker);
    scan(run, kv_index, segment, worker);
    atomic_store_explicit(&run->space.done[kv_index], segment + 1, memory_order_release);
    for (int64_t place = 0;
         plan->problem.causal != ATTN_CAUSAL_NONE && place < run->segments.chunks; place++) {
        const linear_chunk_t chunk = chunk_of(run, kv_index, segment, place, worker);
        linear_state_t state = chunk_state(run, worker, place);
        attend_own(run, kv_index, &chunk, segment + place == 0, &state, worker);
    }
}

static int64_t query_blocks(const linear_plan_t *plan) {
    return attn_query_blocks(&plan->problem, SEGMENT * LINEAR_CHUNK);
}

/* Whether any query may. */
static int sees_all(const linear_plan_t *plan) {
    const attn_problem_t *problem = &plan->problem;
    return problem->causal == ATTN_CAUSAL_NONE || problem->inputs & ATTN_INPUT_KV_LENGTHS ||
           attn_query_position(problem, problem->keys, problem->queries - 1) >= problem->keys;
}

/* The queries that see all keys. */
static void attend_all(void *data, int64_t task, uint32_t worker) {
    const linear_run_t *run = data;
    const attn_problem_t *problem = &run->plan->problem;
    const int64_t blocks = query_blocks(run->plan), kv_index = task / blocks;
    const int64_t rows = SEGMENT * LINEAR_CHUNK, block = task % blocks * rows;
    const int64_t keys = span_of(run, kv_index).keys;
    const int64_t shift = attn_query_position(problem, keys, 0);
    const int64_t all = problem->causal == ATTN_CAUSAL_NONE ? 0 : attn_max(0, keys - shift);
    const int64_t first = attn_max(all, block), last = attn_min(problem->queries, block + rows);
    linear_state_t state = known_state(run, kv_index);
    state.keys = before(run, kv_index) + keys;
    if (first < last)
        attend_part(run, kv_index, 0, 1, &state, keys, first, last - first, NULL, 0, worker);
}

static void run_segments(linear_run_t *run) {
    const linear_plan_t *plan = run->plan;
    const int64_t heads = kv_head_count(plan);
    const size_t bytes = (size_t)attn_linear_state_sums(&run->space.state) * sizeof(float);
    atomic_init(run->space.claimed, 0);
    for (int64_t h = 0; h < heads; h++) {
        const linear_state_t known = known_state(run, h), state = begin(run, h, known.s);
        atomic_init(&run->space.done[h], 0);
        if (!state.keys) memset(known.s, 0, bytes);
        if (state.keys && state.s != known.s) memcpy(known.s, state.s, bytes);
    }
    attn_host_parallel_for(plan->host, heads * run->segments.count, take_segment, run);
    if (sees_all(plan))
        attn_host_parallel_for(plan->host, heads * query_blocks(plan), attend_all, run);
    for (int64_t h = 0; run->tell && h < heads; h++) {
        const attn_head_t head = head_of(run, h);
        const linear_state_t known = known_state(run, h);
        attn_linear_state_store(plan, &head, &known);
    }
}

/* ---- runs ---------------------------------------------------------------------------------------- */

static attn_status_t run_plain(const linear_plan_t *plan, const attn_io_t *io,
                               linear_state_t *states, int keep) {
    attn_arena_t arena = {.base = io->workspace};
    linear_run_t run = {.plan = plan, .io = io, .states = states};
    const int64_t workers = attn_host_workers(plan->host), heads = kv_head_count(plan);
    run.space = attn_linear_space(plan, &arena);
    run.tell = attn_own_array(io, LINEAR_STATE_OUT) || attn_own_array(io, LINEAR_STATE_Z_OUT);
    if (plan->has_segments) run.segments = segments_of(plan, run.tell);
    for (int64_t w = 0; w < workers; w++) run.space.degenerate[w] = 0;
    if (keep)
        attn_host_parallel_for(plan->host, heads, add_head, &run);
    else if (run.segments.count)
        run_segments(&run);
    else
        attn_host_parallel_for(plan->host, heads * part_count(plan), attend_head, &run);
    for (int64_t w = 0; io->report && w < workers; w++)
        io->report->degenerate_rows += run.space.degenerate[w];
    return ATTN_OK;
}

/* A stream's few tokens: the recurrence answers their queries and leaves the state where it is. */
static int is_decoding(const linear_plan_t *plan) {
    const attn_problem_t *problem = &plan->problem;
    return problem->keys <= plan->recurrence->rows &&
           (problem->causal != ATTN_CAUSAL_NONE || problem->queries == 1);
}

attn_status_t attn_linear_run_from(const linear_plan_t *plan, const attn_io_t *io,
                                   linear_state_t *states, int keep, attn_error_t *error) {
    const attn_status_t status = attn_linear_arrays_check(plan, io, error);
    if (status != ATTN_OK) return status;
    return plan->form.rule == LINEAR_RULE_LINEAR && !(states && !keep && is_decoding(plan))
               ? run_plain(plan, io, states, keep)
               : attn_linear_rules_run(plan, io, states, keep, error);
}

attn_status_t attn_linear_run(const attn_backend_plan_t *base, const attn_io_t *io,
                              attn_error_t *error) {
    return attn_linear_run_from((const linear_plan_t *)base, io, NULL, 0, error);
}
