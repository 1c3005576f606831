/* nn/forward.c: the net from tokens to logits, and from targets back to gradients of all weights. */
#include "labs/nn/net.h"

#include <string.h>

/* Places where elements are dropped, each with a stream of its own. */
enum { AFTER_EMBEDDING, AFTER_ATTENTION, AFTER_FEED, PLACES };
_Static_assert(NN_MOST_LAYERS *PLACES <= NN_DROPOUT_STREAMS,
               "passes with other streams share none");

static nn_norm_t norm_of(const nn_pass_t *pass, const nn_scale_t *scale, int64_t rows) {
    return (nn_norm_t){rows, pass->net->shape.width, pass->weights + scale->gain,
                       pass->weights + scale->bias};
}

/* A sequence's elements have numbers that do not depend on which others are in the pass. */
static void drop(const nn_pass_t *pass, int place, int64_t layer, int64_t count, float *rows) {
    const int64_t size = pass->net->shape.length * pass->net->shape.width;
    const uint64_t blocks = (uint64_t)((size + NN_DROPOUT_EACH - 1) / NN_DROPOUT_EACH);
    nn_dropout_t dropout = pass->dropout;
    if (dropout.rate <= 0) return;
    dropout.stream += (uint64_t)(layer * PLACES + place);
    for (int64_t s = 0; s < count; s++)
        pass->net->kernels->dropout(&dropout, (pass->first + (uint64_t)s) * blocks, size,
                                    rows + s * size);
}

/* ---- forward --------------------------------------------------------------------------------------- */

/* out = x + drop(W a + b) */
static void residual(const nn_pass_t *pass, const nn_linear_t *linear, int place, int64_t layer,
                     int64_t count, const float *x, const float *a, float *out) {
    const int64_t rows = count * pass->net->shape.length, size = rows * pass->net->shape.width;
    nn_linear_forward(pass, linear, rows, a, out);
    drop(pass, place, layer, count, out);
    pass->net->kernels->add(size, x, out);
}

static attn_status_t block_forward(const nn_pass_t *pass, int64_t layer, int64_t count, float *out,
                                   attn_error_t *error) {
    const nn_kernels_t *kernels = pass->net->kernels;
    const nn_block_t *block = &pass->net->layout.blocks[layer];
    const nn_block_pass_t *at = &pass->blocks[layer];
    const int64_t rows = count * pass->net->shape.length;
    const nn_norm_t attend = norm_of(pass, &block->attend, rows);
    const nn_norm_t feed = norm_of(pass, &block->feed, rows);
    kernels->norm(&attend, at->in, at->in_norm, at->in_stats);
    nn_linear_forward(pass, &block->qkv, rows, at->in_norm, at->qkv);
    const attn_status_t status = nn_attend(pass, at, count, error);
    if (status) return status;
    residual(pass, &block->out, AFTER_ATTENTION, layer, count, at->in, at->attended, at->middle);
    kernels->norm(&feed, at->middle, at->middle_norm, at->middle_stats);
    nn_linear_forward(pass, &block->up, rows, at->middle_norm, at->up);
    kernels->gelu(rows * block->up.out, at->up, at->active);
    residual(pass, &block->down, AFTER_FEED, layer, count, at->middle, at->active, out);
    return ATTN_OK;
}

attn_status_t nn_forward(nn_pass_t *pass, const int32_t *tokens, int64_t count,
                         attn_error_t *error) {
    const nn_net_t *net = pass->net;
    const int64_t rows = count * net->shape.length, layers = net->shape.layers;
    const nn_norm_t first = norm_of(pass, &net->layout.first, rows);
    const nn_norm_t last = norm_of(pass, &net->layout.last, rows);
    attn_status_t status = ATTN_OK;
    nn_embed(pass, tokens, count);
    net->kernels->norm(&first, pass->sum, pass->blocks[0].in, pass->sum_stats);
    drop(pass, AFTER_EMBEDDING, 0, count, pass->blocks[0].in);
    for (int64_t l = 0; l < layers && !status; l++)
        status = block_forward(pass, l, count, l + 1 < layers ? pass->blocks[l + 1].in : pass->last,
                               error);
    if (status) return status;
    net->kernels->norm(&last, pass->last, pass->last_norm, pass->last_stats);
    nn_linear_forward(pass, &net->layout.head, rows, pass->last_norm, pass->logits);
    return ATTN_OK;
}

