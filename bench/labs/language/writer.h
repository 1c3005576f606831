/*
 * language/writer.h: a model of text that goes on from a beginning, token by token through the streams of its
 * attention.
 *
 *     writer_create(&model, &writer, &error);
 *     writer_read(&writer, tokens, count, &error);
 *     while (...) writer_next(&writer, &choice, &token, &error);
 *
 * Where its context is full it forgets the earlier half of it, and reads the later half anew.
 */
#ifndef ATTN_LANGUAGE_WRITER_H
#define ATTN_LANGUAGE_WRITER_H

#include "labs/language/sample.h"
#include "labs/nn/decode.h"
#include "labs/reasoning/model.h"

typedef struct writer {
    nn_decoder_t decoder;
    int32_t *seen;    /**< the decoder->position tokens that it knows */
    uint64_t written; /**< tokens by writer_next() */
} writer_t;

/** The model outlives it. Errors: a model of another task (ATTN_ERROR_ARGUMENT), no memory, the plan's. */
attn_status_t writer_create(const model_t *model, writer_t *writer, attn_error_t *error);

/** Zeroed writers are fine. */
void writer_destroy(writer_t *writer);

/** These tokens come next. Of more than the context has room for it reads the last ones alone: writer->decoder.position. */
attn_status_t writer_read(writer_t *writer, const int32_t *tokens, int64_t count,
                          attn_error_t *error);

/** It chooses the next token itself, and reads it. Of no text before it begins as after a line's end. */
attn_status_t writer_next(writer_t *writer, const sample_choice_t *choice, int32_t *token,
                          attn_error_t *error);

#endif
