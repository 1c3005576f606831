/* nn/embed.c: tokens to vectors, and the embedding's gradient. */
#include "labs/nn/net.h"

void nn_embed(const nn_pass_t *pass, const int32_t *tokens, int64_t count) {
    const nn_net_t *net = pass->net;
    const int64_t width = net->shape.width, length = net->shape.length;
    for (int64_t r = 0; r < count * length; r++) {
        const float *vector = pass->weights + net->layout.embedding + tokens[r] * width;
        const float *position = net->positions + r % length * width;
        float *sum = pass->sum + r * width;
        for (int64_t c = 0; c < width; c++) sum[c] = vector[c] + position[c];
    }
}

void nn_embed_backward(const nn_pass_t *pass, const int32_t *tokens, int64_t count,
                       const float *dsum, float *gradient) {
    const nn_net_t *net = pass->net;
    const int64_t width = net->shape.width;
    for (int64_t r = 0; r < count * net->shape.length; r++)
        net->kernels->add(width, dsum + r * width,
                          gradient + net->layout.embedding + tokens[r] * width);
}
