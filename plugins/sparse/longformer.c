/*
 * longformer: a window, and the first c keys for all queries; the queries at those positions see all
 * keys ("Longformer: The Long-Document Transformer", arXiv:2004.05150).
 */
#include "pattern.h"

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t width = pattern->local * pattern->block;
    const sparse_place_t at = attn_sparse_place(problem, keys, query);
    const int64_t p = at.position;
    ranges[1] =
        p < pattern->global ? at.visible : attn_sparse_clamp(p - width + 1, p + width, at.visible);
    ranges[0] =
        attn_sparse_clamp(0, pattern->global, (attn_range_t){at.visible.first, ranges[1].first});
}

/* Of the first keys none goes, and others are the same from one key to the next. */
static int64_t period(const sparse_pattern_t *pattern) {
    (void)pattern;
    return 1;
}

const sparse_kind_t attn_sparse_longformer = {.facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_GLOBAL,
                                              .ranges = 2,
                                              .in_place = 2,
                                              .see = see,
                                              .reach = attn_sparse_width,
                                              .sees_first = 1,
                                              .period = period,
                                              .cost = "n (k B + c) (d + dv)"};
