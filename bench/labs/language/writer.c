/* language/writer.c: see writer.h. */
#include "labs/language/writer.h"

#include "attn/support.h"
#include "labs/language/bytes.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)BYTES_VOCABULARY <= (int)SAMPLE_MOST, "tokens are chosen among all");

attn_status_t writer_create(const model_t *model, writer_t *writer, attn_error_t *error) {
    const reasoning_task_t *task = &model->description.settings.task;
    *writer = (writer_t){.written = 0};
    if (task->kind != REASONING_TEXT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is a model of %s, not of text",
                         reasoning_name(task->kind));
    writer->seen = malloc((size_t)model->net.shape.length * sizeof *writer->seen);
    if (!writer->seen) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory to write");
    const attn_status_t status =
        nn_decoder_create(model->context, &model->net, model->weights, 1, &writer->decoder, error);
    if (status) writer_destroy(writer);
    return status;
}

void writer_destroy(writer_t *writer) {
    if (writer->decoder.net) nn_decoder_destroy(&writer->decoder);
    free(writer->seen);
    *writer = (writer_t){.written = 0};
}

static attn_status_t step(writer_t *writer, int32_t token, attn_error_t *error) {
    writer->seen[writer->decoder.position] = token;
    return nn_decoder_step(&writer->decoder, &token, error);
}

/* Half the context, of one token none, so that there is room for one more. */
static attn_status_t forget(writer_t *writer, attn_error_t *error) {
    const int64_t length = writer->decoder.net->shape.length, kept = length / 2;
    attn_status_t status = nn_decoder_restart(&writer->decoder, error);
    memmove(writer->seen, writer->seen + length - kept, (size_t)kept * sizeof *writer->seen);
    for (int64_t i = 0; i < kept && !status; i++) status = step(writer, writer->seen[i], error);
    return status;
}

static attn_status_t read_token(writer_t *writer, int32_t token, attn_error_t *error) {
    const attn_status_t status = writer->decoder.position < writer->decoder.net->shape.length
                                     ? (attn_status_t)ATTN_OK
                                     : forget(writer, error);
    return status ? status : step(writer, token, error);
}

/* How many tokens it would know after so many, one by one. */
static int64_t known_after(const writer_t *writer, int64_t count) {
    const int64_t length = writer->decoder.net->shape.length, kept = length / 2;
    return count <= length ? count : kept + 1 + (count - length - 1) % (length - kept);
}

attn_status_t writer_read(writer_t *writer, const int32_t *tokens, int64_t count,
                          attn_error_t *error) {
    const int64_t known = known_after(writer, writer->decoder.position + count);
    attn_status_t status = ATTN_OK;
    if (known < count) { /* what is known now will be forgotten */
        status = nn_decoder_restart(&writer->decoder, error);
        tokens += count - known, count = known;
    }
    for (int64_t i = 0; i < count && !status; i++) status = read_token(writer, tokens[i], error);
    return status;
}

attn_status_t writer_next(writer_t *writer, const sample_choice_t *choice, int32_t *token,
                          attn_error_t *error) {
    attn_status_t status = sample_check(choice, error);
    if (!status && writer->decoder.position == 0) status = read_token(writer, '\n', error);
    if (status) return status;
    *token = sample_token(choice, writer->written, writer->decoder.logits,
                          writer->decoder.net->shape.vocabulary);
    writer->written++;
    return read_token(writer, *token, error);
}
