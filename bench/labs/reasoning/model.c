/* reasoning/model.c: see model.h. */
#include "labs/reasoning/model.h"

#include "attn/support.h"
#include "labs/nn/decode.h"
#include "labs/reasoning/checksum.h"
#include "labs/reasoning/endian.h"
#include "number/format.h"
#include "number/number.h"

#include <stdlib.h>
#include <string.h>

enum { SUM_SIZE = 8 };
static const char magic[] = "attn model 1\n";

/* ---- out ------------------------------------------------------------------------------------------- */

/* Text's models are large, and the rounding of 8 bits costs them little. */
static enum weights_format format_of(const study_settings_t *settings) {
    return settings->task.kind == REASONING_TEXT ? WEIGHTS_INT8 : WEIGHTS_F16;
}

void model_round(study_t *study) {
    const nn_net_t *net = &study->trainer.net;
    weights_round(format_of(&study->settings), &net->shape, &net->layout, study->trainer.weights);
}

/* The lines that a model has behind those of its study; returns their length. */
static size_t write_record(const study_settings_t *settings, const model_record_t *record,
                           char more[DESCRIPTION_TEXT]) {
    char bits[32];
    const long long step = (long long)record->step;
    if (settings->task.kind == REASONING_TEXT)
        return (size_t)attn_format(more, DESCRIPTION_TEXT,
                                   "step=%lld\nbits=%s\nweights=int8\ncommand=%s\n\n", step,
                                   attn_number_text(record->bits, bits), record->command);
    return (size_t)attn_format(
        more, DESCRIPTION_TEXT, "step=%lld\ntests=%lld\nanswers=%lld\ncommand=%s\n\n", step,
        (long long)record->tests, (long long)record->answers, record->command);
}

size_t model_save(const study_t *study, const char *lines, size_t lines_size,
                  const model_record_t *record, void *buffer, size_t size) {
    char more[DESCRIPTION_TEXT];
    const nn_net_t *net = &study->trainer.net;
    const enum weights_format format = format_of(&study->settings);
    const size_t first = sizeof magic - 1,
                 numbers = weights_size(format, &net->shape, &net->layout);
    const size_t same = lines_size - first - 1; /* neither their first line nor the empty one */
    const size_t length = write_record(&study->settings, record, more);
    const size_t header = first + same + length, before = header + numbers;
    if (header > DESCRIPTION_TEXT) return 0;
    unsigned char *at = buffer;
    if (size < before + SUM_SIZE) return before + SUM_SIZE;
    memcpy(at, magic, first);
    memcpy(at + first, lines + first, same);
    memcpy(at + first + same, more, length);
    weights_put(format, &net->shape, &net->layout, study->trainer.weights, at + header);
    put_bytes(at + before, checksum(CHECKSUM_BASIS, at, before), SUM_SIZE);
    return before + SUM_SIZE;
}

/* ---- in -------------------------------------------------------------------------------------------- */

static attn_status_t read_answers(description_t *description, model_record_t *record,
                                  attn_error_t *error) {
    const int64_t most = (int64_t)1 << 53;
    const attn_status_t status =
        description_integer(description, "tests", most, &record->tests, error);
    return status ? status
                  : description_integer(description, "answers", record->tests, &record->answers,
                                        error);
}

static attn_status_t read_text_record(description_t *description, model_record_t *record,
                                      attn_error_t *error) {
    const attn_status_t status = description_number(description, "bits", &record->bits, error);
    const char *format = status ? NULL : description_line(description, "weights", error);
    if (!format) return ATTN_ERROR_ARGUMENT;
    if (strcmp(format, "int8") == 0) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "its weights are of format '%.20s', expected int8",
                     format);
}

static attn_status_t read_record(model_t *model, attn_error_t *error) {
    description_t *description = &model->description;
    model_record_t *record = &model->record;
    const int64_t most = (int64_t)1 << 53;
    attn_status_t status = description_integer(description, "step", most, &record->step, error);
    if (!status && description->settings.task.kind == REASONING_TEXT)
        status = read_text_record(description, record, error);
    else if (!status)
        status = read_answers(description, record, error);
    if (status) return status;
    record->command = description_line(description, "command", error);
    return record->command ? description_end(description, error) : ATTN_ERROR_ARGUMENT;
}

