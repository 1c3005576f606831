/*
 * sparse: softmax attention over the keys that a pattern keeps (pattern.h), with cost and memory that
 * follow the kept pairs: core/attention/ with that pattern.
 */
#include "attention/backward.h"
#include "attn/ext/facts.h"
#include "attn/ext/params.h"
#include "blocks.h"
#include "kernels.h"
#include "pattern.h"
#include "stream/cached.h"

#include <string.h>

typedef struct sparse_plan {
    exact_plan_t exact;
    sparse_pattern_t pattern;
    int64_t entries; /* room of block_columns */
    uint64_t bytes;  /* of memory, with what the pattern has behind it */
    attn_status_t (*run)(const attn_backend_plan_t *plan, const attn_io_t *io, attn_error_t *error);
} sparse_plan_t;

#define KIND(name, help) &attn_sparse_##name,
#define NAME(name, help) #name,
#define HELP(name, help) "; " #name ": " help
static const sparse_kind_t *const kinds[] = {SPARSE_PATTERNS(KIND)};
static const char *const names[] = {SPARSE_PATTERNS(NAME) NULL};
static const char names_help[] = "which keys a query sees" SPARSE_PATTERNS(HELP);
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- extensions --------------------------------------------------------------------------------- */

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    const sparse_count_t count = attn_sparse_pairs(&plan->pattern, &plan->exact.problem);
    attn_exact_cost(&plan->exact, count.pairs, count.keys, count.values, cost);
    cost->computed = count.computed;
    cost->form = plan->pattern.kind->cost;
}

/* What a run's arrays say of the pattern: checked, and of `heads` query heads from `first` on chosen. */
static attn_status_t look(const sparse_plan_t *plan, const attn_io_t *io, int64_t first,
                          int64_t heads, attn_error_t *error) {
    const attn_status_t status = attn_sparse_check_lists(&plan->pattern, io, error);
    if (status == ATTN_OK && plan->pattern.kind->choose)
        plan->pattern.kind->choose(&plan->pattern, plan->exact.host, &plan->exact.problem, io,
                                   first, heads);
    return status;
}

static int64_t all_heads(const sparse_plan_t *plan) {
    return plan->exact.problem.batch * plan->exact.problem.heads;
}

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    const attn_status_t status = look(plan, io, batch * plan->exact.problem.heads + head, 1, error);
    if (status != ATTN_OK) return status;
    return attn_exact_weights.rows(base, io, batch, head, first, count, rows, row_stride, error);
}

static attn_status_t run_back(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    const attn_status_t status = look(plan, io, 0, all_heads(plan), error);
    return status == ATTN_OK ? attn_exact_backward.backward(base, io, gradients, error) : status;
}
static const attn_ext_backward_t backward = {
    .struct_size = sizeof backward, .arrays = EXACT_GRADIENTS, .backward = run_back};

static void own_shape(const attn_backend_plan_t *base, uint32_t index, int64_t shape[4]) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    attn_sparse_shape(&plan->pattern, plan->entries, index, shape);
}

#define PARAM(kind, id, text, words, in, least, most, first, zero, list)                           \
    {                                                                                              \
        .struct_size = sizeof(attn_param_info_t), .type = ATTN_PARAM_##kind, .name = id,           \
        .label = text, .help = words, .unit = in, .minimum = least, .maximum = most,               \
        .initial = first, .automatic = zero, .choices = list                                       \
    }

