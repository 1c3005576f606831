/*
 * nn/model.h: a decoder as "Do Efficient Transformers Really Save Computation?" trains it (Eq. 1 to 8, the token by
 * token account of its experiments): embedding and sinusoidal positions, layer norm on the sum, blocks
 *     h = x + Wo attention(norm(x)),   x' = h + W2 gelu(W1 norm(h)),
 * a last norm and a linear head. Attention is any backend with gradients, by its public interface.
 *
 * A model is its shape, where each of its weights lies in one array of floats (nn_layout_t), and that array.
 */
#ifndef ATTN_NN_MODEL_H
#define ATTN_NN_MODEL_H

#include "attn/attn.h"

enum { NN_MOST_LAYERS = 16 };

/** Sizes of a model, and its attention. Texts outlive what is made of it. */
typedef struct nn_shape {
    int64_t vocabulary;
    int64_t length; /**< tokens of a sequence, at most */
    int64_t width, heads, layers;
    const char *backend;
    const attn_param_t *params;
    uint32_t param_count;
    int32_t frozen; /**< 1: nobody asks for gradients, which its backend or this build may lack */
    int32_t
        tied; /**< 1: the head has the embedding's weights, which are sqrt(width) as large going in (arXiv:1608.05859) */
} nn_shape_t;

/** y = x W + b, W (in x out), rows of it contiguous. Members `weight` and the like are places in the array. */
typedef struct nn_linear {
    int64_t in, out, weight, bias;
    int32_t transposed; /**< 1: W^T (out x in) is what lies there */
} nn_linear_t;

typedef struct nn_scale {
    int64_t gain, bias;
} nn_scale_t;

typedef struct nn_block {
    nn_linear_t qkv, out, up, down;
    nn_scale_t attend, feed; /**< the norms before attention and before the feed-forward layer */
} nn_block_t;

/** Where everything lies: first all matrices, which decay, then norms and biases, which do not. */
typedef struct nn_layout {
    int64_t dim;            /**< of a head: ceil(width / heads) */
    int64_t inner;          /**< of all heads */
    int64_t hidden;         /**< of the feed-forward layer */
    int64_t embedding;      /**< vocabulary x width */
    nn_scale_t first, last; /**< the norms around the blocks */
    nn_linear_t head;
    nn_block_t blocks[NN_MOST_LAYERS];
    int64_t decayed, count; /**< floats of the matrices, and of all */
} nn_layout_t;

/** Check a shape and lay its weights out. Errors: sizes out of range (ATTN_ERROR_SHAPE), which are named. */
attn_status_t nn_layout_make(const nn_shape_t *shape, nn_layout_t *layout, attn_error_t *error);

/**
 * Xavier's uniform weights, gains of 1, biases of 0. `embedding`: 0, or the standard deviation of normal weights of the
 * embedding, whose Xavier's become the smaller beside the positions the larger the vocabulary is.
 */
void nn_weights_draw(const nn_shape_t *shape, const nn_layout_t *layout, double embedding,
                     uint64_t seed, float *weights);

/** Sinusoidal positions, length x width: sin and cos of p / 10000^(2i / width), beside each other. */
void nn_positions(const nn_shape_t *shape, float *positions);

/** The attention of one sequence's layer: causal, scale 1 / sqrt(dim). */
attn_problem_t nn_attention_problem(const nn_shape_t *shape, const nn_layout_t *layout);

#endif
