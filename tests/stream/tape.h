/*
 * A stream together with all the tokens that it will ever get, and what a batch plan makes of them.
 */
#ifndef ATTN_TESTS_TAPE_H
#define ATTN_TESTS_TAPE_H

#include "support/fixture.h"
#include "support/typed.h"

typedef struct tape {
    const attn_context_t *context;
    attn_problem_t problem; /* keys: tokens on the tape */
    typed_t query, key, value, key_scales, value_scales;
    attn_stream_t *stream;
} tape_t;

typedef struct answer {
    typed_t out, lse;
} answer_t;

/** 2 batches, 4 heads over 2, d = 19, dv = 11. */
attn_problem_t tape_problem(int64_t tokens);

/** A stream of the softmax backend; it must succeed. */
attn_stream_t *tape_open(const attn_context_t *context, const attn_problem_t *problem,
                         int64_t max_keys);

/** problem->keys random tokens, and an empty stream. */
tape_t tape_create(const attn_context_t *context, const attn_problem_t *problem, int64_t max_keys);
void tape_destroy(tape_t *tape);

/** Rows [first, first + count) of a tensor. */
attn_tensor_t tape_part(const attn_tensor_t *tensor, int64_t first, int64_t count);

/** Append the tape's tokens [first, first + count); tape_append() must succeed. */
attn_status_t tape_try_append(const tape_t *tape, attn_stream_t *stream, int64_t first,
                              int64_t count, attn_error_t *error);
void tape_append(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t count);

answer_t answer_create(const attn_problem_t *problem, int64_t queries);
void answer_destroy(answer_t *answer);

/** Ask with the tape's queries [first, first + queries); tape_ask() must succeed. */
attn_status_t tape_try_ask(const tape_t *tape, attn_stream_t *stream, int64_t first,
                           int64_t queries, answer_t *answer, attn_error_t *error);
answer_t tape_ask(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t queries);

/** Fail unless the stream, which holds the tape's tokens [0, length), answers as a plan does. */
void tape_expect_batch(const attn_context_t *context, const tape_t *tape, attn_stream_t *stream,
                       int64_t length, int64_t queries);

#endif
