/* Written once and compiled for every tier: `vf` is a vector of VF_LANES floats, one in the tier without vectors. */
#include "row.h"

#include "simd/math.h"
#include "simd/simd.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

static float weigh(float *to, int64_t count, int64_t position, float width, float largest) {
    const vf zero = vf_zero(), scale = vf_set1(-1.0f / width), most = vf_set1(largest);
    vf sum = zero;
    for (int64_t j = 0; j < count; j += VF_LANES) {
        const int64_t lanes = count - j < VF_LANES ? count - j : VF_LANES;
        float distances[VF_LANES];
        for (int64_t l = 0; l < VF_LANES; l++) distances[l] = (float)(position - j - l);
        const vf signed_distance = vf_load(distances);
        const vf distance = vf_max(signed_distance, vf_sub(zero, signed_distance));
        const vf weight = vf_exp(vf_sub(vf_mul(distance, scale), most));
        vf_store_first(to + j, weight, lanes); /* lanes behind the last are no keys */
        sum = vf_add(sum, vf_keep(weight, 0, lanes, zero));
    }
    return vf_reduce_add(sum);
}

static void add(float *to, const float *from, float weight, int64_t count) {
    const vf factor = vf_set1(weight);
    int64_t c = 0;
    for (; c + VF_LANES <= count; c += VF_LANES)
        vf_store(to + c, vf_mul_add(factor, vf_load(from + c), vf_load(to + c)));
    const int64_t rest = count - c;
    vf_store_first(to + c,
                   vf_mul_add(factor, vf_load_first(from + c, rest), vf_load_first(to + c, rest)),
                   rest);
}

const row_kernels_t ATTN_KERNEL(row_kernels) = {TEXT(ATTN_TIER), weigh, add};
