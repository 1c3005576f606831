/* rotate.h: rows of queries and keys to buckets. A part of kernels.c, compiled once per tier. */
#ifndef ATTN_SPARSE_ROTATE_H
#define ATTN_SPARSE_ROTATE_H

#include "kernels.h"

#include "simd/simd.h"

/* Of each lane's columns the one where [y; -y] is largest, the first of equal ones: how large, and its number. */
typedef struct rotate_largest {
    vf most, number;
} rotate_largest_t;

/* Of `columns` columns those from `first` on; NaN counts as 0. Columns behind the last are 0, and follow those that
 * are there. */
ATTN_RARE_STEP void rotate_enlarge_(rotate_largest_t *largest, vf y, int64_t first,
                                    int64_t columns) {
    float numbers[VF_LANES];
    for (int64_t i = 0; i < VF_LANES; i++) numbers[i] = (float)(first + i);
    const vf sum = vf_select_positive(vf_add(vf_mul(y, y), vf_set1(1.0f)), y, vf_zero());
    const vf negative = vf_sub(vf_zero(), sum), size = vf_max(sum, negative);
    const vf number =
        vf_add(vf_load(numbers), vf_select_positive(negative, vf_set1((float)columns), vf_zero()));
    const vf above = vf_sub(size, largest->most), below = vf_sub(largest->most, size);
    const vf tie = vf_select_positive(below, vf_set1(-1.0f), vf_sub(largest->number, number));
    const vf wins = vf_select_positive(above, vf_set1(1.0f), tie);
    largest->most = vf_max(size, largest->most);
    largest->number = vf_select_positive(wins, number, largest->number);
}

/* The first number of the largest of all lanes. */
ATTN_RARE_STEP float rotate_first_of_(const rotate_largest_t *largest) {
    const vf most = vf_set1(vf_reduce_max(largest->most));
    const vf far = vf_sub(vf_zero(), vf_set1(FLT_MAX));
    return -vf_reduce_max(
        vf_select_positive(vf_sub(most, largest->most), far, vf_sub(vf_zero(), largest->number)));
}

_Static_assert(ROTATED_LANES % VF_LANES == 0, "columns behind the last are there to be read");

/* Nothing is fused, and terms are added in their order: all tiers choose the same. */
ATTN_RARE_STEP void rotate(const float *rows, int64_t dim, const sparse_rotation_t *rotation,
                           float *codes) {
    rotate_largest_t largest[ROTATED];
    for (int i = 0; i < ROTATED; i++) largest[i] = (rotate_largest_t){vf_set1(-1.0f), vf_zero()};
    for (int64_t c = 0; c < rotation->columns; c += VF_LANES) {
        vf sums[ROTATED];
        ATTN_UNROLL
        for (int i = 0; i < ROTATED; i++) sums[i] = vf_zero();
        for (int64_t k = 0; k < dim; k++) {
            const vf column = vf_load(rotation->matrix + k * rotation->stride + c);
            ATTN_UNROLL
            for (int i = 0; i < ROTATED; i++)
                sums[i] = vf_add(sums[i], vf_mul(vf_set1(rows[i * dim + k]), column));
        }
        for (int i = 0; i < ROTATED; i++)
            rotate_enlarge_(&largest[i], sums[i], c, rotation->columns);
    }
    for (int i = 0; i < ROTATED; i++) codes[i] = rotate_first_of_(&largest[i]);
}

#endif
