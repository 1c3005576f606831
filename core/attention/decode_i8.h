/*
 * attention/decode_i8.h: the products of decode_products.h where keys and values in i8 are multiplied as the integers that
 * they are. What they are multiplied with, queries and weights, becomes integers of 16 bits times a scale for each
 * row: two terms a lane, where floats have one and a conversion.
 *
 * Whole sums fit 32 bits (decode_level()). Rows whose elements do not come as whole vectors are left to floats, which
 * are the same numbers.
 */
#ifndef ATTN_ATTENTION_DECODE_I8_H
#define ATTN_ATTENTION_DECODE_I8_H

#include "attention/decode_rows.h"
#include "gemm/dots.h"

enum { DECODE_BYTES = 2 * VF_LANES /* read at a time */ };

/** The largest integers whose products with `terms` bytes sum up to less than 2^31. */
ATTN_INLINE float decode_level(int64_t terms) {
    return (float)attn_min(32767, INT32_MAX / 128 / terms);
}

/**
 * x, whole vectors, to integers of at most `level` in size times the scale that is returned, rounded to nearest:
 * words[i] is the integer, x[i] the product. A scale is NaN where x has NaN or an infinity, else 0 where all is so
 * small that its inverse is infinite.
 */
ATTN_INLINE float decode_to_words(float *x, int64_t count, float level, uint16_t *words) {
    vf largest = vf_zero(), poison = vf_zero(); /* 0 * x is 0 for finite x, NaN otherwise */
    for (int64_t i = 0; i < count; i += VF_LANES) {
        const vf number = vf_load(x + i);
        largest = vf_max(vf_max(vf_sub(vf_zero(), number), number), largest);
        poison = vf_mul_add(vf_zero(), number, poison);
    }
    const float size = vf_reduce_max(largest), inverse = level / size;
    const int tiny = !(inverse <= FLT_MAX);
    const float scale = (tiny ? 0.0f : size / level) + vf_reduce_add(poison);
    const vf by = vf_set1(tiny ? 0.0f : inverse), round = vf_set1(DOTS_ROUND),
             back = vf_set1(scale);
    for (int64_t i = 0; i < count; i += VF_LANES) {
        const vf rounded = vf_add(vf_mul(vf_load(x + i), by), round);
        vf_store_low16(words + i, rounded);
        vf_store(x + i, vf_mul(back, vf_sub(rounded, round)));
    }
    return scale;
}

/* `rows` (a constant) rows of words against 4 keys: sums[r][j] over lanes. */
ATTN_INLINE void decode_dot_bytes_(int rows, int64_t dim, const uint16_t *words, int64_t width,
                                   const char *const *key, vf sums[4][4]) {
    vi dots[4][4];
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int j = 0; j < 4; j++) dots[r][j] = vi_zero();
    }
    ATTN_UNROLL_4
    for (int64_t k = 0; k < dim; k += DECODE_BYTES) {
        vi column[4];
        ATTN_UNROLL
        for (int j = 0; j < 4; j++) column[j] = vi_load_i8((const int8_t *)key[j] + k);
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vi row = vi_load((const int32_t *)(const void *)(words + r * width + k));
            ATTN_UNROLL
            for (int j = 0; j < 4; j++) dots[r][j] = vi_dot16(dots[r][j], row, column[j]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int j = 0; j < 4; j++) sums[r][j] = vi_to_vf(dots[r][j]);
    }
}

/* Two values beside each other: `vectors` times DECODE_BYTES columns (a constant) as 2 * vectors vectors, `pairs`. */
ATTN_INLINE void decode_pair_(int vectors, const char *value, const char *next, vi *pairs) {
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++)
        vi_pair(vi_load_i8((const int8_t *)value + v * DECODE_BYTES),
                vi_load_i8((const int8_t *)next + v * DECODE_BYTES), pairs + 2 * v);
}

/* out[c] = rescale * out[c] + scale * sums[c], of DECODE_BYTES columns. */
ATTN_INLINE void decode_add_pair_(const vi sums[2], float scale, float rescale, float *out) {
    vf ordered[2] = {vi_to_vf(sums[0]), vi_to_vf(sums[1])};
    vf_unpair(ordered);
    ATTN_UNROLL
    for (int i = 0; i < 2; i++) {
        const vf old = vf_mul(vf_set1(rescale), vf_load(out + i * VF_LANES));
        vf_store(out + i * VF_LANES, vf_mul_add(vf_set1(scale), ordered[i], old));
    }
}

