/*
 * cli/lab/corpus.h: the texts that bench/labs/language/corpus.mjs makes.
 */
#ifndef ATTN_CLI_LAB_CORPUS_H
#define ATTN_CLI_LAB_CORPUS_H

#include "labs/language/corpus.h"

/** train.txt and heldout.txt of a folder, for `command`; an exit status. NULL: --corpus is missing. corpus_free() in any case. */
int corpus_load(const char *command, const char *folder, corpus_t *corpus);

#endif
