/*
 * reasoning/task.h: the tasks with a chain of thought of "Do Efficient Transformers Really Save Computation?", which
 * has them from arXiv:2305.15408: longest increasing subsequence, edit distance, arithmetic.
 *
 *     LIS         x_1 .. x_n <sep> l_1 .. l_n <sep> a <eos>          l_i: longest one that ends at x_i
 *     ED          s | t <sep> row_1 , .. row_|s| , <sep> a <eos>     rows of the dynamic program
 *     ED_LOCAL    the same, of its cells |i - j| <= band alone
 *     ARITHMETIC  e_0 = e_1 = .. = e_n <eos>                         one operator evaluated a step
 *     TEXT        n + 1 tokens of a corpus, all to be learned        no chain of thought: language, beside them
 *
 * A sample is a function of (task, seed, whether for training or testing, number). One question in
 * REASONING_TEST_SHARE, chosen by a hash of its tokens, is for testing alone: so no question is in both.
 */
#ifndef ATTN_REASONING_TASK_H
#define ATTN_REASONING_TASK_H

#include "attn/types.h"
#include "labs/language/corpus.h"

enum reasoning_kind {
    REASONING_LIS,
    REASONING_ED,
    REASONING_ED_LOCAL,
    REASONING_ARITHMETIC,
    REASONING_TEXT,
    REASONING_KINDS
};

/** Tokens that all tasks have; what comes after, numbers among them, is each task's. */
enum reasoning_token { REASONING_PAD, REASONING_SEP, REASONING_EOS, REASONING_OWN };

enum {
    REASONING_MOST_TOKENS = 2048, /**< of a sample */
    REASONING_TEST_SHARE = 16,
    REASONING_UNLIKE = 80, /**< room for what reasoning_unlike() says */
};

typedef struct reasoning_task {
    int32_t kind;    /**< enum reasoning_kind */
    int32_t size;    /**< n: numbers, letters or operators */
    int32_t modulus; /**< ARITHMETIC: a prime; the paper's is 11 */
    int32_t band;    /**< ED_LOCAL: w, by default 2 */
    int32_t numbers; /**< how many numbers the vocabulary has, 0 first; set by reasoning_make() */
    int32_t first;   /**< the token of number 0 */
    int32_t vocabulary;
    int32_t length;         /**< tokens of a sample at most, <eos> among them */
    const corpus_t *corpus; /**< TEXT: what samples are drawn of; NULL after reasoning_make() */
    uint64_t learned;       /**< TEXT: the hash of the corpus */
} reasoning_task_t;

typedef struct reasoning_sample {
    int32_t tokens[REASONING_MOST_TOKENS];
    int32_t question; /**< tokens of the question, with the last <sep> or = of it */
    int32_t count;    /**< all, with <eos> */
} reasoning_sample_t;

enum reasoning_use { REASONING_TRAIN, REASONING_TEST };

/** "lis", "ed", "ed_local", "arithmetic", "text" */
const char *reasoning_name(int32_t kind);

/** The kind of that name. Errors: there is none (ATTN_ERROR_NOT_FOUND). */
attn_status_t reasoning_find(const char *name, int32_t *kind, attn_error_t *error);

/**
 * A task of this kind and size; modulus and band are read where the kind has them. Errors name what is out of range
 * (ATTN_ERROR_RANGE).
 */
attn_status_t reasoning_make(int32_t kind, int32_t size, int32_t modulus, int32_t band,
                             reasoning_task_t *task, attn_error_t *error);

/**
 * TEXT: draw samples of this corpus, which outlives the task. Errors: another kind (ATTN_ERROR_ARGUMENT), a text that is
 * shorter than a sample (ATTN_ERROR_RANGE).
 */
attn_status_t reasoning_learn(reasoning_task_t *task, const corpus_t *corpus, attn_error_t *error);

/** Sample `number`. */
void reasoning_draw(const reasoning_task_t *task, uint64_t seed, enum reasoning_use use,
                    uint64_t number, reasoning_sample_t *sample);

/**
 * The sample of a question that people ask: "17 30 21", "abc abd", "(1 + 2) * 3", of the task's size or smaller. Errors
 * name what is no such question.
 */
attn_status_t reasoning_read(const reasoning_task_t *task, const char *text,
                             reasoning_sample_t *sample, attn_error_t *error);

/**
 * What all samples that are drawn have and this one, of reasoning_read(), has not, for a person: "expressions of exactly 2
 * operators". A model has seen no question like it and may well be wrong. "" where it may be drawn.
 */
void reasoning_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                      char text[REASONING_UNLIKE]);

/** A token as people write it: "<sep>", "17", "*"; returns `text`. */
const char *reasoning_text(const reasoning_task_t *task, int32_t token, char text[16]);

/** The answer: the last token before <eos>, or before the end where there is none. -1 of no tokens. */
int32_t reasoning_answer(const int32_t *tokens, int64_t count);

#endif
