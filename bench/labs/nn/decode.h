/*
 * nn/decode.h: a model token by token, through its backend's streams: a cache of keys and values for softmax and
 * sparse attention, a state for linear. Sequences go side by side, each at the same position.
 */
#ifndef ATTN_NN_DECODE_H
#define ATTN_NN_DECODE_H

#include "labs/nn/net.h"

typedef struct nn_decoder {
    const nn_net_t *net;
    int64_t count;    /**< sequences */
    int64_t position; /**< tokens that each has had */
    attn_stream_t *streams[NN_MOST_LAYERS];
    float *logits; /**< count x vocabulary: of the token after the last */

    nn_pass_t pass; /**< weights and scratch of the products */
    float *x, *normed, *stats, *qkv, *attended, *branch, *wide;
    void *memory;
} nn_decoder_t;

/** For `count` sequences. The net and the weights outlive it, and the context all three. */
attn_status_t nn_decoder_create(const attn_context_t *context, const nn_net_t *net,
                                const float *weights, int64_t count, nn_decoder_t *decoder,
                                attn_error_t *error);

/** Zeroed decoders are fine. */
void nn_decoder_destroy(nn_decoder_t *decoder);

/** Forget all tokens. */
attn_status_t nn_decoder_restart(nn_decoder_t *decoder, attn_error_t *error);

/** One more token of each sequence: decoder->logits. ATTN_ERROR_RANGE behind the net's length. */
attn_status_t nn_decoder_step(nn_decoder_t *decoder, const int32_t *tokens, attn_error_t *error);

/** The first of the largest of `count` logits. */
int32_t nn_largest(const float *logits, int64_t count);

/** Bytes of all its streams' memory, with room for tokens that come. */
uint64_t nn_decoder_memory(const nn_decoder_t *decoder);

/** Bytes that its streams keep of the tokens that came (attn_stream_save()), without which it could not go on. */
uint64_t nn_decoder_state(const nn_decoder_t *decoder);

#endif
