/* finite.h: rows of the output that are no result, as bits of a number, for the tier being compiled. */
#ifndef ATTN_LINEAR_FINITE_H
#define ATTN_LINEAR_FINITE_H

#include "gemm/tile.h"
#include "simd/convert.h"

#include <float.h>
#include <math.h>

/* Sums side by side: few would wait for each other. */
enum { FINITE_SUMS = 8 };

/* sums += the numbers, so many of the sums at a time. Returns how many numbers are behind. */
ATTN_INLINE int64_t add_numbers(int many, vf sums[FINITE_SUMS], const float **at, int64_t count) {
    const float *numbers = *at;
    for (; count >= many * VF_LANES; count -= many * VF_LANES, numbers += many * VF_LANES) {
        ATTN_UNROLL
        for (int v = 0; v < many; v++) sums[v] = vf_add(sums[v], vf_load(numbers + v * VF_LANES));
    }
    *at = numbers;
    return count;
}

/* Finite only where all numbers of the rows are, of `columns` in whole vectors. */
ATTN_STEP float sum_of_rows(const float *rows, int64_t stride, int64_t count, int64_t columns) {
    const int64_t at_once = stride == columns ? count : 1;
    vf sums[FINITE_SUMS];
    ATTN_UNROLL
    for (int i = 0; i < FINITE_SUMS; i++) sums[i] = vf_zero();
    for (int64_t r = 0; r < count; r += at_once) {
        const float *row = rows + r * stride;
        int64_t left = add_numbers(FINITE_SUMS, sums, &row, at_once * columns);
        left = add_numbers(FINITE_SUMS / 2, sums, &row, left);
        add_numbers(1, sums, &row, left);
    }
    ATTN_UNROLL
    for (int i = 1; i < FINITE_SUMS; i++) sums[0] = vf_add(sums[0], sums[i]);
    return vf_reduce_add(sums[0]);
}

/* Bit r: row r, of whole vectors, has a number that is infinite or NaN among the first `columns`. Most have none, so
 * that one sum tells. */
ATTN_RARE_STEP uint64_t rows_not_finite(const float *rows, int64_t stride, int64_t count,
                                        int64_t columns) {
    const int64_t vectors = attn_round_up(columns, VF_LANES);
    uint64_t found = 0;
    if (fabsf(sum_of_rows(rows, stride, count, vectors)) <= FLT_MAX) return 0;
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < columns; c++)
            found |= (uint64_t) !(fabsf(rows[r * stride + c]) <= FLT_MAX) << r;
    return found;
}

/* A row goes to `to`, and becomes what stands there: in 16 bits more numbers are infinite than in float. */
ATTN_RARE_STEP void give_row(void *to, attn_dtype_t dtype, int64_t stride, float *row,
                             int64_t count) {
    convert_back(to, dtype, stride, row, count, 1.0f);
    if (dtype != ATTN_F32) convert_row(row, to, dtype, stride, count, 1.0f);
}

static inline int64_t count_rows(uint64_t bits) {
    int64_t count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

#endif
