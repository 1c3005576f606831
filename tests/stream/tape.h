/*
 * A stream together with all the tokens that it will ever get, and what a batch plan makes of them.
 */
#ifndef ATTN_TESTS_TAPE_H
#define ATTN_TESTS_TAPE_H

#include "support/backends.h"
#include "support/fixture.h"
#include "support/typed.h"

typedef struct tape {
    const attn_context_t *context;
    const subject_t *subject;
    attn_problem_t problem; /* keys: tokens on the tape */
    typed_t query, key, value, key_scales, value_scales;
    typed_t sinks, slopes; /* where the problem names them */
    attn_stream_t *stream;
} tape_t;

typedef struct answer {
    typed_t out, lse; /* lse: where the backend has it */
} answer_t;

/** The subject after this one (NULL: the first) that this build has and that streams; NULL at the end. */
const subject_t *tape_next_subject(const attn_context_t *context, const subject_t *subject);

/** Whether the subject's backend has streams of the problem. */
int tape_can(const attn_context_t *context, const subject_t *subject,
             const attn_problem_t *problem);

/** 2 batches, 4 heads over 2, d = 19, dv = 11. */
attn_problem_t tape_problem(int64_t tokens);

/** A stream of the subject; it must succeed. */
attn_stream_t *tape_open(const attn_context_t *context, const subject_t *subject,
                         const attn_problem_t *problem, int64_t max_keys);

/** problem->keys random tokens, and an empty stream; causal where the subject streams in no other way. */
tape_t tape_create(const attn_context_t *context, const subject_t *subject,
                   const attn_problem_t *problem, int64_t max_keys);
void tape_destroy(tape_t *tape);

/** Rows [first, first + count) of a tensor. */
attn_tensor_t tape_part(const attn_tensor_t *tensor, int64_t first, int64_t count);

/** The tape's tokens [first, first + count). */
attn_io_t tape_tokens(const tape_t *tape, int64_t first, int64_t count);

/** Append them; tape_append() must succeed. */
attn_status_t tape_try_append(const tape_t *tape, attn_stream_t *stream, int64_t first,
                              int64_t count, attn_error_t *error);
void tape_append(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t count);

answer_t answer_create(const tape_t *tape, int64_t queries);
void answer_destroy(answer_t *answer);

/** Fail unless both are the same, bit by bit. */
void answer_check_same(const answer_t *a, const answer_t *b);

/** Ask with the tape's queries [first, first + queries); tape_ask() must succeed. */
attn_status_t tape_try_ask(const tape_t *tape, attn_stream_t *stream, int64_t first,
                           int64_t queries, answer_t *answer, attn_error_t *error);
answer_t tape_ask(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t queries);

/**
 * Fail unless the stream, which holds the tape's tokens [0, length), answers as a batch plan and, where the
 * subject has a formula, as that says.
 */
void tape_expect_batch(const tape_t *tape, attn_stream_t *stream, int64_t length, int64_t queries);

/** The same of a stream that holds the tape so many `times`, whose queries see that as they would see it
 *  once. */
void tape_expect_repeated(const tape_t *tape, attn_stream_t *stream, int64_t times,
                          int64_t queries);

#endif
