/*
 * nn/kernels/norm.h: layer normalisation (arXiv:1607.06450), forward and backward.
 */
#ifndef ATTN_NN_KERNELS_NORM_H
#define ATTN_NN_KERNELS_NORM_H

#include "labs/nn/kernels.h"
#include "simd/simd.h"

static const float NORM_EPSILON = 1e-5f; /* PyTorch's */

static float sum_row(int64_t width, const float *x) {
    vf sum = vf_zero();
    for (int64_t c = 0; c < width; c += VF_LANES)
        sum = vf_add(sum, vf_load_first(x + c, width - c));
    return vf_reduce_add(sum);
}

/* The sum of (x - mean)^2: the lanes behind the row's end are kept out. */
static float sum_squares(int64_t width, const float *x, float mean) {
    vf sum = vf_zero();
    for (int64_t c = 0; c < width; c += VF_LANES) {
        const vf off = vf_sub(vf_load_first(x + c, width - c), vf_set1(mean));
        const vf kept = vf_keep(off, 0, width - c, vf_zero());
        sum = vf_mul_add(kept, kept, sum);
    }
    return vf_reduce_add(sum);
}

static void norm(const nn_norm_t *n, const float *x, float *out, float *stats) {
    const int64_t width = n->width;
    for (int64_t r = 0; r < n->rows; r++, x += width, out += width) {
        const float mean = sum_row(width, x) / (float)width;
        const float variance = sum_squares(width, x, mean) / (float)width;
        const float inverse = 1.0f / sqrtf(variance + NORM_EPSILON);
        stats[2 * r] = mean, stats[2 * r + 1] = inverse;
        for (int64_t c = 0; c < width; c += VF_LANES) {
            const vf off = vf_sub(vf_load_first(x + c, width - c), vf_set1(mean));
            const vf unit = vf_mul(off, vf_set1(inverse));
            const vf gain = vf_load_first(n->gain + c, width - c);
            const vf bias = vf_load_first(n->bias + c, width - c);
            vf_store_first(out + c, vf_mul_add(unit, gain, bias), width - c);
        }
    }
}

/* With u = (x - mean) / deviation and g = dout * gain: dx = (g - mean(g) - u mean(g u)) / deviation. */
static void norm_backward(const nn_norm_t *n, const float *x, const float *stats, const float *dout,
                          float *dx, float *dgain, float *dbias) {
    const int64_t width = n->width;
    for (int64_t r = 0; r < n->rows; r++, x += width, dout += width, dx += width) {
        const vf mean = vf_set1(stats[2 * r]), inverse = vf_set1(stats[2 * r + 1]);
        vf sum = vf_zero(), along = vf_zero();
        for (int64_t c = 0; c < width; c += VF_LANES) {
            const int64_t left = width - c;
            const vf d = vf_load_first(dout + c, left);
            const vf unit = vf_mul(vf_sub(vf_load_first(x + c, left), mean), inverse);
            const vf g = vf_mul(d, vf_load_first(n->gain + c, left));
            sum = vf_add(sum, g);
            along = vf_mul_add(g, unit, along);
            vf_store_first(dgain + c, vf_mul_add(d, unit, vf_load_first(dgain + c, left)), left);
            vf_store_first(dbias + c, vf_add(d, vf_load_first(dbias + c, left)), left);
        }
        const vf g_mean = vf_set1(vf_reduce_add(sum) / (float)width);
        const vf gu_mean = vf_set1(-vf_reduce_add(along) / (float)width);
        for (int64_t c = 0; c < width; c += VF_LANES) {
            const int64_t left = width - c;
            const vf unit = vf_mul(vf_sub(vf_load_first(x + c, left), mean), inverse);
            const vf g = vf_mul(vf_load_first(dout + c, left), vf_load_first(n->gain + c, left));
            const vf centred = vf_mul_add(gu_mean, unit, vf_sub(g, g_mean));
            vf_store_first(dx + c, vf_mul_add(centred, inverse, vf_load_first(dx + c, left)), left);
        }
    }
}

#endif
