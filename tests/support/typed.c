#include "typed.h"

#include "test.h"

#include "attn/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Under the address sanitizer the allocator guards better: it also sees what is only read. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { GUARD = 0 };
#else
enum { GUARD = 256 };
#endif

/* In pairs of bytes: quiet NaNs in f32, f16 and bf16 that no computation makes. */
static const unsigned char CANARY[2] = {0xE5, 0x7F}, UNWRITTEN[2] = {0xF1, 0x7F};

static void *need(void *memory) {
    if (!memory) test_fail("the test itself has no memory");
    return memory;
}

static void fill_bytes(unsigned char *bytes, size_t count, const unsigned char pattern[2]) {
    for (size_t i = 0; i < count; i++) bytes[i] = pattern[i % 2];
}

static int64_t index_of(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    return b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3];
}

#define FOR_EACH(t, b, h, i, c)                                                                    \
    for (int64_t b = 0; b < (t)->shape[0]; b++)                                                    \
        for (int64_t h = 0; h < (t)->shape[1]; h++)                                                \
            for (int64_t i = 0; i < (t)->shape[2]; i++)                                            \
                for (int64_t c = 0; c < (t)->shape[3]; c++)

static void mark_elements(const attn_tensor_t *t, unsigned char *first,
                          const unsigned char pattern[2]) {
    const size_t size = (size_t)attn_dtype_size(t->dtype);
    FOR_EACH(t, b, h, i, c)
    fill_bytes(first + (size_t)index_of(t, b, h, i, c) * size, size, pattern);
}

static void lay_out_typed(layout_t layout, attn_tensor_t *t) {
    const int64_t heads = t->shape[1], rows = t->shape[2], columns = t->shape[3];
    int64_t *stride = t->stride;
    switch (layout) {
    case LAYOUT_BNHD:
        stride[3] = 1, stride[1] = columns, stride[2] = heads * columns,
        stride[0] = rows * stride[2];
        return;
    case LAYOUT_TRANSPOSED:
        stride[2] = 1, stride[3] = rows + 3, stride[1] = columns * stride[3];
        stride[0] = heads * stride[1];
        return;
    case LAYOUT_PADDED:
        stride[3] = 1, stride[2] = columns + 5, stride[1] = rows * stride[2] + 7;
        stride[0] = heads * stride[1] + 11;
        return;
    default:
        stride[3] = 1, stride[2] = columns, stride[1] = rows * columns,
        stride[0] = heads * stride[1];
    }
}

typed_t typed_create(attn_dtype_t dtype, layout_t layout, const int64_t shape[4]) {
    typed_t array = {.tensor = {.dtype = dtype, .shape = {shape[0], shape[1], shape[2], shape[3]}}};
    attn_tensor_t *t = &array.tensor;
    lay_out_typed(layout, t);
    const int64_t last = index_of(t, shape[0] - 1, shape[1] - 1, shape[2] - 1, shape[3] - 1);
    const size_t size = (size_t)attn_dtype_size(dtype), start = GUARD + (size_t)layout * size;
    array.size = start + (size_t)(last + 1) * size + GUARD;
    array.block = need(malloc(array.size));
    t->data = array.block + start;
    typed_reset(&array);
    return array;
}

void typed_destroy(typed_t *array) {
    free(array->block);
    free(array->sealed);
    memset(array, 0, sizeof *array);
}

void typed_reset(typed_t *array) {
    fill_bytes(array->block, array->size, CANARY);
    mark_elements(&array->tensor, array->tensor.data, UNWRITTEN);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* A power of two that a double has as a normal number: ldexp() takes a third of some tests' time. */
static double power_of_two(int exponent) {
    const uint64_t pattern = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &pattern, sizeof power);
    return power;
}

/* A binary floating-point number of 16 bits with `bits` of fraction. */
static double half_value(uint16_t half, int bits) {
    const int bias = bits == 10 ? 15 : 127, top = (1 << (15 - bits)) - 1;
    const int exponent = half >> bits & top, fraction = half & ((1 << bits) - 1);
    const double sign = half >> 15 ? -1 : 1;
    if (exponent == top) return fraction ? NAN : sign * INFINITY;
    const int whole = exponent ? fraction + (1 << bits) : fraction;
    return sign * whole * power_of_two((exponent ? exponent : 1) - bias - bits);
}

