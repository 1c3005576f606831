/* tools/npy.c: see npy.h. */
#include "tools/npy.h"

#include "attn/plugin.h"

#include <string.h>

enum { MAX_RANK = 32, MAX_DESCR = 24 }; /* NumPy's own limit on the rank; longest type we name */

static const char magic[6] = "\x93NUMPY";

/* What the header's dictionary says. */
typedef struct npy_dict {
    char descr[MAX_DESCR];
    int fortran_order;
    int32_t rank;
    int64_t shape[MAX_RANK];
    int has_descr, has_order, has_shape;
} npy_dict_t;

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
        if (dict->rank == MAX_RANK || !read_size(text, &dict->shape[dict->rank])) return 0;
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

static attn_status_t read_descr(cursor_t *text, npy_dict_t *dict, attn_error_t *error) {
    skip_space(text);
    if (text->at < text->end && *text->at == '[')
        return attn_fail(error, ATTN_ERROR_DTYPE,
                         "holds records; only float32 and float64 are read");
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
    if (memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0)
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

/* ---- what it means --------------------------------------------------------------------------- */

/* Bytes of an element, or 0 for a type that is not read. */
static attn_status_t element_size(const char *descr, size_t *size, attn_error_t *error) {
    static const struct {
        const char *descr, *name;
    } names[] = {{"f2", "float16"},     {"f16", "float128"}, {"i1", "int8"},   {"i2", "int16"},
                 {"i4", "int32"},       {"i8", "int64"},     {"u1", "uint8"},  {"u2", "uint16"},
                 {"u4", "uint32"},      {"u8", "uint64"},    {"b1", "bool"},   {"c8", "complex64"},
                 {"c16", "complex128"}, {"f4", "float32"},   {"f8", "float64"}};
    *size = strcmp(descr, "<f4") == 0 ? 4 : strcmp(descr, "<f8") == 0 ? 8 : 0;
    if (*size) return ATTN_OK;
    if (descr[0] == '>')
        return attn_fail(error, ATTN_ERROR_DTYPE,
                         "is big-endian ('%s'); only little-endian float32 and float64 are read",
                         descr);
    const char *name = "a type unknown here";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (descr[0] && strcmp(descr + 1, names[i].descr) == 0) name = names[i].name;
    return attn_fail(error, ATTN_ERROR_DTYPE,
                     "has elements of %s ('%s'); only float32 and float64 are read", name, descr);
}

static attn_status_t check_shape(const npy_dict_t *dict, size_t item, size_t *count,
                                 attn_error_t *error) {
    if (dict->rank < 2 || dict->rank > 4)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "has rank %d; wanted 2 (n, d), 3 (H, n, d) or 4 (B, H, n, d)",
                         (int)dict->rank);
    const uint64_t limit = (SIZE_MAX < INT64_MAX ? SIZE_MAX : (uint64_t)INT64_MAX) / item;
    *count = 1;
    for (int32_t axis = 0; axis < dict->rank; axis++) {
        const int64_t extent = dict->shape[axis];
        if (extent == 0)
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "has size 0 in dimension %d of %d; all sizes must be at least 1",
                             (int)axis + 1, (int)dict->rank);
        if ((uint64_t)extent > limit / *count)
            return attn_fail(error, ATTN_ERROR_SHAPE, "claims more elements than can be addressed");
        *count *= (size_t)extent;
    }
    return ATTN_OK;
}

static void describe(const npy_dict_t *dict, void *data, attn_tensor_t *tensor) {
    *tensor = (attn_tensor_t){.data = data, .dtype = ATTN_F32, .shape = {1, 1, 1, 1}};
    const int32_t missing = 4 - dict->rank;
    for (int32_t axis = 0; axis < dict->rank; axis++)
        tensor->shape[missing + axis] = dict->shape[axis];
    int64_t step = 1;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t axis = dict->fortran_order ? i : 3 - i;
        tensor->stride[axis] = step;
        step *= tensor->shape[axis];
    }
}

/* Moves the elements to the front of the buffer: never ahead of what is still to be read. */
static void convert(unsigned char *bytes, size_t data, size_t count, size_t item) {
    if (item == sizeof(float)) {
        memmove(bytes, bytes + data, count * item);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double wide;
        memcpy(&wide, bytes + data + i * item, sizeof wide);
        const float narrow = (float)wide;
        memcpy(bytes + i * sizeof narrow, &narrow, sizeof narrow);
    }
}

attn_status_t npy_parse(void *bytes, size_t size, attn_tensor_t *tensor, int32_t *rank,
                        attn_error_t *error) {
    cursor_t text = {0};
    size_t data = 0, item = 0, count = 0;
    attn_status_t status = find_header(bytes, size, &text, &data, error);
    if (status) return status;
    npy_dict_t dict;
    if ((status = read_dict(text, &dict, error)) ||
        (status = element_size(dict.descr, &item, error)) ||
        (status = check_shape(&dict, item, &count, error)))
        return status;
    if (size - data != count * item)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "%s: %zu bytes of data where its shape needs %zu",
                         size - data < count * item ? "is truncated" : "has bytes after its end",
                         size - data, count * item);
    convert(bytes, data, count, item);
    describe(&dict, bytes, tensor);
    *rank = dict.rank;
    return ATTN_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

size_t npy_header(char header[NPY_HEADER_SIZE], int32_t rank, const int64_t shape[4]) {
    const int start = 10;
    memset(header, ' ', NPY_HEADER_SIZE);
    memcpy(header, magic, sizeof magic);
    int at = start + snprintf(header + start, (size_t)(NPY_HEADER_SIZE - start),
                              "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int32_t axis = 4 - rank; axis < 4; axis++)
        at +=
            snprintf(header + at, (size_t)(NPY_HEADER_SIZE - at), "%lld%s", (long long)shape[axis],
                     axis < 3    ? ", "
                     : rank == 1 ? ","
                                 : "");
    at += snprintf(header + at, (size_t)(NPY_HEADER_SIZE - at), "), }");
    header[at] = ' '; /* over the terminating zero */
    const int length = (at + 1 + 63) / 64 * 64;
    header[length - 1] = '\n';
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)(length - start);
    header[9] = 0;
    return (size_t)length;
}
