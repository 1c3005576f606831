/* npy/safetensors.c: see safetensors.h. The format: github.com/huggingface/safetensors, README. */
#include "npy/safetensors.h"

#include "attn/plugin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8, MOST_DEPTH = 16 };
#define MOST_HEADER UINT64_C(100000000) /* of the format */

/* ---- JSON ---------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor_t;

static void skip_space(cursor_t *text) {
    while (text->at < text->end && *text->at && strchr(" \t\r\n", *text->at)) text->at++;
}

static int accept(cursor_t *text, char token) {
    skip_space(text);
    if (text->at == text->end || *text->at != token) return 0;
    text->at++;
    return 1;
}

/* Four hexadecimal digits behind "\u". */
static int read_unit(cursor_t *text, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, text->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = text->at < text->end && *text->at ? strchr(digits, *text->at) : NULL;
        if (!digit) return 0;
        *unit = *unit * 16 + (uint32_t)(digit - digits) % 16;
    }
    return 1;
}

static size_t put_utf8(char *to, uint32_t code) {
    if (code < 0x80) return to[0] = (char)code, 1;
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(marks[more] | code >> 6 * more);
    for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3F));
    return (size_t)more + 1;
}

/* What a backslash stands for, in UTF-8; 0 for nothing that JSON has. */
static size_t read_escape(cursor_t *text, char to[4]) {
    static const char letters[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    if (text->at == text->end) return 0;
    const char letter = *text->at++;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) return to[0] = codes[found - letters], 1;
    uint32_t high, low;
    if (letter != 'u' || !read_unit(text, &high) || high == 0) return 0;
    if (high < 0xD800 || high > 0xDFFF) return put_utf8(to, high);
    if (high > 0xDBFF || text->end - text->at < 2 || memcmp(text->at, "\\u", 2) != 0) return 0;
    text->at += 2;
    if (!read_unit(text, &low) || low < 0xDC00 || low > 0xDFFF) return 0;
    return put_utf8(to, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
}

/* A string, unescaped; of a longer one than `room` holds, which is wrong, *text stays within it. */
static int read_string(cursor_t *text, char *string, size_t room) {
    size_t length = 0;
    if (!accept(text, '"')) return 0;
    while (text->at < text->end && *text->at != '"') {
        char piece[4] = {*text->at};
        size_t count = 1;
        if ((unsigned char)*text->at < 0x20) return 0;
        if (*text->at++ == '\\' && !(count = read_escape(text, piece))) return 0;
        if (string && length + count >= room) return 0;
        if (string) memcpy(string + length, piece, count);
        length += count;
    }
    if (string) string[length] = 0;
    return accept(text, '"');
}

static int read_size(cursor_t *text, uint64_t *value) {
    skip_space(text);
    const char *first = text->at;
    for (*value = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        if (*value > (INT64_MAX - 9) / 10) return 0;
        *value = *value * 10 + (uint64_t)(*text->at - '0');
    }
    return text->at > first && (*first != '0' || text->at == first + 1); /* JSON has no 02 */
}

static int skip_digits(cursor_t *text) {
    const char *first = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') text->at++;
    return text->at > first;
}

static int skip_one_of(cursor_t *text, const char *letters) {
    if (text->at == text->end || !*text->at || !strchr(letters, *text->at)) return 0;
    text->at++;
    return 1;
}

static int skip_number(cursor_t *text) {
    skip_one_of(text, "-");
    const int begins_with_zero = text->at < text->end && *text->at == '0';
    const char *first = text->at;
    if (!skip_digits(text) || (begins_with_zero && text->at > first + 1)) return 0;
    if (skip_one_of(text, ".") && !skip_digits(text)) return 0;
    if (!skip_one_of(text, "eE")) return 1;
    skip_one_of(text, "+-");
    return skip_digits(text);
}

static int skip_word(cursor_t *text, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) return 0;
    text->at += length;
    return 1;
}

