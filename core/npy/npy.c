/* npy/npy.c: see npy.h. */
#include "npy/npy.h"

#include "npy/dict.h"

#include "attn/plugin.h"

#include <math.h>
#include <string.h>

/* ---- element types --------------------------------------------------------------------------- */

typedef struct element {
    enum npy_type type;
    const char *descr, *name;
    attn_dtype_t dtype; /* of the tensor */
} element_t;

static const element_t elements[] = {
    {NPY_FLOAT32, "<f4", "float32", ATTN_F32},    {NPY_FLOAT64, "<f8", "float64", ATTN_F32},
    {NPY_FLOAT16, "<f2", "float16", ATTN_F16},    {NPY_BOOL, "|b1", "bool", ATTN_BOOL},
    {NPY_INT32, "<i4", "int32", NPY_I32},         {NPY_INT64, "<i8", "int64", ATTN_I64},
    {NPY_BFLOAT16, "<V2", "bfloat16", ATTN_BF16}, {NPY_INT8, "|i1", "int8", ATTN_I8},
};

enum { ELEMENTS = sizeof elements / sizeof elements[0] };

/* "only float32 and float64 are read" */
static const char *only(uint32_t types, char text[128]) {
    int used = snprintf(text, 128, "only"), left = 0;
    for (int i = 0; i < ELEMENTS; i++) left += (types & elements[i].type) != 0;
    const char *verb = left == 1 ? "is" : "are";
    for (int i = 0; i < ELEMENTS; i++)
        if (types & elements[i].type) {
            used += snprintf(text + used, 128 - (size_t)used, " %s%s", elements[i].name,
                             left > 2    ? ","
                             : left == 2 ? " and"
                                         : "");
            left--;
        }
    snprintf(text + used, 128 - (size_t)used, " %s read", verb);
    return text;
}

/* What stands behind the order of bytes, which may be left out. */
static const char *kind_of(const char *descr) {
    return descr[0] && strchr("<>=|", descr[0]) ? descr + 1 : descr;
}

/* Names that NumPy takes too, but those whose size depends on the machine. */
static const char *const aliases[][2] = {
    {"f", "float32"},     {"single", "float32"}, {"d", "float64"},      {"double", "float64"},
    {"float", "float64"}, {"e", "float16"},      {"half", "float16"},   {"?", "bool"},
    {"bool_", "bool"},    {"i", "int32"},        {"q", "int64"},        {"b", "int8"},
    {"byte", "int8"},     {"intc", "int32"},     {"longlong", "int64"},
};

static const char *in_full(const char *kind) {
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(kind, aliases[i][0]) == 0) return aliases[i][1];
    return kind;
}

static int is_of(const element_t *element, const char *kind) {
    return strcmp(kind, element->descr + 1) == 0 || strcmp(in_full(kind), element->name) == 0;
}

/* What is never read: by its name or a short one of it, or by the letter it begins with. */
static const char *name_of(const char *kind) {
    static const struct {
        const char *name, *names, *letters;
    } others[] = {
        {"float128", " f16 g longdouble ", ""},
        {"int16", " i2 h short ", ""},
        {"uint8", " u1 B ubyte ", ""},
        {"uint16", " u2 H ushort ", ""},
        {"uint32", " u4 I uintc ", ""},
        {"uint64", " u8 Q ulonglong ", ""},
        {"complex64", " c8 F csingle ", ""},
        {"complex128", " c16 D complex ", ""},
        {"integers whose size depends on the machine", " l L p P int uint long ulong ", ""},
        {"Python objects", " object ", "O"},
        {"text", " str bytes ", "SUa"},
        {"dates and times", "", "Mm"},
        {"bytes without a type", " void ", "V"},
    };
    char word[NPY_MAX_DESCR + 2];
    for (int i = 0; i < ELEMENTS; i++)
        if (is_of(&elements[i], kind)) return elements[i].name;
    snprintf(word, sizeof word, " %s ", kind);
    for (size_t i = 0; *kind && i < sizeof others / sizeof others[0]; i++)
        if (strcmp(kind, others[i].name) == 0 || strstr(others[i].names, word) ||
            strchr(others[i].letters, kind[0]))
            return others[i].name;
    return "a type unknown here";
}

