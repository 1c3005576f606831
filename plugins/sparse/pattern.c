/* The pattern of Eq. 6, by arithmetic: no mask is ever stored. */
#include "pattern.h"

#include "attn/pairs.h"

enum { BAND, BEFORE, BEHIND, RANGES }; /* in the order they are seen */

static int64_t clamp(int64_t x, attn_range_t range) {
    return x < range.first ? range.first : x > range.last ? range.last : x;
}

int64_t attn_sparse_block(int64_t keys) {
    int64_t block = 1;
    while (block * 2 <= keys / (block * 2)) block *= 2;
    return block;
}

int64_t attn_sparse_globals(const sparse_pattern_t *pattern, int64_t end) {
    const int64_t in_last = end % pattern->block - (pattern->block - pattern->global);
    return end / pattern->block * pattern->global + (in_last > 0 ? in_last : 0);
}

int64_t attn_sparse_global_key(const sparse_pattern_t *pattern, int64_t g) {
    return g / pattern->global * pattern->block + pattern->block - pattern->global +
           g % pattern->global;
}

/* Keys of the band on either side of a query's position, that one counted with each. */
static int64_t band_of(const sparse_pattern_t *pattern) { return pattern->local * pattern->block; }

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t position = attn_query_position(problem, keys, query);
    attn_range_t seen, band;
    attn_key_range(problem, keys, query, &seen.first, &seen.last);
    band.first = clamp(position - band_of(pattern) + 1, seen);
    band.last = clamp(position + band_of(pattern), seen);
    ranges[BAND] = band;
    ranges[BEFORE] = ranges[BEHIND] = (attn_range_t){0, 0};
    if (seen.first < band.first)
        ranges[BEFORE] = (attn_range_t){attn_sparse_globals(pattern, seen.first),
                                        attn_sparse_globals(pattern, band.first)};
    if (band.last < seen.last)
        ranges[BEHIND] = (attn_range_t){attn_sparse_globals(pattern, band.last),
                                        attn_sparse_globals(pattern, seen.last)};
}

sparse_pattern_t attn_sparse_pattern(int64_t keys, int64_t block, int64_t local, int64_t global) {
    sparse_pattern_t pattern = {
        .base = {.ranges = RANGES, .in_place = 1, .see = see},
        .block = block,
        .local = local,
        .global = global < block ? global : block,
    };
    pattern.base.gathered = attn_sparse_globals(&pattern, keys);
    return pattern;
}

/* ---- pairs ------------------------------------------------------------------------------------ */

/* Sum of attn_sparse_globals(x) over 0 <= x < end. */
static attn_pairs_t sum_of_globals(const sparse_pattern_t *pattern, int64_t end) {
    const attn_pairs_t blocks = end / pattern->block, block = pattern->block;
    const attn_pairs_t global = pattern->global, rest = end % pattern->block;
    const attn_pairs_t in_last = rest > block - global ? rest - (block - global) : 0;
    return global * (block * (blocks * (blocks - 1) / 2) + blocks * rest) +
           blocks * (global * (global - 1) / 2) + in_last * (in_last - 1) / 2;
}

/* Global keys before each of the problem's queries, shifted by `by`, together. */
static attn_pairs_t globals_before(const sparse_pattern_t *pattern, const attn_problem_t *problem,
                                   int64_t by) {
    const int64_t keys = problem->keys, start = attn_query_position(problem, keys, 0);
    const attn_span_t span = attn_span_of(start + by, problem->queries, keys);
    return sum_of_globals(pattern, span.high) - sum_of_globals(pattern, span.low) +
           (attn_pairs_t)span.behind * attn_sparse_globals(pattern, keys);
}

/* All keys before each of the problem's queries, shifted by `by`, together. */
static attn_pairs_t keys_before(const attn_problem_t *problem, int64_t by) {
    const int64_t start = attn_query_position(problem, problem->keys, 0);
    return attn_pairs_before(start + by, problem->queries, problem->keys);
}

/*
 * Every end of every range is the query's position, shifted and clamped to the keys: the rules' ends
 * by the windows, the band's by its width where that is nearer.
 */
double attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *problem) {
    const attn_pairs_t queries = problem->queries;
    const int64_t left = problem->window_left, band = band_of(pattern);
    const int64_t right = problem->causal != ATTN_CAUSAL_NONE ? 0 : problem->window_right;
    const int64_t first = left >= 0 && left < band ? -left : 1 - band;
    const int64_t last = right >= 0 && right < band ? right + 1 : band;
    attn_pairs_t pairs = keys_before(problem, last) - keys_before(problem, first);
    pairs += globals_before(pattern, problem, first) - globals_before(pattern, problem, last);
    if (left >= 0) pairs -= globals_before(pattern, problem, -left);
    pairs += right >= 0 ? globals_before(pattern, problem, right + 1)
                        : queries * attn_sparse_globals(pattern, problem->keys);
    return (double)(pairs * problem->batch * problem->heads);
}
