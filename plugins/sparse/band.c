/*
 * band: Eq. 6 of "Do Efficient Transformers Really Save Computation?": the local band p - kB < j (and
 * j < p + kB when not causal), and the global keys, the last c of every block: j mod B >= B - c.
 */
#include "attn/pairs.h"
#include "pattern.h"

/* Keys of the band on either side of a query's position, that one counted with each. */
static int64_t band_of(const sparse_pattern_t *pattern) { return pattern->local * pattern->block; }

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const sparse_place_t at = attn_sparse_place(problem, keys, query);
    const int64_t p = at.position, band = band_of(pattern);
    attn_sparse_see_globals(pattern, at.visible,
                            attn_sparse_clamp(p - band + 1, p + band, at.visible), ranges);
}

static int64_t gathered(const sparse_pattern_t *pattern) {
    return attn_sparse_globals(pattern, pattern->keys);
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
static double pairs_of(const sparse_pattern_t *pattern, const attn_problem_t *problem) {
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

const sparse_kind_t attn_sparse_band = {
    .facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_GLOBAL,
    .ranges = 3,
    .in_place = 1,
    .see = see,
    .gathered = gathered,
    .key = attn_sparse_global_key,
    .period = attn_sparse_period,
    .pairs = pairs_of,
    .cost = "n (k B + c m / B) (d + dv)",
};
