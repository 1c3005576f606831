/* cli/lab/heads.c: `attn lab heads`: what the heads of a model of text do. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/corpus.h"
#include "cli/lab/model.h"
#include "labs/language/bits.h"
#include "labs/language/probe.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct heads {
    lab_model_t m;
    const char *folder;
    int64_t pieces;
    int json;

    corpus_t corpus;
    probe_t probe;
} heads_t;

static int64_t count_of(const heads_t *h) {
    return h->m.model.net.shape.layers * h->m.model.net.shape.heads;
}

static int needed(const heads_t *h, const probe_head_t *head) {
    return head->loss - h->probe.loss > PROBE_NEEDED;
}

/* ---- as a table ------------------------------------------------------------------------------------ */

static void print_table(const heads_t *h) {
    const int64_t heads = h->m.model.net.shape.heads;
    printf("%5s %4s %9s %9s %9s %9s %9s %9s  %s\n", "layer", "head", "previous", "itself", "first",
           "local", "induction", "loss +", "at least half of the weight");
    for (int64_t i = 0; i < count_of(h); i++) {
        const probe_head_t *head = &h->probe.heads[i];
        const char *name = probe_name(head);
        printf("%5lld %4lld %9.3f %9.3f %9.3f %9.3f %9.3f %9.4f  %s%s\n",
               (long long)(i / heads + 1), (long long)(i % heads + 1), head->previous,
               head->diagonal, head->first, head->local, head->induction,
               head->loss - h->probe.loss, *name ? name : "-", needed(h, head) ? ", needed" : "");
    }
    printf("loss %.4f; of random tokens %.4f, of the same ones again %.4f\n", h->probe.loss,
           h->probe.once, h->probe.twice);
}

/* ---- as JSON --------------------------------------------------------------------------------------- */

static void write_head(const heads_t *h, int64_t i, attn_json_t *json) {
    const int64_t heads = h->m.model.net.shape.heads;
    const probe_head_t *head = &h->probe.heads[i];
    attn_json_open(json, NULL, '{');
    attn_json_integer(json, "layer", (long long)(i / heads + 1));
    attn_json_integer(json, "head", (long long)(i % heads + 1));
    attn_json_number(json, "previous", head->previous);
    attn_json_number(json, "diagonal", head->diagonal);
    attn_json_number(json, "first", head->first);
    attn_json_number(json, "local", head->local);
    attn_json_number(json, "induction", head->induction);
    attn_json_number(json, "lossWithout", head->loss);
    attn_json_string(json, "name", probe_name(head));
    attn_json_boolean(json, "needed", needed(h, head));
    attn_json_close(json, '}');
}

static void write_json(const heads_t *h, attn_json_t *json) {
    const study_settings_t *settings = &h->m.model.description.settings;
    const model_record_t *record = &h->m.model.record;
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "attention", settings->backend);
    attn_json_integer(json, "step", (long long)record->step);
    attn_json_integer(json, "tokens",
                      (long long)(record->step * settings->training.batch * settings->task.size));
    attn_json_number(json, "bits", record->bits);
    attn_json_string(json, "command", record->command);
    attn_json_integer(json, "pieces", (long long)h->pieces);
    attn_json_integer(json, "context", settings->task.size);
    attn_json_number(json, "named", PROBE_NAMED);
    attn_json_number(json, "neededAbove", PROBE_NEEDED);
    attn_json_number(json, "loss", h->probe.loss);
    attn_json_number(json, "lossOnce", h->probe.once);
    attn_json_number(json, "lossTwice", h->probe.twice);
    attn_json_open(json, "heads", '[');
    for (int64_t i = 0; i < count_of(h); i++) write_head(h, i, json);
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

static int print_json(const heads_t *h) {
    attn_json_t measured = {0};
    write_json(h, &measured);
    const size_t size = attn_json_end(&measured) + 1;
    attn_json_t json = {.buffer = malloc(size), .size = size};
    if (!json.buffer) return cli_complain(CLI_USAGE, "no memory for the table");
    write_json(h, &json);
    attn_json_end(&json);
    puts(json.buffer);
    free(json.buffer);
    return CLI_OK;
}

/* ---- command --------------------------------------------------------------------------------------- */

static int execute(heads_t *h) {
    attn_error_t error;
    int status = lab_model_load(&h->m);
    if (!status) status = corpus_load("lab heads", h->folder, &h->corpus);
    if (status) return status;
    h->probe.heads = calloc((size_t)count_of(h), sizeof *h->probe.heads);
    if (!h->probe.heads) return cli_complain(CLI_USAGE, "no memory for the heads");
    if (probe_model(&h->m.model, &h->corpus.test, h->pieces, &h->probe, &error))
        return cli_reject("lab heads", &error);
    if (h->json) return print_json(h);
    print_table(h);
    return CLI_OK;
}

static const char summary[] = "What the heads of a model of text do, by measurement.";
static const char details[] =
    "Where the weight of each row goes, on average over pieces of the held-out text: to the token\n"
    "before, itself, the first of all, the last 8; and, in random tokens that come twice, to the\n"
    "token behind the earlier place (induction). \"loss +\" is how much the loss on those pieces\n"
    "rises when nothing of the head is attended. A head has a name where at least half of the\n"
    "weight goes there, and is needed where the loss rises by more than 0.05.\n"
    "\n"
    "For example:\n"
    "  attn lab heads --corpus FOLDER --attention sparse";

int lab_command_heads(int argc, char **argv) {
    heads_t h = {.m = {.settings = {.threads = 1}, .task = "text"}, .pieces = 16};
    const option_t options[] = {
        {"corpus", 0, OPTION_TEXT | OPTION_REQUIRED, "FOLDER",
         "where train.txt and heldout.txt are", &h.folder, 0, 0},
        {"attention", 0, OPTION_TEXT, "B", "of the model (default softmax)", &h.m.attention, 0, 0},
        {"model", 0, OPTION_TEXT, "FILE", "another model than the one that is there", &h.m.path, 0,
         0},
        {"pieces", 0, OPTION_INTEGER, "N", "pieces of the text, a context each (default 16)",
         &h.pieces, 1, 100000},
        {"json", 0, OPTION_SWITCH, NULL, "as JSON", &h.json, 0, 0},
        SETTINGS_CPU(h.m.settings),
        SETTINGS_PLUGIN(h.m.settings),
        {.name = NULL},
    };
    const option_command_t command = {"lab heads", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&h);
    free(h.probe.heads);
    corpus_free(&h.corpus);
    lab_model_free(&h.m);
    return status;
}
