/* language/bits.c: see bits.h. */
#include "labs/language/bits.h"

#include "attn/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one piece ------------------------------------------------------------------------------------- */

typedef struct reader {
    nn_pass_t pass;
    int32_t *tokens, *targets; /* of a context */
} reader_t;

static attn_status_t open_reader(const nn_net_t *net, const float *weights, reader_t *reader,
                                 attn_error_t *error) {
    const size_t length = (size_t)net->shape.length;
    *reader = (reader_t){.tokens = malloc(2 * length * sizeof *reader->tokens)};
    if (!reader->tokens) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory to read a text");
    reader->targets = reader->tokens + length;
    return nn_pass_create(net, weights, 1, &reader->pass, error);
}

static void close_reader(reader_t *reader) {
    nn_pass_destroy(&reader->pass);
    free(reader->tokens);
}

/* *loss: the sum of -log probability of text[first + 1 .. count), each from all before it. */
static attn_status_t read_piece(reader_t *reader, const int32_t *text, int64_t first, int64_t count,
                                double *loss, attn_error_t *error) {
    const nn_shape_t *shape = &reader->pass.net->shape;
    for (int64_t i = 0; i < shape->length; i++) {
        reader->tokens[i] = i < count ? text[i] : 0;
        reader->targets[i] = i >= first && i + 1 < count ? text[i + 1] : -1;
    }
    const attn_status_t status = nn_forward(&reader->pass, reader->tokens, 1, error);
    if (status) return status;
    *loss = reader->pass.net->kernels->entropy(shape->length, shape->vocabulary, reader->targets, 1,
                                               reader->pass.logits);
    return ATTN_OK;
}

/* ---- a text ---------------------------------------------------------------------------------------- */

attn_status_t language_bits(const nn_net_t *net, const float *weights, const corpus_part_t *text,
                            double *bits, attn_error_t *error) {
    const int64_t length = net->shape.length, half = attn_max(1, length / 2);
    reader_t reader;
    double sum = text->count > 0 ? log((double)net->shape.vocabulary) : NAN;
    attn_status_t status = open_reader(net, weights, &reader, error);
    for (int64_t at = 0, known = 0; known + 1 < text->count && !status; at += half) {
        const int64_t count = attn_min(length + 1, text->count - at);
        double loss;
        status = read_piece(&reader, text->tokens + at, known - at, count, &loss, error);
        if (!status) sum += loss;
        known = at + count - 1;
    }
    close_reader(&reader);
    *bits = sum / log(2) / (double)text->bytes;
    return status;
}

const int32_t *language_piece(const nn_net_t *net, const corpus_part_t *text, int64_t count,
                              int64_t number) {
    const int64_t room = text->count - (net->shape.length + 1);
    return text->tokens + (count > 1 ? room / (count - 1) * number : 0);
}

attn_status_t language_loss(const nn_net_t *net, const float *weights, const corpus_part_t *text,
                            int64_t count, double *loss, attn_error_t *error) {
    const int64_t size = net->shape.length + 1;
    reader_t reader;
    double sum = 0;
    if (text->count < size)
        return attn_fail(error, ATTN_ERROR_RANGE, "the text has %lld tokens, expected %lld or more",
                         (long long)text->count, (long long)size);
    attn_status_t status = open_reader(net, weights, &reader, error);
    for (int64_t p = 0; p < count && !status; p++) {
        double of_piece;
        status =
            read_piece(&reader, language_piece(net, text, count, p), 0, size, &of_piece, error);
        if (!status) sum += of_piece;
    }
    close_reader(&reader);
    *loss = sum / (double)(count * (size - 1));
    return status;
}
