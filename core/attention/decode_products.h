/*
 * attention/decode_products.h: products for a few queries whose keys are read once: no packing, rows of keys and
 * values straight from memory, of any type, against all query rows, so that the memory's bandwidth
 * is the limit.
 *
 * Every body is written once, with the element type and the number of rows as constants.
 */
#ifndef ATTN_ATTENTION_DECODE_PRODUCTS_H
#define ATTN_ATTENTION_DECODE_PRODUCTS_H

#include "attention/decode_i8.h"

/* ---- logits ------------------------------------------------------------------------------------- */

/* `rows` (a constant) query rows against DECODE_KEYS keys, each element loaded once for all. */
ATTN_INLINE void decode_dot_rows_(int rows, attn_dtype_t dtype, int64_t dim, const float *query,
                                  int64_t width, const char *const *key, float *scores,
                                  int64_t scores_stride) {
    vf sums[4][DECODE_KEYS];
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int j = 0; j < DECODE_KEYS; j++) sums[r][j] = vf_zero();
    }
    const int at_once = rows == 1 ? DECODE_VECTORS_DOT : 1;
    int64_t k = 0;
    for (; k + at_once * VF_LANES <= dim; k += at_once * VF_LANES) {
        const char *at[DECODE_KEYS];
        ATTN_UNROLL
        for (int j = 0; j < DECODE_KEYS; j++) at[j] = key[j] + k * attn_dtype_size(dtype);
        ATTN_UNROLL
        for (int u = 0; u < at_once; u++) {
            vf column[DECODE_KEYS];
            ATTN_UNROLL
            for (int j = 0; j < DECODE_KEYS; j++) {
                column[j] = decode_load_(dtype, at[j], u * VF_LANES);
                if (rows > 1) ATTN_LOADED(column[j]);
            }
            ATTN_UNROLL
            for (int r = 0; r < rows; r++) {
                const vf row = vf_load(query + r * width + k + u * VF_LANES);
                ATTN_UNROLL
                for (int j = 0; j < DECODE_KEYS; j++)
                    sums[r][j] = vf_mul_add(row, column[j], sums[r][j]);
            }
        }
    }
    for (; k < dim; k += VF_LANES) {
        ATTN_UNROLL
        for (int j = 0; j < DECODE_KEYS; j++) {
            const vf column = decode_load_first_(dtype, key[j], k, dim - k);
            ATTN_UNROLL
            for (int r = 0; r < rows; r++)
                sums[r][j] = vf_mul_add(vf_load(query + r * width + k), column, sums[r][j]);
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) vf_reduce_add4(scores + r * scores_stride, sums[r]);
}

/* `rows` of the rows from `r` on, as they are or in words. */
ATTN_INLINE void decode_dot_(int rows, attn_dtype_t dtype, int words, const decode_dots_t *dots,
                             int64_t r, const char *const *key, float *scores) {
    if (!words) {
        decode_dot_rows_(rows, dtype, dots->dim, dots->query + r * dots->width, dots->width, key,
                         scores, dots->scores_stride);
        return;
    }
    vf sums[4][DECODE_KEYS];
    decode_dot_bytes_(rows, dots->dim, dots->words + r * dots->words_width, dots->words_width, key,
                      sums);
    ATTN_UNROLL
    for (int i = 0; i < rows; i++) vf_reduce_add4(scores + i * dots->scores_stride, sums[i]);
}

/* What a group of several rows asks for before it is multiplied with keys: what comes later for `asked` of these, which
 * lie side by side: memory is read faster in its order. */
ATTN_INLINE void decode_ask_(const decode_dots_t *dots, int64_t group, int64_t asked, int64_t j,
                             const char *const *key, uintptr_t ahead) {
    const int64_t last = VF_FETCHES && dots->asks ? attn_min(DECODE_KEYS, (group + 1) * asked) : 0;
    for (int64_t i = group * asked; i < last; i++) {
        if (dots->lines) {
            decode_fetch_next_(dots->lines);
            continue;
        }
        decode_fetch_on_(key[i], ahead, dots->keys.size);
        decode_fetch_(&dots->ahead, j + i);
    }
}

