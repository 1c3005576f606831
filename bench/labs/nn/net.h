/*
 * nn/net.h: a model at work: what all passes share, and a pass, which is the memory of one worker. All of it is
 * allocated when it is made; forward and backward allocate nothing.
 *
 * Rows of a pass are tokens of some sequences, one after another, each with room for `length` tokens; since
 * attention is causal, what stands behind a sequence's end changes nothing before it.
 */
#ifndef ATTN_NN_NET_H
#define ATTN_NN_NET_H

#include "labs/nn/kernels.h"
#include "labs/nn/model.h"

/** Read only while passes run. */
typedef struct nn_net {
    nn_shape_t shape;
    nn_layout_t layout;
    const nn_kernels_t *kernels;
    attn_plan_t *plan; /**< attention of one sequence, with gradients */
    int has_lse;
    float *positions;
} nn_net_t;

/** Errors: nn_layout_make()'s, a plan's, among them a backend without gradients unless it is frozen, no memory. */
attn_status_t nn_net_create(const attn_context_t *context, const nn_shape_t *shape, nn_net_t *net,
                            attn_error_t *error);

/** Zeroed nets are fine. */
void nn_net_destroy(nn_net_t *net);

/** Floats of scratch that the products of this many rows need. */
int64_t nn_net_scratch(const nn_net_t *net, int64_t rows);

/** Floating-point operations of a sequence: 2 a weight and token forward and 4 back, and attention's. */
typedef struct nn_flops {
    double forward, backward;
} nn_flops_t;

/** NaN where the backend does not tell its cost. */
nn_flops_t nn_sequence_flops(const nn_net_t *net);

/** What a block keeps for the way back. */
typedef struct nn_block_pass {
    float *in, *in_stats;         /**< x, and what its norm found */
    float *in_norm;               /**< norm(x) */
    float *qkv, *attended, *lse;  /**< attended: before Wo */
    float *middle, *middle_stats; /**< h */
    float *middle_norm;
    float *up, *active; /**< W1 norm(h), and gelu of it */
} nn_block_pass_t;

enum { NN_DROPOUT_STREAMS = 64 }; /**< that a pass takes at most */

typedef struct nn_pass {
    const nn_net_t *net;
    const float *weights;
    int64_t room;         /**< sequences at a time */
    nn_dropout_t dropout; /**< its stream is the first of NN_DROPOUT_STREAMS */
    uint64_t first;       /**< the number of the first sequence, for dropout */

    float *sum, *sum_stats; /**< embedding and position */
    nn_block_pass_t blocks[NN_MOST_LAYERS];
    float *last, *last_stats, *last_norm;
    float *logits;  /**< rows x vocabulary, after nn_forward() */
    float *d;       /**< gradient of x; like the next two of use on the way back alone */
    float *branch;  /**< of a branch of it */
    float *wide;    /**< and of its inner parts */
    float *scratch; /**< the products' */
    void *workspace;
    uint64_t workspace_size;
    void *memory;
} nn_pass_t;

/**
 * A pass of up to `room` sequences, without dropout. The net stays where it is; the weights are the caller's and may
 * change between passes. Errors: no memory.
 */
attn_status_t nn_pass_create(const nn_net_t *net, const float *weights, int64_t room,
                             nn_pass_t *pass, attn_error_t *error);

/** Zeroed passes are fine. */
void nn_pass_destroy(nn_pass_t *pass);

/** pass->logits of `count` sequences; `tokens` are count x length, each within the vocabulary. Errors: the plan's. */
attn_status_t nn_forward(nn_pass_t *pass, const int32_t *tokens, int64_t count,
                         attn_error_t *error);

/**
 * After nn_forward() of the same tokens: loss becomes the sum of -log probability of the targets that are
 * not negative (count x length), and `gradient`, laid out as the weights, grows by `scale` times its gradient.
 */
attn_status_t nn_backward(nn_pass_t *pass, const int32_t *tokens, const int32_t *targets,
                          int64_t count, float scale, double *loss, float *gradient,
                          attn_error_t *error);

/** y = x W + b for rows, on this pass's scratch. */
void nn_linear_forward(const nn_pass_t *pass, const nn_linear_t *linear, int64_t rows,
                       const float *x, float *y);

/** dW += x^T dy, db += the sum of dy's rows; and where dx is not NULL, dx = dy W^T. */
void nn_linear_backward(const nn_pass_t *pass, const nn_linear_t *linear, int64_t rows,
                        const float *x, const float *dy, float *gradient, float *dx);

/**
 * Rows of `sequences` with `tokens` each, a token's `parts` of inner floats beside each other: number `part` of those,
 * as attention takes it.
 */
attn_tensor_t nn_heads(const nn_net_t *net, float *rows, int64_t sequences, int64_t tokens,
                       int64_t part, int64_t parts);

/** The attention of a block: `count` sequences' qkv (rows x 3 inner) to attended. */
attn_status_t nn_attend(const nn_pass_t *pass, const nn_block_pass_t *block, int64_t count,
                        attn_error_t *error);

/** The way back: from the gradient of attended to that of qkv. */
attn_status_t nn_attend_backward(const nn_pass_t *pass, const nn_block_pass_t *block, int64_t count,
                                 float *dattended, float *dqkv, attn_error_t *error);

/** sum = embedding[token] + position */
void nn_embed_token(const nn_pass_t *pass, int32_t token, int64_t position, float *sum);

/** pass->sum, of all rows. */
void nn_embed(const nn_pass_t *pass, const int32_t *tokens, int64_t count);

/** The embedding's gradient grows by the rows' gradients. */
void nn_embed_backward(const nn_pass_t *pass, const int32_t *tokens, int64_t count,
                       const float *dsum, float *gradient);

#endif