/* Any value, of which nothing is kept. */
static int skip_value(cursor_t *text, int depth) {
    if (depth == MOST_DEPTH) return 0;
    const int is_object = accept(text, '{');
    if (is_object || accept(text, '[')) {
        const char close = is_object ? '}' : ']';
        if (accept(text, close)) return 1;
        do {
            if (is_object && (!read_string(text, NULL, 0) || !accept(text, ':'))) return 0;
            if (!skip_value(text, depth + 1)) return 0;
        } while (accept(text, ','));
        return accept(text, close);
    }
    skip_space(text);
    if (text->at < text->end && *text->at == '"') return read_string(text, NULL, 0);
    return skip_word(text, "true") || skip_word(text, "false") || skip_word(text, "null") ||
           skip_number(text);
}

/* ---- the header ---------------------------------------------------------------------------------- */

static int read_list(cursor_t *text, uint64_t *values, int32_t most, int32_t *count) {
    *count = 0;
    if (!accept(text, '[')) return 0;
    if (accept(text, ']')) return 1;
    do {
        if (*count == most || !read_size(text, &values[(*count)++])) return 0;
    } while (accept(text, ','));
    return accept(text, ']');
}

static int read_shape(cursor_t *text, safetensor_t *tensor) {
    uint64_t shape[NPY_MAX_RANK];
    if (!read_list(text, shape, NPY_MAX_RANK, &tensor->rank)) return 0;
    for (int32_t k = 0; k < tensor->rank; k++) tensor->shape[k] = (int64_t)shape[k];
    return 1;
}

static int read_places(cursor_t *text, safetensor_t *tensor) {
    uint64_t places[2];
    int32_t count;
    if (!read_list(text, places, 2, &count) || count != 2) return 0;
    tensor->begin = places[0], tensor->end = places[1];
    return 1;
}

/* More axes than anything has, of a shape that is not read to its end. */
static int has_too_many_axes(const cursor_t *text, const safetensor_t *tensor) {
    return tensor->rank == NPY_MAX_RANK && text->at[-1] == ',';
}

/* {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, each of them once; others are not read. */
static attn_status_t read_tensor(cursor_t *text, safetensor_t *tensor, attn_error_t *error) {
    static const char *const fields[] = {"dtype", "shape", "data_offsets"};
    int found[3] = {0};
    if (!accept(text, '{')) goto broken;
    do {
        char field[SAFETENSORS_MAX_NAME];
        int which = 0;
        if (!read_string(text, field, sizeof field) || !accept(text, ':')) goto broken;
        while (which < 3 && strcmp(field, fields[which]) != 0) which++;
        if (which == 3 && !skip_value(text, 0)) goto broken;
        if (which == 3) continue;
        if (found[which]++)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "is damaged: tensor '%.80s' has '%s' twice", tensor->name, field);
        if (which == 0 && !read_string(text, tensor->dtype, sizeof tensor->dtype)) goto broken;
        if (which == 1 && !read_shape(text, tensor)) {
            if (!has_too_many_axes(text, tensor)) goto broken;
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "is not read: tensor '%.80s' has more than %d axes", tensor->name,
                             NPY_MAX_RANK);
        }
        if (which == 2 && !read_places(text, tensor)) goto broken;
    } while (accept(text, ','));
    if (!accept(text, '}')) goto broken;
    for (int i = 0; i < 3; i++)
        if (!found[i])
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: tensor '%.80s' has no '%s'",
                             tensor->name, fields[i]);
    return ATTN_OK;
broken:
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "is damaged: its header does not describe tensor '%.80s' as JSON does",
                     tensor->name);
}

static attn_status_t grow(safetensors_t *file, size_t *room, attn_error_t *error) {
    if (file->count < *room) return ATTN_OK;
    *room = *room ? 2 * *room : 16;
    safetensor_t *list = realloc(file->list, *room * sizeof *list);
    if (!list) return attn_fail(error, ATTN_ERROR_MEMORY, "has more tensors than memory holds");
    file->list = list;
    return ATTN_OK;
}

