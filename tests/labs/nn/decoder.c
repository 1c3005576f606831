/* See decoder.h. */
#include "decoder.h"
#include "numbers.h"

#include "attn/random.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* of any size of these models */

typedef double rows_t[MOST][MOST];

static void linear(const double *weights, const nn_linear_t *linear, int64_t rows, rows_t x,
                   rows_t y) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < linear->out; o++) {
            y[r][o] = weights[linear->bias + o];
            for (int64_t i = 0; i < linear->in; i++)
                y[r][o] +=
                    x[r][i] * weights[linear->weight + (linear->transposed ? o * linear->in + i
                                                                           : i * linear->out + o)];
        }
}

static void norm(const double *weights, const nn_scale_t *scale, int64_t rows, int64_t width,
                 rows_t x, rows_t y) {
    for (int64_t r = 0; r < rows; r++) {
        double mean = 0, variance = 0;
        for (int64_t c = 0; c < width; c++) mean += x[r][c] / (double)width;
        for (int64_t c = 0; c < width; c++) variance += pow(x[r][c] - mean, 2) / (double)width;
        for (int64_t c = 0; c < width; c++)
            y[r][c] = (x[r][c] - mean) / sqrt(variance + 1e-5) * weights[scale->gain + c] +
                      weights[scale->bias + c];
    }
}

static void drop(const decoder_t *decoder, int64_t place, int64_t sequence, rows_t x) {
    const int64_t width = decoder->net->shape.width, size = decoder->net->shape.length * width;
    nn_dropout_t dropout = decoder->dropout;
    float kept[MOST * MOST];
    dropout.stream += (uint64_t)place;
    for (int64_t i = 0; i < size; i++) kept[i] = 1;
    decoder->net->kernels->dropout(&dropout, (uint64_t)(sequence * ((size + 7) / 8)), size, kept);
    for (int64_t i = 0; i < size; i++) x[i / width][i % width] *= (double)kept[i];
}

static double phi(double x) { return x > 0 ? x + 1 : exp(x); }

/* The weight of key j for query i, but for the row's sum. */
static double weight(const decoder_t *decoder, const double *q, const double *k, int64_t i,
                     int64_t j) {
    const int64_t dim = decoder->net->layout.dim;
    const double scale = 1 / sqrt((double)dim);
    const int is_linear = strcmp(decoder->net->shape.backend, "linear") == 0;
    double sum = 0;
    if (strcmp(decoder->net->shape.backend, "sparse") == 0 && !(i - j < 2 || j % 2 >= 1)) return 0;
    for (int64_t c = 0; c < dim; c++)
        sum += is_linear ? phi(q[c] * scale) * phi(k[c]) : q[c] * scale * k[c];
    return is_linear ? sum : exp(sum);
}

static void attend_rows(const decoder_t *decoder, rows_t qkv, rows_t out) {
    const nn_layout_t *layout = &decoder->net->layout;
    for (int64_t i = 0; i < decoder->net->shape.length; i++)
        for (int64_t c = 0; c < layout->inner; c++) {
            const int64_t head = c / layout->dim * layout->dim;
            double sum = 0, total = 0;
            for (int64_t j = 0; j <= i; j++) {
                const double w =
                    weight(decoder, qkv[i] + head, qkv[j] + layout->inner + head, i, j);
                sum += w * qkv[j][2 * layout->inner + c], total += w;
            }
            out[i][c] = sum / total;
        }
}

static void add(int64_t rows, int64_t width, rows_t y, rows_t x) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++) x[r][c] += y[r][c];
}

static void block(const decoder_t *decoder, int64_t layer, int64_t sequence, rows_t x) {
    const nn_block_t *b = &decoder->net->layout.blocks[layer];
    const int64_t rows = decoder->net->shape.length, width = decoder->net->shape.width;
    static rows_t a, y;
    norm(decoder->weights, &b->attend, rows, width, x, y);
    linear(decoder->weights, &b->qkv, rows, y, a);
    attend_rows(decoder, a, y);
    linear(decoder->weights, &b->out, rows, y, a);
    drop(decoder, 3 * layer + 1, sequence, a);
    add(rows, width, a, x);
    norm(decoder->weights, &b->feed, rows, width, x, y);
    linear(decoder->weights, &b->up, rows, y, a);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < b->up.out; c++) a[r][c] = numbers_gelu(a[r][c]);
    linear(decoder->weights, &b->down, rows, a, y);
    drop(decoder, 3 * layer + 2, sequence, y);
    add(rows, width, y, x);
}

static double row_loss(int64_t classes, const double *logits, int32_t target) {
    double sum = 0;
    for (int64_t c = 0; c < classes; c++) sum += exp(logits[c]);
    return target < 0 ? 0 : log(sum) - logits[target];
}

static double sequence_loss(const decoder_t *decoder, int64_t s) {
    const nn_shape_t *shape = &decoder->net->shape;
    const nn_layout_t *layout = &decoder->net->layout;
    const int64_t rows = shape->length, width = shape->width;
    static rows_t x, y;
    double loss = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++) {
            const double angle = (double)r / pow(10000, (double)(c / 2 * 2) / (double)width);
            y[r][c] =
                (shape->tied ? sqrt((double)width) : 1) *
                    decoder
                        ->weights[layout->embedding + decoder->tokens[s * rows + r] * width + c] +
                (c % 2 ? cos(angle) : sin(angle));
        }
    norm(decoder->weights, &layout->first, rows, width, y, x);
    drop(decoder, 0, s, x);
    for (int64_t l = 0; l < shape->layers; l++) block(decoder, l, s, x);
    norm(decoder->weights, &layout->last, rows, width, x, y);
    linear(decoder->weights, &layout->head, rows, y, x);
    for (int64_t r = 0; r < rows; r++) {
        loss += row_loss(shape->vocabulary, x[r], decoder->targets[s * rows + r]);
        for (int64_t c = 0; decoder->logits && c < shape->vocabulary; c++)
            decoder->logits[(s * rows + r) * shape->vocabulary + c] = x[r][c];
    }
    return loss;
}

double decoder_loss(const decoder_t *decoder) {
    const nn_shape_t *shape = &decoder->net->shape;
    const int64_t wide = decoder->net->layout.hidden > 3 * decoder->net->layout.inner
                             ? decoder->net->layout.hidden
                             : 3 * decoder->net->layout.inner;
    double loss = 0;
    assert_true(wide <= MOST && shape->length <= MOST && shape->vocabulary <= MOST);
    for (int64_t s = 0; s < decoder->count; s++) loss += sequence_loss(decoder, s);
    return loss;
}

double decoder_roundings(const nn_net_t *net) {
    const nn_layout_t *layout = &net->layout;
    const int64_t width = net->shape.width;
    const int64_t block = 6 * width + 4 * layout->inner + layout->hidden + 2 * net->shape.length;
    return (double)(net->shape.layers * block + 4 * width + net->shape.vocabulary);
}

double decoder_error(uint64_t draw, int64_t at, double size) {
    return attn_random_u64(test_seed(), 50 + draw, (uint64_t)at) & 1 ? 1 + size : 1 - size;
}
