/*
 * pattern.h: which keys a query sees (efficient transformers, Eq. 6).
 *
 * With positions counted from 0 and p the query's position among the keys: the local band
 * p - k B < j (and j < p + k B when not causal), and the global keys, the last c of every block of
 * B: j mod B >= B - c; of both, what the problem's rules let the query see. Per query that are three
 * ranges: the band of positions, and what lies before and behind it in the list of global keys.
 */
#ifndef ATTN_SPARSE_PATTERN_H
#define ATTN_SPARSE_PATTERN_H

#include "simd/task.h"

typedef struct sparse_pattern {
    attn_pattern_t base; /* what the driver sees of it; its map is the caller's to set */
    int64_t block;       /* B */
    int64_t local;       /* k: blocks in the band */
    int64_t global;      /* c: global keys a block, at most B */
} sparse_pattern_t;

/** 2^floor(log2 sqrt(keys)), the block size of the paper's experiments. */
int64_t attn_sparse_block(int64_t keys);

/** The pattern over `keys` keys, without the map of base.gathered global keys. */
sparse_pattern_t attn_sparse_pattern(int64_t keys, int64_t block, int64_t local, int64_t global);

/** How many global keys there are below key position `end`. */
int64_t attn_sparse_globals(const sparse_pattern_t *pattern, int64_t end);

/** Key position of global key number `g`. */
int64_t attn_sparse_global_key(const sparse_pattern_t *pattern, int64_t g);

/** Keys that all queries of all heads see, together, when all keys count (attn_problem_pairs()). */
double attn_sparse_pairs(const sparse_pattern_t *pattern, const attn_problem_t *problem);

#endif