enum {
    BLOCK,
    LOCAL,
    GLOBAL,
    PATTERN,
    STRIDE,
    RANDOM,
    SEED,
    ENTRIES,
    TOP,
    BUCKETS,
    ROUNDS,
    SHARED,
    PRECISION
};
enum { PARAMETERS = PRECISION + 1 };
static const attn_param_info_t params[PARAMETERS] = {
    [BLOCK] = PARAM(INTEGER, "block", "block size B", "B: keys a block", "keys", 0, 65536, 0,
                    "2^floor(log2 sqrt m)", NULL),
    [LOCAL] = PARAM(INTEGER, "local", "local blocks k", "k: each query sees the nearest k*B keys",
                    "blocks", 1, 65536, 1, NULL, NULL),
    [GLOBAL] = PARAM(INTEGER, "global", "global c", "c: keys (bigbird: blocks) that all see", "", 0,
                     65536, 1, NULL, NULL),
    [PATTERN] = PARAM(CHOICE, "pattern", "pattern", names_help, "", 0, KINDS - 1, 0, NULL, names),
    [STRIDE] = PARAM(INTEGER, "stride", "stride", "strided: blocks; dilated: keys", "", 0, 65536, 0,
                     "2^floor(log2 sqrt(m / B)); dilated: 2", NULL),
    [RANDOM] = PARAM(INTEGER, "random", "random blocks", "of bigbird, a row of blocks", "blocks", 0,
                     65536, 3, NULL, NULL),
    [SEED] = PARAM(INTEGER, "seed", "seed", "of random blocks and rotations", "", 0,
                   9007199254740991.0, 1, NULL, NULL),
    [ENTRIES] = PARAM(INTEGER, "entries", "entries", "room of block_columns", "block_columns", 0,
                      9007199254740991.0, 0, "as many as there are blocks", NULL),
    [TOP] = PARAM(INTEGER, "top", "chosen", "topk: blocks of others; topkeys: keys a query", "", 0,
                  65536, 8, NULL, NULL),
    [BUCKETS] = PARAM(INTEGER, "buckets", "buckets", "of lsh, a round: 1 or even", "", 0, 65536, 0,
                      "as many as blocks, or one more", NULL),
    [ROUNDS] =
        PARAM(INTEGER, "rounds", "rounds", "of lsh", "", 1, SPARSE_MOST_ROUNDS, 1, NULL, NULL),
    [SHARED] = PARAM(BOOLEAN, "shared", "shared",
                     "lsh: 1 where keys are the queries: none sees itself beside others", "", 0, 1,
                     0, NULL, NULL),
    [PRECISION] = PARAM(CHOICE, "precision", "Precision", EXACT_PRECISION_HELP, "", 0, EXACT_INT8,
                        0, NULL, attn_exact_precisions),
};
#undef PARAM

/* By the parameters' names: what those became that the pattern goes by. */
static int32_t fact(const attn_backend_plan_t *base, uint32_t index, attn_fact_t *fact) {
    enum { TOLD = 8 };
    static const uint32_t told[TOLD] = {BLOCK, LOCAL, GLOBAL, STRIDE, RANDOM, TOP, BUCKETS, ROUNDS};
    const sparse_pattern_t *pattern = &((const sparse_plan_t *)base)->pattern;
    const int64_t numbers[TOLD] = {pattern->block,   pattern->local,  pattern->global,
                                   pattern->stride,  pattern->random, pattern->top,
                                   pattern->buckets, pattern->rounds};
    for (int i = 0; i < TOLD; i++)
        if (pattern->kind->facts & 1u << i && index-- == 0) {
            fact->name = params[told[i]].name;
            fact->label = params[told[i]].label;
            fact->number = (double)numbers[i];
            return 1;
        }
    return 0;
}

static const attn_backend_t sparse_backend;

static uint64_t plan_bytes(const attn_backend_plan_t *base) {
    return ((const sparse_plan_t *)base)->bytes;
}

/* One query that no head shares its keys with looks for them: 0. Else all go by buckets. */
static int take_buckets(sparse_pattern_t *pattern, const attn_problem_t *problem,
                        const attn_value_t *values) {
    pattern->buckets = values[BUCKETS].integer;
    if (!pattern->buckets) pattern->buckets = attn_min(65536, (pattern->columns + 1) / 2 * 2);
    pattern->shared = values[SHARED].integer;
    pattern->rounds = values[ROUNDS].integer;
    if (problem->queries == 1 && problem->heads == problem->kv_heads && !pattern->shared) return 0;
    pattern->base.passes = pattern->rounds;
    pattern->base.list = pattern->kind->list;
    pattern->base.gathered = pattern->keys;
    pattern->base.by_head = 1;
    return 1;
}

static sparse_pattern_t pattern_of(const attn_problem_t *problem, const attn_value_t *values) {
    const sparse_kind_t *kind = kinds[values[PATTERN].integer];
    sparse_pattern_t pattern = {
        .base = {.ranges = kind->ranges, .in_place = kind->in_place, .see = kind->see},
        .kind = kind,
        .keys = problem->keys,
        .queries = problem->queries,
        .block = values[BLOCK].integer ? values[BLOCK].integer : sparse_root(problem->keys),
        .local = values[LOCAL].integer,
        .global = values[GLOBAL].integer,
        .stride = values[STRIDE].integer,
        .random = values[RANDOM].integer,
        .seed = (uint64_t)values[SEED].integer,
        .top = values[TOP].integer,
        .is_causal = problem->causal != ATTN_CAUSAL_NONE,
    };
    attn_sparse_extent(&pattern, problem);
    const int64_t most = kind->by_logits ? pattern.keys : pattern.columns;
    if (pattern.top > most) pattern.top = most;
    if (kind->key && pattern.global > pattern.block) pattern.global = pattern.block;
    if (pattern.random > pattern.columns) pattern.random = pattern.columns;
    if (!pattern.stride) pattern.stride = kind->from ? sparse_root(pattern.columns) : 2;
    if (kind->gathered) pattern.base.gathered = kind->gathered(&pattern);
    if (kind->see) return pattern;
    if (kind->buckets && take_buckets(&pattern, problem, values)) return pattern;
    pattern.base.ranges = pattern.base.in_place = 1;
    pattern.base.see = attn_sparse_see_all;
    pattern.base.block = pattern.buckets ? 1 : pattern.block;
    pattern.base.by_position = kind->from || kind->choose;
    pattern.base.by_head = !kind->from;
    pattern.base.next = kind->from ? attn_sparse_next : kind->next;
    return pattern;
}