static uint16_t half_bits(double x, int bits) {
    const int bias = bits == 10 ? 15 : 127, top = (1 << (15 - bits)) - 1;
    const unsigned sign = signbit(x) ? 0x8000u : 0;
    if (isnan(x)) return (uint16_t)(sign | (unsigned)top << bits | 1u << (bits - 1));
    if (isinf(x)) return (uint16_t)(sign | (unsigned)top << bits);
    int exponent;
    frexp(x, &exponent);
    const int unit = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - bits;
    const double whole =
        nearbyint(ldexp(fabs(x), -unit)); /* ties to even; may reach the next power */
    const unsigned biased = (unsigned)(unit + bits + bias);
    if (whole < ldexp(1, bits)) return (uint16_t)(sign | (unsigned)whole); /* denormal */
    const unsigned result = (biased << bits) + (unsigned)whole - (1u << bits);
    return (uint16_t)(sign | (result > (unsigned)top << bits ? (unsigned)top << bits : result));
}

static int fraction_bits(attn_dtype_t dtype) { return dtype == ATTN_F16 ? 10 : 7; }

static double element(attn_dtype_t dtype, const char *address) {
    if (dtype == ATTN_F32) {
        float x;
        memcpy(&x, address, sizeof x);
        return (double)x;
    }
    if (dtype == ATTN_I64) {
        int64_t x;
        memcpy(&x, address, sizeof x);
        return (double)x;
    }
    if (dtype == ATTN_I8) return *(const signed char *)address;
    if (dtype == ATTN_BOOL) return *(const unsigned char *)address != 0;
    uint16_t half;
    memcpy(&half, address, sizeof half);
    return half_value(half, fraction_bits(dtype));
}

static const char *address_of(const attn_tensor_t *t, const int64_t at[4]) {
    int64_t index = 0;
    for (int k = 0; k < 4; k++) index += t->shape[k] > 1 ? at[k] * t->stride[k] : 0;
    return (const char *)t->data + index * attn_dtype_size(t->dtype);
}

double typed_get(const attn_tensor_t *t, int64_t batch, int64_t head, int64_t row, int64_t column) {
    return element(t->dtype, address_of(t, (int64_t[]){batch, head, row, column}));
}

void typed_get_row(const attn_tensor_t *t, int64_t batch, int64_t head, int64_t row, double *to) {
    const char *address = address_of(t, (int64_t[]){batch, head, row, 0});
    const int64_t step = t->stride[3] * attn_dtype_size(t->dtype);
    if (t->dtype == ATTN_F32)
        for (int64_t c = 0; c < t->shape[3]; c++) to[c] = element(ATTN_F32, address + c * step);
    else
        for (int64_t c = 0; c < t->shape[3]; c++) to[c] = element(t->dtype, address + c * step);
}

static double clamp(double x, double limit) { return fmin(fmax(x, -limit), limit); }

void typed_set(typed_t *array, int64_t batch, int64_t head, int64_t row, int64_t column,
               double value) {
    const attn_tensor_t *t = &array->tensor;
    const size_t size = (size_t)attn_dtype_size(t->dtype);
    char *address = (char *)t->data + index_of(t, batch, head, row, column) * (int64_t)size;
    const float single = (float)value;
    const uint16_t half = t->dtype == ATTN_F16 || t->dtype == ATTN_BF16
                              ? half_bits(value, fraction_bits(t->dtype))
                              : 0;
    const int64_t whole = isfinite(value) ? (int64_t)nearbyint(clamp(value, 0x1p62)) : 0;
    const signed char byte = (signed char)clamp((double)whole, 127);
    const void *from = &byte;
    if (t->dtype == ATTN_F32) from = &single;
    if (t->dtype == ATTN_F16 || t->dtype == ATTN_BF16) from = &half;
    if (t->dtype == ATTN_I64) from = &whole;
    memcpy(address, from, size);
}

