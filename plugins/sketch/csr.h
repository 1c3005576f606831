/*
 * csr.h: X as compressed sparse rows: arrays of the backend's own that stand for query and key, Q = K = X. The rows
 * of all batches and heads are those of one matrix, one below the other.
 */
#ifndef ATTN_SKETCH_CSR_H
#define ATTN_SKETCH_CSR_H

#include "ieee/ieee.h"

#include "attn/ext/inputs.h"

enum { SKETCH_INDPTR, SKETCH_INDICES, SKETCH_DATA, SKETCH_ARRAYS };

extern const attn_array_info_t attn_sketch_arrays[SKETCH_ARRAYS];

typedef struct attn_csr {
    int64_t rows, columns, stored;
    const int64_t *starts;  /**< rows + 1: where each row's elements begin */
    const int64_t *indices; /**< column of each element, ascending in a row, each once */
    const float *data;
} attn_csr_t;

/** What `own_inputs` name: 0 none, 1 all three; an error for anything between, and for other heads or keys. */
attn_status_t attn_csr_named(const attn_problem_t *problem, int64_t elements, int *named,
                             attn_error_t *error);

/** That of a run. */
attn_csr_t attn_csr_of(const attn_problem_t *problem, const attn_io_t *io);

/** Whether starts are 0 first, do not fall, and end at `stored`. */
attn_status_t attn_csr_check_starts(const int64_t *starts, int64_t rows, int64_t stored,
                                    attn_error_t *error);

/** Says what is wrong with a row's column behind column `last`, -1 for the first. */
attn_status_t attn_csr_refuse(int64_t row, int64_t column, int64_t last, int64_t columns,
                              attn_error_t *error);

/** Whether `count` elements are finite. */
attn_status_t attn_csr_check_finite(const float *values, int64_t count, attn_error_t *error);

/** Whether X is one: nothing is read through an index before it has been checked. */
attn_status_t attn_csr_check(const attn_csr_t *x, attn_error_t *error);

#endif
