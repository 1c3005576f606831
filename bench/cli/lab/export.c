/* cli/lab/export.c: `attn lab export`: the model of a checkpoint, small enough to be given away. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/lab/commands.h"
#include "cli/lab/corpus.h"
#include "cli/lab/model.h"
#include "cli/output.h"
#include "cli/settings.h"
#include "labs/language/bits.h"
#include "labs/reasoning/model.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct export {
    settings_t settings;
    const char *from, *to, *folder;
    int64_t tests;

    attn_context_t *context;
    char *bytes; /* the checkpoint */
    size_t size;
    description_t description;
    study_t study;
    char command[DESCRIPTION_TEXT];
    corpus_t corpus; /* of text */
}
export_t;

CLI_FORMAT(2, 3) static void add(export_t *e, const char *format, ...) {
    const size_t used = strlen(e->command);
    va_list arguments;
    va_start(arguments, format);
    attn_vformat(e->command + used, sizeof e->command - used, format, arguments);
    va_end(arguments);
}

static void add_number(export_t *e, const char *name, double value) {
    char text[32];
    add(e, " --%s %s", name, attn_number_text(value, text));
}

/* What is not its default: it makes steps of warm-up of a part of all, rounded down. */
static void add_schedule(export_t *e, const study_settings_t *s) {
    const double steps = (double)s->steps, part = (double)s->warm / steps;
    const int64_t usual = study_learning(s->task.kind).warm;
    if (s->warm != (usual ? usual : (int64_t)(STUDY_WARM * steps)))
        add_number(e, "warm", (int64_t)(part * steps) < s->warm ? nextafter(part, 1) : part);
    if (s->constant) add(e, " --schedule constant");
}

/* `attn lab train` with all that the settings say, whatever its defaults may once be. */
static void write_command(export_t *e) {
    const study_settings_t *s = &e->description.settings;
    add(e, "attn lab train %s", reasoning_name(s->task.kind));
    if (s->task.kind == REASONING_TEXT) add(e, " --corpus FOLDER");
    add_number(e, "n", s->task.size);
    if (s->task.kind == REASONING_ARITHMETIC) add_number(e, "modulus", s->task.modulus);
    if (s->task.kind == REASONING_ED_LOCAL) add_number(e, "band", s->task.band);
    add(e, " --attention %s", s->backend);
    for (uint32_t i = 0; i < s->param_count; i++)
        add(e, " --set %s=%s", s->params[i].name, s->params[i].value);
    add_number(e, "d", (double)s->width);
    add_number(e, "layers", (double)s->layers);
    add_number(e, "heads", (double)s->heads);
    add_number(e, "batch", (double)s->training.batch);
    add_number(e, "samples", (double)(s->steps * s->training.batch / 1000));
    add_number(e, "rate", s->rate);
    add_schedule(e, s);
    if (s->training.embedding > 0) add_number(e, "embedding", s->training.embedding);
    if (s->training.dropout > 0) add_number(e, "dropout", (double)s->training.dropout);
    add_number(e, "seed", (double)s->training.seed);
}

static int load(export_t *e) {
    attn_error_t error;
    const int status = file_read_bounded(e->from, LAB_MODEL_MOST, &e->bytes, &e->size);
    if (status) return status;
    if (description_read(e->bytes, e->size, "study", &e->description, &error) ||
        description_end(&e->description, &error) ||
        study_create(e->context, &e->description.settings, &e->study, &error) ||
        study_restore(&e->study, e->bytes, e->size, &error))
        return cli_reject(e->from, &error);
    return CLI_OK;
}

