#include "csr.h"

#include "attn/support.h"

#include <math.h>

#define ARRAY(type, id, words)                                                                     \
    {                                                                                              \
        .struct_size = sizeof(attn_array_info_t), .role = ATTN_ROLE_INPUT,                         \
        .presence = ATTN_PRESENCE_NAMED, .dtype = ATTN_##type,                                     \
        .axes = {ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_PLAN},                     \
        .flags = ATTN_ARRAY_UNIT_STRIDE, .name = id, .help = words,                                \
        .replaces = 1 << ATTN_ARRAY_QUERY | 1 << ATTN_ARRAY_KEY                                    \
    }

const attn_array_info_t attn_sketch_arrays[SKETCH_ARRAYS] = {
    [SKETCH_INDPTR] = ARRAY(I64, "x_indptr", "Q = K = X in CSR: where rows begin; B H n + 1"),
    [SKETCH_INDICES] = ARRAY(I64, "x_indices", "each element's feature, ascending in a row"),
    [SKETCH_DATA] = ARRAY(F32, "x_data", "the elements"),
};

attn_status_t attn_csr_named(const attn_problem_t *problem, int64_t elements, int *named,
                             attn_error_t *error) {
    *named = problem->own_inputs != 0;
    if (!*named) return ATTN_OK;
    if (problem->own_inputs != (1u << SKETCH_ARRAYS) - 1)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "sketch: x_indptr, x_indices and x_data come together");
    if (problem->queries != problem->keys || problem->heads != problem->kv_heads)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "sketch: X stands for queries and keys: there are %lld and %lld of %lld "
                         "and %lld heads",
                         (long long)problem->queries, (long long)problem->keys,
                         (long long)problem->heads, (long long)problem->kv_heads);
    if (elements > 0 && elements <= PTRDIFF_MAX / (int64_t)sizeof(int64_t)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "sketch: parameter 'elements' has to be the length of x_data");
}

attn_csr_t attn_csr_of(const attn_problem_t *problem, const attn_io_t *io) {
    const attn_tensor_t *data = attn_own_array(io, SKETCH_DATA);
    return (attn_csr_t){.rows = problem->batch * problem->heads * problem->queries,
                        .columns = problem->dim,
                        .stored = data->shape[3],
                        .starts = attn_own_array(io, SKETCH_INDPTR)->data,
                        .indices = attn_own_array(io, SKETCH_INDICES)->data,
                        .data = data->data};
}

attn_status_t attn_csr_check_starts(const int64_t *starts, int64_t rows, int64_t stored,
                                    attn_error_t *error) {
    if (starts[0] != 0)
        return attn_fail(error, ATTN_ERROR_RANGE, "indptr: begins with %lld, not 0",
                         (long long)starts[0]);
    for (int64_t i = 0; i < rows; i++)
        if (starts[i + 1] < starts[i])
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "indptr: falls from %lld to %lld after row %lld", (long long)starts[i],
                             (long long)starts[i + 1], (long long)i);
    if (starts[rows] != stored)
        return attn_fail(error, ATTN_ERROR_RANGE, "indptr: ends with %lld, there are %lld elements",
                         (long long)starts[rows], (long long)stored);
    return ATTN_OK;
}

attn_status_t attn_csr_refuse(int64_t row, int64_t column, int64_t last, int64_t columns,
                              attn_error_t *error) {
    if (column < 0 || column >= columns)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "indices: row %lld has column %lld, must be 0 to %lld", (long long)row,
                         (long long)column, (long long)columns - 1);
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "indices: row %lld has column %lld after %lld: they have to ascend, each once",
                     (long long)row, (long long)column, (long long)last);
}

attn_status_t attn_csr_check_finite(const float *values, int64_t count, attn_error_t *error) {
    for (int64_t at = 0; at < count; at++)
        if (!isfinite(values[at]))
            return attn_fail(error, ATTN_ERROR_RANGE, "X: element %lld is %s", (long long)at,
                             isnan(values[at]) ? "NaN" : "infinite in float32");
    return ATTN_OK;
}

attn_status_t attn_csr_check(const attn_csr_t *x, attn_error_t *error) {
    const attn_status_t status = attn_csr_check_starts(x->starts, x->rows, x->stored, error);
    if (status != ATTN_OK) return status;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t at = x->starts[i], last = -1; at < x->starts[i + 1]; at++) {
            const int64_t column = x->indices[at];
            if (column <= last || column >= x->columns)
                return attn_csr_refuse(i, column, last, x->columns, error);
            last = column;
        }
    return attn_csr_check_finite(x->data, x->stored, error);
}
