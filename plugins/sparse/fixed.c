/*
 * fixed: the fixed pattern of "Generating Long Sequences with Sparse Transformers" (arXiv:1904.10509):
 * the query's own block (and the k - 1 before it), and the last c keys of every block.
 */
#include "pattern.h"

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const int64_t block = pattern->block, local = pattern->local;
    const sparse_place_t at = attn_sparse_place(problem, keys, query);
    const int64_t own = sparse_floor(at.position, block);
    attn_sparse_see_globals(
        pattern, at.visible,
        attn_sparse_clamp((own - local + 1) * block, (own + local) * block, at.visible), ranges);
}

static int64_t gathered(const sparse_pattern_t *pattern) {
    return attn_sparse_globals(pattern, pattern->keys);
}

const sparse_kind_t attn_sparse_fixed = {
    .facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_GLOBAL,
    .ranges = 3,
    .in_place = 1,
    .see = see,
    .gathered = gathered,
    .key = attn_sparse_global_key,
    .period = attn_sparse_period,
    .cost = "n (k B + c m / B) (d + dv)",
};
