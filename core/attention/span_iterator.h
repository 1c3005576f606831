/*
 * attention/span_iterator.h: the runs of keys that a few queries see by a pattern, some at a time. Compiled once, for
 * kernels of all tiers.
 */
#ifndef ATTN_ATTENTION_SPAN_ITERATOR_H
#define ATTN_ATTENTION_SPAN_ITERATOR_H

#include "attention/pattern.h"

enum { WALK_ROWS = 128 /* queries at most, whole tiles */ };

/* How far a walk is: the keys of a run before `done` are taken. */
typedef struct flash_place {
    attn_run_t run;
    int64_t done;
} flash_place_t;

typedef struct flash_walk {
    const attn_pattern_t *pattern;
    const attn_head_t *head;
    const attn_queries_t *queries;
    attn_range_t rows[ATTN_MOST_RANGES][WALK_ROWS];  /* of each query; the last is repeated */
    attn_range_t tiles[ATTN_MOST_RANGES][WALK_ROWS]; /* of each `tile` of them together */
    attn_range_t seen[ATTN_MOST_RANGES];             /* of all */
    flash_place_t at;
} flash_walk_t;

/** Begin with queries that go by tiles of `tile`. */
void attn_walk_begin(flash_walk_t *walk, const attn_pattern_t *pattern, const attn_head_t *head,
                     const attn_queries_t *queries, int64_t tile);

/** The next runs, or parts of them: `most` at most, of `room` keys in all, where each takes whole panels
 * of `panel`. Returns how many; 0 behind the last. */
int attn_walk_take(flash_walk_t *walk, attn_run_t *runs, int most, int64_t room, int64_t panel);

#endif
