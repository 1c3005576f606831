/* cli/lab/solve.c: `attn lab solve`: a trained model answers a question, step by step. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/model.h"

#include <stdio.h>

static const char *text_of(const lab_model_t *m, int32_t token, char text[16]) {
    return token < 0 ? "nothing" : reasoning_text(&m->model.description.settings.task, token, text);
}

/* Of every token that was read. */
static void print_states(const lab_model_t *m) {
    char text[16];
    printf("%8s %12s\n", "token", "state, bytes");
    for (int32_t i = 0; i + 1 < m->said.count; i++)
        printf("%8s %12llu\n", text_of(m, m->said.tokens[i], text),
               (unsigned long long)m->state[i]);
}

/* Whether it grows: linear attention keeps sums and some last tokens, the others keys and values of all. */
static void print_growth(const lab_model_t *m) {
    const int32_t last = m->said.count - 2;
    uint64_t most = 0;
    for (int32_t i = 0; i <= last; i++) most = m->state[i] > most ? m->state[i] : most;
    printf("state: %llu bytes after the question, %llu after the answer, %llu at most\n",
           (unsigned long long)m->state[m->said.question - 1], (unsigned long long)m->state[last],
           (unsigned long long)most);
}

static void print(const lab_model_t *m) {
    const reasoning_sample_t *asked = &m->asked, *said = &m->said;
    const int32_t right = reasoning_answer(asked->tokens, asked->count);
    const int32_t answer = reasoning_answer(said->tokens, said->count);
    int32_t first = said->question;
    char text[16], unlike[REASONING_UNLIKE];
    for (int32_t i = 0; i < said->count; i++)
        printf("%s%s", i ? " " : "", text_of(m, said->tokens[i], text));
    printf("\n%s: %s", answer == right ? "right" : "wrong", text_of(m, answer, text));
    if (answer != right) printf(", the answer is %s", text_of(m, right, text));
    while (first < said->count && said->tokens[first] == asked->tokens[first]) first++;
    if (first < said->count) {
        printf("; the first wrong token is number %d, '%s'", (int)first + 1,
               text_of(m, said->tokens[first], text));
        printf(", expected '%s'", text_of(m, asked->tokens[first], text));
    }
    puts("");
    reasoning_unlike(&m->model.description.settings.task, asked, unlike);
    if (*unlike) printf("it has learned %s only\n", unlike);
    print_growth(m);
}

static const char summary[] =
    "Let a trained model answer a question, and tell whether it is right.";
static const char details[] =
    "A question of lis is numbers, for a model of 10 of them from 11 to 149, of ed and ed_local "
    "two\n"
    "words, of which the shorter comes first in what is said, of arithmetic an expression modulo\n"
    "the model's prime; of the size that the model was trained on, or smaller, which it has not\n"
    "learned; a line says so. The first line is the question and what the model says after it, "
    "token by token until\n"
    "<eos>; the last is what its layers keep of the tokens: keys and values of each, or linear\n"
    "attention's sums and some last tokens. --states tells that token by token.\n"
    "\n"
    "For example:\n"
    "  attn lab solve arithmetic \"3 + 4 * 2\"\n"
    "  attn lab solve ed \"abc acb\"\n"
    "  attn lab solve lis --attention linear \"17 80 23 45 120 31\"";

int lab_command_solve(int argc, char **argv) {
    lab_model_t m = {.settings = {.threads = 1}};
    int states = 0;
    const option_t options[] = {
        LAB_MODEL_OPTIONS(m),
        {"states", 0, OPTION_SWITCH, NULL, "tell the state's size after each token", &states, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"lab solve", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = lab_model_ask(&m);
    if (!status) print(&m);
    if (!status && states) print_states(&m);
    lab_model_free(&m);
    return status;
}
