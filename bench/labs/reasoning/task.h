/*
 * reasoning/task.h: the tasks with a chain of thought of "Do Efficient Transformers Really Save Computation?", which
 * has them from arXiv:2305.15408: longest increasing subsequence, edit distance, arithmetic.
 *
 *     LIS         x_1 .. x_n <sep> l_1 .. l_n <sep> a <eos>          l_i: longest one that ends at x_i
 *     ED          s | t <sep> row_1 , .. row_|s| , <sep> a <eos>     rows of the dynamic program
 *     ED_LOCAL    the same, of its cells |i - j| <= band alone
 *     ARITHMETIC  e_0 = e_1 = .. = e_n <eos>                         one operator evaluated a step
 *
 * A sample is a function of (task, seed, whether for training or testing, number). One question in
 * TASK_TEST_SHARE, chosen by a hash of its tokens, is for testing alone: so no question is in both.
 */
#ifndef ATTN_REASONING_TASK_H
#define ATTN_REASONING_TASK_H

#include "attn/types.h"

enum task_kind { TASK_LIS, TASK_ED, TASK_ED_LOCAL, TASK_ARITHMETIC, TASK_KINDS };

/** Tokens that all tasks have; what comes after, numbers among them, is each task's. */
enum task_token { TASK_PAD, TASK_SEP, TASK_EOS, TASK_OWN };

enum {
    TASK_MOST_TOKENS = 2048, /**< of a sample */
    TASK_TEST_SHARE = 16,
};

typedef struct task {
    int32_t kind;    /**< enum task_kind */
    int32_t size;    /**< n: numbers, letters or operators */
    int32_t modulus; /**< ARITHMETIC: a prime; the paper's is 11 */
    int32_t band;    /**< ED_LOCAL: w, by default 2 */
    int32_t numbers; /**< how many numbers the vocabulary has, 0 first; set by task_make() */
    int32_t first;   /**< the token of number 0 */
    int32_t vocabulary;
    int32_t length; /**< tokens of a sample at most, <eos> among them */
} task_t;

typedef struct task_sample {
    int32_t tokens[TASK_MOST_TOKENS];
    int32_t question; /**< tokens of the question, with the last <sep> or = of it */
    int32_t count;    /**< all, with <eos> */
} task_sample_t;

enum task_use { TASK_TRAIN, TASK_TEST };

/** "lis", "ed", "ed_local", "arithmetic" */
const char *task_name(int32_t kind);

/**
 * A task of this kind and size; modulus and band are read where the kind has them. Errors name what is out of range
 * (ATTN_ERROR_RANGE).
 */
attn_status_t task_make(int32_t kind, int32_t size, int32_t modulus, int32_t band, task_t *task,
                        attn_error_t *error);

/** Sample `number`. */
void task_draw(const task_t *task, uint64_t seed, enum task_use use, uint64_t number,
               task_sample_t *sample);

/** A token as people write it: "<sep>", "17", "*"; returns `text`. */
const char *task_text(const task_t *task, int32_t token, char text[16]);

/** The answer: the last token before <eos>, or before the end where there is none. -1 of no tokens. */
int32_t task_answer(const int32_t *tokens, int64_t count);

#endif
