/* See scene.h. */
#include "scene.h"

#include "support/fixture.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static const char learned[] =
    "The boat lay on the shore, and the sea was still. A man came down to the boat, and looked at "
    "the sea, and said: it is still. Then the wind rose, and the boat lay on the shore no more. "
    "And they that were upon the sea looked for the shore, and the man said: the wind will be "
    "still, and we shall come again unto the shore.\n";
static const char held_out[] =
    "The wind was still, and the man looked at the shore. They that came down to the boat said: "
    "the sea shall rise, and the boat shall be upon it, and we shall look for the shore.\n";

static study_settings_t settings_of(const corpus_t *corpus, const char *backend) {
    study_settings_t settings = {.backend = backend,
                                 .width = 10, /* which divides no matrix of inner columns */
                                 .heads = 4,
                                 .layers = 2,
                                 .training = nn_training_paper(3),
                                 .rate = 0.01,
                                 .warm = 3,
                                 .steps = SCENE_STEPS,
                                 .cool = 4,
                                 .enough = 2};
    attn_error_t error;
    settings.training.batch = 8;
    settings.training.dropout = 0;
    settings.training.embedding = 0.05;
    assert_int_equal(reasoning_make(REASONING_TEXT, SCENE_CONTEXT, 0, 0, &settings.task, NULL),
                     ATTN_OK);
    if (reasoning_learn(&settings.task, corpus, &error)) test_fail("%s", error.message);
    return settings;
}

static void save(scene_t *scene) {
    const model_record_t record = {.step = SCENE_STEPS, .bits = 3.5, .command = "attn lab train"};
    description_t description;
    attn_error_t error;
    const size_t size = study_save(&scene->study, NULL, 0);
    char *checkpoint = malloc(size);
    assert_non_null(checkpoint);
    study_save(&scene->study, checkpoint, size);
    if (description_read(checkpoint, size, "study", &description, &error))
        test_fail("%s", error.message);
    model_round(&scene->study);
    scene->size = model_save(&scene->study, checkpoint, description.size, &record, NULL, 0);
    scene->file = malloc(scene->size);
    assert_non_null(scene->file);
    model_save(&scene->study, checkpoint, description.size, &record, scene->file, scene->size);
    free(checkpoint);
}

void scene_make(const char *backend, scene_t *scene) {
    attn_error_t error;
    *scene = (scene_t){.context = fixture_context(1)};
    if (corpus_make(learned, strlen(learned), held_out, strlen(held_out), &scene->corpus, &error))
        test_fail("%s", error.message);
    const study_settings_t settings = settings_of(&scene->corpus, backend);
    if (study_create(scene->context, &settings, &scene->study, &error) ||
        study_train(&scene->study, SCENE_STEPS, &error))
        test_fail("%s", error.message);
    save(scene);
    if (model_load(scene->context, scene->file, scene->size, &scene->model, &error))
        test_fail("%s", error.message);
}

void scene_free(scene_t *scene) {
    model_destroy(&scene->model);
    free(scene->file);
    study_destroy(&scene->study);
    corpus_free(&scene->corpus);
    attn_context_destroy(scene->context);
}
