/* The pattern of Eq. 6, by arithmetic: no mask is ever stored. */
#include "pattern.h"

#include "attn/pairs.h"

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

int64_t attn_sparse_block(int64_t keys) {
    int64_t block = 1;
    while (block * 2 <= keys / (block * 2)) block *= 2;
    return block;
}

sparse_pattern_t attn_sparse_pattern(const attn_problem_t *problem, int64_t block, int64_t local,
                                     int64_t global) {
    const int64_t longest = problem->keys > problem->queries ? problem->keys : problem->queries;
    return (sparse_pattern_t){
        .keys = problem->keys,
        .block = block,
        .local = local,
        .global = global < block ? global : block,
        .band = local > longest / block ? longest + block : local * block,
        .shift = problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT ? problem->keys - problem->queries : 0,
        .causal = problem->causal != ATTN_CAUSAL_NONE,
    };
}

int64_t attn_sparse_globals(const sparse_pattern_t *pattern, int64_t end) {
    const int64_t in_last = end % pattern->block - (pattern->block - pattern->global);
    return end / pattern->block * pattern->global + (in_last > 0 ? in_last : 0);
}

int64_t attn_sparse_global_key(const sparse_pattern_t *pattern, int64_t g) {
    return g / pattern->global * pattern->block + pattern->block - pattern->global +
           g % pattern->global;
}

sparse_row_t attn_sparse_row(const sparse_pattern_t *pattern, int64_t query) {
    const int64_t at = query + pattern->shift;
    const int64_t limit = pattern->causal ? clamp(at + 1, 0, pattern->keys) : pattern->keys;
    sparse_row_t row;
    row.band.first = clamp(at - pattern->band + 1, 0, limit);
    row.band.last = clamp(pattern->causal ? at + 1 : at + pattern->band, row.band.first, limit);
    row.before = (sparse_range_t){0, attn_sparse_globals(pattern, row.band.first)};
    row.behind = (sparse_range_t){attn_sparse_globals(pattern, row.band.last),
                                  attn_sparse_globals(pattern, limit)};
    return row;
}

/* Sum of attn_sparse_globals(x) over 0 <= x < end. */
static attn_pairs_t sum_of_globals(const sparse_pattern_t *pattern, int64_t end) {
    const attn_pairs_t blocks = end / pattern->block, block = pattern->block;
    const attn_pairs_t global = pattern->global, rest = end % pattern->block;
    const attn_pairs_t in_last = rest > block - global ? rest - (block - global) : 0;
    return global * (block * (blocks * (blocks - 1) / 2) + blocks * rest) +
           blocks * (global * (global - 1) / 2) + in_last * (in_last - 1) / 2;
}

/* Global keys before each of `count` positions from `first` on, together. */
static attn_pairs_t globals_before(const sparse_pattern_t *pattern, int64_t first, int64_t count) {
    const attn_span_t span = attn_span_of(first, count, pattern->keys);
    return sum_of_globals(pattern, span.high) - sum_of_globals(pattern, span.low) +
           (attn_pairs_t)span.behind * attn_sparse_globals(pattern, pattern->keys);
}

double attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *problem) {
    const int64_t queries = problem->queries, keys = pattern->keys;
    const int64_t first = pattern->shift - pattern->band + 1; /* of the first query's band */
    const int64_t last = pattern->shift + (pattern->causal ? 1 : pattern->band);
    attn_pairs_t pairs =
        attn_pairs_before(last, queries, keys) - attn_pairs_before(first, queries, keys);
    pairs += globals_before(pattern, first, queries);
    if (!pattern->causal)
        pairs += (attn_pairs_t)queries * attn_sparse_globals(pattern, keys) -
                 globals_before(pattern, last, queries);
    return (double)(pairs * problem->batch * problem->heads);
}