/* That the bytes are as many as its shape needs, and what they were. */
static attn_status_t check_bytes(const model_t *model, const nn_shape_t *shape,
                                 const unsigned char *bytes, size_t size, attn_error_t *error) {
    nn_layout_t layout;
    const attn_status_t status = nn_layout_make(shape, &layout, error);
    if (status) return status;
    const enum weights_format format = format_of(&model->description.settings);
    const uint64_t expected =
        model->description.size + weights_size(format, shape, &layout) + SUM_SIZE;
    if (size != expected)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "the model has %zu bytes, its header says %llu: it is %s", size,
                         (unsigned long long)expected, size < expected ? "truncated" : "too long");
    if (get_bytes(bytes + size - SUM_SIZE, SUM_SIZE) !=
        checksum(CHECKSUM_BASIS, bytes, size - SUM_SIZE))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "the model is damaged: its sum is off");
    return ATTN_OK;
}

static attn_status_t read_weights(model_t *model, const unsigned char *bytes, attn_error_t *error) {
    const size_t count = (size_t)model->net.layout.count;
    if (count <= SIZE_MAX / sizeof *model->weights)
        model->weights = malloc(count * sizeof *model->weights);
    if (!model->weights) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for the weights");
    weights_get(format_of(&model->description.settings), &model->net.shape, &model->net.layout,
                bytes, model->weights);
    return ATTN_OK;
}

attn_status_t model_load(const attn_context_t *context, const void *bytes, size_t size,
                         model_t *model, attn_error_t *error) {
    const unsigned char *at = bytes;
    *model = (model_t){.context = context};
    attn_status_t status = description_read(bytes, size, "model", &model->description, error);
    if (!status) status = read_record(model, error);
    if (status) return status;
    nn_shape_t shape = study_shape(&model->description.settings);
    shape.frozen = 1;
    status = check_bytes(model, &shape, at, size, error);
    if (!status) status = nn_net_create(context, &shape, &model->net, error);
    if (!status) status = read_weights(model, at + model->description.size, error);
    if (status) model_destroy(model);
    return status;
}

void model_destroy(model_t *model) {
    nn_net_destroy(&model->net);
    free(model->weights);
    model->weights = NULL;
}

/* ---- at work --------------------------------------------------------------------------------------- */

attn_status_t model_solve(const model_t *model, const reasoning_sample_t *question,
                          reasoning_sample_t *said, uint64_t *state, attn_error_t *error) {
    const nn_shape_t *shape = &model->net.shape;
    const int32_t asked = question->question;
    nn_decoder_t decoder;
    attn_status_t status =
        nn_decoder_create(model->context, &model->net, model->weights, 1, &decoder, error);
    if (status) return status;
    memcpy(said->tokens, question->tokens, (size_t)asked * sizeof *said->tokens);
    said->question = said->count = asked;
    for (int32_t p = 0; p < shape->length && !status; p++) {
        status = nn_decoder_step(&decoder, &said->tokens[p], error);
        if (!status && state) state[p] = nn_decoder_state(&decoder);
        if (status || p + 1 < asked) continue;
        said->tokens[p + 1] = nn_largest(decoder.logits, shape->vocabulary);
        said->count = p + 2;
        if (said->tokens[p + 1] == REASONING_EOS) break;
    }
    nn_decoder_destroy(&decoder);
    return status;
}

/* One part of a layer's rows, which have all three beside each other, to heads x count x dim. */
static void copy_part(const nn_net_t *net, float *qkv, int part, int64_t count, float *out) {
    const attn_tensor_t from = nn_heads(net, qkv, 1, count, part, 3);
    for (int64_t h = 0; h < from.shape[1]; h++)
        for (int64_t i = 0; i < count; i++)
            memcpy(out + (h * count + i) * net->layout.dim,
                   (float *)from.data + h * from.stride[1] + i * from.stride[2],
                   (size_t)net->layout.dim * sizeof *out);
}

attn_status_t model_heads(const model_t *model, const int32_t *tokens, int64_t count,
                          float *const parts[3], attn_error_t *error) {
    const nn_net_t *net = &model->net;
    int32_t padded[REASONING_MOST_TOKENS] = {REASONING_PAD};
    nn_pass_t pass;
    attn_status_t status = nn_pass_create(net, model->weights, 1, &pass, error);
    if (status) return status;
    memcpy(padded, tokens, (size_t)count * sizeof *padded);
    status = nn_forward(&pass, padded, 1, error);
    for (int64_t l = 0; l < net->shape.layers && !status; l++)
        for (int part = 0; part < 3; part++)
            copy_part(net, pass.blocks[l].qkv, part, count,
                      parts[part] + l * net->layout.inner * count);
    nn_pass_destroy(&pass);
    return status;
}
