/* What patterns share: a query's place, and the last c keys of every block for all queries, gathered so
 * that they are read side by side. */
#include "pattern.h"

enum { BAND, BEFORE, BEHIND }; /* in the order they are seen */

sparse_place_t attn_sparse_place(const attn_problem_t *problem, int64_t keys, int64_t query) {
    sparse_place_t at = {.position = attn_query_position(problem, keys, query)};
    attn_key_range(problem, keys, query, &at.visible.first, &at.visible.last);
    return at;
}

attn_range_t attn_sparse_clamp(int64_t first, int64_t last, attn_range_t visible) {
    if (first < visible.first) first = visible.first;
    if (first > visible.last) first = visible.last;
    if (last > visible.last) last = visible.last;
    return (attn_range_t){first, last < first ? first : last};
}

int64_t attn_sparse_globals(const sparse_pattern_t *pattern, int64_t end) {
    const int64_t in_last = end % pattern->block - (pattern->block - pattern->global);
    return end / pattern->block * pattern->global + (in_last > 0 ? in_last : 0);
}

int64_t attn_sparse_period(const sparse_pattern_t *pattern) { return pattern->block; }

int64_t attn_sparse_width(const sparse_pattern_t *pattern) {
    return pattern->local * pattern->block - 1;
}

int64_t attn_sparse_global_key(const sparse_pattern_t *pattern, int64_t g) {
    return g / pattern->global * pattern->block + pattern->block - pattern->global +
           g % pattern->global;
}

void attn_sparse_see_globals(const sparse_pattern_t *pattern, attn_range_t visible,
                             attn_range_t band, attn_range_t *ranges) {
    ranges[BAND] = band;
    ranges[BEFORE] = ranges[BEHIND] = (attn_range_t){0, 0};
    if (visible.first < band.first)
        ranges[BEFORE] = (attn_range_t){attn_sparse_globals(pattern, visible.first),
                                        attn_sparse_globals(pattern, band.first)};
    if (band.last < visible.last)
        ranges[BEHIND] = (attn_range_t){attn_sparse_globals(pattern, band.last),
                                        attn_sparse_globals(pattern, visible.last)};
}
