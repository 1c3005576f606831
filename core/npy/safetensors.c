/* npy/safetensors.c: see safetensors.h. The format: github.com/huggingface/safetensors, README. */
#include "npy/safetensors.h"

#include "attn/plugin.h"
#include "json/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8 };
#define MOST_HEADER UINT64_C(100000000) /* of the format */

/* ---- the header ---------------------------------------------------------------------------------- */

static int read_list(json_reader_t *text, uint64_t *values, int32_t most, int32_t *count) {
    *count = 0;
    if (!json_accept(text, '[')) return 0;
    if (json_accept(text, ']')) return 1;
    do {
        if (*count == most || !json_read_size(text, &values[(*count)++])) return 0;
    } while (json_accept(text, ','));
    return json_accept(text, ']');
}

static int read_shape(json_reader_t *text, safetensor_t *tensor) {
    uint64_t shape[NPY_MAX_RANK];
    if (!read_list(text, shape, NPY_MAX_RANK, &tensor->rank)) return 0;
    for (int32_t k = 0; k < tensor->rank; k++) tensor->shape[k] = (int64_t)shape[k];
    return 1;
}

static int read_places(json_reader_t *text, safetensor_t *tensor) {
    uint64_t places[2];
    int32_t count;
    if (!read_list(text, places, 2, &count) || count != 2) return 0;
    tensor->begin = places[0], tensor->end = places[1];
    return 1;
}

/* More axes than anything has, of a shape that is not read to its end. */
static int has_too_many_axes(const json_reader_t *text, const safetensor_t *tensor) {
    return tensor->rank == NPY_MAX_RANK && text->at[-1] == ',';
}

/* {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, each of them once; others are not read. */
static attn_status_t read_tensor(json_reader_t *text, safetensor_t *tensor, attn_error_t *error) {
    static const char *const fields[] = {"dtype", "shape", "data_offsets"};
    int found[3] = {0};
    if (!json_accept(text, '{')) goto broken;
    do {
        char field[SAFETENSORS_MAX_NAME];
        int which = 0;
        if (!json_read_string(text, field, sizeof field) || !json_accept(text, ':')) goto broken;
        while (which < 3 && strcmp(field, fields[which]) != 0) which++;
        if (which == 3 && !json_skip_value(text)) goto broken;
        if (which == 3) continue;
        if (found[which]++)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "is damaged: tensor '%.80s' has '%s' twice", tensor->name, field);
        if (which == 0 && !json_read_string(text, tensor->dtype, sizeof tensor->dtype)) goto broken;
        if (which == 1 && !read_shape(text, tensor)) {
            if (!has_too_many_axes(text, tensor)) goto broken;
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "is not read: tensor '%.80s' has more than %d axes", tensor->name,
                             NPY_MAX_RANK);
        }
        if (which == 2 && !read_places(text, tensor)) goto broken;
    } while (json_accept(text, ','));
    if (!json_accept(text, '}')) goto broken;
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

static attn_status_t read_name(json_reader_t *text, safetensor_t *tensor, attn_error_t *error) {
    json_reader_t ahead = *text;
    if (json_read_string(text, tensor->name, sizeof tensor->name) && json_accept(text, ':'))
        return ATTN_OK;
    if (!json_read_string(&ahead, NULL, 0) || !json_accept(&ahead, ':'))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "is not read: the name of a tensor, '%.40s...', has more than %d bytes",
                     tensor->name, SAFETENSORS_MAX_NAME - 1);
}

static attn_status_t read_header(json_reader_t *text, safetensors_t *file, attn_error_t *error) {
    size_t room = 0;
    int has_metadata = 0;
    attn_status_t status = ATTN_OK;
    if (!json_accept(text, '{')) return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
    if (json_accept(text, '}')) return ATTN_OK;
    do {
        status = grow(file, &room, error);
        if (status) return status;
        safetensor_t *tensor = &file->list[file->count];
        memset(tensor, 0, sizeof *tensor);
        status = read_name(text, tensor, error);
        if (status) return status;
        if (strcmp(tensor->name, "__metadata__") == 0) {
            if (has_metadata++ || !json_skip_value(text))
                return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
            continue;
        }
        file->count++;
        status = read_tensor(text, tensor, error);
    } while (!status && json_accept(text, ','));
    if (status) return status;
    if (!json_accept(text, '}')) return attn_fail(error, ATTN_ERROR_ARGUMENT, damaged);
    json_skip_space(text);
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
    json_reader_t cursor = {text, text + length};
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
