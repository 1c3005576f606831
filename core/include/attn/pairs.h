/*
 * attn/pairs.h: how many (query, key) pairs a problem has, and how many keys they are of, for a
 * backend's attn.cost/1: in closed form, as sequences may be as long as memory allows, and in
 * integers, as windows are differences of far larger sums.
 */
#ifndef ATTN_PAIRS_H
#define ATTN_PAIRS_H

#include "attn/types.h"

/** Holds any number of pairs: arrays fit in memory, so that a side has less bits than a pointer. */
#if UINTPTR_MAX > 0xFFFFFFFF
__extension__ typedef __int128 attn_pairs_t;
#else
typedef int64_t attn_pairs_t;
#endif

/** `count` positions from `first` on, and the keys 0..keys beside which they lie. */
typedef struct attn_span {
    int64_t low, high; /**< those at a key: low <= x < high */
    int64_t behind;    /**< how many lie behind all keys */
} attn_span_t;

/** Where `count` positions from `first` on lie beside the keys. */
static inline attn_span_t attn_span_of(int64_t first, int64_t count, int64_t keys) {
    const int64_t end = first + count;
    attn_span_t span;
    span.low = first < 0 ? 0 : first < keys ? first : keys;
    span.high = end < 0 ? 0 : end < keys ? end : keys;
    span.behind = end - (first > keys ? first : keys);
    if (span.behind < 0) span.behind = 0;
    return span;
}

/** Sum of the positions x of a span, each no less than 0 and no more than `keys`. */
static inline attn_pairs_t attn_pairs_before(int64_t first, int64_t count, int64_t keys) {
    const attn_span_t span = attn_span_of(first, count, keys);
    const attn_pairs_t low = span.low, high = span.high;
    return (high * (high - 1) - low * (low - 1)) / 2 + (attn_pairs_t)span.behind * keys;
}

/** Pairs that the problem's positions allow (attn_key_range() with all keys), all heads
 *  together. */
static inline double attn_problem_pairs(const attn_problem_t *problem) {
    const int64_t start = attn_query_position(problem, problem->keys, 0);
    const int64_t right = problem->causal != ATTN_CAUSAL_NONE ? 0 : problem->window_right;
    attn_pairs_t pairs = (attn_pairs_t)problem->queries * problem->keys;
    if (right >= 0) pairs = attn_pairs_before(start + right + 1, problem->queries, problem->keys);
    if (problem->window_left >= 0)
        pairs -= attn_pairs_before(start - problem->window_left, problem->queries, problem->keys);
    return (double)(pairs * problem->batch * problem->heads);
}

/**
 * Keys that at least one query sees by position: those of a key/value head that a run has to
 * read. Queries stand at neighbouring positions, so that what they see together has no gap.
 */
static inline int64_t attn_problem_seen_keys(const attn_problem_t *problem) {
    int64_t first, last, unused;
    attn_key_range(problem, problem->keys, 0, &first, &unused);
    attn_key_range(problem, problem->keys, problem->queries - 1, &unused, &last);
    return first < last ? last - first : 0;
}

#endif
