/*
 * training.c: the C side of libattn-labs/training: a model that learns a task by labs/reasoning/study.h, step by step,
 * in a module of its own. What it says meanwhile is a model's (models.c).
 */
#include "labs/reasoning/study.h"
#include "models.h"

#include <stdlib.h>
#include <string.h>

/* Of the list of numbers that a study is made of, which js/model/training.js writes. */
enum setting {
    SIZE,
    MODULUS,
    BAND,
    WIDTH,
    LAYERS,
    HEADS,
    BATCH,
    SAMPLES,
    RATE,
    EMBEDDING,
    WARM,
    DROPOUT,
    SEED,
    SETTINGS
};

struct attnstudy {
    char backend[64];
    study_t study;
    attnmodel_t model; /* with the study's net and weights, which stay the study's */
};

/* What speaks for the study as it is: it looks on while the weights change. */
static void look_on(attnstudy_t *made) {
    const nn_trainer_t *trainer = &made->study.trainer;
    made->model.model = (model_t){.description = {.settings = made->study.settings},
                                  .context = made->study.context,
                                  .net = trainer->net,
                                  .weights = trainer->weights};
}

static attn_status_t fill(attnjs_t *js, attnstudy_t *made, const char *task,
                          const double *settings) {
    study_choice_t choice = {.size = (int32_t)settings[SIZE],
                             .modulus = (int32_t)settings[MODULUS],
                             .band = (int32_t)settings[BAND],
                             .backend = made->backend,
                             .width = (int64_t)settings[WIDTH],
                             .layers = (int64_t)settings[LAYERS],
                             .heads = (int64_t)settings[HEADS],
                             .batch = (int64_t)settings[BATCH],
                             .samples = settings[SAMPLES],
                             .rate = settings[RATE],
                             .embedding = settings[EMBEDDING],
                             .warm = settings[WARM],
                             .dropout = settings[DROPOUT],
                             .seed = (uint64_t)settings[SEED]};
    study_settings_t all;
    attn_status_t status = reasoning_find(task, &choice.kind, &js->error);
    if (!status) status = study_settings_make(&choice, &all, &js->error);
    if (!status) status = study_create(js->context, &all, &made->study, &js->error);
    if (!status) look_on(made);
    return status;
}

attnstudy_t *attnstudy_create(attnjs_t *js, const char *task, const char *attention,
                              double *settings, size_t count) {
    attnstudy_t *made = calloc(1, sizeof *made);
    if (!made) {
        attnjs_no_memory(js, "a study");
        return NULL;
    }
    if (count != SETTINGS || strlen(attention) >= sizeof made->backend)
        attn_fail(&js->error, ATTN_ERROR_ARGUMENT, "a study has other settings");
    else {
        memcpy(made->backend, attention, strlen(attention) + 1);
        if (fill(js, made, task, settings) == ATTN_OK) return made;
    }
    free(made);
    return NULL;
}

void attnstudy_destroy(attnstudy_t *study) {
    if (!study) return;
    study_destroy(&study->study);
    free(study);
}

attnmodel_t *attnstudy_model(attnjs_t *js, attnstudy_t *study) {
    (void)js;
    return &study->model;
}

/* ---- what it is of ------------------------------------------------------------------------------- */

static void write_study(attn_json_t *json, const void *subject) {
    const study_t *study = subject;
    const nn_net_t *net = &study->trainer.net;
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "task", reasoning_name(study->settings.task.kind));
    attn_json_string(json, "attention", study->settings.backend);
    attn_json_integer(json, "vocabulary", net->shape.vocabulary);
    attn_json_integer(json, "length", net->shape.length);
    attn_json_integer(json, "layers", net->shape.layers);
    attn_json_integer(json, "heads", net->shape.heads);
    attn_json_integer(json, "dim", net->layout.dim);
    attn_json_integer(json, "weights", net->layout.count);
    attn_json_integer(json, "batch", study->settings.training.batch);
    attn_json_integer(json, "steps", study->settings.steps);
    attn_json_close(json, '}');
}

char *attnstudy_describe(attnjs_t *js, attnstudy_t *study) {
    return attnjs_json(js, "the description of a study", write_study, &study->study);
}

/* ---- learning ------------------------------------------------------------------------------------ */

double attnstudy_train(attnjs_t *js, attnstudy_t *made, double *losses, size_t count) {
    study_t *study = &made->study;
    size_t step = 0;
    for (; step < count && !study_is_done(study); step++) {
        if (study_train(study, 1, &js->error) != ATTN_OK) return step > 0 ? (double)step : -1;
        losses[step] = study->loss;
    }
    return (double)step;
}

typedef struct scored {
    study_score_t score;
    int done;
} scored_t;

static void write_score(attn_json_t *json, const void *subject) {
    const scored_t *scored = subject;
    attn_json_open(json, NULL, '{');
    attn_json_integer(json, "samples", scored->score.samples);
    attn_json_integer(json, "answers", scored->score.answers);
    attn_json_integer(json, "whole", scored->score.whole);
    attn_json_boolean(json, "done", scored->done);
    attn_json_close(json, '}');
}

char *attnstudy_score(attnjs_t *js, attnstudy_t *made, uint32_t samples) {
    scored_t scored = {.done = study_is_done(&made->study)};
    if (study_solve(&made->study, samples, &scored.score, &js->error) != ATTN_OK) return NULL;
    return attnjs_json(js, "how well a model does", write_score, &scored);
}
