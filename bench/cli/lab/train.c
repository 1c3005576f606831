/*
 * cli/lab/train.c: `attn lab train`: one model of the reasoning lab, kept in a checkpoint; and the time of its steps.
 */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/corpus.h"
#include "cli/lab/stop.h"
#include "cli/lab/store.h"
#include "cli/settings.h"
#include "labs/nn/decode.h"
#include "labs/reasoning/study.h"
#include "measure/measure.h"
#include "measure/peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct training {
    settings_t settings;
    const char *task, *backend, *path, *schedule, *folder;
    int64_t size, samples, seed;
    int64_t modulus, band; /* 0: not told */
    study_choice_t choice; /* the rest of it */
    int restart, bench;

    attn_context_t *context;
    parameters_t parameters;
    study_settings_t of;
    study_t study;
    store_t store;
    corpus_t corpus; /* of text */
} training_t;

/* ---- what is asked for ----------------------------------------------------------------------------- */

static int choose_backend(training_t *t) {
    const option_texts_t list = {.items = {t->backend}, .count = 1};
    selection_t selection;
    if (settings_select(t->context, &list, &selection)) return CLI_USAGE;
    if (selection.count > 1)
        return cli_complain(CLI_USAGE, "lab train: --attention is one backend, not '%s'",
                            t->backend);
    if (settings_check(&t->settings, t->context, &selection)) return CLI_USAGE;
    settings_parameters(&t->settings, attn_backend_at(t->context, selection.indices[0]),
                        &t->parameters);
    t->choice.backend = t->backend;
    t->choice.params = t->parameters.params;
    t->choice.param_count = t->parameters.count;
    return CLI_OK;
}

static int choose_schedule(training_t *t) {
    t->choice.constant = strcmp(t->schedule, "constant") == 0;
    if (!t->choice.constant && strcmp(t->schedule, "linear") != 0)
        return cli_complain(CLI_USAGE, "lab train: no schedule '%s': there are linear, constant",
                            t->schedule);
    if (isnan(t->choice.warm) || (t->choice.warm >= 0 && t->choice.warm <= 1)) return CLI_OK;
    return cli_complain(CLI_USAGE, "lab train: --warm is from 0 to 1");
}

static int64_t either(int64_t chosen, int64_t automatic) { return chosen ? chosen : automatic; }

/* What was not told: text takes a larger model. */
static void choose_sizes(training_t *t) {
    const int is_text = t->choice.kind == REASONING_TEXT;
    t->choice.size = (int32_t)either(t->size, is_text ? 256 : 6);
    t->choice.width = either(t->choice.width, is_text ? 128 : 32);
    t->choice.layers = either(t->choice.layers, is_text ? 4 : 3);
    t->choice.batch = either(t->choice.batch, is_text ? 8 : 64);
}

static int learn(training_t *t) {
    attn_error_t error;
    const int status = corpus_load("lab train", t->folder, &t->corpus);
    if (!status && reasoning_learn(&t->of.task, &t->corpus, &error))
        return cli_reject(t->folder, &error);
    return status;
}

static int make_settings(training_t *t) {
    attn_error_t error;
    t->choice.modulus = t->modulus ? (int32_t)t->modulus : 5;
    t->choice.band = t->band ? (int32_t)t->band : 2;
    t->choice.samples = (double)t->samples;
    t->choice.seed = (uint64_t)t->seed;
    if (reasoning_find(t->task, &t->choice.kind, &error)) return cli_reject("lab train", &error);
    choose_sizes(t);
    if (t->modulus && t->choice.kind != REASONING_ARITHMETIC)
        return cli_complain(CLI_USAGE, "lab train: --modulus is arithmetic's, not of %s", t->task);
    if (t->band && t->choice.kind != REASONING_ED_LOCAL)
        return cli_complain(CLI_USAGE, "lab train: --band is ed_local's, not of %s", t->task);
    if (t->folder && t->choice.kind != REASONING_TEXT)
        return cli_complain(CLI_USAGE, "lab train: --corpus is text's, not of %s", t->task);
    if (choose_backend(t)) return CLI_USAGE;
    if (study_settings_make(&t->choice, &t->of, &error)) return cli_reject("lab train", &error);
    if (t->choice.kind == REASONING_TEXT && learn(t)) return CLI_USAGE;
    if (t->bench) t->of.steps = INT64_MAX / 2, t->of.enough = 2; /* there is always one more */
    if (study_create(t->context, &t->of, &t->study, &error)) return cli_reject("lab train", &error);
    return CLI_OK;
}

