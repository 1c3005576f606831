/* language/corpus.c: see corpus.h. */
#include "labs/language/corpus.h"

#include "attn/support.h"
#include "labs/language/bytes.h"

#include <stdlib.h>

static attn_status_t make_part(const char *text, size_t size, corpus_part_t *part,
                               attn_error_t *error) {
    part->tokens =
        size < SIZE_MAX / sizeof *part->tokens ? malloc((size + 1) * sizeof *part->tokens) : NULL;
    if (!part->tokens)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for the tokens of %zu bytes", size);
    part->bytes = (int64_t)size;
    part->count = bytes_encode(text, size, part->tokens);
    return ATTN_OK;
}

/* FNV-1a, over the tokens of both and where the first end. */
static uint64_t hash_part(uint64_t hash, const corpus_part_t *part) {
    for (int64_t i = 0; i <= part->count; i++) {
        const uint32_t token = i < part->count ? (uint32_t)part->tokens[i] : BYTES_VOCABULARY;
        hash = (hash ^ token) * 0x100000001b3u;
    }
    return hash;
}

attn_status_t corpus_make(const char *train, size_t train_size, const char *test, size_t test_size,
                          corpus_t *corpus, attn_error_t *error) {
    *corpus = (corpus_t){.hash = 0};
    attn_status_t status = make_part(train, train_size, &corpus->train, error);
    if (!status) status = make_part(test, test_size, &corpus->test, error);
    if (status) return status;
    corpus->hash = hash_part(hash_part(0xcbf29ce484222325u, &corpus->train), &corpus->test);
    return ATTN_OK;
}

void corpus_free(corpus_t *corpus) {
    free(corpus->train.tokens);
    free(corpus->test.tokens);
    *corpus = (corpus_t){.hash = 0};
}
