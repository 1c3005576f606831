/*
 * nn/kernels/gelu.h: GeLU in its tanh form (arXiv:1606.08415), forward and backward.
 */
#ifndef ATTN_NN_KERNELS_GELU_H
#define ATTN_NN_KERNELS_GELU_H

#include "simd/math.h"

#define GELU_ROOT 0.79788456080286535588f /* sqrt(2 / pi) */
#define GELU_CUBE 0.044715f

ATTN_INLINE vf gelu_tanh_(vf x, vf square) {
    const vf inner = vf_mul_add(vf_mul(vf_set1(GELU_CUBE), square), x, x);
    return vf_tanh(vf_mul(vf_set1(GELU_ROOT), inner));
}

static void gelu(int64_t count, const float *x, float *out) {
    for (int64_t i = 0; i < count; i += VF_LANES) {
        const vf v = vf_load_first(x + i, count - i);
        const vf half = vf_mul(vf_set1(0.5f), v);
        vf_store_first(out + i, vf_mul_add(half, gelu_tanh_(v, vf_mul(v, v)), half), count - i);
    }
}

/* (1 + t) / 2 + x (1 - t^2) / 2 * root * (1 + 3 cube x^2), t the tanh */
static void gelu_backward(int64_t count, const float *x, float *d) {
    const vf one = vf_set1(1.0f), half = vf_set1(0.5f);
    for (int64_t i = 0; i < count; i += VF_LANES) {
        const vf v = vf_load_first(x + i, count - i), square = vf_mul(v, v);
        const vf t = gelu_tanh_(v, square);
        const vf inner = vf_mul_add(vf_set1(3.0f * GELU_CUBE), square, one);
        const vf steep = vf_mul(vf_sub(one, vf_mul(t, t)), vf_set1(0.5f * GELU_ROOT));
        const vf slope = vf_mul_add(vf_mul(v, steep), inner, vf_mul_add(half, t, half));
        vf_store_first(d + i, vf_mul(slope, vf_load_first(d + i, count - i)), count - i);
    }
}

#endif
