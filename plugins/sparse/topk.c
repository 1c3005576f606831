/*
 * topk: the nearest k blocks, and of the others that any query of its block sees the `top` whose mean key
 * has the largest product with the block's mean query, of equal ones the first. Means of keys stand for
 * their blocks in Quest (arXiv:2406.10774 has bounds beside them) and, means of queries too, in
 * MInference (arXiv:2407.02490).
 *
 * A run chooses before it attends: sums of blocks, scores, and a list for each block of queries.
 */
#include "pattern.h"
#include "rows.h"

typedef struct space {
    float *sums;    /* [batch * kv_heads][columns][dim]: of each block's keys */
    int64_t *lists; /* [batch * heads][rows][LISTED + most]: 0, how many, then columns */
    char *scratch;  /* of each worker */
} space_t;
enum { LISTED = 2 };

typedef struct choice {
    const sparse_pattern_t *pattern;
    const attn_problem_t *problem;
    const attn_io_t *io;
    int64_t first; /* query head of those of all batches */
    space_t space;
} choice_t;

/* A block's query, then a rank for each column. */
static uint64_t scratch_size(const sparse_pattern_t *pattern, const attn_problem_t *problem) {
    return (uint64_t)(problem->dim + pattern->columns) * sizeof(float);
}

static int64_t list_size(const sparse_pattern_t *pattern) {
    return LISTED + attn_min(pattern->columns, pattern->top + 2 * pattern->local - 1);
}

static space_t lay_out_topk(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                            uint32_t workers, attn_arena_t *arena) {
    space_t space;
    space.lists = attn_arena_take(arena, problem->batch * problem->heads * pattern->rows,
                                  (uint64_t)list_size(pattern) * sizeof(int64_t));
    space.sums = attn_arena_take(arena, problem->batch * problem->kv_heads * problem->dim,
                                 (uint64_t)pattern->columns * sizeof(float));
    space.scratch = attn_arena_take(arena, workers, scratch_size(pattern, problem));
    return space;
}

/* ---- sums ------------------------------------------------------------------------------------------ */

static void sum_keys(void *data, int64_t task, uint32_t worker) {
    const choice_t *choice = data;
    const attn_problem_t *problem = choice->problem;
    const attn_io_t *io = choice->io;
    const int64_t columns = choice->pattern->columns, block = choice->pattern->block;
    const int64_t head = choice->first / (problem->heads / problem->kv_heads) + task / columns;
    const int64_t batch = head / problem->kv_heads, kv_head = head % problem->kv_heads;
    const int64_t first = task % columns * block;
    const int64_t last = attn_min(first + block, attn_keys_of(problem, io, batch));
    float *sum = choice->space.sums + (head * columns + task % columns) * problem->dim;
    (void)worker;
    for (int64_t k = 0; k < problem->dim; k++) sum[k] = 0.0f;
    for (int64_t j = first; j < last; j++)
        sparse_add_row(sum, &io->key, attn_offset(&io->key, batch, kv_head, j), problem->dim,
                       io->key_scales.data ? *attn_row(&io->key_scales, batch, kv_head, j) : 1.0f);
}

/* ---- choosing --------------------------------------------------------------------------------------- */

/* Queries of a block of positions, and the columns that any of them sees. */
typedef struct scope {
    attn_range_t queries, columns, near;
} scope_t;

static scope_t scope_of(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                        int64_t keys, int64_t row) {
    const int64_t block = pattern->block;
    const int64_t start = row * block - attn_query_position(problem, keys, 0);
    scope_t scope = {.queries = {attn_max(0, start), attn_min(problem->queries, start + block)}};
    if (scope.queries.first >= scope.queries.last) return scope;
    const attn_range_t first = attn_sparse_place(problem, keys, scope.queries.first).visible;
    const attn_range_t last = attn_sparse_place(problem, keys, scope.queries.last - 1).visible;
    if (first.first >= last.last) return scope;
    scope.columns = (attn_range_t){first.first / block, (last.last - 1) / block + 1};
    scope.near = attn_sparse_clamp(row - pattern->local + 1, row + pattern->local, scope.columns);
    return scope;
}

/* Greater for a greater score; NaN has the least. */
static uint32_t rank_of(float score) {
    const uint32_t bits = float_to_bits(score), sign = 1u << 31;
    if (score != score) return 0;
    return bits & sign ? ~bits : bits | sign;
}

/* Compiled once, not for each tier, whose sums would go in other orders: near ties all tiers have to choose the same
 * blocks. Eight sums side by side are what compilers make vectors of. */
static float product(const float *a, const float *b, int64_t dim) {
    float sums[8] = {0}, sum = 0.0f;
    int64_t k = 0;
    for (; k + 8 <= dim; k += 8)
        for (int64_t l = 0; l < 8; l++) sums[l] += a[k + l] * b[k + l];
    for (; k < dim; k++) sum += a[k] * b[k];
    for (int64_t l = 0; l < 8; l++) sum += sums[l];
    return sum;
}

static void rank_columns(const choice_t *choice, int64_t head, const scope_t *scope,
                         char *scratch) {
    const attn_problem_t *problem = choice->problem;
    const attn_tensor_t *query = &choice->io->query;
    const int64_t columns = choice->pattern->columns, block = choice->pattern->block;
    const int64_t batch = head / problem->heads, group = problem->heads / problem->kv_heads;
    const int64_t keys = attn_keys_of(problem, choice->io, batch);
    const float *sums = choice->space.sums + head / group * problem->dim * columns;
    float *mean = (float *)(void *)scratch;
    uint32_t *ranks = (uint32_t *)(void *)(mean + problem->dim);
    for (int64_t k = 0; k < problem->dim; k++) mean[k] = 0.0f;
    for (int64_t i = scope->queries.first; i < scope->queries.last; i++)
        sparse_add_row(mean, query, attn_offset(query, batch, head % problem->heads, i),
                       problem->dim, 1.0f);
    for (int64_t c = scope->columns.first; c < scope->columns.last; c++)
        ranks[c] = rank_of(product(mean, sums + c * problem->dim, problem->dim) /
                           (float)attn_min(block, keys - c * block));
    for (int64_t c = scope->near.first; c < scope->near.last; c++) ranks[c] = UINT32_MAX;
}

