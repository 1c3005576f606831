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

#endif
