/* Written once, compiled for every tier. */
#include "dot.h"

#include "simd/math.h"
#include "simd/simd.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

static float dot(const float *a, const float *b, int64_t count) {
    vf sum = vf_zero();
    int64_t i = 0;
    for (; i + VF_LANES <= count; i += VF_LANES)
        sum = vf_mul_add(vf_load(a + i), vf_load(b + i), sum);
    sum = vf_mul_add(vf_load_first(a + i, count - i), vf_load_first(b + i, count - i), sum);
    return vf_reduce_add(sum);
}

static void exponentials(float *to, const float *from, int64_t count) {
    for (int64_t i = 0; i < count; i += VF_LANES) {
        const int64_t lanes = count - i < VF_LANES ? count - i : VF_LANES;
        vf_store_first(to + i, vf_exp(vf_load_first(from + i, lanes)), lanes);
    }
}

const dot_kernels_t ATTN_KERNEL(dot_kernels) = {TEXT(ATTN_TIER), dot, exponentials};
