/*
 * lsh: the keys that share a bucket with the query in at least one round ("Reformer: The Efficient
 * Transformer", arXiv:2001.04451, 2): of a round's random rotation R, argmax [xR; -xR]. Buckets are attended
 * to whole, not cut into chunks, and a key that several rounds share counts once.
 *
 * A run finds the buckets before it attends, of a stream's keys those of new ones alone. Queries and keys are
 * sorted by them, and each round is a pass over them (kernels.c); one query alone looks for its keys.
 */
#include "attn/random.h"
#include "kernels.h"
#include "pattern.h"
#include "rows.h"

#include <string.h>

/* Queries or keys of all heads of all batches. */
typedef struct side {
    int64_t heads, tokens; /* heads of a batch */
    float *codes;          /* [heads of all batches][rounds][tokens] */
    int64_t *order;        /* the same */
    int64_t *starts; /* [heads][rounds][buckets + 2]: of keys that do not count, the last bucket */
} side_t;

typedef struct space {
    float *
        kept; /* [heads of a group][queries][value_dim + 2]: of the key/value head that is in flight */
    side_t keys, queries;
    float *rows; /* [workers][ROTATED][dim] */
} space_t;

static int64_t columns_of(const sparse_pattern_t *pattern) { return pattern->buckets / 2; }

static int64_t stride_of(const sparse_pattern_t *pattern) {
    return attn_round_up(columns_of(pattern), ROTATED_LANES);
}

static side_t lay_out_side(const sparse_pattern_t *pattern, int64_t batch, int64_t heads,
                           int64_t tokens, attn_arena_t *arena) {
    side_t side = {.heads = heads, .tokens = tokens};
    const int64_t lists = batch * heads * pattern->rounds;
    side.codes = attn_arena_take(arena, lists, (uint64_t)tokens * sizeof(float));
    if (!pattern->base.list) return side;
    side.order = attn_arena_take(arena, lists, (uint64_t)tokens * sizeof(int64_t));
    side.starts = attn_arena_take(arena, lists, (uint64_t)(pattern->buckets + 2) * sizeof(int64_t));
    return side;
}

static space_t lay_out_lsh(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                           uint32_t workers, attn_arena_t *arena) {
    space_t space = {.kept = NULL};
    if (pattern->base.list && pattern->rounds > 1)
        space.kept = attn_arena_take(arena, attn_group(problem) * problem->queries,
                                     (uint64_t)(problem->value_dim + 2) * sizeof(float));
    space.keys = lay_out_side(pattern, problem->batch, problem->kv_heads, problem->keys, arena);
    space.queries = lay_out_side(pattern, problem->batch, problem->heads, problem->queries, arena);
    space.rows = attn_arena_take(arena, workers, ROTATED * (uint64_t)problem->dim * sizeof(float));
    return space;
}

static void room(const sparse_pattern_t *pattern, const attn_host_t *host,
                 const attn_problem_t *problem, attn_arena_t *arena) {
    lay_out_lsh(pattern, problem, attn_host_workers(host), arena);
}

/* ---- rotations -------------------------------------------------------------------------------------- */

/* Of few bits, so that small whole numbers have exact products and sums, and so that a logarithm's last
 * bit, which machines have their own of, moves none. */
static float entry(uint64_t seed, int64_t round, int64_t index) {
    return (float)(floor(attn_random_normal(seed, (uint64_t)round, (uint64_t)index) * 4096 + 0.5) /
                   4096);
}

static void draw(sparse_pattern_t *pattern, int64_t dim, attn_arena_t *arena) {
    const int64_t columns = columns_of(pattern), stride = stride_of(pattern);
    float *rotations =
        attn_arena_take(arena, pattern->rounds * dim, (uint64_t)stride * sizeof(float));
    pattern->rotations = rotations;
    for (int64_t row = 0; rotations && row < pattern->rounds * dim; row++)
        for (int64_t c = 0; c < stride; c++)
            rotations[row * stride + c] =
                c < columns ? entry(pattern->seed, row / dim, row % dim * columns + c) : 0.0f;
}

/* ---- choosing --------------------------------------------------------------------------------------- */

