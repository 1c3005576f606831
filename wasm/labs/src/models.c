/* models.c: the C side of libattn-labs/models: trained models that answer questions, in a module of their own. */
#include "models.h"

#include "labs/language/bytes.h"

#include <stdlib.h>
#include <string.h>

attnmodel_t *attnmodel_load(attnjs_t *js, const void *bytes, size_t size) {
    attnmodel_t *made = calloc(1, sizeof *made);
    if (!made) {
        attnjs_no_memory(js, "a model");
        return NULL;
    }
    if (model_load(js->context, bytes, size, &made->model, &js->error) == ATTN_OK) return made;
    free(made);
    return NULL;
}

void attnmodel_destroy(attnmodel_t *model) {
    if (!model) return;
    writer_destroy(&model->writer);
    model_destroy(&model->model);
    free(model);
}

/* ---- what it is of --------------------------------------------------------------------------------- */

static void write_shape(attn_json_t *json, const nn_net_t *net) {
    attn_json_integer(json, "vocabulary", net->shape.vocabulary);
    attn_json_integer(json, "length", net->shape.length);
    attn_json_integer(json, "width", net->shape.width);
    attn_json_integer(json, "layers", net->shape.layers);
    attn_json_integer(json, "heads", net->shape.heads);
    attn_json_integer(json, "dim", net->layout.dim);
}

static void write_model(attn_json_t *json, const void *subject) {
    const model_t *model = subject;
    const study_settings_t *settings = &model->description.settings;
    const reasoning_task_t *task = &settings->task;
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "task", reasoning_name(task->kind));
    attn_json_integer(json, "size", task->size);
    if (task->kind == REASONING_ARITHMETIC) attn_json_integer(json, "modulus", task->modulus);
    if (task->kind == REASONING_ED_LOCAL) attn_json_integer(json, "band", task->band);
    attn_json_string(json, "attention", settings->backend);
    attn_json_open(json, "params", '{');
    for (uint32_t i = 0; i < settings->param_count; i++)
        attn_json_string(json, settings->params[i].name, settings->params[i].value);
    attn_json_close(json, '}');
    write_shape(json, &model->net);
    attn_json_integer(json, "seed", (long long)settings->training.seed);
    if (task->kind == REASONING_TEXT) {
        attn_json_integer(json, "step", model->record.step);
        attn_json_number(json, "bits", model->record.bits);
    } else {
        attn_json_integer(json, "tests", model->record.tests);
        attn_json_integer(json, "answers", model->record.answers);
    }
    attn_json_string(json, "command", model->record.command);
    attn_json_close(json, '}');
}

char *attnmodel_describe(attnjs_t *js, attnmodel_t *model) {
    return attnjs_json(js, "the description of a model", write_model, &model->model);
}

/* ---- what it says ---------------------------------------------------------------------------------- */

static void write_token(attn_json_t *json, const char *name, const reasoning_task_t *task,
                        int32_t token) {
    char text[16];
    attn_json_string(json, name, token < 0 ? "" : reasoning_text(task, token, text));
}

static void write_tokens(attn_json_t *json, const char *name, const reasoning_task_t *task,
                         const reasoning_sample_t *sample) {
    attn_json_open(json, name, '[');
    for (int32_t i = 0; i < sample->count; i++) write_token(json, NULL, task, sample->tokens[i]);
    attn_json_close(json, ']');
}

static void write_said(attn_json_t *json, const void *subject) {
    const attnmodel_t *model = subject;
    const reasoning_task_t *task = &model->model.description.settings.task;
    const int32_t answer = reasoning_answer(model->said.tokens, model->said.count);
    char unlike[REASONING_UNLIKE];
    attn_json_open(json, NULL, '{');
    write_tokens(json, "tokens", task, &model->said);
    attn_json_integer(json, "question", model->said.question);
    write_tokens(json, "expected", task, &model->asked);
    attn_json_open(json, "state", '[');
    for (int32_t i = 0; i + 1 < model->said.count; i++)
        attn_json_integer(json, NULL, (long long)model->state[i]);
    attn_json_close(json, ']');
    write_token(json, "answer", task, answer);
    attn_json_boolean(json, "right",
                      answer == reasoning_answer(model->asked.tokens, model->asked.count));
    reasoning_unlike(task, &model->asked, unlike);
    attn_json_string(json, "unlike", unlike);
    attn_json_close(json, '}');
}

