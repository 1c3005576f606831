/*
 * attention/quantise.h: columns of floats to words of integers (gemm/dots.h).
 *
 * A column x of `terms` numbers becomes s times integers of size at most `level`: s = max|x| / level, and
 * x / max|x| * level rounded to nearest even, each operation rounded to f32. All tiers compute the same
 * integers.
 */
#ifndef ATTN_ATTENTION_QUANTISE_H
#define ATTN_ATTENTION_QUANTISE_H

#include "gemm/dots.h"

#include <string.h>

/** The largest integers whose products sum up to at most 2^31 - 1 over `terms` terms; at most `most`. */
ATTN_INLINE float quantise_level(int64_t most, int64_t terms) {
    return (float)attn_min(most, (int64_t)sqrt((double)INT32_MAX / (double)terms));
}

/* The largest of a vector of columns' sizes; NaN where a column has NaN or an infinity. */
ATTN_INLINE vf quantise_sizes_(const float *from, int64_t stride, int64_t terms) {
    vf largest = vf_zero(), poison = vf_zero(); /* 0 * x is 0 for finite x, NaN otherwise */
    for (int64_t k = 0; k < terms; k++) {
        const vf x = vf_load(from + k * stride);
        largest = vf_max(vf_max(vf_sub(vf_zero(), x), x), largest);
        poison = vf_add(poison, vf_mul(vf_zero(), x));
    }
    return vf_add(largest, poison);
}

typedef struct quantise_to {
    int32_t *words; /* [words][width] */
    float *scales;
    int32_t *starts; /* -128 times the sum of each column's integers; NULL: nobody asks */
    int64_t width;
    int32_t flip; /* what words are changed by: 0x80808080 adds 128 to bytes */
} quantise_to_t;

/* One vector of columns, the first of which is column `c`. */
ATTN_INLINE void quantise_vector_(int bytes, const float *from, int64_t stride, int64_t terms,
                                  float level, const quantise_to_t *to, int64_t c) {
    const int per_word = 4 / bytes;
    const uint32_t mask = bytes == 1 ? 0xff : 0xffff;
    const vf size = quantise_sizes_(from + c, stride, terms);
    const vf divisor = vf_select_positive(size, size, vf_set1(1.0f));
    int32_t sums[VF_LANES] = {0};
    vf_store(to->scales + c, vf_div(size, vf_set1(level)));
    for (int64_t k = 0; k < terms; k += per_word) {
        uint32_t words[VF_LANES] = {0};
        for (int i = 0; i < per_word && k + i < terms; i++) {
            float rounded[VF_LANES];
            uint32_t bits[VF_LANES];
            const vf x = vf_div(vf_load(from + (k + i) * stride + c), divisor);
            vf_store(rounded, vf_add(vf_mul(x, vf_set1(level)), vf_set1(DOTS_ROUND)));
            memcpy(bits, rounded, sizeof bits);
            for (int l = 0; l < VF_LANES; l++) words[l] |= (bits[l] & mask) << (8 * bytes * i);
            for (int l = 0; bytes == 1 && l < VF_LANES; l++) sums[l] += (int8_t)bits[l];
        }
        for (int l = 0; l < VF_LANES; l++)
            to->words[k / per_word * to->width + c + l] = (int32_t)words[l] ^ to->flip;
    }
    for (int l = 0; to->starts && l < VF_LANES; l++) to->starts[c + l] = -128 * sums[l];
}

/** The first `width` columns of from[terms][stride], whole vectors. */
ATTN_INLINE void quantise_columns(int bytes, const float *from, int64_t stride, int64_t terms,
                                  float level, const quantise_to_t *to, int64_t width) {
    for (int64_t c = 0; c < width; c += VF_LANES)
        quantise_vector_(bytes, from, stride, terms, level, to, c);
}

#endif