static void lend(attn_backend_plan_t *base, const attn_kept_t *kept) {
    ((sparse_plan_t *)base)->pattern.kept = *kept;
}

/* What depends on how many tokens there are is that of the most, so that it stays what it is. Only causal lets
 * queries stand at the last tokens' places. Tokens that no pattern reaches back to need not be kept, but for the first c,
 * which must not come so near by that that the problem's window lets them be seen. */
static attn_status_t make_stream(const attn_host_t *host, const attn_problem_t *given,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error) {
    attn_value_t fixed[PARAMETERS];
    attn_problem_t problem = attn_problem_copy(given);
    const sparse_pattern_t pattern = pattern_of(&problem, values);
    memcpy(fixed, values, sizeof fixed);
    fixed[BLOCK].integer = pattern.block;
    fixed[STRIDE].integer = pattern.stride;
    fixed[BUCKETS].integer = pattern.buckets;
    const int by_place = !pattern.kind->by_logits && (!pattern.buckets || pattern.shared);
    const int never = pattern.kind->next && !pattern.buckets;
    if (never || (by_place && !pattern.is_causal))
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "sparse: %s has no streams%s",
                         names[values[PATTERN].integer], never ? "" : " without causal");
    int64_t reach = pattern.kind->reach ? pattern.kind->reach(&pattern) : problem.window_left;
    if (problem.window_left >= 0 && (pattern.kind->sees_first || problem.window_left < reach))
        reach = problem.window_left;
    const attn_cached_t cached = {
        .host = host,
        .backend = &sparse_backend,
        .problem = &problem,
        .values = fixed,
        .count = PARAMETERS,
        .plan_bytes = plan_bytes,
        .reach = reach,
        .first = pattern.kind->sees_first ? pattern.global : 0,
        .period = pattern.kind->period ? pattern.kind->period(&pattern) : INT64_MAX,
        .kept = pattern.rounds,
        .lend = lend,
    };
    return attn_cached_stream(&cached, stream, error);
}

static const void *get_extension(const char *id) {
    static const attn_ext_params_t declared = {
        .struct_size = sizeof declared,
        .count = PARAMETERS,
        .params = params,
    };
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_facts_t facts = {.struct_size = sizeof facts, .fact = fact};
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams, .create = make_stream};
    static const attn_array_info_t *const arrays[SPARSE_ARRAYS] = {
        &attn_sparse_arrays[0], &attn_sparse_arrays[1], &attn_sparse_arrays[2],
        &attn_sparse_arrays[3]};
    static const attn_ext_inputs_t inputs = {sizeof inputs, SPARSE_ARRAYS, arrays, own_shape};
    static const attn_ext_weights_t weights = {.struct_size = sizeof weights, .rows = weight_rows};
    if (strcmp(id, ATTN_EXT_BACKWARD) == 0) return &backward;
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return &inputs;
    if (strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &declared;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (strcmp(id, ATTN_EXT_FACTS) == 0) return &facts;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static attn_status_t run_pattern(const attn_backend_plan_t *base, const attn_io_t *io,
                                 attn_error_t *error) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    const attn_status_t status = look(plan, io, 0, all_heads(plan), error);
    return status == ATTN_OK ? plan->run(base, io, error) : status;
}

static attn_status_t check(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                           attn_error_t *error) {
    if (pattern->kind->facts & SPARSE_LOCAL && pattern->local * pattern->block > (int64_t)1 << 31)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "sparse: local * block is %lld keys, must be at most 2^31",
                         (long long)(pattern->local * pattern->block));
    if (problem->backward && (pattern->kind->by_logits || pattern->buckets))
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "sparse: %s has no gradients",
                         pattern->buckets ? "lsh" : "topkeys");
    if (pattern->buckets > 1 && pattern->buckets % 2)
        return attn_fail(error, ATTN_ERROR_RANGE, "sparse: buckets is %lld, must be 1 or even",
                         (long long)pattern->buckets);
    if (pattern->kind->by_logits && !pattern->top)
        return attn_fail(error, ATTN_ERROR_RANGE, "sparse: top must be at least 1 key");
    /* Where addresses have 32 bits there is no memory for as many. */
    if (sizeof(void *) > 4 && pattern->kind->by_logits && problem->keys > INT32_MAX)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "sparse: topkeys chooses among %lld keys, must be at most %lld",
                         (long long)problem->keys, (long long)INT32_MAX);
    const int listed = pattern->kind->next && !pattern->kind->choose;
    if (listed && pattern->block > problem->keys)
        return attn_fail(error, ATTN_ERROR_RANGE, "sparse: block is %lld, there are %lld keys",
                         (long long)pattern->block, (long long)problem->keys);
    return attn_sparse_check_inputs(listed, problem->own_inputs, error);
}

