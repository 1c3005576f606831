/* Compiled once for each tier, like a plugin's kernels. */
#include "numbers.h"

#include "simd/convert.h"
#include "simd/math.h"

static void tanh_of(const float *x, float *y, int64_t count) {
    for (int64_t i = 0; i < count; i += VF_LANES) vf_store(y + i, vf_tanh(vf_load(x + i)));
}

static void row(float *to, const void *from, attn_dtype_t dtype, int64_t stride, int64_t count,
                float factor) {
    convert_row(to, from, dtype, stride, count, factor);
}

static void back(void *to, attn_dtype_t dtype, int64_t stride, const float *from, int64_t count) {
    convert_back(to, dtype, stride, from, count, 1.0f);
}

const numbers_kernels_t ATTN_KERNEL(attn_test_numbers) = {
    .lanes = VF_LANES,
    .tanh = tanh_of,
    .row = row,
    .back = back,
};
