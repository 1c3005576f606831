/* npy/dict.c: see dict.h. */
#include "npy/dict.h"

#include "attn/plugin.h"

#include <string.h>

const char npy_magic[6] = "\x93NUMPY";

typedef struct cursor {
    const char *at, *end;
} cursor_t;

/* ---- the header: a Python dictionary literal ------------------------------------------------- */

static void skip_space(cursor_t *text) {
    while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at) text->at++;
}

static int accept(cursor_t *text, const char *token) {
    skip_space(text);
    const size_t length = strlen(token);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, token, length) != 0) return 0;
    text->at += length;
    return 1;
}

/* A string in single or double quotes without escapes; longer ones than `size` are cut. */
static int read_string(cursor_t *text, char *string, size_t size) {
    const char quote = accept(text, "'") ? '\'' : accept(text, "\"") ? '"' : 0;
    if (!quote) return 0;
    size_t length = 0;
    for (; text->at < text->end && *text->at != quote; text->at++)
        if (length + 1 < size) string[length++] = *text->at;
    string[length] = 0;
    if (text->at == text->end) return 0;
    text->at++;
    return 1;
}

static int read_size(cursor_t *text, int64_t *value) {
    skip_space(text);
    const char *first = text->at;
    for (*value = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        const int digit = *text->at - '0';
        if (*value > (INT64_MAX - digit) / 10) return 0;
        *value = *value * 10 + digit;
    }
    if (text->at == first) return 0;
    accept(text, "L"); /* Python 2 wrote long integers so */
    return 1;
}

static int read_shape(cursor_t *text, npy_dict_t *dict) {
    if (!accept(text, "(")) return 0;
    for (dict->rank = 0; !accept(text, ")"); dict->rank++) {
        if (dict->rank == NPY_MAX_RANK || !read_size(text, &dict->shape[dict->rank])) return 0;
        if (!accept(text, ",")) {
            dict->rank++;
            return accept(text, ")");
        }
    }
    return 1;
}

static int read_bool(cursor_t *text, int *value) {
    *value = accept(text, "True");
    return *value || accept(text, "False");
}

/* A list of fields instead of a type: to be told from a damaged header, no more. */
static attn_status_t skip_records(cursor_t *text, npy_dict_t *dict, attn_error_t *error) {
    int depth = 0;
    strcpy(dict->descr, "[");
    for (; text->at < text->end; text->at++) {
        depth += *text->at == '[' ? 1 : *text->at == ']' ? -1 : 0;
        if (depth == 0) break;
    }
    if (!accept(text, "]"))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: 'descr' does not end");
    return ATTN_OK;
}

static attn_status_t read_descr(cursor_t *text, npy_dict_t *dict, attn_error_t *error) {
    skip_space(text);
    if (text->at < text->end && *text->at == '[') return skip_records(text, dict, error);
    if (!read_string(text, dict->descr, sizeof dict->descr))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: 'descr' is no string");
    return ATTN_OK;
}

static attn_status_t read_entry(cursor_t *text, npy_dict_t *dict, attn_error_t *error) {
    char key[24];
    if (!read_string(text, key, sizeof key) || !accept(text, ":"))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: its header is no dictionary");
    if (strcmp(key, "descr") == 0 && !dict->has_descr++) return read_descr(text, dict, error);
    if (strcmp(key, "fortran_order") == 0 && !dict->has_order++ &&
        read_bool(text, &dict->fortran_order))
        return ATTN_OK;
    if (strcmp(key, "shape") == 0 && !dict->has_shape++ && read_shape(text, dict)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "is damaged: its header has a wrong or unknown entry '%s'", key);
}

static attn_status_t read_dict(cursor_t text, npy_dict_t *dict, attn_error_t *error) {
    *dict = (npy_dict_t){.rank = 0};
    if (!accept(&text, "{"))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: its header is no dictionary");
    while (!accept(&text, "}")) {
        attn_status_t status = read_entry(&text, dict, error);
        if (status) return status;
        if (!accept(&text, ",")) {
            if (accept(&text, "}")) break;
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: its header does not end");
        }
    }
    skip_space(&text);
    if (text.at != text.end)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: text after its header");
    if (!dict->has_descr || !dict->has_order || !dict->has_shape)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: its header lacks '%s'",
                         !dict->has_descr   ? "descr"
                         : !dict->has_order ? "fortran_order"
                                            : "shape");
    return ATTN_OK;
}

/* Finds the header's text and where the data begins. */
static attn_status_t find_header(const unsigned char *bytes, size_t size, cursor_t *text,
                                 size_t *data, attn_error_t *error) {
    if (size == 0) return attn_fail(error, ATTN_ERROR_ARGUMENT, "is empty");
    if (memcmp(bytes, npy_magic, size < sizeof npy_magic ? size : sizeof npy_magic) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is not an .npy file");
    if (size < 10)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is truncated: %zu bytes, within its header",
                         size);
    const int major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "is of .npy version %d.%d; versions 1.0, 2.0 and 3.0 are read", major,
                         minor);
    size_t start = 10, length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (major > 1 && size >= 12) {
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
        start = 12;
    }
    if (size < start || length > size - start)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "is truncated: %zu bytes, within its header",
                         size);
    *text = (cursor_t){(const char *)bytes + start, (const char *)bytes + start + length};
    *data = start + length;
    return ATTN_OK;
}

attn_status_t npy_dict_read(const void *bytes, size_t size, npy_dict_t *dict, size_t *data,
                            attn_error_t *error) {
    cursor_t text = {0};
    const attn_status_t status = find_header(bytes, size, &text, data, error);
    return status ? status : read_dict(text, dict, error);
}