/* Behind a plan are positions of gathered keys, which are returned, and what is drawn. */
static int64_t *lay_out_plan(sparse_pattern_t *pattern, int64_t dim, attn_arena_t *arena) {
    attn_arena_take(arena, 1, sizeof(sparse_plan_t));
    int64_t *map = attn_arena_take(arena, pattern->base.gathered, sizeof(int64_t));
    if (pattern->kind->draw) pattern->kind->draw(pattern, dim, arena);
    return map;
}

static sparse_plan_t *allocate(const attn_host_t *host, sparse_pattern_t *pattern, int64_t dim) {
    attn_arena_t room = {.base = NULL};
    lay_out_plan(pattern, dim, &room);
    sparse_plan_t *plan = room.overflow ? NULL : attn_host_allocate(host, (size_t)room.used);
    if (!plan) return NULL;
    attn_arena_t arena = {.base = (char *)plan};
    int64_t *map = lay_out_plan(pattern, dim, &arena);
    for (int64_t g = 0; pattern->kind->key && g < pattern->base.gathered; g++)
        map[g] = pattern->kind->key(pattern, g);
    pattern->base.map = map;
    plan->pattern = *pattern;
    plan->bytes = room.used;
    return plan;
}

/* Behind the driver's workspace the one for choices. */
static attn_status_t make_room(sparse_plan_t *plan, attn_error_t *error) {
    attn_arena_t arena = {.used = plan->exact.base.workspace_size};
    plan->pattern.room = arena.used;
    if (plan->pattern.kind->room)
        plan->pattern.kind->room(&plan->pattern, plan->exact.host, &plan->exact.problem, &arena);
    plan->exact.base.workspace_size = arena.used;
    if (!arena.overflow) return ATTN_OK;
    plan->exact.base.destroy(&plan->exact.base);
    return attn_fail(error, ATTN_ERROR_MEMORY, ATTN_NO_WORKSPACE, "sparse");
}

/* As many as a list may have; where no array could, the most that a size can be. */
static int64_t all_blocks(const sparse_pattern_t *pattern) {
    const int64_t rows = (pattern->queries - 1) / pattern->block + 1;
    return pattern->columns > INT64_MAX / rows ? INT64_MAX : rows * pattern->columns;
}

/* Queries that choose among keys have kernels of their own, in f32. */
static attn_status_t choose_kernels(const attn_host_t *host, const sparse_pattern_t *pattern,
                                    const attn_problem_t *problem, int64_t precision,
                                    const exact_kernels_t **kernels, attn_error_t *error) {
    const sparse_kernels_t *own = attn_sparse_kernels(attn_host_tier(host));
    const attn_status_t status =
        attn_exact_choose("sparse", host, problem, precision, kernels, error);
    if (pattern->base.list) *kernels = &own->buckets;
    if (pattern->kind->by_logits) *kernels = &own->topkeys;
    return status;
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *given,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    const attn_problem_t problem = attn_problem_copy(given);
    const exact_kernels_t *kernels;
    sparse_pattern_t pattern = pattern_of(&problem, values);
    attn_status_t status = check(&pattern, &problem, error);
    if (status == ATTN_OK)
        status =
            choose_kernels(host, &pattern, &problem, values[PRECISION].integer, &kernels, error);
    if (status != ATTN_OK) return status;
    sparse_plan_t *plan = allocate(host, &pattern, problem.dim);
    status = attn_exact_plan("sparse", host, &problem, plan ? &plan->exact : NULL,
                             plan ? &plan->pattern.base : NULL, kernels, result, error);
    if (status != ATTN_OK) return status;
    plan->entries = values[ENTRIES].integer ? values[ENTRIES].integer : all_blocks(&pattern);
    plan->run = plan->exact.base.run;
    plan->exact.base.run = run_pattern;
    return make_room(plan, error);
}

static const attn_backend_t sparse_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = EXACT_FEATURES | ATTN_FEATURE_BACKWARD,
    .id = "sparse",
    .name = "Sparse",
    .version = "0.1.0",
    .description = "Softmax over the keys that a pattern keeps, at a cost that follows them.",
    .reference = "arXiv:2402.13934, Eq. 6",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&sparse_backend};
ATTN_PLUGIN(sparse, backends);
