/* Patterns of blocks as runs, and lists of blocks. */
#include "pattern.h"

void attn_sparse_extent(sparse_pattern_t *pattern, const attn_problem_t *problem) {
    const int64_t keys = problem->keys, block = pattern->block;
    const int may_be_shorter =
        problem->inputs & ATTN_INPUT_KV_LENGTHS && problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT;
    const int64_t last = attn_query_position(problem, keys, problem->queries - 1);
    int64_t first = attn_query_position(problem, keys, 0);
    /* Before the first key a causal query sees nothing. */
    if (problem->causal != ATTN_CAUSAL_NONE && (first < 0 || may_be_shorter)) first = 0;
    pattern->columns = (keys - 1) / block + 1;
    pattern->first_row = sparse_floor(first, block);
    pattern->rows = last < first ? 0 : sparse_floor(last, block) - pattern->first_row + 1;
}

int attn_sparse_next_listed(const sparse_list_t *list, int64_t block, attn_key_span_t *run) {
    const int64_t start = list->starts[list->row * list->starts_stride];
    const int64_t end = list->starts[(list->row + 1) * list->starts_stride];
    int64_t at = run->range < 0 ? start : run->cursor;
    if (at >= end) return 0;
    const int64_t first = list->listed[at * list->listed_stride];
    *run = (attn_key_span_t){.first = first * block, .last = (first + 1) * block};
    run->full = list->full && list->full[at * list->full_stride];
    while (++at < end && list->listed[at * list->listed_stride] * block == run->last &&
           run->full == (list->full && list->full[at * list->full_stride]))
        run->last += block;
    run->cursor = at;
    return 1;
}

int64_t attn_sparse_near(const sparse_pattern_t *pattern, int64_t row, int64_t column) {
    return column < row + pattern->local ? attn_max(column, row - pattern->local + 1) : INT64_MAX;
}

int attn_sparse_next(const attn_pattern_t *base, const attn_head_t *head,
                     const attn_queries_t *queries, attn_key_span_t *run) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t keys = attn_keys_of(head->problem, head->io, head->batch);
    const int64_t block = pattern->block;
    const int64_t row =
        sparse_floor(attn_query_position(head->problem, keys, queries->first), block);
    int64_t end = pattern->columns;
    if (row < pattern->first_row || row >= pattern->first_row + pattern->rows) return 0;
    if (pattern->is_causal) end = attn_min(end, row + 1);
    const int64_t first = pattern->kind->from(pattern, row, run->last / block);
    if (first >= end) return 0;
    int64_t last = first + 1;
    while (last < end && pattern->kind->from(pattern, row, last) == last) last++;
    *run = (attn_key_span_t){.first = first * block, .last = last * block};
    return 1;
}

void attn_sparse_see_all(const attn_pattern_t *pattern, const attn_problem_t *problem, int64_t keys,
                         int64_t query, attn_range_t *ranges) {
    (void)pattern;
    ranges[0] = attn_sparse_place(problem, keys, query).visible;
}