/* ---- training -------------------------------------------------------------------------------------- */

/* What can be known before hours of training: that its answers can be decoded, and that a new file can be kept. */
static attn_status_t try_out(training_t *t, attn_error_t *error) {
    struct stat info;
    nn_decoder_t decoder;
    const attn_status_t status = nn_decoder_create(t->context, &t->study.trainer.net,
                                                   t->study.trainer.weights, 1, &decoder, error);
    if (status) return status;
    nn_decoder_destroy(&decoder);
    return stat(t->path, &info) == 0 && !S_ISDIR(info.st_mode)
               ? (attn_status_t)ATTN_OK
               : study_keep(&t->study, &t->store.lab, t->path, error);
}

static int train(training_t *t) {
    const lab_store_t *store = &t->store.lab;
    attn_error_t error;
    attn_status_t status =
        t->restart ? (attn_status_t)ATTN_OK : study_resume(&t->study, store, t->path, &error);
    if (!status) status = try_out(t, &error);
    if (!status) status = study_work(&t->study, store, t->path, &error);
    if (!status) status = study_tell(&t->study, store, t->path, 0, &error);
    if (!status || t->store.status) return t->store.status;
    if (status == LAB_UNFINISHED)
        return cli_complain(CLI_FAILED, "stopped: the same command goes on from %s", t->path);
    return cli_reject(t->path, &error);
}

/* ---- the time of a step ---------------------------------------------------------------------------- */

typedef struct timed {
    study_t *study;
    attn_error_t error;
} timed_t;

static attn_status_t run_step(void *data) {
    timed_t *timed = data;
    return study_train(timed->study, 1, &timed->error);
}

static int bench(training_t *t) {
    timed_t timed = {.study = &t->study};
    measure_t measure = {0};
    const double flops = nn_step_flops(&t->study.trainer);
    /* One thread's own time leaves out what other programs take; of several there is only the clock. */
    if (t->settings.threads == 1 ? measure_repeat_processor(run_step, &timed, 5, &measure)
                                 : measure_repeat(run_step, &timed, 5, &measure))
        return cli_reject("lab train", &timed.error);
    const double rate = flops / measure.median / 1e9;
    const double peak = peak_gflops(attn_context_tier(t->context), 1);
    printf("%s, D = %lld, V = %lld, L = %lld, batch %lld, %lld threads: %.1f ms a step, "
           "%.2f GFLOP, %.1f GFLOP/s, %.0f%% of the %.0f GFLOP/s that one core can do\n",
           t->backend, (long long)t->of.width, (long long)t->study.trainer.net.shape.vocabulary,
           (long long)t->study.trainer.net.shape.length, (long long)t->of.training.batch,
           (long long)t->settings.threads, measure.median * 1e3, flops / 1e9, rate,
           100 * rate / peak, peak);
    return CLI_OK;
}

static int execute(training_t *t) {
    int status = settings_context(&t->settings, &t->context);
    if (!status) status = make_settings(t);
    if (!status && t->bench) {
        status = bench(t);
    } else if (!status) {
        stop_listen();
        status = train(t);
    }
    study_destroy(&t->study);
    corpus_free(&t->corpus);
    attn_context_destroy(t->context);
    stop_end();
    return status;
}

/* ---- command --------------------------------------------------------------------------------------- */

static const char summary[] = "Train one model of the lab reasoning, and keep it in a checkpoint.";
static const char details[] =
    "TASK is lis, ed, ed_local, arithmetic or text. FILE is written every half minute, at the end "
    "and\n"
    "on ctrl-C: beside its place, which it then takes, so that whatever ends the program a whole\n"
    "one is there. The same command goes on from it, to the same weights on any number of\n"
    "threads. --bench tells how long a step takes and writes nothing.\n"
    "\n"
    "For example:\n"
    "  attn lab train lis --n 6 --attention linear -o linear.study\n"
    "  attn lab train lis --n 110 --d 128 --bench\n"
    "  attn lab train text --corpus FOLDER -o text.study";

