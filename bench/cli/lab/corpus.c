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

int corpus_read(const char *folder, corpus_text_t *text) {
    *text = (corpus_text_t){.train = NULL};
    const int status = read_part(folder, "train.txt", &text->train, &text->train_size);
    return status ? status : read_part(folder, "heldout.txt", &text->test, &text->test_size);
}

void corpus_text_free(corpus_text_t *text) {
    free(text->train);
    free(text->test);
}
