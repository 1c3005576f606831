/*
 * attention/span_iterator.h: the key spans that a pattern keeps for a few queries, some at a time. Compiled once, for
 * kernels of all tiers.
 */
#ifndef ATTN_ATTENTION_SPAN_ITERATOR_H
#define ATTN_ATTENTION_SPAN_ITERATOR_H

#include "attention/pattern.h"

enum { SPAN_ROWS = 128 /* queries at most, whole tiles */ };

/* How far an iterator is: the keys of a span before `done` are taken. */
typedef struct span_place {
    attn_key_span_t run;
    int64_t done;
} span_place_t;

typedef struct attn_span_iterator {
    const attn_pattern_t *pattern;
    const attn_head_t *head;
    const attn_queries_t *queries;
    attn_range_t rows[ATTN_MOST_RANGES][SPAN_ROWS];  /* of each query; the last is repeated */
    attn_range_t tiles[ATTN_MOST_RANGES][SPAN_ROWS]; /* of each `tile` of them together */
    attn_range_t visible[ATTN_MOST_RANGES];          /* of all */
    span_place_t at;
} attn_span_iterator_t;

/** Begin with queries that go by tiles of `tile`. */
void attn_spans_begin(attn_span_iterator_t *walk, const attn_pattern_t *pattern,
                      const attn_head_t *head, const attn_queries_t *queries, int64_t tile);

/** The next spans, or parts of them: `most` at most, of `room` keys in all, where each takes whole panels
 * of `panel`. Returns how many; 0 behind the last. */
int attn_spans_take(attn_span_iterator_t *walk, attn_key_span_t *runs, int most, int64_t room,
                    int64_t panel);

#endif
