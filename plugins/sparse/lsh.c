/*
 * lsh: the keys that share a bucket with the query in at least one round ("Reformer: The Efficient
 * Transformer", arXiv:2001.04451, 2): of a round's random rotation R, argmax [xR; -xR]. Buckets are attended
 * to whole, not cut into chunks, and a key that several rounds share counts once.
 *
 * A run finds the buckets before it attends, and sorts queries and keys by them; the driver goes through
 * the rounds.
 */
#include "attn/random.h"
#include "flash/kernels.h"
#include "pattern.h"
#include "rows.h"

#include <string.h>

#if ATTN_LSH

/* Queries or keys of all heads of all batches. */
typedef struct side {
    int64_t tokens;
    float *codes;    /* [heads][rounds][tokens] */
    int64_t *order;  /* [heads][rounds][tokens] */
    int64_t *starts; /* [heads][rounds][buckets + 2]: of keys that do not count, the last bucket */
} side_t;

typedef struct space {
    float *matrices; /* [rounds][dim][stride] */
    side_t keys, queries;
    float *rows; /* [workers][ROTATED][dim] */
} space_t;

static int64_t columns_of(const sparse_pattern_t *pattern) { return pattern->buckets / 2; }

static int64_t stride_of(const sparse_pattern_t *pattern) {
    return attn_round_up(columns_of(pattern), ROTATED_LANES);
}

static side_t lay_out_side(const sparse_pattern_t *pattern, int64_t heads, int64_t tokens,
                           attn_arena_t *arena) {
    side_t side = {.tokens = tokens};
    const int64_t lists = heads * pattern->base.rounds;
    side.order = attn_arena_take(arena, lists, (uint64_t)tokens * sizeof(int64_t));
    side.starts = attn_arena_take(arena, lists, (uint64_t)(pattern->buckets + 2) * sizeof(int64_t));
    side.codes = attn_arena_take(arena, lists, (uint64_t)tokens * sizeof(float));
    return side;
}

static space_t lay_out(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                       uint32_t workers, attn_arena_t *arena) {
    space_t space;
    space.matrices = attn_arena_take(arena, pattern->base.rounds * problem->dim,
                                     (uint64_t)stride_of(pattern) * sizeof(float));
    space.keys = lay_out_side(pattern, problem->batch * problem->kv_heads, problem->keys, arena);
    space.queries = lay_out_side(pattern, problem->batch * problem->heads, problem->queries, arena);
    space.rows = attn_arena_take(arena, workers, ROTATED * (uint64_t)problem->dim * sizeof(float));
    return space;
}

static void room(const sparse_pattern_t *pattern, const attn_host_t *host,
                 const attn_problem_t *problem, attn_arena_t *arena) {
    lay_out(pattern, problem, attn_host_workers(host), arena);
}

/* ---- rotations -------------------------------------------------------------------------------------- */

/* Of few bits, so that small whole numbers have exact products and sums, and so that a logarithm's last
 * bit, which machines have their own of, moves none. */
static float entry(uint64_t seed, int64_t round, int64_t index) {
    return (float)(floor(attn_random_normal(seed, (uint64_t)round, (uint64_t)index) * 4096 + 0.5) /
                   4096);
}

static void draw(const sparse_pattern_t *pattern, int64_t dim, float *matrices) {
    const int64_t columns = columns_of(pattern), stride = stride_of(pattern);
    for (int64_t row = 0; row < pattern->base.rounds * dim; row++)
        for (int64_t c = 0; c < stride; c++)
            matrices[row * stride + c] =
                c < columns ? entry(pattern->seed, row / dim, row % dim * columns + c) : 0.0f;
}

/* ---- choosing --------------------------------------------------------------------------------------- */

typedef struct choice {
    const sparse_pattern_t *pattern;
    const attn_problem_t *problem;
    const attn_io_t *io;
    const flash_kernels_t *kernels;
    int64_t key_heads, first_key_head, first_query_head; /* of those of all batches */
    space_t space;
} choice_t;

/* One round of one head: its first `count` tokens count. */
typedef struct part {
    const attn_tensor_t *tensor, *scales;
    int64_t batch, head, round, count;
    float *codes;
    int64_t *order, *starts;
} part_t;

static void find_buckets(const choice_t *choice, const part_t *part, float *rows) {
    const int64_t dim = choice->problem->dim, stride = stride_of(choice->pattern);
    const attn_rotation_t rotation = {choice->space.matrices + part->round * dim * stride,
                                      columns_of(choice->pattern), stride};
    for (int64_t first = 0; first < part->count; first += ROTATED) {
        const int64_t count = attn_min(ROTATED, part->count - first);
        float codes[ROTATED];
        for (int64_t k = 0; k < ROTATED * dim; k++) rows[k] = 0.0f;
        for (int64_t i = 0; i < count; i++)
            sparse_add_row(rows + i * dim, part->tensor,
                           attn_offset(part->tensor, part->batch, part->head, first + i), dim,
                           part->scales->data
                               ? *attn_row(part->scales, part->batch, part->head, first + i)
                               : 1.0f);
        choice->kernels->rotate(rows, dim, &rotation, codes);
        for (int64_t i = 0; i < count; i++) part->codes[first + i] = codes[i];
    }
}

