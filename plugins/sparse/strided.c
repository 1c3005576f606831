/*
 * strided: the strided pattern of "Generating Long Sequences with Sparse Transformers"
 * (arXiv:1904.10509), of blocks as its kernels have it: the nearest k blocks, and all at a multiple of
 * the stride. With B = 1 it is the paper's own.
 */
#include "pattern.h"

static int64_t from(const sparse_pattern_t *pattern, int64_t row, int64_t column) {
    const int64_t stride = pattern->stride, past = (column - row) % stride;
    const int64_t multiple = column + (past > 0 ? stride - past : -past);
    return attn_min(multiple, attn_sparse_near(pattern, row, column));
}

static int64_t period(const sparse_pattern_t *pattern) { return pattern->block * pattern->stride; }

const sparse_kind_t attn_sparse_strided = {.facts = SPARSE_BLOCK | SPARSE_LOCAL | SPARSE_STRIDE,
                                           .from = from,
                                           .period = period,
                                           .cost = "n (k B + m / stride) (d + dv)"};
