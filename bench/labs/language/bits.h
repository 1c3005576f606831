/*
 * language/bits.h: how well a model foretells a text.
 */
#ifndef ATTN_LANGUAGE_BITS_H
#define ATTN_LANGUAGE_BITS_H

#include "labs/language/corpus.h"
#include "labs/nn/net.h"

/**
 * Bits a byte that the model needs for the text: each token from as many tokens before it as its context has, at least
 * half of it where the text has them; the first token of all takes log2 of the vocabulary. NaN of no text. The net may be
 * frozen. Errors: no memory, the plan's.
 */
attn_status_t language_bits(const nn_net_t *net, const float *weights, const corpus_part_t *text,
                            double *bits, attn_error_t *error);

/**
 * The mean of -log probability of the tokens of `count` pieces of the text, spread evenly over it, each as long as the
 * context. Errors: a text shorter than that (ATTN_ERROR_RANGE), no memory, the plan's.
 */
attn_status_t language_loss(const nn_net_t *net, const float *weights, const corpus_part_t *text,
                            int64_t count, double *loss, attn_error_t *error);

/** Piece `number` of those: its tokens, of which the one behind the context is there to be foretold. */
const int32_t *language_piece(const nn_net_t *net, const corpus_part_t *text, int64_t count,
                              int64_t number);

#endif
