/* cli/lab/text.c: see text.h. */
#include "cli/lab/text.h"

#include "cli/cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* Prints into bytes[capacity]; 1 when there was room for all of it. */
static int fill(text_t *text, size_t capacity, text_print_t *print, const void *data) {
    FILE *out = fmemopen(text->bytes, capacity, "w");
    if (!out) return 0;
    print(data, out);
    const int lost = fflush(out) != 0 || ferror(out);
    const off_t used = ftello(out);
    fclose(out);
    if (lost || used < 0 || (size_t)used >= capacity) return 0; /* full: perhaps there was more */
    text->size = (size_t)used;
    text->bytes[used] = 0;
    return 1;
}

int text_make(text_t *text, text_print_t *print, const void *data) {
    for (size_t capacity = 1 << 13; capacity < SIZE_MAX / 4; capacity *= 4) {
        text->bytes = malloc(capacity);
        if (!text->bytes) break;
        if (fill(text, capacity, print, data)) return CLI_OK;
        free(text->bytes);
    }
    *text = (text_t){.bytes = NULL};
    return cli_complain(CLI_USAGE, "no memory for a text");
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

void base64_bytes(FILE *out, const char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < size; at += 3) {
        unsigned long group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (at + i < size ? (unsigned char)bytes[at + i] : 0u);
        for (size_t i = 0; i < 4; i++)
            fputc(at + i > size ? '=' : digits[group >> (18 - 6 * i) & 63], out);
    }
}