static attn_status_t find_element(const char *descr, uint32_t types, const element_t **element,
                                  attn_error_t *error) {
    const char *kind = kind_of(descr);
    char wanted[128];
    for (int i = 0; i < ELEMENTS; i++) {
        *element = &elements[i];
        if (types & elements[i].type && is_of(&elements[i], kind)) return ATTN_OK;
    }
    only(types, wanted);
    if (descr[0] == '[') return attn_fail(error, ATTN_ERROR_DTYPE, "holds records; %s", wanted);
    if (strcmp(kind, "V2") == 0)
        return attn_fail(error, ATTN_ERROR_DTYPE,
                         "has elements of two bytes without a type ('%s'), as bfloat16 is saved; "
                         "%s: save it as float32",
                         descr, wanted);
    return attn_fail(error, ATTN_ERROR_DTYPE, "has elements of %s ('%s'); %s", name_of(kind), descr,
                     wanted);
}

size_t npy_element_size(attn_dtype_t dtype) {
    return dtype == NPY_I32 ? sizeof(int32_t) : (size_t)attn_dtype_size(dtype);
}

static size_t size_in_file(const element_t *element) {
    return element->type == NPY_FLOAT64 ? sizeof(double) : npy_element_size(element->dtype);
}

/* ---- reading --------------------------------------------------------------------------------- */

static attn_status_t check_shape(const npy_dict_t *dict, const npy_wanted_t *wanted, size_t item,
                                 size_t *count, attn_error_t *error) {
    if (dict->rank < wanted->low || dict->rank > wanted->high)
        return attn_fail(error, ATTN_ERROR_SHAPE, "has rank %d; wanted %s", (int)dict->rank,
                         wanted->ranks);
    const uint64_t limit = (SIZE_MAX < INT64_MAX ? SIZE_MAX : (uint64_t)INT64_MAX) / item;
    *count = 1;
    for (int32_t axis = 0; axis < dict->rank; axis++) {
        const int64_t extent = dict->shape[axis];
        if (extent == 0 && !wanted->may_be_empty)
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "has size 0 in dimension %d of %d; all sizes must be at least 1",
                             (int)axis + 1, (int)dict->rank);
        if (*count > 0 && (uint64_t)extent > limit / *count)
            return attn_fail(error, ATTN_ERROR_SHAPE, "claims more elements than can be addressed");
        *count *= (size_t)extent;
    }
    return ATTN_OK;
}

static void describe(const npy_dict_t *dict, attn_dtype_t dtype, void *data,
                     attn_tensor_t *tensor) {
    *tensor = (attn_tensor_t){.data = data, .dtype = dtype, .shape = {1, 1, 1, 1}};
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

/* From big-endian. */
static void swap(unsigned char *bytes, size_t count, size_t item) {
    for (size_t i = 0; i < count; i++, bytes += item)
        for (size_t low = 0, high = item - 1; low < high; low++, high--) {
            const unsigned char byte = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = byte;
        }
}

/* Moves the elements to the front of the buffer: never ahead of what is still to be read. The first that becomes an
 * infinity and was none is an error. */
static attn_status_t convert(unsigned char *bytes, size_t data, size_t count,
                             const element_t *element, attn_error_t *error) {
    const size_t item = size_in_file(element);
    if (element->type != NPY_FLOAT64) {
        memmove(bytes, bytes + data, count * item);
        return ATTN_OK;
    }
    for (size_t i = 0; i < count; i++) {
        double wide;
        memcpy(&wide, bytes + data + i * item, sizeof wide);
        const float narrow = (float)wide;
        if (isinf(narrow) && !isinf(wide))
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "has a float64 at element %zu that is beyond the largest float32, "
                             "3.4e38",
                             i);
        memcpy(bytes + i * sizeof narrow, &narrow, sizeof narrow);
    }
    return ATTN_OK;
}

