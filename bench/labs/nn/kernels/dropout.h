/*
 * nn/kernels/dropout.h: dropout (Srivastava et al., 2014) by counter-based random numbers: the way back draws again
 * what the way forward drew, so no mask is kept.
 */
#ifndef ATTN_NN_KERNELS_DROPOUT_H
#define ATTN_NN_KERNELS_DROPOUT_H

#include "attn/random.h"
#include "labs/nn/kernels.h"
#include "simd/simd.h"

/* The 128 bits of a block are 8 numbers of 16; those below the rate's drop. */
static void dropout(const nn_dropout_t *d, uint64_t first, int64_t count, float *x) {
    const uint32_t below = (uint32_t)(d->rate * 65536.0f + 0.5f);
    const float scale = 65536.0f / (float)(65536 - below);
    if (below == 0) return;
    for (int64_t i = 0; i < count; i += NN_DROPOUT_EACH) {
        uint32_t bits[4];
        attn_random_bits(d->seed, d->stream, first + (uint64_t)(i / NN_DROPOUT_EACH), bits);
        for (int64_t e = 0; e < NN_DROPOUT_EACH && i + e < count; e++) {
            const uint32_t draw = bits[e / 2] >> (e % 2 * 16) & 0xffff;
            x[i + e] *= draw < below ? 0.0f : scale;
        }
    }
}

#endif