char *attnmodel_solve(attnjs_t *js, attnmodel_t *model, const char *question) {
    const reasoning_task_t *task = &model->model.description.settings.task;
    if (reasoning_read(task, question, &model->asked, &js->error) != ATTN_OK ||
        model_solve(&model->model, &model->asked, &model->said, model->state, &js->error) !=
            ATTN_OK)
        return NULL;
    return attnjs_json(js, "what a model says", write_said, model);
}

attn_status_t attnmodel_heads(attnjs_t *js, attnmodel_t *model, float *parts, size_t room) {
    const nn_net_t *net = &model->model.net;
    const int64_t tokens = model->said.count - 1;
    const int64_t size = net->shape.layers * net->layout.inner * tokens;
    if (tokens < 0)
        return attn_fail(&js->error, ATTN_ERROR_ARGUMENT, "the model has not said anything yet");
    if ((uint64_t)room < 3 * (uint64_t)size)
        return attn_fail(&js->error, ATTN_ERROR_SHAPE, "there is no room for the heads");
    float *const each[3] = {parts, parts + size, parts + 2 * size};
    return model_heads(&model->model, model->said.tokens, tokens, each, &js->error);
}

/* ---- what it writes -------------------------------------------------------------------------------- */

/* What it knows of a text, as if it had been asked that: attnmodel_heads() then has its heads. */
static void keep_known(attnmodel_t *model) {
    const int64_t known = model->writer.decoder.position;
    memcpy(model->said.tokens, model->writer.seen, (size_t)known * sizeof *model->said.tokens);
    model->said.question = (int32_t)known;
    model->said.count = (int32_t)known + 1; /* the last token is one that it has not read */
    model->said.tokens[known] = 0;
}

typedef struct begun {
    const attnmodel_t *model;
    int64_t tokens;
} begun_t;

static void write_begun(attn_json_t *json, const void *subject) {
    const begun_t *begun = subject;
    attn_json_open(json, NULL, '{');
    attn_json_integer(json, "count", begun->tokens);
    attn_json_open(json, "known", '[');
    for (int64_t i = 0; i < begun->model->writer.decoder.position; i++)
        attn_json_integer(json, NULL, begun->model->writer.seen[i]);
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

char *attnmodel_begin(attnjs_t *js, attnmodel_t *model, const void *text, size_t size) {
    int32_t *tokens = size < SIZE_MAX / sizeof *tokens ? malloc((size + 1) * sizeof *tokens) : NULL;
    if (!tokens) {
        attnjs_no_memory(js, "a text");
        return NULL;
    }
    const int64_t count = bytes_encode(text, size, tokens);
    const begun_t begun = {model, count};
    writer_destroy(&model->writer);
    attn_status_t status = writer_create(&model->model, &model->writer, &js->error);
    if (!status) status = writer_read(&model->writer, tokens, count, &js->error);
    free(tokens);
    if (status) {
        writer_destroy(&model->writer);
        return NULL;
    }
    keep_known(model);
    return attnjs_json(js, "what a model knows of a text", write_begun, &begun);
}

double attnmodel_next(attnjs_t *js, attnmodel_t *model, double temperature, double top_p,
                      double seed) {
    const sample_choice_t choice = {temperature, top_p, (uint64_t)attnjs_integer(seed)};
    int32_t token;
    if (!model->writer.seen) {
        attn_fail(&js->error, ATTN_ERROR_ARGUMENT, "the model has not begun a text");
        return -1;
    }
    if (writer_next(&model->writer, &choice, &token, &js->error)) return -1;
    return token;
}

double attnmodel_bytes(attnjs_t *js, uint32_t token, void *bytes, size_t size) {
    char own[BYTES_MOST];
    if (token >= BYTES_VOCABULARY || size < BYTES_MOST) {
        attn_fail(&js->error, ATTN_ERROR_RANGE, "there is no token %lu", (unsigned long)token);
        return -1;
    }
    const size_t length = bytes_of((int32_t)token, own);
    memcpy(bytes, own, length);
    return (double)length;
}
