#include "arrays.h"

#include "attn/random.h"
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Two quiet NaNs that no computation makes.
static const uint32_t CANARY = 0x7FE5C3E1, UNWRITTEN = 0x7FF1A2B3;

enum {
    GUARD_WORDS = 64,
    GUARD_BYTES = 256,
};

static void *need(void *memory) {
    if (!memory) test_fail("the test itself has no memory");
    return memory;
}

static int64_t offset_of(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    return b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3];
}

/** The loops over a tensor, written once. */
#define FOR_EACH_ELEMENT(t, b, h, i, c)                                                            \
    for (int64_t b = 0; b < (t)->shape[0]; b++)                                                    \
        for (int64_t h = 0; h < (t)->shape[1]; h++)                                                \
            for (int64_t i = 0; i < (t)->shape[2]; i++)                                            \
                for (int64_t c = 0; c < (t)->shape[3]; c++)

static void fill_words(uint32_t *words, size_t count, uint32_t pattern) {
    for (size_t w = 0; w < count; w++) words[w] = pattern;
}

/** Bit patterns go in and out by memcpy: the same memory is read as float elsewhere. */
static void set_elements(const attn_tensor_t *tensor, void *data, uint32_t pattern) {
    FOR_EACH_ELEMENT(tensor, b, h, i, c)
    memcpy((char *)data + offset_of(tensor, b, h, i, c) * 4, &pattern, sizeof pattern);
}

/** Strides of a layout, and the number of words from the first element to past the last. */
static int64_t lay_out_floats(layout_t layout, attn_tensor_t *t) {
    const int64_t *shape = t->shape;
    const int64_t heads = shape[1], rows = shape[2], columns = shape[3];
    int64_t *stride = t->stride;
    switch (layout) {
    case LAYOUT_BNHD:
        stride[3] = 1, stride[1] = columns, stride[2] = heads * columns,
        stride[0] = rows * stride[2];
        break;
    case LAYOUT_TRANSPOSED:
        stride[2] = 1, stride[3] = rows + 3, stride[1] = columns * stride[3];
        stride[0] = heads * stride[1];
        break;
    case LAYOUT_PADDED:
        stride[3] = 1, stride[2] = columns + 5, stride[1] = rows * stride[2] + 7;
        stride[0] = heads * stride[1] + 11;
        break;
    default:
        stride[3] = 1, stride[2] = columns, stride[1] = rows * columns,
        stride[0] = heads * stride[1];
    }
    return offset_of(t, shape[0] - 1, heads - 1, rows - 1, columns - 1) + 1;
}

array_t array_create(layout_t layout, int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
    array_t array = {.tensor = {.dtype = ATTN_F32, .shape = {batch, heads, rows, columns}}};
    const size_t start = GUARD_WORDS + (size_t)layout; // BHND aligned, the others by 4, 8, 12 bytes
    array.words = start + (size_t)lay_out_floats(layout, &array.tensor) + GUARD_WORDS;
    array.block = need(malloc(array.words * sizeof *array.block));
    fill_words(array.block, array.words, CANARY);
    array.tensor.data = array.block + start;
    set_elements(&array.tensor, array.tensor.data, UNWRITTEN);
    return array;
}

void array_destroy(array_t *array) {
    free(array->block);
    free(array->sealed);
    memset(array, 0, sizeof *array);
}

float array_get(const array_t *array, int64_t batch, int64_t head, int64_t row, int64_t column) {
    const float *data = array->tensor.data;
    return data[offset_of(&array->tensor, batch, head, row, column)];
}

void array_set(array_t *array, int64_t batch, int64_t head, int64_t row, int64_t column,
               float value) {
    float *data = array->tensor.data;
    data[offset_of(&array->tensor, batch, head, row, column)] = value;
}

void array_fill_normal(array_t *array, uint64_t stream, double deviation) {
    uint64_t index = 0;
    FOR_EACH_ELEMENT(&array->tensor, b, h, i, c) {
        const double value = deviation * attn_random_normal(test_seed(), stream, index++);
        array_set(array, b, h, i, c, (float)value);
    }
}

void array_seal(array_t *array) {
    if (!array->sealed) array->sealed = need(malloc(array->words * sizeof *array->sealed));
    memcpy(array->sealed, array->block, array->words * sizeof *array->sealed);
}

static void check_unchanged(const array_t *array, const char *name) {
    if (memcmp(array->block, array->sealed, array->words * sizeof *array->block) != 0)
        test_fail("input %s was changed", name);
}

static void check_written(const array_t *array, const char *name) {
    const attn_tensor_t *tensor = &array->tensor;
    FOR_EACH_ELEMENT(tensor, b, h, i, c) {
        const float element = array_get(array, b, h, i, c);
        if (memcmp(&element, &UNWRITTEN, sizeof element) == 0)
            test_fail("%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ") was not written",
                      name, b, h, i, c);
    }
}