static int64_t count_from(const uint32_t *ranks, attn_range_t columns, uint32_t least) {
    int64_t count = 0;
    for (int64_t c = columns.first; c < columns.last; c++) count += ranks[c] >= least;
    return count;
}

/* The columns of the `wanted` largest ranks, ascending, of equal ones the first: the last rank that is
 * among them is found bit by bit. */
static int64_t take_largest(const uint32_t *ranks, attn_range_t columns, int64_t wanted,
                            int64_t *listed) {
    uint32_t least = 0;
    for (uint32_t bit = 1u << 31; bit; bit >>= 1)
        if (count_from(ranks, columns, least | bit) >= wanted) least |= bit;
    const int64_t above = least < UINT32_MAX ? count_from(ranks, columns, least + 1) : 0;
    int64_t count = 0, equal = wanted - above;
    for (int64_t c = columns.first; c < columns.last; c++)
        if (ranks[c] > least || (ranks[c] == least && equal-- > 0)) listed[count++] = c;
    return count;
}

static void list_row(void *data, int64_t task, uint32_t worker) {
    const choice_t *choice = data;
    const sparse_pattern_t *pattern = choice->pattern;
    const attn_problem_t *problem = choice->problem;
    const int64_t head = choice->first + task / pattern->rows, row = task % pattern->rows;
    const int64_t keys = attn_keys_of(problem, choice->io, head / problem->heads);
    const scope_t scope = scope_of(pattern, problem, keys, pattern->first_row + row);
    int64_t *list = choice->space.lists + (head * pattern->rows + row) * list_size(pattern);
    char *scratch = choice->space.scratch + worker * scratch_size(pattern, problem);
    const uint32_t *ranks = (const uint32_t *)(void *)scratch + problem->dim;
    if (scope.columns.first >= scope.columns.last) return;
    rank_columns(choice, head, &scope, scratch);
    list[1] = take_largest(ranks, scope.columns,
                           attn_min(pattern->top + scope.near.last - scope.near.first,
                                    scope.columns.last - scope.columns.first),
                           list + LISTED);
}

static void room(const sparse_pattern_t *pattern, const attn_host_t *host,
                 const attn_problem_t *problem, attn_arena_t *arena) {
    lay_out_topk(pattern, problem, attn_host_workers(host), arena);
}

static void choose(const sparse_pattern_t *pattern, const attn_host_t *host,
                   const attn_problem_t *problem, const attn_io_t *io, int64_t first,
                   int64_t heads) {
    const int64_t group = problem->heads / problem->kv_heads;
    attn_arena_t arena = {.base = (char *)io->workspace + pattern->room};
    choice_t choice = {.pattern = pattern, .problem = problem, .io = io, .first = first};
    choice.space = lay_out_topk(pattern, problem, attn_host_workers(host), &arena);
    for (int64_t r = first * pattern->rows; r < (first + heads) * pattern->rows; r++) {
        int64_t *list = choice.space.lists + r * list_size(pattern);
        list[0] = list[1] = 0; /* should the host leave tasks out */
    }
    attn_host_parallel_for(host, (heads + group - 1) / group * pattern->columns, sum_keys, &choice);
    attn_host_parallel_for(host, heads * pattern->rows, list_row, &choice);
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* Without arrays, whose pairs are to be counted: the first are chosen. */
static int next_first(const sparse_pattern_t *pattern, const scope_t *scope, attn_key_span_t *run) {
    const attn_range_t near = scope->near;
    int64_t c = attn_max(run->last / pattern->block, scope->columns.first);
    const int64_t others =
        attn_min(c, near.first) - scope->columns.first + attn_max(0, c - near.last);
    if (c < near.first && others >= pattern->top) c = near.first;
    if (c >= scope->columns.last || (c >= near.last && others >= pattern->top)) return 0;
    *run = (attn_key_span_t){.first = c * pattern->block, .last = (c + 1) * pattern->block};
    return 1;
}

static int next(const attn_pattern_t *base, const attn_head_t *head, const attn_queries_t *queries,
                attn_key_span_t *run) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const attn_problem_t *problem = head->problem;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    const int64_t row =
        sparse_floor(attn_query_position(problem, keys, queries->first), pattern->block);
    if (!head->io) {
        const scope_t scope = scope_of(pattern, problem, keys, row);
        return next_first(pattern, &scope, run);
    }
    const int64_t at = row - pattern->first_row;
    if (at < 0 || at >= pattern->rows) return 0;
    const int64_t *lists = (const int64_t *)(void *)((char *)head->io->workspace + pattern->room);
    const int64_t number = head->batch * problem->heads + queries->head;
    const int64_t *own = lists + (number * pattern->rows + at) * list_size(pattern);
    const sparse_list_t list = {
        .starts = own, .listed = own + LISTED, .starts_stride = 1, .listed_stride = 1};
    return attn_sparse_next_listed(&list, pattern->block, run);
}

const sparse_kind_t attn_sparse_topk = {.facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_TOP,
                                        .next = next,
                                        .room = room,
                                        .choose = choose,
                                        .cost = "n (k + top) B (d + dv) + n m d / B^2"};