static const char damaged[] = "is damaged: its header is no JSON object";

static attn_status_t read_name(cursor_t *text, safetensor_t *tensor, attn_error_t *error) {
    cursor_t ahead = *text;
    if (read_string(text, tensor->name, sizeof tensor->name) && accept(text, ':')) return ATTN_OK;
    if (!read_string(&ahead, NULL, 0) || !accept(&ahead, ':'))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "is not read: the name of a tensor, '%.40s...', has more than %d bytes",
                     tensor->name, SAFETENSORS_MAX_NAME - 1);
}

static attn_status_t read_header(cursor_t *text, safetensors_t *file, attn_error_t *error) {
    size_t room = 0;
    int has_metadata = 0;
    attn_status_t status = ATTN_OK;
    if (!accept(text, '{')) return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
    if (accept(text, '}')) return ATTN_OK;
    do {
        status = grow(file, &room, error);
        if (status) return status;
        safetensor_t *tensor = &file->list[file->count];
        memset(tensor, 0, sizeof *tensor);
        status = read_name(text, tensor, error);
        if (status) return status;
        if (strcmp(tensor->name, "__metadata__") == 0) {
            if (has_metadata++ || !skip_value(text, 0))
                return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
            continue;
        }
        file->count++;
        status = read_tensor(text, tensor, error);
    } while (!status && accept(text, ','));
    if (status) return status;
    if (!accept(text, '}')) return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
    skip_space(text);
    return text->at == text->end ? ATTN_OK : attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
}

/* ---- element types ------------------------------------------------------------------------------- */

/* `descr` as npy/npy.c has it; NULL: not read. */
static const struct {
    const char *name, *descr;
    int bits;
} dtypes[] = {
    {"F32", "<f4", 32},   {"F64", "<f8", 64},   {"F16", "<f2", 16},   {"BF16", "<V2", 16},
    {"I8", "|i1", 8},     {"I32", "<i4", 32},   {"I64", "<i8", 64},   {"BOOL", "|b1", 8},
    {"U8", NULL, 8},      {"I16", NULL, 16},    {"U16", NULL, 16},    {"U32", NULL, 32},
    {"U64", NULL, 64},    {"C64", NULL, 64},    {"F8_E4M3", NULL, 8}, {"F8_E5M2", NULL, 8},
    {"F8_E8M0", NULL, 8}, {"F6_E2M3", NULL, 6}, {"F6_E3M2", NULL, 6}, {"F4", NULL, 4},
};

enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

static int dtype_of(const safetensor_t *tensor) {
    int i = 0;
    while (i < DTYPES && strcmp(tensor->dtype, dtypes[i].name) != 0) i++;
    return i;
}

attn_status_t safetensors_dict(const safetensor_t *tensor, npy_dict_t *dict, attn_error_t *error) {
    const int dtype = dtype_of(tensor);
    if (dtype == DTYPES || !dtypes[dtype].descr)
        return attn_fail(error, ATTN_ERROR_DTYPE,
                         "is of %s, which is not read; save it as F32, F16 or BF16", tensor->dtype);
    *dict = (npy_dict_t){.rank = tensor->rank, .has_descr = 1, .has_order = 1, .has_shape = 1};
    memcpy(dict->descr, dtypes[dtype].descr, strlen(dtypes[dtype].descr) + 1);
    memcpy(dict->shape, tensor->shape, sizeof dict->shape);
    return ATTN_OK;
}

/* ---- what the format promises -------------------------------------------------------------------- */

