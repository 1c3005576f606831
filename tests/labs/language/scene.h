/* A small model of text for the tests of this folder: trained for a moment, saved and loaded. */
#ifndef TESTS_LANGUAGE_SCENE_H
#define TESTS_LANGUAGE_SCENE_H

#include "labs/reasoning/model.h"

enum { SCENE_CONTEXT = 40, SCENE_STEPS = 12 };

typedef struct scene {
    attn_context_t *context;
    corpus_t corpus;
    study_t study;
    char *file;
    size_t size;
    model_t model;
} scene_t;

/** Fails the test where something does not work. */
void scene_make(const char *backend, scene_t *scene);

void scene_free(scene_t *scene);

#endif
