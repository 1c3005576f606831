/* Runs of keys, in order. */
#include "attention/span_iterator.h"

/* Widen a range to one that has all keys of both. */
static void unite(attn_range_t *range, attn_range_t other) {
    if (other.first >= other.last) return;
    if (range->first >= range->last || other.first < range->first) range->first = other.first;
    if (other.last > range->last) range->last = other.last;
}

void attn_spans_begin(attn_span_iterator_t *walk, const attn_pattern_t *pattern,
                      const attn_head_t *head, const attn_queries_t *queries, int64_t tile) {
    const attn_problem_t *problem = head->problem;
    const int64_t count = attn_row_count(queries);
    walk->pattern = pattern;
    walk->head = head;
    walk->queries = queries;
    walk->at = (span_place_t){.run = {.range = -1}};
    for (int32_t k = 0; k < pattern->ranges; k++) walk->visible[k] = (attn_range_t){0, 0};
    for (int64_t t = 0, i = 0; i < count; t++) {
        attn_range_t visible[ATTN_MOST_RANGES];
        for (int32_t k = 0; k < pattern->ranges; k++) walk->tiles[k][t] = (attn_range_t){0, 0};
        for (const int64_t end = i + tile; i < end; i++) {
            if (i < count) {
                const attn_place_t at = attn_place_of(head, queries, i);
                pattern->see(pattern, problem, attn_keys_of(problem, head->io, at.batch), at.query,
                             visible);
            }
            for (int32_t k = 0; k < pattern->ranges; k++) {
                walk->rows[k][i] = visible[k];
                unite(&walk->tiles[k][t], visible[k]);
            }
        }
        for (int32_t k = 0; k < pattern->ranges; k++) unite(&walk->visible[k], walk->tiles[k][t]);
    }
}

/* The span behind walk->at.run; 0 behind the last. */
static int next(attn_span_iterator_t *walk) {
    const attn_pattern_t *pattern = walk->pattern;
    attn_key_span_t *run = &walk->at.run;
    if (pattern->next) return pattern->next(pattern, walk->head, walk->queries, run);
    while (run->range + 1 < pattern->ranges) {
        const int32_t range = run->range + 1;
        const attn_range_t visible = walk->visible[range];
        *run = (attn_key_span_t){.first = visible.first, .last = visible.last, .range = range};
        if (visible.first < visible.last) return 1;
    }
    return 0;
}

int attn_spans_take(attn_span_iterator_t *walk, attn_key_span_t *runs, int most, int64_t room,
                    int64_t panel) {
    span_place_t *at = &walk->at;
    int count = 0;
    while (count < most && room > 0) {
        if (at->done >= at->run.last) {
            if (!next(walk)) break;
            at->done = at->run.first;
        }
        attn_key_span_t *run = &runs[count++];
        *run = at->run;
        run->first = at->done;
        const int64_t base = run->first - run->first % panel;
        if (run->last - base > room) run->last = base + room;
        at->done = run->last;
        room -= (run->last - base + panel - 1) / panel * panel;
    }
    return count;
}
