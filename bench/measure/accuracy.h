/*
 * measure/accuracy.h: the error column: how far an output is from exact softmax attention in double
 * precision, within an amount of work.
 */
#ifndef ATTN_MEASURE_ACCURACY_H
#define ATTN_MEASURE_ACCURACY_H

#include "attn/types.h"

/** Multiplications that a comparison of a whole output may cost: about a second. */
#define ACCURACY_WORK (1 << 30)

/** The smallest stride over the queries for which checking costs at most `work` multiplications. */
int64_t accuracy_stride(const attn_problem_t *problem, double work);

/** The stride over the queries for which about `rows` rows of all heads together are checked. */
int64_t accuracy_stride_for_rows(const attn_problem_t *problem, int64_t rows);

/**
 * attn_oracle_error() of io->out: the relative error in the Frobenius norm over every `stride`-th
 * query. ATTN_ERROR_MEMORY when there is no room for a row.
 */
attn_status_t accuracy_error(const attn_problem_t *problem, const attn_io_t *io, int64_t stride,
                             double *relative, attn_error_t *error);

#endif
