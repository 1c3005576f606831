/*
 * nn/kernels/adamw.h: the optimiser's step: AdamW (arXiv:1711.05101, Algorithm 2).
 */
#ifndef ATTN_NN_KERNELS_ADAMW_H
#define ATTN_NN_KERNELS_ADAMW_H

#include "labs/nn/kernels.h"
#include "simd/simd.h"

static void adamw(const nn_adamw_t *a, int64_t count, const float *gradient, float *weights,
                  float *first, float *second) {
    const vf one = vf_set1(1.0f), beta1 = vf_set1(a->beta1), beta2 = vf_set1(a->beta2);
    for (int64_t i = 0; i < count; i += VF_LANES) {
        const int64_t left = count - i;
        const vf g = vf_load_first(gradient + i, left), w = vf_load_first(weights + i, left);
        const vf m =
            vf_mul_add(beta1, vf_load_first(first + i, left), vf_mul(vf_sub(one, beta1), g));
        const vf v = vf_mul_add(beta2, vf_load_first(second + i, left),
                                vf_mul(vf_sub(one, beta2), vf_mul(g, g)));
        const vf size = vf_sqrt(vf_div(v, vf_set1(a->correction2)));
        const vf step =
            vf_div(vf_div(m, vf_set1(a->correction1)), vf_add(size, vf_set1(a->epsilon)));
        const vf all = vf_mul_add(vf_set1(a->decay), w, step);
        vf_store_first(weights + i, vf_mul_add(vf_set1(-a->rate), all, w), left);
        vf_store_first(first + i, m, left);
        vf_store_first(second + i, v, left);
    }
}

#endif