static int check_numbers(const study_choice_t *c) {
    /* Not numbers are settings that are the task's. All are kept as floats. */
    if ((float)c->rate <= 0)
        return cli_complain(CLI_USAGE, "lab train: --rate: %g is not above 0", c->rate);
    if ((float)c->embedding <= 0)
        return cli_complain(CLI_USAGE, "lab train: --embedding: %g is not above 0", c->embedding);
    if (!(c->dropout >= 0 && (float)c->dropout < 1))
        return cli_complain(CLI_USAGE, "lab train: --dropout: %g is not from 0 to below 1",
                            c->dropout);
    return CLI_OK;
}

int lab_command_train(int argc, char **argv) {
    training_t t = {
        .settings = {.threads = 1},
        .backend = "softmax",
        .schedule = "linear",
        .seed = 1,
        .choice = {.heads = 4, .rate = NAN, .embedding = NAN, .warm = NAN},
    };
    store_make(&t.store, NULL);
    const option_t options[] = {
        {"TASK", 0, OPTION_ARGUMENT, NULL, "what to learn", &t.task, 0, 0},
        {"output", 'o', OPTION_TEXT, "FILE", "the checkpoint", &t.path, 0, 0},
        {"attention", 0, OPTION_TEXT, "B", "a backend with gradients (default softmax)", &t.backend,
         0, 0},
        {"n", 0, OPTION_INTEGER, "N", "size of the problem (default 6; of text 256: tokens)",
         &t.size, 2, REASONING_MOST_TOKENS - 1},
        {"corpus", 0, OPTION_TEXT, "FOLDER", "of text: where train.txt and heldout.txt are",
         &t.folder, 0, 0},
        {"modulus", 0, OPTION_INTEGER, "P", "of arithmetic (default 5)", &t.modulus, 2, 97},
        {"band", 0, OPTION_INTEGER, "W", "of ed_local (default 2)", &t.band, 1, 32},
        {"d", 0, OPTION_INTEGER, "D", "width of the model (default 32; of text 128)",
         &t.choice.width, 1, 16384},
        {"layers", 0, OPTION_INTEGER, "N", "blocks (default 3; of text 4)", &t.choice.layers, 1,
         NN_MOST_LAYERS},
        {"heads", 0, OPTION_INTEGER, "N", "heads (default 4), of D/N columns, rounded up",
         &t.choice.heads, 1, 1024},
        {"batch", 0, OPTION_INTEGER, "N", "samples a step (default 64; of text 8)", &t.choice.batch,
         1, 65536},
        {"samples", 0, OPTION_INTEGER, "K", "thousands to train on at most (default: the task's)",
         &t.samples, 1, 1000000000},
        {"rate", 0, OPTION_NUMBER, "R", "highest learning rate (default: the task's)",
         &t.choice.rate, 0, 0},
        {"schedule", 0, OPTION_TEXT, "S",
         "after warm-up the rate falls linearly to 0 (linear, the default), or is constant",
         &t.schedule, 0, 0},
        {"warm", 0, OPTION_NUMBER, "P",
         "part of the steps that are warm-up (default 0.05; of text 100 steps)", &t.choice.warm, 0,
         0},
        {"embedding", 0, OPTION_NUMBER, "S",
         "standard deviation that the embedding begins with (default: the task's)",
         &t.choice.embedding, 0, 0},
        {"dropout", 0, OPTION_NUMBER, "P", "share that is dropped (default 0)", &t.choice.dropout,
         0, 0},
        {"seed", 0, OPTION_INTEGER, "N", "of all random numbers (default 1)", &t.seed, 0,
         (int64_t)1 << 53},
        {"set", 0, OPTION_TEXTS, "NAME=VALUE", "set a parameter of the backend; may be repeated",
         &t.settings.assignments, 0, 0},
        SETTINGS_THREADS(t.settings),
        SETTINGS_CPU(t.settings),
        SETTINGS_PLUGIN(t.settings),
        STORE_SECONDS(t.store),
        {"restart", 0, OPTION_SWITCH, NULL, "begin anew, whatever FILE has", &t.restart, 0, 0},
        {"bench", 0, OPTION_SWITCH, NULL, "time steps, and write nothing", &t.bench, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"lab train", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    if (check_numbers(&t.choice)) return CLI_USAGE;
    if (choose_schedule(&t) || store_check(&t.store)) return CLI_USAGE;
    if (!t.path && !t.bench)
        return cli_complain(CLI_USAGE,
                            "lab train: --output is missing (see attn lab train --help)");
    if (t.path && strcmp(t.path, "-") == 0)
        return cli_complain(CLI_USAGE,
                            "lab train: --output is a file: standard output tells how it goes");
    return execute(&t);
}
