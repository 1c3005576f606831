/* cli/arrays.c: see arrays.h. */
#include "cli/arrays.h"

#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *array_allocate(attn_dtype_t dtype, const int64_t shape[4]) {
    size_t bytes = npy_element_size(dtype);
    for (int axis = 0; axis < 4; axis++) {
        if ((uint64_t)shape[axis] > (SIZE_MAX / 2) / bytes) return NULL;
        bytes *= (size_t)shape[axis];
    }
    return malloc(bytes);
}

int array_take(array_t *array, const char *path, char *bytes, size_t size,
               const npy_wanted_t *wanted) {
    attn_error_t error;
    array->memory = bytes;
    if (npy_read(bytes, size, wanted, &array->tensor, &array->rank, &error))
        return cli_complain(CLI_USAGE, "%s %s", path, error.message);
    return CLI_OK;
}

void array_free(array_t *array) {
    free(array->memory);
    *array = (array_t){.memory = NULL};
}

/* ---- elements -------------------------------------------------------------------------------- */

char *array_element(const attn_tensor_t *tensor, const int64_t at[4]) {
    int64_t index = 0;
    for (int axis = 0; axis < 4; axis++) index += at[axis] * tensor->stride[axis];
    return (char *)tensor->data + index * (int64_t)npy_element_size(tensor->dtype);
}

int array_step(const attn_tensor_t *tensor, int64_t at[4]) {
    for (int axis = 3; axis >= 0; axis--) {
        if (++at[axis] < tensor->shape[axis]) return 1;
        at[axis] = 0;
    }
    return 0;
}

static int is_half(attn_dtype_t dtype) { return dtype == ATTN_F16 || dtype == ATTN_BF16; }

static void convert(void *to, attn_dtype_t to_dtype, const void *from, attn_dtype_t from_dtype) {
    if (is_half(from_dtype) && to_dtype == ATTN_F32) {
        uint16_t half;
        float value;
        memcpy(&half, from, sizeof half);
        attn_to_f32(&value, &half, from_dtype, 1, NULL);
        memcpy(to, &value, sizeof value);
    } else if (from_dtype == ATTN_F32 && is_half(to_dtype)) {
        uint16_t half;
        float value;
        memcpy(&value, from, sizeof value);
        attn_from_f32(&half, to_dtype, &value, 1, NULL);
        memcpy(to, &half, sizeof half);
    } else if (from_dtype == NPY_I32 && to_dtype == ATTN_I64) {
        int32_t narrow;
        memcpy(&narrow, from, sizeof narrow);
        const int64_t wide = narrow;
        memcpy(to, &wide, sizeof wide);
    } else {
        memcpy(to, from, npy_element_size(to_dtype));
    }
}

int64_t array_nonfinite(const array_t *array) {
    const attn_tensor_t *tensor = &array->tensor;
    int64_t at[4] = {0}, count = 0;
    if (tensor->dtype != ATTN_F16) return attn_count_nonfinite(tensor);
    do {
        uint16_t half;
        memcpy(&half, array_element(tensor, at), sizeof half);
        count += (half & 0x7C00) == 0x7C00;
    } while (array_step(tensor, at));
    return count;
}

double array_longest(const array_t *array) {
    const attn_tensor_t *tensor = &array->tensor;
    int64_t at[4] = {0};
    double longest = 0, square = 0;
    if (tensor->dtype != ATTN_F32) return NAN;
    do {
        const double x = (double)*(const float *)(const void *)array_element(tensor, at);
        square = at[AXIS_COLUMNS] ? square + x * x : x * x;
        if (square > longest || isnan(square)) longest = square; /* NaN stays */
    } while (array_step(tensor, at));
    return longest;
}

/* ---- copies ---------------------------------------------------------------------------------- */

int array_make(array_t *array, attn_dtype_t dtype, const int64_t shape[4], int32_t rank,
               const char *name) {
    attn_tensor_t *tensor = &array->tensor;
    array->rank = rank;
    array->left_out = 0;
    array->memory = array_allocate(dtype, shape);
    *tensor = (attn_tensor_t){.data = array->memory, .dtype = dtype};
    int64_t stride = 1;
    for (int axis = 3; axis >= 0; axis--) {
        tensor->shape[axis] = shape[axis];
        tensor->stride[axis] = stride;
        stride *= shape[axis];
    }
    if (array->memory) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: no memory for %lld x %lld x %lld x %lld elements", name,
                        (long long)shape[0], (long long)shape[1], (long long)shape[2],
                        (long long)shape[3]);
}

static void put_rows(const attn_tensor_t *to, int64_t first_row, const attn_tensor_t *from) {
    int64_t at[4] = {0};
    do {
        const int64_t place[4] = {at[0], at[1], first_row + at[2], at[3]};
        convert(array_element(to, place), to->dtype, array_element(from, at), from->dtype);
    } while (array_step(from, at));
}

int array_copy(array_t *array, const array_t *before, attn_dtype_t dtype, const char *path) {
    const int64_t *own = array->tensor.shape;
    const int64_t first = before ? before->tensor.shape[AXIS_ROWS] : 0;
    const int64_t shape[4] = {own[0], own[1], first + own[2], own[3]};
    array_t copy;
    const int status = array_make(&copy, dtype, shape, array->rank, path);
    if (status) return status;
    copy.left_out = array->left_out;
    if (before) put_rows(&copy.tensor, 0, &before->tensor);
    put_rows(&copy.tensor, first, &array->tensor);
    array_free(array);
    *array = copy;
    return CLI_OK;
}

int array_widen(array_t *array, int64_t columns, const void *padding, const char *path) {
    const attn_tensor_t *from = &array->tensor;
    const int64_t shape[4] = {from->shape[0], from->shape[1], from->shape[2], columns};
    const int64_t there = from->shape[AXIS_COLUMNS];
    array_t copy;
    const int status = array_make(&copy, from->dtype, shape, array->rank, path);
    if (status) return status;
    copy.left_out = array->left_out;
    int64_t at[4] = {0};
    do {
        const int64_t place[4] = {at[0], at[1], at[2], there == 1 ? 0 : at[3]};
        const void *element = place[3] < there ? array_element(from, place) : padding;
        convert(array_element(&copy.tensor, at), from->dtype, element, from->dtype);
    } while (array_step(&copy.tensor, at));
    array_free(array);
    *array = copy;
    return CLI_OK;
}

const char *array_shape(const array_t *array, char text[96]) {
    const int32_t first = 4 - array->rank;
    int used = snprintf(text, 96, "(");
    for (int32_t axis = first; axis < 4; axis++)
        used += snprintf(text + used, 96 - (size_t)used, "%s%lld", axis > first ? ", " : "",
                         (long long)array->tensor.shape[axis]);
    snprintf(text + used, 96 - (size_t)used, ")");
    return text;
}
