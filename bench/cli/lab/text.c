/* cli/lab/text.c: see text.h. */
#include "cli/lab/text.h"

#include "cli/cli.h"

#include <stdlib.h>

int text_open(text_t *text) {
    *text = (text_t){.out = NULL};
    text->out = open_memstream(&text->bytes, &text->size);
    return text->out ? CLI_OK : cli_complain(CLI_USAGE, "no memory for a text");
}

int text_close(text_t *text) {
    const int lost = ferror(text->out);
    if (fclose(text->out) == 0 && !lost) return CLI_OK;
    free(text->bytes);
    text->bytes = NULL;
    return cli_complain(CLI_USAGE, "no memory for a text");
}

void text_drop(text_t *text) {
    if (text->out) fclose(text->out);
    free(text->bytes);
    *text = (text_t){.out = NULL};
}

void xml_string(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text, out);
    }
}
