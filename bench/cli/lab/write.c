/* cli/lab/write.c: `attn lab write`: a model of text goes on from a beginning. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/model.h"
#include "labs/language/bytes.h"
#include "labs/language/writer.h"
#include "measure/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    lab_model_t m;
    const char *beginning;
    sample_choice_t choice;
    int64_t tokens, seed;
    writer_t writer;
} writing_t;

static void print_token(int32_t token) {
    char bytes[BYTES_MOST];
    fwrite(bytes, 1, bytes_of(token, bytes), stdout);
    fflush(stdout);
}

/* Reads the beginning, and says so where the model has not seen all of it. */
static int begin(writing_t *w) {
    attn_error_t error;
    const size_t size = strlen(w->beginning);
    int32_t *tokens = malloc((size + 1) * sizeof *tokens);
    if (!tokens) return cli_complain(CLI_USAGE, "no memory for the beginning");
    const int64_t count = bytes_encode(w->beginning, size, tokens);
    const attn_status_t status = writer_read(&w->writer, tokens, count, &error);
    free(tokens);
    if (status) return cli_reject("lab write", &error);
    const int64_t known = w->writer.decoder.position;
    if (known < count)
        fprintf(
            stderr,
            "attn: the beginning has %lld tokens and the model a context of %lld: it has seen the "
            "last %lld\n",
            (long long)count, (long long)w->m.model.net.shape.length, (long long)known);
    fputs(w->beginning, stdout);
    return CLI_OK;
}

static int go_on(writing_t *w) {
    attn_error_t error;
    const double began = measure_clock();
    for (int64_t i = 0; i < w->tokens; i++) {
        int32_t token;
        if (writer_next(&w->writer, &w->choice, &token, &error))
            return cli_reject("lab write", &error);
        print_token(token);
    }
    const double seconds = measure_clock() - began;
    puts("");
    fprintf(stderr, "%lld tokens, %.0f a second\n", (long long)w->tokens,
            (double)w->tokens / (seconds > 0 ? seconds : 1e-9));
    return CLI_OK;
}

static int execute(writing_t *w) {
    attn_error_t error;
    if (sample_check(&w->choice, &error)) return cli_reject("lab write", &error);
    int status = lab_model_load(&w->m);
    if (status) return status;
    if (writer_create(&w->m.model, &w->writer, &error)) return cli_reject("lab write", &error);
    status = begin(w);
    if (!status) status = go_on(w);
    writer_destroy(&w->writer);
    return status;
}

static const char summary[] = "Let a model of text go on from a beginning.";
static const char details[] =
    "The model reads and writes token by token, through the streams of its attention. Of a longer\n"
    "text than its context it knows the last half and what came since. With --temperature 0 each\n"
    "token is the likeliest one. Tokens a second go to standard error.\n"
    "\n"
    "For example:\n"
    "  attn lab write \"In the beginning\"\n"
    "  attn lab write \"Call me\" --attention linear --temperature 0 --tokens 50";

int lab_command_write(int argc, char **argv) {
    writing_t w = {.m = {.settings = {.threads = 1}, .task = "text"},
                   .choice = {.temperature = 0.8, .top_p = 0.95},
                   .tokens = 200,
                   .seed = 1};
    const option_t options[] = {
        {"BEGINNING", 0, OPTION_ARGUMENT, NULL, "any text", &w.beginning, 0, 0},
        {"attention", 0, OPTION_TEXT, "B", "of the model (default softmax)", &w.m.attention, 0, 0},
        {"model", 0, OPTION_TEXT, "FILE", "another model than the one that is there", &w.m.path, 0,
         0},
        {"tokens", 0, OPTION_INTEGER, "N", "how many to write (default 200)", &w.tokens, 1,
         100000000},
        {"temperature", 0, OPTION_NUMBER, "T",
         "0: the likeliest tokens; higher: less likely ones, too (default 0.8)",
         &w.choice.temperature, 0, 0},
        {"top-p", 0, OPTION_NUMBER, "P",
         "only the likeliest tokens, which have this probability together (default 0.95)",
         &w.choice.top_p, 0, 0},
        {"seed", 0, OPTION_INTEGER, "N", "of the random numbers (default 1)", &w.seed, 0,
         (int64_t)1 << 53},
        SETTINGS_CPU(w.m.settings),
        SETTINGS_PLUGIN(w.m.settings),
        {.name = NULL},
    };
    const option_command_t command = {"lab write", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    w.choice.seed = (uint64_t)w.seed;
    const int status = execute(&w);
    lab_model_free(&w.m);
    return status;
}