ATTN_INLINE void decode_dots_of_(attn_dtype_t dtype, int words, const decode_dots_t *dots) {
    const int64_t stride = dots->scores_stride;
    const int64_t turns = (dots->count + DECODE_KEYS - 1) / DECODE_KEYS;
    const int64_t groups =
        dots->rows / DECODE_GROUP + dots->rows % DECODE_GROUP / 2 + dots->rows % 2;
    const int64_t asked = (DECODE_KEYS + groups - 1) / groups; /* by each, if all is not yet */
    const int alone = dots->rows == 1;
    const int64_t step = alone ? 1 : DECODE_KEYS, apart = alone ? turns : 1;
    const int64_t on = decode_rows_on_(&dots->keys, DECODE_AHEAD);
    const int64_t part = alone ? turns : INT64_MAX;
    for (int64_t j = 0; j < turns * step; j += step) {
        const uintptr_t ahead = decode_ahead_(&dots->keys, &dots->ahead, on, part, j);
        const char *key[DECODE_KEYS];
        ATTN_UNROLL
        for (int i = 0; i < DECODE_KEYS; i++) { /* the last key stands in for those that are not */
            const int64_t at = attn_min(j + i * apart, dots->count - 1);
            key[i] = dots->keys.data + at * dots->keys.stride;
            if (alone) decode_fetch_on_(key[i], ahead, dots->keys.size);
        }
        float *scores = dots->scores + j;
        int64_t r = 0, group = 0;
        for (; DECODE_GROUP == 4 && r + 4 <= dots->rows; r += 4) {
            decode_ask_(dots, group++, asked, j, key, ahead);
            decode_dot_(4, dtype, words, dots, r, key, scores + r * stride);
        }
        for (; r + 2 <= dots->rows; r += 2) {
            decode_ask_(dots, group++, asked, j, key, ahead);
            decode_dot_(2, dtype, words, dots, r, key, scores + r * stride);
        }
        if (r == dots->rows) continue;
        float last[DECODE_KEYS];
        if (!alone) decode_ask_(dots, group, asked, j, key, ahead);
        decode_dot_(1, dtype, words, dots, r, key, last);
        ATTN_UNROLL
        for (int i = 0; i < DECODE_KEYS; i++) scores[r * stride + i * apart] = last[i];
    }
}

ATTN_INLINE void decode_dots_in_words_(const decode_dots_t *dots) {
    decode_dots_of_(ATTN_I8, 1, dots);
    for (int64_t r = 0; r < dots->rows; r++) {
        float *row = dots->scores + r * dots->scores_stride;
        const vf scale = vf_set1(dots->word_scales[r]);
        for (int64_t j = 0; j < dots->count; j += VF_LANES)
            vf_store(row + j, vf_mul(scale, vf_load(row + j)));
    }
}

/** scores[r*scores_stride + j] = query row r . key j. */
ATTN_STEP void decode_dots(const decode_dots_t *dots) {
    switch (dots->keys.dtype) {
    case ATTN_F16:
        decode_dots_of_(ATTN_F16, 0, dots);
        return;
    case ATTN_BF16:
        decode_dots_of_(ATTN_BF16, 0, dots);
        return;
    case ATTN_I8:
        if (dots->words)
            decode_dots_in_words_(dots);
        else
            decode_dots_of_(ATTN_I8, 0, dots);
        return;
    default:
        decode_dots_of_(ATTN_F32, 0, dots);
    }
}

/* ---- output ------------------------------------------------------------------------------------- */

/*
 * `vectors` vectors of columns from `c` on of `rows` rows, both constants. What DECODE_SUMMED values come to is summed
 * apart and then added: rounding grows with the number of those sums, not of keys.
 */
