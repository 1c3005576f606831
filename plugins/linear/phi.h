/* phi.h: the elementwise feature maps on rows, for the tier being compiled. */
#ifndef ATTN_LINEAR_PHI_H
#define ATTN_LINEAR_PHI_H

#include "maps.h"
#include "simd/math.h"

/* to[r] = phi(from[r]) for `rows` rows of `count` numbers, which is rounded up to whole vectors. */
ATTN_STEP void map_from(linear_map_t map, float *to, int64_t to_stride, const float *from,
                        int64_t from_stride, int64_t rows, int64_t count) {
#define MAP_ROWS(NAME, name, help, expression)                                                     \
    case LINEAR_##NAME:                                                                            \
        for (; rows > 0; rows--, to += to_stride, from += from_stride)                             \
            for (int64_t i = 0; i < count; i += VF_LANES) {                                        \
                const vf x = vf_load(from + i);                                                    \
                vf_store(to + i, expression);                                                      \
            }                                                                                      \
        return;
    switch (map) {
        LINEAR_MAPS(MAP_ROWS)
    default:
        return;
    }
#undef MAP_ROWS
}

/* The same in place. */
ATTN_INLINE void map_rows(linear_map_t map, float *row, int64_t stride, int64_t rows,
                          int64_t count) {
    map_from(map, row, stride, row, stride, rows, count);
}

#endif
