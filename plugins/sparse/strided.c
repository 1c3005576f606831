/*
 * strided: the strided pattern of "Generating Long Sequences with Sparse Transformers"
 * (arXiv:1904.10509), of blocks as its kernels have it: the nearest k blocks, and all at a multiple of
 * the stride. With B = 1 it is the paper's own.
 */
#include "pattern.h"

static void mark(const sparse_pattern_t *pattern, int64_t row, uint8_t *kept) {
    for (int64_t c = row % pattern->stride; c < pattern->columns; c += pattern->stride) kept[c] = 1;
    for (int64_t c = row - pattern->local + 1; c < row + pattern->local; c++)
        if (c >= 0 && c < pattern->columns) kept[c] = 1;
}

static int64_t period(const sparse_pattern_t *pattern) { return pattern->block * pattern->stride; }

const sparse_kind_t attn_sparse_strided = {
    .mark = mark, .period = period, .cost = "n (k B + m / stride) (d + dv)"};