ATTN_INLINE void decode_columns_(int rows, int vectors, attn_dtype_t dtype, int64_t tail,
                                 const decode_sums_t *work, int64_t c) {
    const decode_sums_t s = *work;
    const int64_t count = s.last - s.first, most = rows == 1 ? DECODE_SUMMED : count;
    const int64_t part = count / DECODE_KEYS, on = decode_rows_on_(&s.values, DECODE_AHEAD);
    const int64_t size = attn_dtype_size(dtype);
    for (int64_t from = 0; from < count; from += most) {
        vf sums[4][8];
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++) sums[r][v] = vf_zero();
        }
        for (int64_t turn = from; turn < attn_min(count, from + most); turn++) {
            const int64_t j = s.first + decode_turn_(rows, turn, count);
            const char *value = s.values.data + j * s.values.stride + c * size;
            vf column[8];
            if (rows == 1)
                decode_fetch_on_(value,
                                 decode_ahead_(&s.values, &s.ahead, on, part, turn / DECODE_KEYS),
                                 vectors * VF_LANES * size);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++) {
                column[v] = decode_load_first_(dtype, value, v * VF_LANES, tail);
                if (rows > 1) ATTN_LOADED(column[v]);
            }
            ATTN_UNROLL
            for (int r = 0; r < rows; r++) {
                const vf weight = vf_set1(s.weights[r * s.weights_stride + j]);
                ATTN_UNROLL
                for (int v = 0; v < vectors; v++)
                    sums[r][v] = vf_mul_add(weight, column[v], sums[r][v]);
            }
        }
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vf rescale = vf_set1(from ? 1.0f : s.rescale[r]);
            float *out = s.out + r * s.out_stride + c;
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++)
                vf_store(out + v * VF_LANES,
                         vf_mul_add(rescale, vf_load(out + v * VF_LANES), sums[r][v]));
        }
    }
}

/* One row with more columns than there are registers for, any row alone in a module: all columns
 * of `keys` (a constant) values, which stand `apart`, added to its part. */
ATTN_INLINE void decode_wide_row_(int keys, attn_dtype_t dtype, const decode_sums_t *s, int64_t j,
                                  int64_t apart, uintptr_t ahead) {
    const char *value[DECODE_KEYS];
    vf weight[DECODE_KEYS];
    ATTN_UNROLL
    for (int i = 0; i < keys; i++) {
        value[i] = s->values.data + (j + i * apart) * s->values.stride;
        weight[i] = vf_set1(s->weights[j + i * apart]);
        decode_fetch_on_(value[i], ahead, s->values.size);
    }
    int64_t c = 0;
    for (; c + 2 * VF_LANES <= s->columns; c += 2 * VF_LANES) {
        float *part = s->part + c;
        vf even = vf_load(part), odd = vf_load(part + VF_LANES);
        ATTN_UNROLL
        for (int i = 0; i < keys; i++) {
            const char *at = value[i] + c * attn_dtype_size(dtype);
            even = vf_mul_add(weight[i], decode_load_(dtype, at, 0), even);
            odd = vf_mul_add(weight[i], decode_load_(dtype, at, VF_LANES), odd);
        }
        vf_store(part, even);
        vf_store(part + VF_LANES, odd);
    }
    for (; c < s->columns; c += VF_LANES) {
        vf sum = vf_load(s->part + c);
        ATTN_UNROLL
        for (int i = 0; i < keys; i++) {
            const vf column = decode_load_first_(dtype, value[i], c, s->columns - c);
            sum = vf_mul_add(weight[i], column, sum);
        }
        vf_store(s->part + c, sum);
    }
}

/* What DECODE_SUMMED values come to, as in decode_columns_(). */
ATTN_INLINE void decode_add_part_(const decode_sums_t *s, float rescale) {
    for (int64_t c = 0; c < s->columns; c += VF_LANES) {
        const vf out = vf_load(s->out + c);
        vf_store(s->out + c, vf_mul_add(vf_set1(rescale), out, vf_load(s->part + c)));
        vf_store(s->part + c, vf_zero());
    }
}

ATTN_INLINE void decode_wide_(attn_dtype_t dtype, const decode_sums_t *s) {
    const int64_t part = (s->last - s->first) / DECODE_KEYS;
    const int64_t on = decode_rows_on_(&s->values, DECODE_AHEAD);
    float rescale = s->rescale[0];
    int64_t j = 0;
    do {
        const int64_t end = attn_min(part, j + DECODE_SUMMED / DECODE_KEYS);
        for (; j < end; j++)
            decode_wide_row_(DECODE_KEYS, dtype, s, s->first + j, part,
                             decode_ahead_(&s->values, &s->ahead, on, part, j));
        for (int64_t last = s->first + DECODE_KEYS * part; j == part && last < s->last; last++)
            decode_wide_row_(1, dtype, s, last, 1, 0);
        decode_add_part_(s, rescale);
        rescale = 1.0f;
    } while (j < part);
}

