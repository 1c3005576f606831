/*
 * dilated: of the keys at a multiple of the stride from the query's position the nearest kB, that of
 * the position itself counted: abs(p - j) < kB * stride (Longformer's dilated window, arXiv:2004.05150).
 * Keys are gathered by their remainder, where a dilated window is one range.
 */
#include "pattern.h"

/* How many keys below `end` have this remainder. */
static int64_t count(const sparse_pattern_t *pattern, int64_t remainder, int64_t end) {
    return end > remainder ? (end - remainder - 1) / pattern->stride + 1 : 0;
}

/* Where they begin in the list. */
static int64_t start(const sparse_pattern_t *pattern, int64_t remainder) {
    const int64_t longer = pattern->keys % pattern->stride;
    return remainder * (pattern->keys / pattern->stride) +
           (remainder < longer ? remainder : longer);
}

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t width = pattern->local * pattern->block;
    const sparse_place_t at = attn_sparse_place(problem, keys, query);
    const int64_t p = at.position;
    const int64_t own = sparse_floor(p, pattern->stride), remainder = p - own * pattern->stride;
    const int64_t before = start(pattern, remainder);
    const attn_range_t seen = {before + count(pattern, remainder, at.seen.first),
                               before + count(pattern, remainder, at.seen.last)};
    ranges[0] = attn_sparse_clamp(before + own - width + 1, before + own + width, seen);
}

static int64_t gathered(const sparse_pattern_t *pattern) { return pattern->keys; }

static int64_t key(const sparse_pattern_t *pattern, int64_t g) {
    const int64_t longer = pattern->keys % pattern->stride, size = pattern->keys / pattern->stride;
    const int64_t those = longer * (size + 1); /* of the remainders that have one more */
    if (g < those) return g % (size + 1) * pattern->stride + g / (size + 1);
    return (g - those) % size * pattern->stride + longer + (g - those) / size;
}

static int64_t reach(const sparse_pattern_t *pattern) {
    return (pattern->local * pattern->block - 1) * pattern->stride;
}

static int64_t period(const sparse_pattern_t *pattern) { return pattern->stride; }

const sparse_kind_t attn_sparse_dilated = {.ranges = 1,
                                           .in_place = 0,
                                           .see = see,
                                           .gathered = gathered,
                                           .key = key,
                                           .reach = reach,
                                           .period = period,
                                           .cost = "n k B (d + dv)"};
