/*
 * maps.h: the list of feature maps, in the order of the parameter's choices.
 *
 * An elementwise map is a line of LINEAR_MAPS: X(NAME, name, help, which signs features have, phi of a vector x,
 * phi'(x) from x and y = phi(x)), in the words of simd/simd.h and simd/math.h. The parameter, its help and every
 * tier's kernels follow. The oracle (core/oracle) states each map once more, in double.
 */
#ifndef ATTN_LINEAR_MAPS_H
#define ATTN_LINEAR_MAPS_H

#include <stdint.h>

/* Of SIGNED features sums can cancel, so that what their terms come to without signs is summed up, too. */
enum { LINEAR_POSITIVE, LINEAR_SIGNED };

/* clang-format off */
#define LINEAR_MAPS(X)                                                                             \
    X(ELU1, "elu1", "elu(x)+1", LINEAR_POSITIVE, /* one of the two is 1 or 0 */                    \
      vf_add(vf_max(vf_zero(), x), vf_exp(vf_min(vf_zero(), x))), vf_min(vf_set1(1.0f), y))        \
    X(LIN, "lin", "x (signed weights)", LINEAR_SIGNED, x, vf_set1(1.0f))                           \
    X(RELU, "relu", "max(x, 0)", LINEAR_POSITIVE, vf_max(vf_zero(), x),                            \
      vf_select_positive(x, vf_set1(1.0f), vf_zero()))                                             \
    X(RELU2, "relu2", "max(x, 0)^2", LINEAR_POSITIVE,                                              \
      vf_mul(vf_max(vf_zero(), x), vf_max(vf_zero(), x)), vf_max(vf_zero(), vf_add(x, x)))         \
    X(EXP, "exp", "e^x", LINEAR_POSITIVE, /* vf_exp() ends at 88.37, close to where e^x leaves float */ \
      vf_select_positive(vf_sub(x, vf_set1(88.37f)), vf_set1(INFINITY), vf_exp(x)), y)

/* Maps of another length: X(NAME, name, help, which signs, how many features `dim` columns have, where `asked` is
 * the parameter `features`). What they compute stands in features.c. */
#define LINEAR_WIDE_MAPS(X)                                                                        \
    X(FAVOR, "favor", "random features with exp(x.y) on average (Performer)", LINEAR_POSITIVE, asked) \
    X(TAYLOR2, "taylor2", "1+x.y+(x.y)^2/2 (Based)", LINEAR_SIGNED, 1 + dim + dim * (dim + 1) / 2)
/* clang-format on */

#define LINEAR_MAP_NUMBER_(NAME, name, help, ...) LINEAR_##NAME,
typedef enum linear_map {
    LINEAR_MAPS(LINEAR_MAP_NUMBER_) LINEAR_WIDE_MAPS(LINEAR_MAP_NUMBER_) LINEAR_MAP_COUNT
} linear_map_t;
#undef LINEAR_MAP_NUMBER_

/* Length of phi(x); as double, which no dim overflows. */
static inline double linear_map_features(linear_map_t map, double dim, double asked) {
#define LINEAR_MAP_FEATURES_(NAME, name, help, signs, count)                                       \
    if (map == LINEAR_##NAME) return count;
    LINEAR_WIDE_MAPS(LINEAR_MAP_FEATURES_)
#undef LINEAR_MAP_FEATURES_
    (void)asked;
    return dim;
}

static inline int linear_map_is_wide(linear_map_t map) {
#define LINEAR_MAP_IS_(NAME, name, help, ...) || map == LINEAR_##NAME
    return 0 LINEAR_WIDE_MAPS(LINEAR_MAP_IS_);
#undef LINEAR_MAP_IS_
}

static inline int linear_map_is_signed(linear_map_t map) {
#define LINEAR_MAP_IS_(NAME, name, help, signs, ...) | (map == LINEAR_##NAME && signs)
    return 0 LINEAR_MAPS(LINEAR_MAP_IS_) LINEAR_WIDE_MAPS(LINEAR_MAP_IS_);
#undef LINEAR_MAP_IS_
}

#endif
