/*
 * language/corpus.h: the tokens of a text to learn and of one that is held out, and samples of both.
 */
#ifndef ATTN_LANGUAGE_CORPUS_H
#define ATTN_LANGUAGE_CORPUS_H

#include "attn/types.h"

#include <stddef.h>

typedef struct corpus_part {
    int32_t *tokens;
    int64_t count;
    int64_t bytes; /**< of the text */
} corpus_part_t;

typedef struct corpus {
    corpus_part_t train, test;
    uint64_t hash; /**< of both texts: checkpoints say what they have learned */
} corpus_t;

/** Errors: no memory. corpus_free() in any case. */
attn_status_t corpus_make(const char *train, size_t train_size, const char *test, size_t test_size,
                          corpus_t *corpus, attn_error_t *error);

/** Zeroed ones are fine. */
void corpus_free(corpus_t *corpus);

#endif
