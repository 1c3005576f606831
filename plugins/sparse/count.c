/* How many pairs a pattern keeps, how many are computed for them, and how many keys they are of. */
#include "attention/span_iterator.h"
#include "attn/pairs.h"
#include "pattern.h"

#include <math.h>
#include <string.h>

/* Steps that counting takes at most, which may be as long as attention itself: a query, a span, or a block of spans that
 * are made of blocks. */
enum { MOST_STEPS = 1 << 24 };

static double overlap(const attn_key_span_t *run, attn_range_t visible) {
    const int64_t first = visible.first > run->first ? visible.first : run->first;
    const int64_t last = visible.last < run->last ? visible.last : run->last;
    return first < last ? (double)(last - first) : 0;
}

/* Keys that some query sees, one bit for each. */
enum { MOST_MARKED = 1 << 16, MARKS = MOST_MARKED / 64 };
typedef struct marks {
    uint64_t bits[MARKS];
    int64_t count, most; /* at `most` they are all there */
} marks_t;

static void mark(marks_t *marks, int64_t key) {
    const uint64_t bit = UINT64_C(1) << key % 64;
    marks->count += !(marks->bits[key / 64] & bit);
    marks->bits[key / 64] |= bit;
}

/* What queries see of a span: keys where they are, or numbers of a list of keys. */
static void mark_run(marks_t *marks, const sparse_pattern_t *pattern, const attn_key_span_t *run,
                     attn_range_t visible) {
    const int64_t first = visible.first > run->first ? visible.first : run->first;
    const int64_t last = visible.last < run->last ? visible.last : run->last;
    const int is_listed = run->range >= pattern->base.in_place;
    for (int64_t j = first; j < last && marks->count < marks->most; j++)
        mark(marks, is_listed ? pattern->kind->key(pattern, j) : j);
}

/* Of queries that are in one block, as long as there are `steps`; how many are left. */
static int64_t count_block(const sparse_pattern_t *pattern, const attn_head_t *head,
                           const attn_queries_t *queries, sparse_count_t *count, marks_t *marks,
                           int64_t steps) {
    attn_span_iterator_t walk;
    attn_key_span_t run;
    attn_spans_begin(&walk, &pattern->base, head, queries, 1);
    steps -= queries->count;
    while (steps >= 0 && attn_spans_take(&walk, &run, 1, INT64_MAX / 2, 1)) {
        steps -= pattern->base.next ? (run.last - run.first) / pattern->block : 1;
        if (marks) mark_run(marks, pattern, &run, walk.visible[run.range]);
        count->computed += overlap(&run, walk.visible[run.range]) * (double)queries->count;
        for (int64_t i = 0; i < queries->count; i++) {
            const double visible = overlap(&run, walk.rows[run.range][i]);
            const int chooses = pattern->kind->by_logits && visible > (double)pattern->top;
            count->pairs += chooses ? (double)pattern->top : visible;
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

/* Where keys are not marked, a key/value head's queries read no more than they keep, and no more than they see. To
 * choose, all keys are read. */
static void count_keys(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                       const marks_t *marks, sparse_count_t *count) {
    const double visible = (double)attn_problem_seen_keys(problem);
    const double kept = count->pairs / (double)(problem->batch * problem->kv_heads);
    count->values = marks ? (double)marks->count : kept < visible ? kept : visible;
    count->keys = pattern->kind->choose || pattern->kind->by_logits ? visible : count->values;
}

sparse_count_t attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *given) {
    attn_problem_t problem = *given;
    problem.inputs = 0;
    sparse_count_t count = {0, 0, 0, 0};
    const attn_head_t head = {.problem = &problem, .batches = 1, .heads = 1};
    const double heads = (double)(problem.batch * problem.heads);
    const int64_t p = attn_query_position(&problem, problem.keys, 0);
    const int is_chosen = pattern->kind->choose || pattern->kind->by_logits;
    marks_t room, *marks = !is_chosen && problem.keys <= MOST_MARKED ? &room : NULL;
    if (marks) memset(marks, 0, sizeof *marks), marks->most = attn_problem_seen_keys(&problem);
    int64_t steps = MOST_STEPS;
    if (problem.queries > steps || pattern->buckets || may_choose_less(pattern, &problem) ||
        (pattern->kind->next && !pattern->kind->choose)) /* no plan knows */
        steps = -1;
    for (int64_t i = 0, end; steps >= 0 && i < problem.queries; i = end) {
        end = (sparse_floor(p + i, pattern->block) + 1) * pattern->block - p;
        if (end > i + SPAN_ROWS) end = i + SPAN_ROWS;
        if (end > problem.queries) end = problem.queries;
        const attn_queries_t queries = {.lines = 1, .first = i, .count = end - i};
        steps = count_block(pattern, &head, &queries, &count, marks, steps);
    }
    if (steps < 0) count.pairs = count.computed = NAN;
    count.pairs *= heads;
    count.computed *= heads;
    if (pattern->kind->pairs) count.pairs = pattern->kind->pairs(pattern, &problem);
    count_keys(pattern, &problem, steps < 0 ? NULL : marks, &count);
    return count;
}
