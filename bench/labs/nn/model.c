/* nn/model.c: see model.h. */
#include "labs/nn/model.h"

#include "attn/random.h"
#include "attn/support.h"

#include <math.h>

/* ---- layout ---------------------------------------------------------------------------------------- */

static attn_status_t check(const nn_shape_t *shape, attn_error_t *error) {
    const struct {
        const char *name;
        int64_t value, most;
    } sizes[] = {
        {"tokens in the vocabulary", shape->vocabulary, 1 << 20},
        {"tokens in a sequence", shape->length, 1 << 20},
        {"width", shape->width, 1 << 14},
        {"heads", shape->heads, shape->width},
        {"layers", shape->layers, NN_MOST_LAYERS},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < 1 || sizes[i].value > sizes[i].most)
            return attn_fail(error, ATTN_ERROR_SHAPE, "%s: %lld, expected 1 to %lld", sizes[i].name,
                             (long long)sizes[i].value, (long long)sizes[i].most);
    return ATTN_OK;
}

static int64_t take(nn_layout_t *layout, int64_t count) {
    const int64_t at = layout->count;
    layout->count += count;
    return at;
}

static nn_linear_t take_linear(nn_layout_t *layout, int64_t in, int64_t out) {
    return (nn_linear_t){.in = in, .out = out, .weight = take(layout, in * out)};
}

static void take_matrices(const nn_shape_t *shape, nn_layout_t *layout) {
    const int64_t width = shape->width, inner = layout->inner, hidden = layout->hidden;
    layout->embedding = take(layout, shape->vocabulary * width);
    for (int64_t l = 0; l < shape->layers; l++) {
        nn_block_t *block = &layout->blocks[l];
        block->qkv = take_linear(layout, width, 3 * inner);
        block->out = take_linear(layout, inner, width);
        block->up = take_linear(layout, width, hidden);
        block->down = take_linear(layout, hidden, width);
    }
    layout->head = shape->tied ? (nn_linear_t){.in = width,
                                               .out = shape->vocabulary,
                                               .weight = layout->embedding,
                                               .transposed = 1}
                               : take_linear(layout, width, shape->vocabulary);
}

static void take_bias(nn_layout_t *layout, nn_linear_t *linear) {
    linear->bias = take(layout, linear->out);
}

static nn_scale_t take_scale(nn_layout_t *layout, int64_t width) {
    const int64_t gain = take(layout, width);
    return (nn_scale_t){gain, take(layout, width)};
}

static void take_vectors(const nn_shape_t *shape, nn_layout_t *layout) {
    layout->first = take_scale(layout, shape->width);
    for (int64_t l = 0; l < shape->layers; l++) {
        nn_block_t *block = &layout->blocks[l];
        block->attend = take_scale(layout, shape->width);
        block->feed = take_scale(layout, shape->width);
        take_bias(layout, &block->qkv);
        take_bias(layout, &block->out);
        take_bias(layout, &block->up);
        take_bias(layout, &block->down);
    }
    layout->last = take_scale(layout, shape->width);
    take_bias(layout, &layout->head);
}

attn_status_t nn_layout_make(const nn_shape_t *shape, nn_layout_t *layout, attn_error_t *error) {
    const attn_status_t status = check(shape, error);
    if (status) return status;
    *layout = (nn_layout_t){.dim = (shape->width + shape->heads - 1) / shape->heads};
    layout->inner = layout->dim * shape->heads;
    layout->hidden = 4 * shape->width;
    take_matrices(shape, layout);
    layout->decayed = layout->count;
    take_vectors(shape, layout);
    return ATTN_OK;
}

/* ---- what they begin with -------------------------------------------------------------------------- */

enum { STREAM_WEIGHTS = 1 };

/* Uniform within sqrt(6 / (in + out)): Glorot and Bengio, 2010. */
static void draw(uint64_t seed, int64_t at, int64_t in, int64_t out, float *weights) {
    const double bound = sqrt(6.0 / (double)(in + out));
    for (int64_t i = at; i < at + in * out; i++)
        weights[i] =
            (float)(bound * (2 * attn_random_uniform(seed, STREAM_WEIGHTS, (uint64_t)i) - 1));
}

static void draw_linear(uint64_t seed, const nn_linear_t *linear, float *weights) {
    draw(seed, linear->weight, linear->in, linear->out, weights);
}

static void draw_normal(uint64_t seed, int64_t at, int64_t count, double deviation,
                        float *weights) {
    for (int64_t i = at; i < at + count; i++)
        weights[i] = (float)(deviation * attn_random_normal(seed, STREAM_WEIGHTS, (uint64_t)i));
}

static void set_gain(const nn_shape_t *shape, const nn_scale_t *scale, float *weights) {
    for (int64_t c = 0; c < shape->width; c++) weights[scale->gain + c] = 1.0f;
}

void nn_weights_draw(const nn_shape_t *shape, const nn_layout_t *layout, double embedding,
                     uint64_t seed, float *weights) {
    if (embedding > 0)
        draw_normal(seed, layout->embedding, shape->vocabulary * shape->width, embedding, weights);
    else
        draw(seed, layout->embedding, shape->vocabulary, shape->width, weights);
    for (int64_t i = layout->decayed; i < layout->count; i++) weights[i] = 0.0f;
    for (int64_t l = 0; l < shape->layers; l++) {
        const nn_block_t *block = &layout->blocks[l];
        draw_linear(seed, &block->qkv, weights);
        draw_linear(seed, &block->out, weights);
        draw_linear(seed, &block->up, weights);
        draw_linear(seed, &block->down, weights);
        set_gain(shape, &block->attend, weights);
        set_gain(shape, &block->feed, weights);
    }
    if (!shape->tied) draw_linear(seed, &layout->head, weights);
    set_gain(shape, &layout->first, weights);
    set_gain(shape, &layout->last, weights);
}

void nn_positions(const nn_shape_t *shape, float *positions) {
    for (int64_t p = 0; p < shape->length; p++)
        for (int64_t c = 0; c < shape->width; c++) {
            const double turns = pow(10000, -(double)(c - c % 2) / (double)shape->width);
            const double angle = (double)p * turns;
            *positions++ = (float)(c % 2 ? cos(angle) : sin(angle));
        }
}

attn_problem_t nn_attention_problem(const nn_shape_t *shape, const nn_layout_t *layout) {
    attn_problem_t problem;
    attn_problem_init(&problem, 1, shape->heads, shape->length, shape->length, layout->dim,
                      layout->dim);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    problem.scale = (float)(1 / sqrt((double)layout->dim));
    return problem;
}
