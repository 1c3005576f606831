/* cli/lab/corpus.c: see corpus.h. */
#include "cli/lab/corpus.h"

#include "cli/cli.h"
#include "cli/files.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes of a text: its tokens take four times that. */
static const size_t most = (size_t)1 << 29;

static int read_part(const char *folder, const char *name, char **text, size_t *size) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return cli_complain(CLI_USAGE, "--corpus: the folder's name is too long");
    return file_read_bounded(path, most, text, size);
}

int corpus_load(const char *command, const char *folder, corpus_t *corpus) {
    char *train = NULL, *test = NULL;
    size_t train_size = 0, test_size = 0;
    attn_error_t error;
    if (!folder)
        return cli_complain(CLI_USAGE,
                            "%s: text needs --corpus FOLDER, with train.txt and heldout.txt "
                            "(bench/labs/language/corpus.mjs makes one)",
                            command);
    int status = read_part(folder, "train.txt", &train, &train_size);
    if (!status) status = read_part(folder, "heldout.txt", &test, &test_size);
    if (!status && corpus_make(train, train_size, test, test_size, corpus, &error))
        status = cli_reject(folder, &error);
    free(train);
    free(test);
    return status;
}
