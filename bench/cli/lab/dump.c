/* cli/lab/dump.c: `attn lab dump`: queries, keys and values of a trained model's heads as files. */
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/lab/commands.h"
#include "cli/lab/model.h"
#include "cli/output.h"
#include "cli/runner.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dump {
    lab_model_t m;
    const char *paths[INPUT_COUNT];
    const char *texts; /* where the tokens go */
    int64_t layer;     /* 0: all of them */
    float *parts[INPUT_COUNT];
    int64_t shape[4]; /* of the files: layers, heads, tokens, columns */
} dump_t;

static int compute(dump_t *d) {
    const nn_net_t *net = &d->m.model.net;
    const int64_t layers = net->shape.layers,
                  tokens = d->m.said.count - 1; /* which were its input */
    attn_error_t error;
    if (d->layer > layers)
        return cli_complain(CLI_USAGE, "--layer: the model has %lld", (long long)layers);
    for (int which = 0; which < INPUT_COUNT; which++) {
        d->parts[which] = runner_floats(layers, net->shape.heads, tokens, net->layout.dim);
        if (!d->parts[which]) return cli_complain(CLI_USAGE, "no memory for Q, K and V");
    }
    if (model_heads(&d->m.model, d->m.said.tokens, tokens, d->parts, &error))
        return cli_reject("lab dump", &error);
    d->shape[0] = layers, d->shape[1] = net->shape.heads;
    d->shape[2] = tokens, d->shape[3] = net->layout.dim;
    return CLI_OK;
}

/* The texts of the tokens, a list in JSON with an end of line; NULL without memory. */
static char *texts_of(const dump_t *d) {
    const reasoning_task_t *task = &d->m.model.description.settings.task;
    attn_json_t json = {0};
    char *buffer = NULL, text[16];
    for (int pass = 0; pass < 2; pass++) {
        attn_json_open(&json, NULL, '[');
        for (int32_t i = 0; i + 1 < d->m.said.count; i++)
            attn_json_string(&json, NULL, reasoning_text(task, d->m.said.tokens[i], text));
        attn_json_close(&json, ']');
        const size_t size = attn_json_end(&json);
        if (pass) return strcat(buffer, "\n");
        buffer = malloc(size + 2);
        if (!buffer) return NULL;
        json = (attn_json_t){.buffer = buffer, .size = size + 1};
    }
    return buffer;
}

static int save(const dump_t *d) {
    char headers[INPUT_COUNT][NPY_HEADER_SIZE];
    output_t output = {.count = 0};
    const int64_t floats = d->shape[1] * d->shape[2] * d->shape[3]; /* of a layer */
    const int64_t first = d->layer ? d->layer - 1 : 0, layers = d->layer ? 1 : d->shape[0];
    for (int which = 0; which < INPUT_COUNT; which++) {
        if (!d->paths[which]) continue;
        const size_t size = npy_header(headers[which], ATTN_F32, d->layer ? 3 : 4, d->shape);
        output_add(&output, d->paths[which], headers[which], size, d->parts[which] + first * floats,
                   (size_t)(layers * floats) * sizeof(float));
    }
    char *texts = d->texts ? texts_of(d) : NULL;
    if (d->texts && !texts) return cli_complain(CLI_USAGE, "no memory for the tokens");
    if (texts) output_add(&output, d->texts, NULL, 0, texts, strlen(texts));
    const int status = output_write(&output);
    free(texts);
    return status;
}

static const char summary[] =
    "Queries, keys and values of a trained model as it answers a question.";
static const char details[] =
    "Of every token that the model had as its input: the question, and what it said itself but "
    "the\n"
    "last; of a model of text the tokens of that text. A file has (layers, heads, tokens, "
    "columns), or with --layer (heads, tokens, columns);\n"
    "attention is causal, with a scale of 1/sqrt(columns). That of the backend linear is 1 unless\n"
    "it is told, for 8 columns --scale 0.35355339.\n"
    "\n"
    "For example:\n"
    "  attn lab dump lis \"17 80 23 45 120 31\" --q q.npy --k k.npy --v v.npy\n"
    "  attn compare --q q.npy --k k.npy --v v.npy --causal";

int lab_command_dump(int argc, char **argv) {
    dump_t d = {.m = {.settings = {.threads = 1}}};
    const option_t options[] = {
        LAB_MODEL_OPTIONS(d.m),
        {"q", 0, OPTION_TEXT, "Q.npy", "where the queries go", &d.paths[INPUT_QUERY], 0, 0},
        {"k", 0, OPTION_TEXT, "K.npy", "and the keys", &d.paths[INPUT_KEY], 0, 0},
        {"v", 0, OPTION_TEXT, "V.npy", "and the values", &d.paths[INPUT_VALUE], 0, 0},
        {"tokens", 0, OPTION_TEXT, "T.json", "and the tokens, as a list of texts", &d.texts, 0, 0},
        {"layer", 0, OPTION_INTEGER, "N", "one layer, counted from 1 (default: all)", &d.layer, 1,
         NN_MOST_LAYERS},
        {.name = NULL},
    };
    const option_command_t command = {"lab dump", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    if (!d.paths[INPUT_QUERY] && !d.paths[INPUT_KEY] && !d.paths[INPUT_VALUE] && !d.texts)
        return cli_complain(CLI_USAGE, "lab dump: --q, --k, --v or --tokens is missing (see attn "
                                       "lab dump --help)");
    int status = CLI_OK;
    for (int which = 0; !status && which < INPUT_COUNT; which++)
        status = output_spare(d.paths[which], d.m.path, "the model");
    if (!status) status = output_spare(d.texts, d.m.path, "the model");
    if (!status) status = lab_model_read(&d.m);
    if (!status) status = compute(&d);
    if (!status) status = save(&d);
    for (int which = 0; which < INPUT_COUNT; which++) free(d.parts[which]);
    lab_model_free(&d.m);
    return status;
}
