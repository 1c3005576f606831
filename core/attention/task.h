/*
 * attention/task.h: what one task of a kernel works on: a key/value head, and rows of queries that read it. Plain data,
 * the same for plans and for kernels of any tier.
 */
#ifndef ATTN_ATTENTION_TASK_H
#define ATTN_ATTENTION_TASK_H

#include "ieee/ieee.h"

#include "attn/support.h"
#include "simd/half.h"

/*
 * One key/value head of one run, and who reads it: the query heads of its group, line by line of `queries` rows each.
 * Where heads or batches share keys and values (stride 0), lines go on over those, batch by batch.
 */
typedef struct attn_head {
    const attn_problem_t *problem;
    const attn_io_t *io;
    int64_t batch, kv_head; /* the first */
    int64_t batches, heads; /* how many batches, and query heads of each, read it */
    float scale;            /* of the logits */
    int integers;           /* keys and values in i8 are multiplied by integers (decode_i8.h) */
} attn_head_t;

/** Whether there is a cap: also a denormal one, where processors take that for zero. */
static inline int attn_has_softcap(const attn_problem_t *problem) {
    return (float_to_bits(problem->softcap) & 0x7fffffffu) != 0;
}

/** How many of a sequence's keys count. */
static inline int64_t attn_keys_of(const attn_problem_t *problem, const attn_io_t *io,
                                   int64_t batch) {
    if (!(problem->inputs & ATTN_INPUT_KV_LENGTHS)) return problem->keys;
    return ((const int64_t *)io->kv_lengths.data)[batch * io->kv_lengths.stride[0]];
}

/* Keys first <= j < last, by position or by number in a list. */
typedef struct attn_range {
    int64_t first, last;
} attn_range_t;

/* Rows of queries that read this head: the same queries of each of some lines. */
typedef struct attn_queries {
    int64_t head;         /* the first line's query head, counted on from batch to batch */
    int64_t lines;        /* how many */
    int64_t first, count; /* queries of each */
    void *scratch;        /* as large as the kernel said */
} attn_queries_t;

/** How many blocks of `rows` queries a head has. */
static inline int64_t attn_query_blocks(const attn_problem_t *problem, int64_t rows) {
    return (problem->queries - 1) / rows + 1;
}

/** Query heads that share a key/value head. */
static inline int64_t attn_group(const attn_problem_t *problem) {
    return problem->heads / problem->kv_heads;
}

/** Rows of all lines. */
static inline int64_t attn_row_count(const attn_queries_t *queries) {
    return queries->lines * queries->count;
}

/* Which query of which head a row is. */
typedef struct attn_place {
    int64_t batch, head, query;
} attn_place_t;

/** The place of row number `row` of those, line by line. */
static inline attn_place_t attn_place_of(const attn_head_t *head, const attn_queries_t *queries,
                                         int64_t row) {
    const int64_t line = queries->lines == 1 ? 0 : row / queries->count;
    attn_place_t at = {
        .batch = head->batch,
        .head = queries->head + line,
        .query = queries->first + row - line * queries->count,
    };
    if (head->batches > 1) {
        const int64_t first = head->kv_head * attn_group(head->problem);
        at.batch += (at.head - first) / head->heads;
        at.head = first + (at.head - first) % head->heads;
    }
    return at;
}

/** All rows that read the head. */
static inline attn_queries_t attn_all_queries(const attn_head_t *head) {
    const attn_problem_t *problem = head->problem;
    return (attn_queries_t){
        .head = head->kv_head * attn_group(problem),
        .lines = head->batches * head->heads,
        .count = problem->queries,
    };
}

/** Index of the first element of row `row` of head `head` in batch `batch`. */
static inline int64_t attn_offset(const attn_tensor_t *tensor, int64_t batch, int64_t head,
                                  int64_t row) {
    return batch * tensor->stride[0] + head * tensor->stride[1] + row * tensor->stride[2];
}

/** The same for a tensor whose axes of 1 are the same for all. */
static inline int64_t attn_broadcast_offset(const attn_tensor_t *tensor, int64_t batch,
                                            int64_t head, int64_t row) {
    return attn_offset(tensor, tensor->shape[0] > 1 ? batch : 0, tensor->shape[1] > 1 ? head : 0,
                       tensor->shape[2] > 1 ? row : 0);
}

/** Row `row` of an f32 tensor. */
static inline float *attn_row(const attn_tensor_t *tensor, int64_t batch, int64_t head,
                              int64_t row) {
    return (float *)tensor->data + attn_offset(tensor, batch, head, row);
}

#endif
