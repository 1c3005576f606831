/* How many pairs a pattern keeps, and how many are computed for them. */
#include "attn/pairs.h"
#include "flash/walk.h"
#include "pattern.h"

#include <math.h>

/* Steps that counting takes at most, which may be as long as attention itself: a query, a run, or a block of runs that
 * are made of blocks. */
enum { MOST_STEPS = 1 << 24 };

static double overlap(const attn_run_t *run, attn_range_t seen) {
    const int64_t first = seen.first > run->first ? seen.first : run->first;
    const int64_t last = seen.last < run->last ? seen.last : run->last;
    return first < last ? (double)(last - first) : 0;
}

/* Of queries that are in one block, as long as there are `steps`; how many are left. */
static int64_t count_block(const sparse_pattern_t *pattern, const attn_head_t *head,
                           const attn_queries_t *queries, sparse_count_t *count, int64_t steps) {
    flash_walk_t walk;
    attn_run_t run;
    attn_walk_begin(&walk, &pattern->base, head, queries, 1);
    steps -= queries->count;
    while (steps >= 0 && attn_walk_take(&walk, &run, 1, INT64_MAX / 2, 1)) {
        steps -= pattern->base.next ? (run.last - run.first) / pattern->block : 1;
        count->touched += overlap(&run, walk.seen[run.range]) * (double)queries->count;
        for (int64_t i = 0; i < queries->count; i++) {
            const double seen = overlap(&run, walk.rows[run.range][i]);
            const int chooses = pattern->base.top && seen > (double)pattern->base.top;
            count->pairs += chooses ? (double)pattern->base.top : seen;
        }
    }
    return steps;
}

/* Whether runs may choose the last block, and it is shorter than others: a causal query's own is not chosen. */
static int may_choose_less(const sparse_pattern_t *pattern, const attn_problem_t *problem) {
    const int64_t last = attn_query_position(problem, problem->keys, problem->queries - 1);
    const int is_own =
        pattern->is_causal && last / pattern->block <= problem->keys / pattern->block;
    return pattern->kind->choose && problem->keys % pattern->block && !is_own;
}

sparse_count_t attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *given) {
    attn_problem_t problem = *given;
    problem.inputs = 0;
    sparse_count_t count = {0, 0};
    const attn_head_t head = {.problem = &problem};
    const double heads = (double)(problem.batch * problem.heads);
    const int64_t p = attn_query_position(&problem, problem.keys, 0);
    int64_t steps = MOST_STEPS;
    if (problem.queries > steps || pattern->buckets || may_choose_less(pattern, &problem) ||
        (pattern->kind->next && !pattern->kind->choose)) /* no plan knows */
        steps = -1;
    for (int64_t i = 0, end; steps >= 0 && i < problem.queries; i = end) {
        end = (sparse_floor(p + i, pattern->block) + 1) * pattern->block - p;
        if (end > i + WALK_ROWS) end = i + WALK_ROWS;
        if (end > problem.queries) end = problem.queries;
        const attn_queries_t queries = {.first = i, .count = end - i};
        steps = count_block(pattern, &head, &queries, &count, steps);
    }
    if (steps < 0) count.pairs = count.touched = NAN;
    count.pairs *= heads;
    count.touched *= heads;
    if (pattern->kind->pairs) count.pairs = pattern->kind->pairs(pattern, &problem);
    return count;
}
