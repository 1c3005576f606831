/*
 * stream/cached.h: streams of backends whose plans take key lengths: a KV cache, and a plan for its
 * capacity with lengths that say how many keys count, so that it lasts until the cache grows.
 *
 * Where tokens see no farther than `reach` before their own, but for the `first` of all, the cache is bounded: when
 * it is full, tokens that no later one sees are dropped. It then holds at least those before the last append that it
 * sees, so that all queries of that append are answered.
 */
#ifndef ATTN_STREAM_CACHED_H
#define ATTN_STREAM_CACHED_H

#include "attn/ext/stream.h"

/* Numbers that plans keep of each token from run to run: those of the first `known` are there, others are set by
 * the run that meets them. */
typedef struct attn_kept {
    float *numbers; /* of a key/value head one token behind the other; NULL: nothing is kept */
    int64_t stride; /* from head to head */
    int64_t known;
} attn_kept_t;

typedef struct attn_cached {
    const attn_host_t *host;
    const attn_backend_t *backend; /* makes the plans */
    const attn_problem_t
        *problem;               /* as attn_ext_stream_t.create() has it; f(keys) of it is fixed */
    const attn_value_t *values; /* of the plans' parameters, `count` of them; copied; NULL: 0 */
    uint32_t count;
    uint64_t (*plan_bytes)(const attn_backend_plan_t *plan); /* of memory that a plan takes */
    int64_t reach;                                           /* negative: all tokens are seen */
    int64_t first;                                           /* that are seen from anywhere */
    int64_t period; /* tokens are dropped by whole multiples: a pattern repeats after so many */
    int64_t kept;   /* numbers a token and key/value head; 0: none */
    void (*lend)(attn_backend_plan_t *plan, const attn_kept_t *kept); /* for the next run */
} attn_cached_t;

/** attn_ext_stream_t.create() of such a backend. */
attn_status_t attn_cached_stream(const attn_cached_t *cached, attn_backend_stream_t **stream,
                                 attn_error_t *error);

#endif
