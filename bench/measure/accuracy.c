/* measure/accuracy.c: see accuracy.h. */
#include "measure/accuracy.h"

#include "attn/oracle.h"
#include "attn/plugin.h"

#include <math.h>
#include <stdlib.h>

static int64_t stride_within(const attn_problem_t *problem, double ratio) {
    const double stride = ceil(ratio);
    return stride >= (double)problem->queries ? problem->queries : stride > 1 ? (int64_t)stride : 1;
}

int64_t accuracy_stride(const attn_problem_t *problem, double work) {
    const double rows = (double)problem->batch * (double)problem->heads * (double)problem->queries;
    const double row = (double)problem->keys * ((double)problem->dim + (double)problem->value_dim);
    return stride_within(problem, rows * row / work);
}

int64_t accuracy_stride_for_rows(const attn_problem_t *problem, int64_t rows) {
    const double all = (double)problem->batch * (double)problem->heads * (double)problem->queries;
    return stride_within(problem, all / (double)rows);
}

attn_status_t accuracy_error(const attn_problem_t *problem, const attn_io_t *io, int64_t stride,
                             double *relative, attn_error_t *error) {
    double *scratch = calloc((size_t)problem->keys + (size_t)problem->value_dim, sizeof *scratch);
    if (!scratch)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a row of %lld keys",
                         (long long)problem->keys);
    *relative = attn_oracle_error(problem, io, stride, scratch);
    free(scratch);
    return ATTN_OK;
}