/* The header's element type and how many there are, of `size` bytes of data. */
static attn_status_t check(const npy_dict_t *dict, const npy_wanted_t *wanted, uint64_t size,
                           const element_t **element, size_t *count, attn_error_t *error) {
    attn_status_t status = find_element(dict->descr, wanted->types, element, error);
    if (!status) status = check_shape(dict, wanted, size_in_file(*element), count, error);
    if (status) return status;
    const uint64_t needed = (uint64_t)*count * size_in_file(*element);
    if (size == needed) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "%s: %llu bytes of data where its shape needs %llu",
                     size < needed ? "is truncated" : "has bytes after its end",
                     (unsigned long long)size, (unsigned long long)needed);
}

attn_status_t npy_check(const npy_dict_t *dict, const npy_wanted_t *wanted, uint64_t size,
                        size_t *item, attn_error_t *error) {
    const element_t *element = NULL;
    size_t count = 0;
    const attn_status_t status = check(dict, wanted, size, &element, &count, error);
    *item = status ? 0 : size_in_file(element);
    return status;
}

attn_dtype_t npy_dtype(const npy_dict_t *dict, const npy_wanted_t *wanted) {
    const element_t *element;
    return find_element(dict->descr, wanted->types, &element, NULL) ? ATTN_DTYPE_NONE
                                                                    : element->dtype;
}

attn_status_t npy_take(void *bytes, size_t size, size_t data, const npy_dict_t *dict,
                       const npy_wanted_t *wanted, attn_tensor_t *tensor, int32_t *rank,
                       attn_error_t *error) {
    const element_t *element = NULL;
    size_t count = 0;
    attn_status_t status = check(dict, wanted, size - data, &element, &count, error);
    if (status) return status;
    if (dict->descr[0] == '>') swap((unsigned char *)bytes + data, count, size_in_file(element));
    status = convert(bytes, data, count, element, error);
    if (status) return status;
    describe(dict, element->dtype, bytes, tensor);
    *rank = dict->rank;
    return ATTN_OK;
}

attn_status_t npy_read(void *bytes, size_t size, const npy_wanted_t *wanted, attn_tensor_t *tensor,
                       int32_t *rank, attn_error_t *error) {
    npy_dict_t dict;
    size_t data = 0;
    attn_status_t status = npy_dict_read(bytes, size, &dict, &data, error);
    if (!status) status = npy_take(bytes, size, data, &dict, wanted, tensor, rank, error);
    return status;
}

attn_status_t npy_parse(void *bytes, size_t size, attn_tensor_t *tensor, int32_t *rank,
                        attn_error_t *error) {
    const npy_wanted_t wanted = {.types = NPY_FLOATS,
                                 .low = 2,
                                 .high = 4,
                                 .ranks = "2 (n, d), 3 (H, n, d) or 4 (B, H, n, d)"};
    return npy_read(bytes, size, &wanted, tensor, rank, error);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The first of them is the one that is as it is in memory. */
static const char *descr_of(attn_dtype_t dtype) {
    int i = 0;
    while (elements[i].dtype != dtype) i++;
    return elements[i].descr;
}

size_t npy_header(char header[NPY_HEADER_SIZE], attn_dtype_t dtype, int32_t rank,
                  const int64_t shape[4]) {
    const int start = 10;
    memset(header, ' ', NPY_HEADER_SIZE);
    memcpy(header, npy_magic, sizeof npy_magic);
    int at =
        start + snprintf(header + start, (size_t)(NPY_HEADER_SIZE - start),
                         "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(dtype));
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