typedef struct choice {
    const sparse_pattern_t *pattern;
    const attn_problem_t *problem;
    const attn_io_t *io;
    const sparse_kernels_t *kernels;
    const attn_tensor_t *tensor, *scales;
    const side_t *side;
    attn_kept_t kept; /* of the side's tokens */
    int64_t first;    /* head, of those of all batches */
    float *rows;
} choice_t;

/* One round of one head: its first `count` tokens count. */
typedef struct part {
    int64_t batch, head, round, count;
    float *codes;
    float *kept; /* code of token i: kept[i * rounds]; NULL: nothing is kept */
    int64_t *order, *starts;
} part_t;

static void find_buckets(const choice_t *choice, const part_t *part, float *rows) {
    const int64_t dim = choice->problem->dim, stride = stride_of(choice->pattern);
    const attn_tensor_t *tensor = choice->tensor, *scales = choice->scales;
    const sparse_rotation_t rotation = {choice->pattern->rotations + part->round * dim * stride,
                                        columns_of(choice->pattern), stride};
    for (int64_t first = choice->kept.known; first < part->count; first += ROTATED) {
        const int64_t count = attn_min(ROTATED, part->count - first);
        float codes[ROTATED];
        for (int64_t k = 0; k < ROTATED * dim; k++) rows[k] = 0.0f;
        for (int64_t i = 0; i < count; i++)
            sparse_add_row(rows + i * dim, tensor,
                           attn_offset(tensor, part->batch, part->head, first + i), dim,
                           scales && scales->data
                               ? *attn_row(scales, part->batch, part->head, first + i)
                               : 1.0f);
        choice->kernels->rotate(rows, dim, &rotation, codes);
        for (int64_t i = 0; i < count; i++) part->codes[first + i] = codes[i];
    }
}

/* Those that are kept, then the others, which are kept for the next run. */
static void find_all_buckets(const choice_t *choice, const part_t *part, float *rows) {
    const int64_t rounds = choice->pattern->rounds, known = choice->kept.known;
    for (int64_t i = 0; i < known; i++) part->codes[i] = part->kept[i * rounds];
    find_buckets(choice, part, rows);
    for (int64_t i = known; part->kept && i < part->count; i++)
        part->kept[i * rounds] = part->codes[i];
    for (int64_t i = part->count; i < choice->side->tokens; i++)
        part->codes[i] = (float)choice->pattern->buckets;
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
    const side_t *side = choice->side;
    const sparse_pattern_t *pattern = choice->pattern;
    const int64_t head = choice->first + task / pattern->rounds, round = task % pattern->rounds;
    const int64_t list = head * pattern->rounds + round, batch = head / side->heads;
    const part_t part = {
        .batch = batch,
        .head = head % side->heads,
        .round = round,
        .count = choice->scales ? attn_keys_of(choice->problem, choice->io, batch) : side->tokens,
        .codes = side->codes + list * side->tokens,
        .kept =
            choice->kept.numbers ? choice->kept.numbers + head * choice->kept.stride + round : NULL,
        .order = pattern->base.list ? side->order + list * side->tokens : NULL,
        .starts = pattern->base.list ? side->starts + list * (pattern->buckets + 2) : NULL,
    };
    find_all_buckets(choice, &part, choice->rows + worker * ROTATED * choice->problem->dim);
    if (pattern->base.list) sort(&part, side->tokens, pattern->buckets);
}

static space_t space_of(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                        const attn_io_t *io, uint32_t workers) {
    attn_arena_t arena = {.base = (char *)io->workspace + pattern->room};
    return lay_out_lsh(pattern, problem, workers, &arena);
}

static void choose_side(choice_t *choice, const attn_host_t *host, const side_t *side,
                        int64_t first, int64_t heads) {
    choice->side = side;
    choice->first = first;
    attn_host_parallel_for(host, heads * choice->pattern->rounds, choose_part, choice);
}