static attn_status_t check_size(const safetensor_t *tensor, uint64_t data, attn_error_t *error) {
    const int dtype = dtype_of(tensor);
    uint64_t bits = 1;
    if (tensor->end > data)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "is truncated: tensor '%.80s' ends at byte %" PRIu64
                         " of the data, and there are %" PRIu64,
                         tensor->name, tensor->end, data);
    if (dtype == DTYPES && tensor->begin <= tensor->end) return ATTN_OK; /* a later type's */
    bits = dtype == DTYPES ? 8 : (uint64_t)dtypes[dtype].bits;
    for (int32_t k = 0; k < tensor->rank; k++) {
        const uint64_t extent = (uint64_t)tensor->shape[k];
        if (extent && bits > UINT64_MAX / extent)
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "claims more elements for tensor '%.80s' than can be addressed",
                             tensor->name);
        bits *= extent;
    }
    if (tensor->begin <= tensor->end && bits % 8 == 0 && bits / 8 == tensor->end - tensor->begin)
        return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "is damaged: tensor '%.80s' has bytes %" PRIu64 " to %" PRIu64
                     ", where its type and shape need %" PRIu64,
                     tensor->name, tensor->begin, tensor->end, (bits + 7) / 8);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const safetensor_t *)a)->name, ((const safetensor_t *)b)->name);
}

static int by_place(const void *a, const void *b) {
    const safetensor_t *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static attn_status_t check_names(safetensors_t *file, attn_error_t *error) {
    if (file->count) qsort(file->list, file->count, sizeof *file->list, by_name);
    for (size_t i = 1; i < file->count; i++)
        if (by_name(&file->list[i - 1], &file->list[i]) == 0)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "is damaged: it has tensor '%.80s' twice",
                             file->list[i].name);
    return ATTN_OK;
}

/* One tensor begins where the one before ends, and the last ends with the file. */
static attn_status_t check_places(safetensors_t *file, uint64_t data, attn_error_t *error) {
    uint64_t done = 0;
    if (file->count) qsort(file->list, file->count, sizeof *file->list, by_place);
    for (size_t i = 0; i <= file->count; i++) {
        const uint64_t begin = i < file->count ? file->list[i].begin : data;
        if (begin < done)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "is damaged: tensors '%.80s' and '%.80s' overlap",
                             file->list[i - 1].name, file->list[i].name);
        if (begin > done)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "is damaged: bytes %" PRIu64 " to %" PRIu64
                             " of the data belong to no tensor",
                             done, begin);
        if (i < file->count) done = file->list[i].end;
    }
    return ATTN_OK;
}

static uint64_t length_of(const unsigned char *bytes) {
    uint64_t length = 0;
    for (int i = LENGTH - 1; i >= 0; i--) length = length << 8 | bytes[i];
    return length;
}

int safetensors_is_one(const void *bytes, size_t size) {
    const unsigned char *b = bytes;
    return size > LENGTH && b[LENGTH] == '{' && length_of(b) <= MOST_HEADER;
}

attn_status_t safetensors_read(const void *bytes, size_t size, safetensors_t *file,
                               attn_error_t *error) {
    *file = (safetensors_t){.list = NULL};
    if (size < LENGTH)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "is truncated: a .safetensors file begins with 8 bytes");
    const uint64_t length = length_of(bytes), rest = (uint64_t)size - LENGTH;
    if (length > MOST_HEADER)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "is no .safetensors file: its header would have %" PRIu64 " bytes",
                         length);
    if (length > rest)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "is truncated: its header has %" PRIu64 " bytes, and there are %" PRIu64,
                         length, rest);
    const char *text = (const char *)bytes + LENGTH;
    cursor_t cursor = {text, text + length};
    attn_status_t status = read_header(&cursor, file, error);
    for (size_t i = 0; !status && i < file->count; i++)
        status = check_size(&file->list[i], rest - length, error);
    if (!status) status = check_names(file, error);
    if (!status) status = check_places(file, rest - length, error);
    for (size_t i = 0; i < file->count; i++) {
        file->list[i].begin += LENGTH + length;
        file->list[i].end += LENGTH + length;
    }
    return status;
}

const safetensor_t *safetensors_find(const safetensors_t *file, const char *name) {
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->list[i].name, name) == 0) return &file->list[i];
    return NULL;
}

void safetensors_free(safetensors_t *file) {
    free(file->list);
    *file = (safetensors_t){.list = NULL};
}
