/* What patterns share: a query's place, and the last c keys of every block for all queries, gathered so
 * that they are read side by side. */
#include "pattern.h"

enum { BAND, BEFORE, BEHIND }; /* in the order they are seen */

sparse_place_t attn_sparse_place(const attn_problem_t *problem, int64_t keys, int64_t query) {
    sparse_place_t at = {.position = attn_query_position(problem, keys, query)};
    attn_key_range(problem, keys, query, &at.seen.first, &at.seen.last);
    return at;
}

attn_range_t attn_sparse_clamp(int64_t first, int64_t last, attn_range_t seen) {
    if (first < seen.first) first = seen.first;
    if (first > seen.last) first = seen.last;
    if (last > seen.last) last = seen.last;
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

void attn_sparse_see_globals(const sparse_pattern_t *pattern, attn_range_t seen, attn_range_t band,
                             attn_range_t *ranges) {
    ranges[BAND] = band;
    ranges[BEFORE] = ranges[BEHIND] = (attn_range_t){0, 0};
    if (seen.first < band.first)
        ranges[BEFORE] = (attn_range_t){attn_sparse_globals(pattern, seen.first),
                                        attn_sparse_globals(pattern, band.first)};
    if (band.last < seen.last)
        ranges[BEHIND] = (attn_range_t){attn_sparse_globals(pattern, band.last),
                                        attn_sparse_globals(pattern, seen.last)};
}
