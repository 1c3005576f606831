/* nn/embed.c: tokens to vectors, and the embedding's gradient. */
#include "labs/nn/net.h"

#include <math.h>

/* Of a vector on its way in. */
static float factor(const nn_shape_t *shape) {
    return shape->tied ? sqrtf((float)shape->width) : 1.0f;
}

void nn_embed_token(const nn_pass_t *pass, int32_t token, int64_t position, float *sum) {
    const nn_net_t *net = pass->net;
    const int64_t width = net->shape.width;
    const float *vector = pass->weights + net->layout.embedding + token * width;
    const float *place = net->positions + position * width;
    const float large = factor(&net->shape);
    for (int64_t c = 0; c < width; c++) sum[c] = large * vector[c] + place[c];
}

void nn_embed(const nn_pass_t *pass, const int32_t *tokens, int64_t count) {
    const nn_shape_t *shape = &pass->net->shape;
    for (int64_t r = 0; r < count * shape->length; r++)
        nn_embed_token(pass, tokens[r], r % shape->length, pass->sum + r * shape->width);
}

void nn_embed_backward(const nn_pass_t *pass, const int32_t *tokens, int64_t count,
                       const float *dsum, float *gradient) {
    const nn_shape_t *shape = &pass->net->shape;
    const float large = factor(shape);
    for (int64_t r = 0; r < count * shape->length; r++, dsum += shape->width) {
        float *of = gradient + pass->net->layout.embedding + tokens[r] * shape->width;
        for (int64_t c = 0; c < shape->width; c++) of[c] += large * dsum[c];
    }
}
