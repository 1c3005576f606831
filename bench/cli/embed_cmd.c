/* cli/embed_cmd.c: `attn embed`: a text's tokens as vectors. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/runner.h"
#include "cli/table.h"
#include "npy/npy.h"
#include "text/embed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct embedding {
    const char *path, *out;
    int64_t dim, heads; /* heads 0: a file of rank 2 */
    int json, any_bytes;

    char *text;
    size_t size;
    embed_token_t *tokens;
    size_t count;
    float *vectors;
} embedding_t;

static const char *input_name(const embedding_t *e) {
    return strcmp(e->path, "-") == 0 ? "standard input" : e->path;
}

/* NUL is a character, but none of a text: it is what files of numbers and UTF-16 have. */
static int check_text(const embedding_t *e) {
    for (size_t at = 0, length; at < e->size; at += length) {
        length = e->text[at] ? embed_character(e->text + at, e->size - at) : 0;
        if (!length)
            return cli_complain(CLI_USAGE,
                                "%s: is not UTF-8 text: byte 0x%02X at offset %zu (--any-bytes "
                                "embeds it all the same)",
                                input_name(e), (unsigned)(unsigned char)e->text[at], at);
    }
    return CLI_OK;
}

static int read_tokens(embedding_t *e) {
    int status = file_read(e->path, &e->text, &e->size);
    if (!status && !e->any_bytes) status = check_text(e);
    if (status) return status;
    e->count = embed_split(e->text, e->size, NULL, 0);
    if (e->count == 0) return cli_complain(CLI_USAGE, "%s: has no word in it", input_name(e));
    if (e->count <= SIZE_MAX / sizeof *e->tokens) e->tokens = malloc(e->count * sizeof *e->tokens);
    if (!e->tokens)
        return cli_complain(CLI_USAGE, "%s: no memory for %zu tokens", input_name(e), e->count);
    embed_split(e->text, e->size, e->tokens, e->count);
    return CLI_OK;
}

static int compute(embedding_t *e) {
    const int64_t heads = e->heads ? e->heads : 1, count = (int64_t)e->count;
    e->vectors = runner_floats(1, heads, count, e->dim);
    if (!e->vectors)
        return cli_complain(CLI_USAGE, "no memory for %lld x %lld x %lld numbers", (long long)heads,
                            (long long)count, (long long)e->dim);
    for (int64_t head = 0; head < heads; head++)
        embed_vectors(e->text, e->tokens, e->count, e->dim, (uint64_t)head,
                      e->vectors + head * count * e->dim);
    return CLI_OK;
}

static int write_vectors(const embedding_t *e) {
    char header[NPY_HEADER_SIZE];
    output_t output = {.count = 0};
    const int64_t heads = e->heads ? e->heads : 1;
    const int64_t shape[4] = {1, heads, (int64_t)e->count, e->dim};
    const size_t size = npy_header(header, ATTN_F32, e->heads ? 3 : 2, shape);
    output_add(&output, e->out, header, size, e->vectors,
               (size_t)heads * e->count * (size_t)e->dim * sizeof *e->vectors);
    return output_write(&output);
}

static void print_tokens(const embedding_t *e) {
    printf("{\"dim\": %lld, \"heads\": %lld, \"tokens\": [", (long long)e->dim,
           (long long)(e->heads ? e->heads : 1));
    for (size_t i = 0; i < e->count; i++) {
        const embed_token_t token = e->tokens[i];
        printf("%s\n  {\"start\": %zu, \"end\": %zu, \"text\": ", i ? "," : "", token.start,
               token.end);
        json_text(stdout, e->text + token.start, token.end - token.start);
        fputs("}", stdout);
    }
    puts("\n]}");
}

static int execute(embedding_t *e) {
    const int takes_stdout = place_is_stdout(e->out);
    if (takes_stdout && e->json)
        return cli_complain(CLI_USAGE,
                            "--json prints to standard output, where the vectors of --output go");
    int status = read_tokens(e);
    if (!status) status = compute(e);
    if (!status) status = write_vectors(e);
    if (!status && e->json)
        print_tokens(e);
    else if (!status && !takes_stdout)
        printf("tokens     %zu\ndimension  %lld\nheads      %lld\n", e->count, (long long)e->dim,
               (long long)(e->heads ? e->heads : 1));
    return status;
}

static const char summary[] =
    "Turn a text into vectors to use as Q, K and V, without a trained model.";
static const char details[] =
    "Tokens are words and single punctuation marks. A token's vector is the sum of its hashed\n"
    "character n-grams (3 to 5 characters, as in fastText), so words that share letters look\n"
    "alike, plus sinusoidal positions. q.k / sqrt(D) of a token with itself is 5.";

int cli_embed(int argc, char **argv) {
    embedding_t e = {.path = NULL};
    const option_t options[] = {
        {"TEXT.txt", 0, OPTION_ARGUMENT, NULL, "UTF-8 text; -: standard input", &e.path, 0, 0},
        {"dim", 0, OPTION_INTEGER | OPTION_REQUIRED, "D", "columns, at least 2", &e.dim, 2,
         1 << 20},
        {"output", 'o', OPTION_TEXT | OPTION_REQUIRED, "X.npy",
         "the vectors, float32 (n, D), one row a token; -: standard output", &e.out, 0, 0},
        {"heads", 0, OPTION_INTEGER, "H", "write (H, n, D), each head with its own hash functions",
         &e.heads, 1, 4096},
        {"json", 0, OPTION_SWITCH, NULL, "print the tokens with their byte offsets as JSON",
         &e.json, 0, 0},
        {"any-bytes", 0, OPTION_SWITCH, NULL,
         "accept input that is not UTF-8: a byte outside characters counts as a letter",
         &e.any_bytes, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"embed", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    const int status = execute(&e);
    free(e.vectors);
    free(e.tokens);
    free(e.text);
    return status;
}
