/*
 * The built-in backends as tests see them: with settings and, where a formula defines the result
 * exactly, with that formula.
 */
#ifndef ATTN_TESTS_BACKENDS_H
#define ATTN_TESTS_BACKENDS_H

#include "fixture.h"

typedef struct subject {
    const char *backend, *settings;
    int exact; /**< `formula` is what it computes */
    formula_t formula;
} subject_t;

static const subject_t SUBJECTS[] = {
    {"softmax", "", 1, {.form = FORM_SOFTMAX}},
    {"linear", "", 1, {.form = FORM_LINEAR, .map = MAP_ELU1}},
    {"linear", "feature_map=relu", 1, {.form = FORM_LINEAR, .map = MAP_RELU}},
    {"linear", "feature_map=lin", 1, {.form = FORM_LINEAR, .map = MAP_LIN}},
    {"linear", "feature_map=relu2", 1, {.form = FORM_LINEAR, .map = MAP_RELU2}},
    {"linear", "feature_map=exp", 1, {.form = FORM_LINEAR, .map = MAP_EXP}},
    {"sparse",
     "block=8,local=2,global=1",
     1,
     {.form = FORM_SPARSE, .block = 8, .local = 2, .global = 1}},
    {"sketch", "method=gaussian,size=6", 0, {.form = FORM_SOFTMAX}},
    {"sketch", "method=ams,size=6", 0, {.form = FORM_SOFTMAX}},
    {"sketch", "method=osnap,size=6", 0, {.form = FORM_SOFTMAX}},
    {"sketch", "method=srht,size=5", 0, {.form = FORM_SOFTMAX}},
    {"sketch", "method=leverage,size=6", 0, {.form = FORM_SOFTMAX}},
};

#endif