/* By counting: those of a bucket stay in their order. */
static void sort(const part_t *part, int64_t tokens, int64_t buckets) {
    int64_t *starts = part->starts;
    for (int64_t b = 0; b < buckets + 2; b++) starts[b] = 0;
    for (int64_t i = 0; i < tokens; i++) starts[(int64_t)part->codes[i]]++;
    for (int64_t b = 0; b <= buckets; b++) starts[b + 1] += starts[b];
    for (int64_t i = tokens - 1; i >= 0; i--) part->order[--starts[(int64_t)part->codes[i]]] = i;
}

static void choose_part(void *data, int64_t task, uint32_t worker) {
    const choice_t *choice = data;
    const attn_problem_t *problem = choice->problem;
    const attn_io_t *io = choice->io;
    const int64_t rounds = choice->pattern->base.rounds, buckets = choice->pattern->buckets;
    const int of_keys = task < choice->key_heads * rounds;
    const side_t *side = of_keys ? &choice->space.keys : &choice->space.queries;
    const int64_t first = of_keys ? choice->first_key_head : choice->first_query_head;
    const int64_t index = first * rounds + task - (of_keys ? 0 : choice->key_heads * rounds);
    const int64_t heads = of_keys ? problem->kv_heads : problem->heads;
    const int64_t batch = index / rounds / heads;
    const part_t part = {
        .tensor = of_keys ? &io->key : &io->query,
        .scales = of_keys ? &io->key_scales : &(attn_tensor_t){.data = NULL},
        .batch = batch,
        .head = index / rounds % heads,
        .round = index % rounds,
        .count = of_keys ? attn_keys_of(problem, io, batch) : side->tokens,
        .codes = side->codes + index * side->tokens,
        .order = side->order + index * side->tokens,
        .starts = side->starts + index * (buckets + 2),
    };
    for (int64_t i = part.count; i < side->tokens; i++) part.codes[i] = (float)buckets;
    find_buckets(choice, &part, choice->space.rows + worker * ROTATED * problem->dim);
    sort(&part, side->tokens, buckets);
}

static space_t space_of(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                        const attn_io_t *io, uint32_t workers) {
    attn_arena_t arena = {.base = (char *)io->workspace + pattern->room};
    return lay_out(pattern, problem, workers, &arena);
}

static void choose(const sparse_pattern_t *pattern, const attn_host_t *host,
                   const attn_problem_t *problem, const attn_io_t *io, int64_t first,
                   int64_t heads) {
    const int64_t group = problem->heads / problem->kv_heads;
    choice_t choice = {.pattern = pattern, .problem = problem, .io = io};
    choice.kernels = attn_flash_kernels(attn_host_tier(host));
    choice.first_query_head = first;
    choice.first_key_head = first / group;
    choice.key_heads = (heads + group - 1) / group;
    choice.space = space_of(pattern, problem, io, attn_host_workers(host));
    /* Should the host leave tasks out: both sides, which lie one behind the other before the rows. */
    char *const sides = (char *)choice.space.keys.order;
    memset(sides, 0, (size_t)((char *)choice.space.rows - sides));
    draw(pattern, problem->dim, choice.space.matrices);
    attn_host_parallel_for(host, (choice.key_heads + heads) * pattern->base.rounds, choose_part,
                           &choice);
}

static attn_buckets_t buckets(const attn_pattern_t *base, const attn_head_t *head,
                              int64_t query_head) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const attn_problem_t *problem = head->problem;
    const space_t space = space_of(pattern, problem, head->io, 1);
    const int64_t rounds = pattern->base.rounds;
    const int64_t key_lists = (head->batch * problem->kv_heads + head->kv_head) * rounds;
    const int64_t query_lists = (head->batch * problem->heads + query_head) * rounds;
    return (attn_buckets_t){
        .rounds = rounds,
        .count = pattern->buckets,
        .queries = problem->queries,
        .keys = problem->keys,
        .query_codes = space.queries.codes + query_lists * problem->queries,
        .key_codes = space.keys.codes + key_lists * problem->keys,
        .query_order = space.queries.order + query_lists * problem->queries,
        .key_order = space.keys.order + key_lists * problem->keys,
        .starts = space.keys.starts + key_lists * (pattern->buckets + 2),
        .own = pattern->shared ? -1e5f : 0.0f,
    };
}

const sparse_kind_t attn_sparse_lsh = {
    .buckets = buckets,
    .room = room,
    .choose = choose,
    .period = attn_sparse_period,
    .cost = "rounds (n m / buckets (d + dv) + (n + m) buckets d / 2)",
};
#endif