static void choose(const sparse_pattern_t *pattern, const attn_host_t *host,
                   const attn_problem_t *problem, const attn_io_t *io, int64_t first,
                   int64_t heads) {
    const int64_t group = problem->heads / problem->kv_heads;
    const space_t space = space_of(pattern, problem, io, attn_host_workers(host));
    choice_t choice = {.pattern = pattern,
                       .problem = problem,
                       .io = io,
                       .kernels = attn_sparse_kernels(attn_host_tier(host)),
                       .tensor = &io->key,
                       .scales = &io->key_scales,
                       .kept = pattern->kept,
                       .rows = space.rows};
    /* Should the host leave tasks out: both sides, which lie one behind the other before the rows. */
    char *const sides = (char *)space.keys.codes;
    memset(sides, 0, (size_t)((char *)space.rows - sides));
    choose_side(&choice, host, &space.keys, first / group, (heads + group - 1) / group);
    choice.tensor = &io->query;
    choice.scales = NULL;
    choice.kept = (attn_kept_t){.numbers = NULL};
    choose_side(&choice, host, &space.queries, first, heads);
}

/* ---- many queries: buckets --------------------------------------------------------------------------- */

static sparse_buckets_t buckets(const sparse_pattern_t *pattern, const attn_head_t *head,
                                int64_t query_head) {
    const attn_problem_t *problem = head->problem;
    const space_t space = space_of(pattern, problem, head->io, 1);
    const int64_t rounds = pattern->rounds;
    const int64_t key_head = head->batch * problem->kv_heads + head->kv_head;
    const int64_t number = head->batch * problem->heads + query_head;
    const int64_t member = query_head - head->kv_head * attn_group(problem);
    return (sparse_buckets_t){
        .rounds = rounds,
        .count = pattern->buckets,
        .queries = problem->queries,
        .keys = problem->keys,
        .query_codes = space.queries.codes + number * rounds * problem->queries,
        .key_codes = space.keys.codes + key_head * rounds * problem->keys,
        .query_order = space.queries.order + number * rounds * problem->queries,
        .key_order = space.keys.order + key_head * rounds * problem->keys,
        .starts = space.keys.starts + key_head * rounds * (pattern->buckets + 2),
        .kept =
            rounds > 1 ? space.kept + member * problem->queries * (problem->value_dim + 2) : NULL,
        .own = pattern->shared ? -1e5f : 0.0f,
    };
}

static const int64_t *list(const attn_pattern_t *base, const attn_head_t *head, int64_t round) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t first = head->kv_head * attn_group(head->problem);
    return buckets(pattern, head, first).key_order + round * head->problem->keys;
}

/* ---- one query: its key spans ----------------------------------------------------------------------- */

/* The first key from `first` on that shares a bucket with the query in some round, or in none. */
static int64_t find(const float *own, const float *codes, int64_t rounds, int64_t first,
                    const attn_problem_t *problem, int64_t count, int meets) {
    for (; first < count; first++) {
        int meet = 0;
        for (int64_t round = 0; round < rounds; round++)
            meet |= codes[round * problem->keys + first] == own[round];
        if (meet == meets) break;
    }
    return first;
}

static int next(const attn_pattern_t *base, const attn_head_t *head, const attn_queries_t *queries,
                attn_key_span_t *run) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const attn_problem_t *problem = head->problem;
    const space_t space = space_of(pattern, problem, head->io, 1);
    const int64_t rounds = pattern->rounds, count = attn_keys_of(problem, head->io, head->batch);
    const float *own =
        space.queries.codes + (head->batch * problem->heads + queries->head) * rounds;
    const float *codes = space.keys.codes +
                         (head->batch * problem->kv_heads + head->kv_head) * rounds * problem->keys;
    const int64_t first = find(own, codes, rounds, run->last, problem, count, 1);
    if (first == count) return 0;
    *run = (attn_key_span_t){.first = first,
                             .last = find(own, codes, rounds, first, problem, count, 0)};
    return 1;
}

const sparse_kind_t attn_sparse_lsh = {
    .facts = SPARSE_BUCKETS | SPARSE_ROUNDS,
    .next = next,
    .buckets = buckets,
    .list = list,
    .draw = draw,
    .room = room,
    .choose = choose,
    .period = attn_sparse_period,
    .cost = "rounds (n m / buckets (d + dv) + (n + m) buckets d / 2)",
};
