/*
 * pattern.h: which keys a query sees (efficient transformers, Eq. 6).
 *
 * With positions counted from 0 and p the query's position among the keys: the local band
 * p - k B < j (and j < p + k B when not causal), and the global keys, the last c of every block of
 * B: j mod B >= B - c; in a causal problem only keys before the query's causal limit. Per query both
 * are ranges: the band of positions, and what lies before and behind it in the list of global keys.
 */
#ifndef ATTN_SPARSE_PATTERN_H
#define ATTN_SPARSE_PATTERN_H

#include "attn/types.h"

typedef struct sparse_pattern {
    int64_t keys;
    int64_t block;  /* B */
    int64_t local;  /* k: blocks in the band */
    int64_t global; /* c: global keys a block, at most B */
    int64_t band;   /* k B, or the number of keys where that would be more */
    int64_t shift;  /* query i stands at key position i + shift */
    int causal;
} sparse_pattern_t;

/* Positions first <= j < last. */
typedef struct sparse_range {
    int64_t first, last;
} sparse_range_t;

/* What one query sees: `band` counts keys, `before` and `behind` count global keys. */
typedef struct sparse_row {
    sparse_range_t band, before, behind;
} sparse_row_t;

/** 2^floor(log2 sqrt(keys)), the block size of the paper's experiments. */
int64_t attn_sparse_block(int64_t keys);

sparse_pattern_t attn_sparse_pattern(const attn_problem_t *problem, int64_t block, int64_t local,
                                     int64_t global);

/** How many global keys there are below key position `end`. */
int64_t attn_sparse_globals(const sparse_pattern_t *pattern, int64_t end);

/** Key position of global key number `g`. */
int64_t attn_sparse_global_key(const sparse_pattern_t *pattern, int64_t g);

sparse_row_t attn_sparse_row(const sparse_pattern_t *pattern, int64_t query);

/** Keys that all queries of all heads see, together. */
double attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *problem);

#endif
