/*
 * cli/lab/model.h: the trained models that are there, or a file's, for the commands that use one.
 */
#ifndef ATTN_CLI_LAB_MODEL_H
#define ATTN_CLI_LAB_MODEL_H

#include "cli/settings.h"
#include "labs/reasoning/model.h"

/** Bytes of a model or checkpoint that is no regular file: 1024 columns and 3 layers take 456 million. */
#define LAB_MODEL_MOST ((size_t)1 << 29)

typedef struct lab_model {
    settings_t settings;
    const char *task, *attention, *path; /* path NULL: the one of that task and attention */
    const char *question;

    attn_context_t *context;
    model_t model;
    reasoning_sample_t asked;              /* the question, and what follows from it */
    reasoning_sample_t said;               /* the question, and what the model says */
    uint64_t state[REASONING_MOST_TOKENS]; /* model_solve()'s */
} lab_model_t;

/* For option tables, with `m` a lab_model_t. */
#define LAB_MODEL_OPTIONS(m)                                                                         \
    {"TASK", 0, OPTION_ARGUMENT, NULL, "lis, ed, ed_local or arithmetic", &(m).task, 0, 0},          \
        {"QUESTION", 0, OPTION_ARGUMENT, NULL, "numbers, two words or an expression", &(m).question, \
         0,          0},                                                                             \
        {"attention", 0, OPTION_TEXT, "B", "of the model (default softmax)", &(m).attention, 0, 0},  \
        {"model",                                                                                    \
         0,                                                                                          \
         OPTION_TEXT,                                                                                \
         "FILE",                                                                                     \
         "another model than the one that is there for the task",                                    \
         &(m).path,                                                                                  \
         0,                                                                                          \
         0},                                                                                         \
        SETTINGS_CPU((m).settings), SETTINGS_PLUGIN((m).settings)

/** The model of the task that its members name; an exit status. lab_model_free() in any case. */
int lab_model_load(lab_model_t *m);

/**
 * Like lab_model_ask() for models that answer; one of text reads the question, a text, and `said` is that with one token
 * more, which it has not read.
 */
int lab_model_read(lab_model_t *m);

/** Reads model and question, and lets the model answer; an exit status. lab_model_free() in any case. */
int lab_model_ask(lab_model_t *m);

void lab_model_free(lab_model_t *m);

#endif