static int save(const export_t *e, const model_record_t *record) {
    output_t output = {.count = 0};
    const size_t lines = e->description.size;
    const size_t size = model_save(&e->study, e->bytes, lines, record, NULL, 0);
    char *bytes = size ? malloc(size) : NULL;
    if (!bytes)
        return cli_complain(CLI_USAGE, "%s: %s", e->from,
                            size ? "no memory for its model" : "its parameters are too long");
    model_save(&e->study, e->bytes, lines, record, bytes, size);
    output_add(&output, e->to, NULL, 0, bytes, size);
    const int status = output_write(&output);
    free(bytes);
    if (status || place_is_stdout(e->to)) return status;
    if (e->description.settings.task.kind == REASONING_TEXT)
        printf("%s: %zu bytes, %.4f bits a byte of the held-out text\n%s\n", e->to, size,
               record->bits, record->command);
    else
        printf("%s: %zu bytes, %.1f%% of %lld answers right\n%s\n", e->to, size,
               100 * (double)record->answers / (double)record->tests, (long long)record->tests,
               record->command);
    if (!study_is_done(&e->study))
        printf("its training was at step %lld of %lld; the command goes to the end\n",
               (long long)record->step, (long long)e->study.settings.steps);
    return status;
}

/* How many test questions it answers. */
static int answer(export_t *e, model_record_t *record) {
    attn_error_t error;
    study_score_t score;
    if (e->folder)
        return cli_complain(CLI_USAGE, "lab export: --corpus is text's, not of %s",
                            reasoning_name(e->description.settings.task.kind));
    if (study_solve(&e->study, e->tests, &score, &error)) return cli_reject(e->from, &error);
    record->tests = score.samples;
    record->answers = score.answers;
    return CLI_OK;
}

/* How well it foretells the held-out text, which has to be that of its corpus. */
static int read_held_out(export_t *e, model_record_t *record) {
    attn_error_t error;
    const int status = corpus_load("lab export", e->folder, &e->corpus);
    if (status) return status;
    if (e->corpus.hash != e->description.settings.task.learned)
        return cli_complain(CLI_USAGE, "%s: is not the corpus that %s has learned", e->folder,
                            e->from);
    if (language_bits(&e->study.trainer.net, e->study.trainer.weights, &e->corpus.test,
                      &record->bits, &error))
        return cli_reject(e->folder, &error);
    return CLI_OK;
}

static int execute(export_t *e) {
    model_record_t record = {.command = e->command};
    /* The model has no more than the weights: training could not go on from it. */
    int status = output_spare(e->to, e->from, "the checkpoint");
    if (!status) status = settings_context(&e->settings, &e->context);
    if (!status) status = load(e);
    if (status) return status;
    model_round(&e->study);
    status = e->description.settings.task.kind == REASONING_TEXT ? read_held_out(e, &record)
                                                                 : answer(e, &record);
    if (status) return status;
    write_command(e);
    record.step = e->study.trainer.step;
    return save(e, &record);
}

static const char summary[] =
    "Make a model of a checkpoint: rounded weights, and how good they are.";
static const char details[] =
    "The weights become f16, those of text int8 with a scale for every D of them. With them the\n"
    "test questions are answered by greedy decoding; a model of text foretells the held-out text.\n"
    "FILE also has the command that trains the model again. attn lab solve and attn lab dump read\n"
    "it, attn lab write and attn lab heads those of text.\n"
    "\n"
    "For example:\n"
    "  attn lab export linear.study -o lis-linear.model";

int lab_command_export(int argc, char **argv) {
    export_t e = {.settings = {.threads = 1}, .tests = 2000};
    const option_t options[] = {
        {"CHECKPOINT", 0, OPTION_ARGUMENT, NULL, "what attn lab train wrote", &e.from, 0, 0},
        {"output", 'o', OPTION_TEXT | OPTION_REQUIRED, "FILE", "the model", &e.to, 0, 0},
        {"corpus", 0, OPTION_TEXT, "FOLDER", "of text: where train.txt and heldout.txt are",
         &e.folder, 0, 0},
        {"tests", 0, OPTION_INTEGER, "N", "test questions (default 2000)", &e.tests, 1, 1000000},
        SETTINGS_THREADS(e.settings),
        SETTINGS_CPU(e.settings),
        SETTINGS_PLUGIN(e.settings),
        {.name = NULL},
    };
    const option_command_t command = {"lab export", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&e);
    study_destroy(&e.study);
    corpus_free(&e.corpus);
    free(e.bytes);
    attn_context_destroy(e.context);
    return status;
}
