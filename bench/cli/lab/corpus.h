/*
 * cli/lab/corpus.h: the texts that bench/labs/language/corpus.mjs makes.
 */
#ifndef ATTN_CLI_LAB_CORPUS_H
#define ATTN_CLI_LAB_CORPUS_H

#include <stddef.h>

typedef struct corpus_text {
    char *train, *test;
    size_t train_size, test_size;
} corpus_text_t;

/** train.txt and heldout.txt of a folder; an exit status. corpus_text_free() in any case. */
int corpus_read(const char *folder, corpus_text_t *text);

void corpus_text_free(corpus_text_t *text);

#endif