/* The numbers of a stream are those of every array that it fills: drawn once, they are kept. */
static const double *normals(uint64_t stream, uint64_t count) {
    enum { STREAMS = 64 };
    static struct {
        double *numbers;
        uint64_t count;
    } drawn[STREAMS];
    if (stream >= STREAMS) test_fail("the test itself asks for stream %" PRIu64, stream);
    double *numbers = drawn[stream].numbers;
    if (count <= drawn[stream].count) return numbers;
    numbers = need(realloc(numbers, (size_t)count * sizeof *numbers));
    for (uint64_t i = drawn[stream].count; i < count; i++)
        numbers[i] = attn_random_normal(test_seed(), stream, i);
    drawn[stream].numbers = numbers;
    drawn[stream].count = count;
    return numbers;
}

void typed_fill(typed_t *array, uint64_t stream, double deviation) {
    const attn_tensor_t *t = &array->tensor;
    const double *next =
        normals(stream, (uint64_t)(t->shape[0] * t->shape[1] * t->shape[2] * t->shape[3]));
    FOR_EACH(t, b, h, i, c) typed_set(array, b, h, i, c, deviation * *next++);
}

double typed_rounding(attn_dtype_t dtype, double x) {
    const int bits = dtype == ATTN_F32 ? 23 : fraction_bits(dtype);
    const int least = dtype == ATTN_F16 ? -14 : -126;
    int exponent;
    frexp(x, &exponent);
    return ldexp(0.5, (exponent - 1 < least ? least : exponent - 1) - bits);
}

/* ---- checks ---------------------------------------------------------------------------------- */

void typed_seal(typed_t *array) {
    if (!array->block) return;
    if (!array->sealed) array->sealed = need(malloc(array->size));
    memcpy(array->sealed, array->block, array->size);
}

static void check_written(const typed_t *array, const char *name) {
    const attn_tensor_t *t = &array->tensor;
    const size_t size = (size_t)attn_dtype_size(t->dtype);
    unsigned char unwritten[8];
    fill_bytes(unwritten, sizeof unwritten, UNWRITTEN);
    FOR_EACH(t, b, h, i, c) {
        const char *address = (const char *)t->data + index_of(t, b, h, i, c) * (int64_t)size;
        if (memcmp(address, unwritten, size) == 0)
            test_fail("%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ") was not written",
                      name, b, h, i, c);
    }
}

/* Compares the block with one in which the elements have this pattern too. */
static void check_bytes(const typed_t *array, const unsigned char *copy, const char *name) {
    const unsigned char *start = array->tensor.data;
    unsigned char *expected = need(malloc(array->size));
    fill_bytes(expected, array->size, CANARY);
    mark_elements(&array->tensor, expected + (start - array->block), UNWRITTEN);
    for (size_t i = 0; i < array->size; i++)
        if (copy[i] != expected[i])
            test_fail("byte %td of %s was written", (ptrdiff_t)i - (start - array->block), name);
    free(expected);
}

void typed_check_untouched(const typed_t *array, const char *name) {
    check_bytes(array, array->block, name);
}

void typed_check(const typed_t *array, const char *name) {
    if (!array->block) return;
    if (array->sealed) {
        if (memcmp(array->block, array->sealed, array->size) != 0)
            test_fail("input %s was changed", name);
        return;
    }
    check_written(array, name);
    unsigned char *copy = need(malloc(array->size));
    memcpy(copy, array->block, array->size);
    const size_t start = (size_t)((unsigned char *)array->tensor.data - array->block);
    mark_elements(&array->tensor, copy + start, UNWRITTEN);
    check_bytes(array, copy, name);
    free(copy);
}

void typed_check_same(const typed_t *a, const typed_t *b, const char *name) {
    const attn_tensor_t *t = &a->tensor;
    const size_t size = (size_t)attn_dtype_size(t->dtype);
    FOR_EACH(t, i, j, k, l) {
        const char *x = (const char *)t->data + index_of(t, i, j, k, l) * (int64_t)size;
        const char *y =
            (const char *)b->tensor.data + index_of(&b->tensor, i, j, k, l) * (int64_t)size;
        if (memcmp(x, y, size) != 0)
            test_fail("%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ") is %.9g and %.9g",
                      name, i, j, k, l, typed_get(t, i, j, k, l),
                      typed_get(&b->tensor, i, j, k, l));
    }
}
