/* The decoder in double precision, written from its formulas alone: what the net is held to. */
#ifndef ATTN_TESTS_LABS_NN_DECODER_H
#define ATTN_TESTS_LABS_NN_DECODER_H

#include "labs/nn/net.h"

/** Sequences of a model; attention by the backend's name: softmax, sparse (Eq. 6 with block 2), linear. */
typedef struct decoder {
    const nn_net_t *net;
    const double *weights; /* laid out as the net's */
    const int32_t *tokens, *targets;
    int64_t count;
    nn_dropout_t dropout;
    double *logits; /* rows x vocabulary, or NULL */
} decoder_t;

/** The sum of -log probability of the targets. */
double decoder_loss(const decoder_t *decoder);

/**
 * Terms of the sums from the tokens to the loss, one after another. What the net computes in f32 is, layer by layer,
 * the exact result for weights that are off by as many roundings; so what weights that are off by that much change is
 * how far it may be off. That is measured, by drawing some.
 */
double decoder_roundings(const nn_net_t *net);

/** 1 + size or 1 - size: the factor of weight `at` in draw `draw`. */
double decoder_error(uint64_t draw, int64_t at, double size);

#endif