/* ---- backward -------------------------------------------------------------------------------------- */

/* dx grows by what comes back through a norm of x. */
static void back_norm(const nn_pass_t *pass, const nn_scale_t *scale, int64_t rows, const float *x,
                      const float *stats, const float *dout, float *dx, float *gradient) {
    const nn_norm_t norm = norm_of(pass, scale, rows);
    pass->net->kernels->norm_backward(&norm, x, stats, dout, dx, gradient + scale->gain,
                                      gradient + scale->bias);
}

/* The gradient of a branch that was dropped and added to the stream, whose gradient is pass->d. */
static void branch_of(const nn_pass_t *pass, int place, int64_t layer, int64_t count) {
    const int64_t size = count * pass->net->shape.length * pass->net->shape.width;
    memcpy(pass->branch, pass->d, (size_t)size * sizeof *pass->d);
    drop(pass, place, layer, count, pass->branch);
}

static void feed_backward(const nn_pass_t *pass, int64_t layer, int64_t count, float *gradient) {
    const nn_block_t *block = &pass->net->layout.blocks[layer];
    const nn_block_pass_t *at = &pass->blocks[layer];
    const int64_t rows = count * pass->net->shape.length;
    branch_of(pass, AFTER_FEED, layer, count);
    nn_linear_backward(pass, &block->down, rows, at->active, pass->branch, gradient, pass->wide);
    pass->net->kernels->gelu_backward(rows * block->up.out, at->up, pass->wide);
    nn_linear_backward(pass, &block->up, rows, at->middle_norm, pass->wide, gradient, pass->branch);
    back_norm(pass, &block->feed, rows, at->middle, at->middle_stats, pass->branch, pass->d,
              gradient);
}

/* at->active, which the feed-forward layer needs no more, gets the gradient of what was attended. */
static attn_status_t attend_backward(const nn_pass_t *pass, int64_t layer, int64_t count,
                                     float *gradient, attn_error_t *error) {
    const nn_block_t *block = &pass->net->layout.blocks[layer];
    const nn_block_pass_t *at = &pass->blocks[layer];
    const int64_t rows = count * pass->net->shape.length;
    branch_of(pass, AFTER_ATTENTION, layer, count);
    nn_linear_backward(pass, &block->out, rows, at->attended, pass->branch, gradient, at->active);
    const attn_status_t status = nn_attend_backward(pass, at, count, at->active, pass->wide, error);
    if (status) return status;
    nn_linear_backward(pass, &block->qkv, rows, at->in_norm, pass->wide, gradient, pass->branch);
    back_norm(pass, &block->attend, rows, at->in, at->in_stats, pass->branch, pass->d, gradient);
    return ATTN_OK;
}

static void embed_backward(const nn_pass_t *pass, const int32_t *tokens, int64_t count,
                           float *gradient) {
    const nn_net_t *net = pass->net;
    const int64_t rows = count * net->shape.length;
    drop(pass, AFTER_EMBEDDING, 0, count, pass->d);
    memset(pass->branch, 0, (size_t)(rows * net->shape.width) * sizeof *pass->branch);
    back_norm(pass, &net->layout.first, rows, pass->sum, pass->sum_stats, pass->d, pass->branch,
              gradient);
    nn_embed_backward(pass, tokens, count, pass->branch, gradient);
}

attn_status_t nn_backward(nn_pass_t *pass, const int32_t *tokens, const int32_t *targets,
                          int64_t count, float scale, double *loss, float *gradient,
                          attn_error_t *error) {
    const nn_net_t *net = pass->net;
    const int64_t rows = count * net->shape.length;
    attn_status_t status = ATTN_OK;
    *loss = net->kernels->entropy(rows, net->shape.vocabulary, targets, scale, pass->logits);
    nn_linear_backward(pass, &net->layout.head, rows, pass->last_norm, pass->logits, gradient,
                       pass->branch);
    memset(pass->d, 0, (size_t)(rows * net->shape.width) * sizeof *pass->d);
    back_norm(pass, &net->layout.last, rows, pass->last, pass->last_stats, pass->branch, pass->d,
              gradient);
    for (int64_t l = net->shape.layers - 1; l >= 0 && !status; l--) {
        feed_backward(pass, l, count, gradient);
        status = attend_backward(pass, l, count, gradient, error);
    }
    if (!status) embed_backward(pass, tokens, count, gradient);
    return status;
}
