#include "inputs.h"

#include "attn/random.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

const char *const input_names[INPUT_KINDS] = {"random",    "spiked", "duplicated",
                                              "deficient", "zeros",  "sparse"};

static double normal(enum input_kind kind, int64_t i, int64_t j) {
    return attn_random_normal(test_seed(), 77 + (uint64_t)kind, (uint64_t)(i << 32 | j));
}

static double element(enum input_kind kind, int64_t rows, int64_t i, int64_t j) {
    switch (kind) {
    case INPUT_SPIKED:
        return normal(kind, i, j) * (j % 97 == 5 ? 30 : 1);
    case INPUT_DUPLICATED:
        return normal(kind, i, j / 4);
    case INPUT_DEFICIENT:
        return i < rows - rows / 2 ? normal(kind, i, j)
                                   : normal(kind, i - rows / 2, j) + normal(kind, 0, j);
    case INPUT_ZEROS:
        return j % 3 ? 0 : normal(kind, i, j);
    case INPUT_SPARSE:
        return i == 1 || attn_random_u64(test_seed(), 76, (uint64_t)(i << 32 | j)) % 8
                   ? 0
                   : normal(kind, i, j);
    default:
        return normal(kind, i, j);
    }
}

static int64_t rank_of(enum input_kind kind, int64_t rows) {
    if (kind == INPUT_DEFICIENT) return rows - rows / 2;
    return kind == INPUT_SPARSE && rows > 1 ? rows - 1 : rows;
}

static void *room(input_t *input, int which, int64_t count, size_t size) {
    input->memory[which] = calloc((size_t)count + 1, size);
    assert_non_null(input->memory[which]);
    return input->memory[which];
}

static void fill_csr(input_t *input) {
    const sketching_x_t *x = &input->x;
    const int64_t most = x->rows * x->columns;
    int64_t *starts = room(input, 1, x->rows + 1, sizeof *starts), used = 0;
    int32_t *indices = room(input, 2, most, sizeof *indices);
    float *data = room(input, 3, most, sizeof *data);
    for (int64_t i = 0; i < x->rows; i++) {
        for (int64_t j = 0; j < x->columns; j++)
            if (x->dense[i * x->columns + j] != 0) {
                indices[used] = (int32_t)j;
                data[used++] = x->dense[i * x->columns + j];
            }
        starts[i + 1] = used;
    }
    input->csr = (sketching_x_t){
        .rows = x->rows, .columns = x->columns, .starts = starts, .indices = indices, .data = data};
}

input_t input_create(enum input_kind kind, int64_t rows, int64_t columns, double r) {
    input_t input = {.rank = rank_of(kind, rows)};
    float *dense = room(&input, 0, rows * columns, sizeof *dense);
    for (int64_t i = 0; i < rows; i++) {
        double square = 0;
        for (int64_t j = 0; j < columns; j++) {
            const double x = element(kind, rows, i, j);
            square += x * x;
        }
        for (int64_t j = 0; j < columns && square > 0; j++)
            dense[i * columns + j] =
                (float)(element(kind, rows, i, j) * sqrt(r * (1 - 0x1p-20) / square));
    }
    input.x = (sketching_x_t){.rows = rows, .columns = columns, .dense = dense};
    fill_csr(&input);
    assert_int_equal(sketching_check(&input.x, rows * columns, NULL), ATTN_OK);
    assert_int_equal(sketching_check(&input.csr, input.csr.starts[rows], NULL), ATTN_OK);
    return input;
}

void input_destroy(input_t *input) {
    for (int i = 0; i < 4; i++) free(input->memory[i]);
}

sketching_features_t features_of(const sketching_x_t *x) {
    sketching_features_t features;
    assert_true(sketching_features_create(x, &features));
    return features;
}
