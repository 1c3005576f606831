/*
 * dilated: of the keys at a multiple of the stride from the query's position the nearest kB, that of
 * the position itself counted: abs(p - j) < kB * stride (Longformer's dilated window, arXiv:2004.05150).
 *
 * Keys are gathered stretch by stretch, each as long as a window reaches, and there by their remainder: what
 * a query sees of a stretch is one range, and neighbouring queries, of other remainders, see others that
 * are no farther away than the stretch is long.
 */
#include "pattern.h"

enum { STRETCHES = 3 /* that a window touches: before, its own, behind */ };

static int64_t reach(const sparse_pattern_t *pattern) {
    return (pattern->local * pattern->block - 1) * pattern->stride;
}

/* Keys of one remainder in a stretch; no more than there are. */
static int64_t width_of(const sparse_pattern_t *pattern) {
    return attn_min(pattern->local * pattern->block, (pattern->keys - 1) / pattern->stride + 1);
}

static int64_t length_of(const sparse_pattern_t *pattern) {
    return width_of(pattern) * pattern->stride;
}

static void see(const attn_pattern_t *base, const attn_problem_t *problem, int64_t keys,
                int64_t query, attn_range_t *ranges) {
    const sparse_pattern_t *pattern = (const sparse_pattern_t *)base;
    const sparse_place_t at = attn_sparse_place(problem, keys, query);
    const int64_t p = at.position, stride = pattern->stride, length = length_of(pattern);
    const int64_t far = reach(pattern), behind = stride - 1 - (p % stride + stride) % stride;
    const int64_t own = attn_max(0, attn_min(p, pattern->keys - 1)) / length;
    const attn_range_t window = attn_sparse_clamp(p - far, p + far + 1, at.visible);
    for (int i = 0; i < STRETCHES; i++) {
        const int64_t start = (own - 1 + i) * length;
        const int64_t first = attn_max(window.first - start, 0);
        const int64_t last = attn_max(first, attn_min(window.last - start, length));
        const int64_t those = start + (stride - 1 - behind) * width_of(pattern);
        ranges[i] =
            (attn_range_t){those + (first + behind) / stride, those + (last + behind) / stride};
    }
}

/* Whole stretches: behind the last key it stands again, where no query sees it. */
static int64_t gathered(const sparse_pattern_t *pattern) {
    const int64_t length = length_of(pattern);
    return ((pattern->keys - 1) / length + 1) * length;
}

static int64_t key(const sparse_pattern_t *pattern, int64_t g) {
    const int64_t at = g % length_of(pattern), width = width_of(pattern);
    return attn_min(g - at + at % width * pattern->stride + at / width, pattern->keys - 1);
}

static int64_t period(const sparse_pattern_t *pattern) { return pattern->stride; }

const sparse_kind_t attn_sparse_dilated = {.facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_STRIDE,
                                           .ranges = STRETCHES,
                                           .in_place = 0,
                                           .see = see,
                                           .gathered = gathered,
                                           .key = key,
                                           .reach = reach,
                                           .period = period,
                                           .cost = "n k B stride (d + dv)"};