static void check_guards(const array_t *array, const char *name) {
    uint32_t *copy = need(malloc(array->words * sizeof *copy));
    memcpy(copy, array->block, array->words * sizeof *copy);
    const size_t start = (size_t)((uint32_t *)array->tensor.data - array->block);
    set_elements(&array->tensor, copy + start, CANARY);
    for (size_t w = 0; w < array->words; w++) {
        if (copy[w] != CANARY)
            test_fail("word %" PRId64 " of %s is no element and was written",
                      (int64_t)w - (int64_t)start, name);
    }
    free(copy);
}

void array_check(const array_t *array, const char *name) {
    if (array->sealed) {
        check_unchanged(array, name);
        return;
    }
    check_written(array, name);
    check_guards(array, name);
}

void array_check_same(const array_t *a, const array_t *b, const char *name) {
    FOR_EACH_ELEMENT(&a->tensor, i, j, k, l) {
        const float x = array_get(a, i, j, k, l), y = array_get(b, i, j, k, l);
        if (memcmp(&x, &y, sizeof x) != 0)
            test_fail("%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ") is %.9g and %.9g",
                      name, i, j, k, l, (double)x, (double)y);
    }
}

arrays_t arrays_create(const attn_problem_t *p, layout_t layout, int with_lse) {
    arrays_t arrays = {.problem = *p, .report = {.struct_size = sizeof(attn_report_t)}};
    arrays.query = array_create(layout, p->batch, p->heads, p->queries, p->dim);
    arrays.key = array_create(layout, p->batch, p->kv_heads, p->keys, p->dim);
    arrays.value = array_create(layout, p->batch, p->kv_heads, p->keys, p->value_dim);
    arrays.out = array_create(layout, p->batch, p->heads, p->queries, p->value_dim);
    if (with_lse) arrays.lse = array_create(layout, p->batch, p->heads, p->queries, 1);
    array_fill_normal(&arrays.query, 1, 1);
    array_fill_normal(&arrays.key, 2, 1);
    array_fill_normal(&arrays.value, 3, 1);
    arrays.io = (attn_io_t){.struct_size = sizeof(attn_io_t),
                            .query = arrays.query.tensor,
                            .key = arrays.key.tensor,
                            .value = arrays.value.tensor,
                            .out = arrays.out.tensor,
                            .lse = arrays.lse.tensor};
    return arrays;
}

void arrays_destroy(arrays_t *arrays) {
    array_destroy(&arrays->query);
    array_destroy(&arrays->key);
    array_destroy(&arrays->value);
    array_destroy(&arrays->out);
    array_destroy(&arrays->lse);
    free(arrays->workspace);
    arrays->workspace = NULL;
}

void arrays_reset(arrays_t *arrays) {
    set_elements(&arrays->out.tensor, arrays->out.tensor.data, UNWRITTEN);
    if (arrays->lse.block) set_elements(&arrays->lse.tensor, arrays->lse.tensor.data, UNWRITTEN);
}

/** [guard | workspace | filler up to 64 | guard], all of it the canary. */
static size_t workspace_block_size(uint64_t size) {
    return GUARD_BYTES + ((size_t)size + 63) / 64 * 64 + GUARD_BYTES;
}

void arrays_give_workspace(arrays_t *arrays, const attn_plan_t *plan) {
    const uint64_t size = attn_plan_workspace_size(plan);
    free(arrays->workspace);
    arrays->workspace = need(aligned_alloc(64, workspace_block_size(size)));
    fill_words((uint32_t *)(void *)arrays->workspace, workspace_block_size(size) / 4, CANARY);
    arrays->io.workspace = arrays->workspace + GUARD_BYTES;
    arrays->io.workspace_size = size;
}

static void check_workspace(const arrays_t *arrays) {
    if (!arrays->workspace) return;
    const size_t size = (size_t)arrays->io.workspace_size, end = workspace_block_size(size);
    for (size_t byte = 0; byte < end; byte++) {
        if (byte == GUARD_BYTES) byte += size;
        const unsigned char *canary = (const unsigned char *)&CANARY;
        if ((unsigned char)arrays->workspace[byte] != canary[byte % sizeof CANARY])
            test_fail("byte %zu of the workspace's block (size %zu, guard %d) was written", byte,
                      size, GUARD_BYTES);
    }
}

void arrays_check(const arrays_t *arrays) {
    array_check(&arrays->query, "query");
    array_check(&arrays->key, "key");
    array_check(&arrays->value, "value");
    array_check(&arrays->out, "out");
    if (arrays->lse.block) array_check(&arrays->lse, "lse");
    check_workspace(arrays);
}

void arrays_run(arrays_t *arrays, const attn_plan_t *plan) {
    array_seal(&arrays->query);
    array_seal(&arrays->key);
    array_seal(&arrays->value);
    arrays_reset(arrays);
    arrays_give_workspace(arrays, plan);
    arrays->io.report = &arrays->report;
    attn_error_t error = {0};
    if (attn_run(plan, &arrays->io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    arrays_check(arrays);
}
