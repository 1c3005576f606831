#include "npy.h"

#include "support/typed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("conformance: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

array_file_t array_new(attn_dtype_t dtype, int rank, const int64_t *shape) {
    array_file_t array = {.dtype = dtype, .rank = rank, .count = 1};
    for (int k = 0; k < rank; k++) array.count *= array.shape[k] = shape[k];
    array.data = calloc((size_t)array.count + 1, (size_t)attn_dtype_size(dtype));
    if (!array.data) die("no memory for %" PRId64 " elements", array.count);
    return array;
}

void array_free(array_file_t *array) {
    free(array->data);
    array->data = NULL;
}

/* All elements as one row. */
static attn_tensor_t row_of(const array_file_t *array) {
    return (attn_tensor_t){.data = array->data,
                           .dtype = array->dtype,
                           .shape = {1, 1, 1, array->count},
                           .stride = {0, 0, 0, 1}};
}

double array_number(const array_file_t *array, int64_t index) {
    const attn_tensor_t row = row_of(array);
    return typed_get(&row, 0, 0, 0, index);
}

array_file_t array_convert(const array_file_t *array, attn_dtype_t dtype) {
    array_file_t result = array_new(dtype, array->rank, array->shape);
    typed_t row = {.tensor = row_of(&result)};
    for (int64_t i = 0; i < array->count; i++) typed_set(&row, 0, 0, 0, i, array_number(array, i));
    return result;
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) die("%s: cannot be opened", path);
    size_t room = 4096;
    char *bytes = malloc(room + 1);
    for (*size = 0; bytes;) {
        const size_t got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
        if (got == 0) break;
        if (*size == room) bytes = realloc(bytes, (room *= 2) + 1);
    }
    if (!bytes || ferror(file)) die("%s: cannot be read", path);
    fclose(file);
    bytes[*size] = 0;
    return bytes;
}

/* What stands behind a key of the header's dictionary. */
static const char *entry(const char *header, const char *key, const char *path) {
    const char *at = strstr(header, key);
    if (!at || !(at = strchr(at, ':'))) die("%s: its header has no %s", path, key);
    return at + 1 + strspn(at + 1, " ");
}

static void read_shape(const char *text, array_file_t *array, const char *path) {
    array->count = 1;
    for (text += strcspn(text, "(") + 1; *text && *text != ')';) {
        char *end;
        const int64_t extent = strtoll(text, &end, 10);
        if (end == text || extent < 0 || array->rank == 4) die("%s: a shape of another kind", path);
        array->shape[array->rank++] = extent;
        array->count *= extent;
        text = end + strspn(end, ", ");
    }
}

/* The number at an address, of a kind ('f', 'i', 'u') that the tests' tensors do not have. */
static double foreign_number(const char *address, char kind, int size) {
    if (kind == 'f') {
        double x;
        memcpy(&x, address, sizeof x);
        return x;
    }
    uint64_t bits = 0;
    memcpy(&bits, address, (size_t)size);
    if (kind == 'u' || size == 8) return (double)(int64_t)bits;
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
}

array_file_t array_read(const char *path) {
    size_t size;
    char *bytes = read_all(path, &size);
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0) die("%s: is no .npy file", path);
    const unsigned char *head = (const unsigned char *)bytes;
    const size_t start = head[6] == 1 ? 10 : 12;
    const size_t data = start + head[8] + 256u * head[9];
    if (data > size) die("%s: is truncated", path);
    const char *descr = entry(bytes + start, "'descr'", path) + 1;
    if (strncmp(entry(bytes + start, "'fortran_order'", path), "False", 5) != 0)
        die("%s: is not in C order", path);
    array_file_t array = {.rank = 0};
    read_shape(entry(bytes + start, "'shape'", path), &array, path);

    const char kind = descr[1];
    const int width = descr[2] - '0';
    if (descr[0] == '>' || !strchr("fiub", kind) || width < 1 || width > 8)
        die("%s: elements of type %.3s", path, descr);
    if (size - data != (size_t)array.count * (size_t)width) die("%s: its size is wrong", path);
    array.dtype = kind == 'b'                 ? ATTN_BOOL
                  : kind == 'f' && width == 2 ? ATTN_F16
                  : kind == 'f'               ? ATTN_F32
                                              : ATTN_I64;
    const array_file_t result = array_new(array.dtype, array.rank, array.shape);
    if (attn_dtype_size(array.dtype) == width) {
        memcpy(result.data, bytes + data, size - data);
    } else {
        typed_t row = {.tensor = row_of(&result)};
        for (int64_t i = 0; i < array.count; i++)
            typed_set(&row, 0, 0, 0, i, foreign_number(bytes + data + i * width, kind, width));
    }
    free(bytes);
    return result;
}