/* All columns of `rows` rows, `most` vectors at a time where there are so many. */
ATTN_INLINE void decode_sums_rows_(int rows, int most, attn_dtype_t dtype,
                                   const decode_sums_t *work) {
    int64_t c = 0;
    for (; c + most * VF_LANES <= work->columns; c += most * VF_LANES)
        decode_columns_(rows, most, dtype, VF_LANES, work, c);
    for (; most > 4 && c + 4 * VF_LANES <= work->columns; c += 4 * VF_LANES)
        decode_columns_(rows, 4, dtype, VF_LANES, work, c);
    for (; c < work->columns; c += VF_LANES)
        decode_columns_(rows, 1, dtype, work->columns - c, work, c);
}

ATTN_INLINE void decode_sums_of_(attn_dtype_t dtype, const decode_sums_t *work) {
    if (dtype == ATTN_I8 && work->words && DECODE_GROUP == 4 && work->rows == 4)
        decode_sums_in_words_(4, 2, work);
    else if (dtype == ATTN_I8 && work->words && work->rows == 2)
        decode_sums_in_words_(2, 2, work);
    else if (dtype == ATTN_I8 && work->words)
        decode_row_in_words_(work);
    else if (DECODE_GROUP == 4 && work->rows == 4)
        decode_sums_rows_(4, DECODE_VECTORS_4, dtype, work);
    else if (work->rows == 2)
        decode_sums_rows_(2, DECODE_VECTORS_2, dtype, work);
    else if (work->columns > DECODE_IN_REGISTERS)
        decode_wide_(dtype, work);
    else
        decode_sums_rows_(1, DECODE_VECTORS_1, dtype, work);
}

/** Whether the values first <= j < last are all finite. */
ATTN_RARE_STEP int decode_all_finite(const decode_rows_t *values, int64_t first, int64_t last,
                                     int64_t columns) {
    const attn_dtype_t dtype = values->dtype;
    if (dtype == ATTN_I8) return 1;
    vf poison = vf_zero(); /* 0 * x is 0 for finite x, NaN otherwise */
    for (int64_t j = first; j < last; j++)
        for (int64_t c = 0; c < columns; c += VF_LANES) {
            const char *value = values->data + j * values->stride;
            const vf x = decode_load_first_(dtype, value, c, columns - c);
            poison = vf_mul_add(vf_zero(), x, poison);
        }
    return vf_reduce_add(poison) == 0.0f;
}

/** decode_sums() for one row, leaving out values whose weight is zero: 0 * NaN would be NaN. */
ATTN_RARE_STEP void decode_sums_seen(const decode_sums_t *work) {
    const attn_dtype_t dtype = work->values.dtype;
    for (int64_t c = 0; c < work->columns; c += VF_LANES) {
        vf sum = vf_mul(vf_set1(work->rescale[0]), vf_load(work->out + c));
        for (int64_t j = work->first; j < work->last; j++) {
            const char *value = work->values.data + j * work->values.stride;
            if (work->weights[j] == 0.0f) continue;
            sum = vf_mul_add(vf_set1(work->weights[j]),
                             decode_load_first_(dtype, value, c, work->columns - c), sum);
        }
        vf_store(work->out + c, sum);
    }
}

/** out[r][c] = rescale[r]*out[r][c] + sum_j weights[r][j] * values[j][c]; rows: 1, 2 or
 *  DECODE_GROUP. */
ATTN_STEP void decode_sums(const decode_sums_t *work) {
    switch (work->values.dtype) {
    case ATTN_F16:
        decode_sums_of_(ATTN_F16, work);
        return;
    case ATTN_BF16:
        decode_sums_of_(ATTN_BF16, work);
        return;
    case ATTN_I8:
        decode_sums_of_(ATTN_I8, work);
        return;
    default:
        decode_sums_of_(ATTN_F32, work);
    }
}

#endif
