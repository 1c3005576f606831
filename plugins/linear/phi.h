/* phi.h: the elementwise feature maps on rows, for the tier being compiled. */
#ifndef ATTN_LINEAR_PHI_H
#define ATTN_LINEAR_PHI_H

#include "maps.h"
#include "simd/math.h"

/* phi of `rows` rows of `count` numbers, in place; count is rounded up to whole vectors. */
ATTN_STEP void map_rows(linear_map_t map, float *row, int64_t stride, int64_t rows, int64_t count) {
#define MAP_ROWS(NAME, name, help, expression)                                                     \
    case LINEAR_##NAME:                                                                            \
        for (; rows > 0; rows--, row += stride)                                                    \
            for (int64_t i = 0; i < count; i += VF_LANES) {                                        \
                const vf x = vf_load(row + i);                                                     \
                vf_store(row + i, expression);                                                     \
            }                                                                                      \
        return;
    switch (map) {
        LINEAR_MAPS(MAP_ROWS)
    default:
        return;
    }
#undef MAP_ROWS
}

#endif
