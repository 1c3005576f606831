/*
 * peers/blocks.h: attention as it is written by hand over a matrix product: the queries in blocks,
 * each block's logits, softmax and weighted values while they are in the cache, and under a causal
 * rule no keys that the whole block cannot see.
 */
#ifndef ATTN_PEERS_BLOCKS_H
#define ATTN_PEERS_BLOCKS_H

#include "worker.h"

enum { BLOCK_ROWS = 256 };

/** Consecutive rows of the query that read one key/value head. */
typedef struct block {
    int64_t first; /**< row of the whole query array, heads one after the other */
    int64_t rows;
    int64_t query;  /**< position of the first row among its head's queries */
    int64_t keys;   /**< the longest row's */
    int64_t shared; /**< key/value head */
} block_t;

/**
 * All blocks of a task, `*count` of them; NULL without memory. A single query a head makes one
 * block of all heads that share keys and values, so that these are read once.
 */
block_t *blocks_of(const task_t *task, int64_t *count);

/**
 * weights[r*keys + j] = exp(logit - maximum) over the keys that row sees, 0 over the others;
 * sums[r] is the row's sum. In place.
 */
void blocks_exp(const task_t *task, const block_t *block, float *weights, float *sums);

/** Divides the block's rows of the output by their sums. */
void blocks_divide(const task_t *task, const block_t *block, const float *sums);

#endif