/* `vectors` times DECODE_BYTES columns from `c` on of `rows` rows, both constants; values go two at a time. */
ATTN_INLINE void decode_byte_columns_(int rows, int vectors, const decode_sums_t *work, int64_t c) {
    const decode_sums_t s = *work;
    vi sums[4][8];
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < 2 * vectors; v++) sums[r][v] = vi_zero();
    }
    const int64_t count = (s.last - s.first + 1) / 2, part = count / DECODE_KEYS;
    const int64_t on = decode_rows_on_(&s.values, DECODE_AHEAD);
    for (int64_t turn = 0; turn < count; turn++) {
        const int64_t j = s.first + 2 * decode_turn_(rows, turn, count);
        const char *value = s.values.data + j * s.values.stride + c;
        const char *next = value + (j + 1 < s.last ? s.values.stride : 0); /* whose weight is 0 */
        vi pairs[8];
        if (rows == 1) {
            const uintptr_t ahead =
                decode_ahead_(&s.values, &s.ahead, on, 2 * part, 2 * (turn / DECODE_KEYS));
            decode_fetch_on_(value, ahead, vectors * DECODE_BYTES);
            decode_fetch_on_(next, ahead, vectors * DECODE_BYTES);
        }
        decode_pair_(vectors, value, next, pairs);
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vi weights = dots_broadcast(s.words + r * s.words_stride + j);
            ATTN_UNROLL
            for (int v = 0; v < 2 * vectors; v++)
                sums[r][v] = vi_dot16(sums[r][v], weights, pairs[v]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            decode_add_pair_(sums[r] + 2 * v, s.word_scales[r], s.rescale[r],
                             s.out + r * s.out_stride + c + v * DECODE_BYTES);
    }
}

/* One row with more columns than there are registers for: all columns of `pairs` (a constant) pairs of values, the
 * pairs `apart`. */
ATTN_INLINE void decode_wide_pairs_(int pairs, const decode_sums_t *s, int64_t j, int64_t apart,
                                    uintptr_t ahead) {
    const char *value[DECODE_KEYS], *next[DECODE_KEYS];
    vi weights[DECODE_KEYS];
    ATTN_UNROLL
    for (int i = 0; i < pairs; i++) {
        const int64_t at = j + i * apart;
        value[i] = s->values.data + at * s->values.stride;
        next[i] = value[i] + (at + 1 < s->last ? s->values.stride : 0); /* whose weight is 0 */
        weights[i] = dots_broadcast(s->words + at);
        decode_fetch_on_(value[i], ahead, s->values.size);
        decode_fetch_on_(next[i], ahead, s->values.size);
    }
    for (int64_t c = 0; c < s->columns; c += DECODE_BYTES) {
        vi sums[2] = {vi_zero(), vi_zero()};
        ATTN_UNROLL
        for (int i = 0; i < pairs; i++) {
            vi both[2];
            decode_pair_(1, value[i] + c, next[i] + c, both);
            sums[0] = vi_dot16(sums[0], weights[i], both[0]);
            sums[1] = vi_dot16(sums[1], weights[i], both[1]);
        }
        decode_add_pair_(sums, s->word_scales[0], 1.0f, s->out + c);
    }
}

/* The output of one row, before values are added to it where it lies. */
ATTN_INLINE void decode_rescale_(const decode_sums_t *sums) {
    const float by = sums->rescale[0];
    for (int64_t c = 0; by != 1.0f && c < sums->columns; c += VF_LANES)
        vf_store(sums->out + c, vf_mul(vf_set1(by), vf_load(sums->out + c)));
}

ATTN_INLINE void decode_wide_in_words_(const decode_sums_t *s) {
    decode_rescale_(s);
    const int64_t part = (s->last - s->first) / (2 * DECODE_KEYS);
    const int64_t on = decode_rows_on_(&s->values, DECODE_AHEAD);
    for (int64_t j = 0; j < 2 * part; j += 2)
        decode_wide_pairs_(DECODE_KEYS, s, s->first + j, 2 * part,
                           decode_ahead_(&s->values, &s->ahead, on, 2 * part, j));
    for (int64_t j = s->first + 2 * DECODE_KEYS * part; j < s->last; j += 2)
        decode_wide_pairs_(1, s, j, 0, 0);
}

ATTN_INLINE void decode_sums_in_words_(int rows, int most, const decode_sums_t *work) {
    int64_t c = 0;
    for (; c + most * DECODE_BYTES <= work->columns; c += most * DECODE_BYTES)
        decode_byte_columns_(rows, most, work, c);
    for (; c < work->columns; c += DECODE_BYTES) decode_byte_columns_(rows, 1, work, c);
}

ATTN_INLINE void decode_row_in_words_(const decode_sums_t *work) {
    if (work->columns > DECODE_IN_REGISTERS)
        decode_wide_in_words_(work);
    else
        decode_sums_in_words_(1, DECODE_VECTORS_1 / 2, work);
}

#endif
