/* nn/decode.c: see decode.h. */
#include "labs/nn/decode.h"

#include "labs/nn/memory.h"

/* ---- memory ---------------------------------------------------------------------------------------- */

static void lay(nn_decoder_t *decoder, attn_arena_t *arena) {
    const nn_layout_t *layout = &decoder->net->layout;
    const int64_t rows = decoder->count, width = decoder->net->shape.width;
    decoder->logits = nn_take(arena, rows, decoder->net->shape.vocabulary);
    decoder->x = nn_take(arena, rows, width);
    decoder->normed = nn_take(arena, rows, width);
    decoder->stats = nn_take(arena, rows, 2);
    decoder->qkv = nn_take(arena, rows, 3 * layout->inner);
    decoder->attended = nn_take(arena, rows, layout->inner);
    decoder->branch = nn_take(arena, rows, width);
    decoder->wide = nn_take(arena, rows, layout->hidden);
    decoder->pass.scratch = nn_take(arena, 1, nn_net_scratch(decoder->net, rows));
}

static attn_status_t allocate(nn_decoder_t *decoder, attn_error_t *error) {
    attn_arena_t arena = {.base = NULL};
    lay(decoder, &arena);
    decoder->memory = nn_allocate(&arena);
    if (!decoder->memory)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory to decode %lld sequences",
                         (long long)decoder->count);
    arena = (attn_arena_t){.base = decoder->memory};
    lay(decoder, &arena);
    return ATTN_OK;
}

attn_status_t nn_decoder_create(const attn_context_t *context, const nn_net_t *net,
                                const float *weights, int64_t count, nn_decoder_t *decoder,
                                attn_error_t *error) {
    const nn_shape_t *shape = &net->shape;
    attn_problem_t problem = nn_attention_problem(shape, &net->layout);
    problem.batch = count;
    *decoder = (nn_decoder_t){.net = net, .count = count};
    decoder->pass = (nn_pass_t){.net = net, .weights = weights};
    attn_status_t status = allocate(decoder, error);
    for (int64_t l = 0; l < shape->layers && !status; l++)
        status = attn_stream_create(context, shape->backend, &problem, shape->params,
                                    shape->param_count, shape->length, &decoder->streams[l], error);
    if (status) nn_decoder_destroy(decoder);
    return status;
}

void nn_decoder_destroy(nn_decoder_t *decoder) {
    for (int l = 0; l < NN_MOST_LAYERS; l++) attn_stream_destroy(decoder->streams[l]);
    free(decoder->memory);
    *decoder = (nn_decoder_t){.net = NULL};
}

attn_status_t nn_decoder_restart(nn_decoder_t *decoder, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int64_t l = 0; l < decoder->net->shape.layers && !status; l++)
        status = attn_stream_truncate(decoder->streams[l], 0, error);
    decoder->position = 0;
    return status;
}

uint64_t nn_decoder_memory(const nn_decoder_t *decoder) {
    uint64_t bytes = 0;
    for (int64_t l = 0; l < decoder->net->shape.layers; l++)
        bytes += attn_stream_memory(decoder->streams[l]);
    return bytes;
}

uint64_t nn_decoder_state(const nn_decoder_t *decoder) {
    uint64_t bytes = 0;
    for (int64_t l = 0; l < decoder->net->shape.layers; l++)
        bytes += attn_stream_save(decoder->streams[l], NULL, 0);
    return bytes;
}

/* ---- a token --------------------------------------------------------------------------------------- */

static attn_status_t attend_token(const nn_decoder_t *decoder, int64_t layer, attn_error_t *error) {
    attn_stream_t *stream = decoder->streams[layer];
    const nn_net_t *net = decoder->net;
    const attn_io_t token = {.struct_size = sizeof token,
                             .key = nn_heads(net, decoder->qkv, decoder->count, 1, 1, 3),
                             .value = nn_heads(net, decoder->qkv, decoder->count, 1, 2, 3)};
    const attn_io_t query = {.struct_size = sizeof query,
                             .query = nn_heads(net, decoder->qkv, decoder->count, 1, 0, 3),
                             .out = nn_heads(net, decoder->attended, decoder->count, 1, 0, 1)};
    const attn_status_t status = attn_stream_append(stream, &token, error);
    return status ? status : attn_stream_query(stream, &query, error);
}

static void normalise(const nn_decoder_t *decoder, const nn_scale_t *scale, const float *x,
                      float *out) {
    const float *weights = decoder->pass.weights;
    const nn_norm_t norm = {decoder->count, decoder->net->shape.width, weights + scale->gain,
                            weights + scale->bias};
    decoder->net->kernels->norm(&norm, x, out, decoder->stats);
}

static void linear(const nn_decoder_t *decoder, const nn_linear_t *l, const float *x, float *y) {
    nn_linear_forward(&decoder->pass, l, decoder->count, x, y);
}

static attn_status_t block(const nn_decoder_t *decoder, int64_t layer, attn_error_t *error) {
    const nn_kernels_t *kernels = decoder->net->kernels;
    const nn_block_t *block = &decoder->net->layout.blocks[layer];
    const int64_t size = decoder->count * decoder->net->shape.width;
    normalise(decoder, &block->attend, decoder->x, decoder->normed);
    linear(decoder, &block->qkv, decoder->normed, decoder->qkv);
    const attn_status_t status = attend_token(decoder, layer, error);
    if (status) return status;
    linear(decoder, &block->out, decoder->attended, decoder->branch);
    kernels->add(size, decoder->branch, decoder->x);
    normalise(decoder, &block->feed, decoder->x, decoder->normed);
    linear(decoder, &block->up, decoder->normed, decoder->wide);
    kernels->gelu(decoder->count * block->up.out, decoder->wide, decoder->wide);
    linear(decoder, &block->down, decoder->wide, decoder->branch);
    kernels->add(size, decoder->branch, decoder->x);
    return ATTN_OK;
}

attn_status_t nn_decoder_step(nn_decoder_t *decoder, const int32_t *tokens, attn_error_t *error) {
    const nn_net_t *net = decoder->net;
    attn_status_t status = ATTN_OK;
    if (decoder->position >= net->shape.length)
        return attn_fail(error, ATTN_ERROR_RANGE, "the model has %lld tokens at most",
                         (long long)net->shape.length);
    for (int64_t s = 0; s < decoder->count; s++)
        nn_embed_token(&decoder->pass, tokens[s], decoder->position,
                       decoder->branch + s * net->shape.width);
    normalise(decoder, &net->layout.first, decoder->branch, decoder->x);
    for (int64_t l = 0; l < net->shape.layers && !status; l++) status = block(decoder, l, error);
    if (status) return status;
    normalise(decoder, &net->layout.last, decoder->x, decoder->normed);
    linear(decoder, &net->layout.head, decoder->normed, decoder->logits);
    decoder->position++;
    return ATTN_OK;
}

int32_t nn_largest(const float *logits, int64_t count) {
    int64_t best = 0;
    for (int64_t c = 1; c < count; c++)
        if (logits[c] > logits[best]) best = c;
    return (int32_t)best;
}
