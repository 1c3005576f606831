/* window: the nearest k B keys, that of the query's own position counted: abs(p - j) < kB. */
#include "pattern.h"

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t width = pattern->local * pattern->block;
    const sparse_place_t at = attn_sparse_place(problem, keys, query);
    const int64_t p = at.position;
    ranges[0] = attn_sparse_clamp(p - width + 1, p + width, at.visible);
}

const sparse_kind_t attn_sparse_window = {.facts = SPARSE_BLOCK | SPARSE_LOCAL,
                                          .ranges = 1,
                                          .in_place = 1,
                                          .see = see,
                                          .reach = attn_sparse_width,
                                          .period = attn_sparse_period,
                                          .cost = "n k B (d + dv)"};
