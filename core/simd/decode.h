/*
 * simd/decode.h: products for a few queries whose keys are read once: no packing, rows of keys and
 * values straight from memory, of any type, against all query rows, so that the memory's bandwidth
 * is the limit.
 *
 * Every body is written once, with the element type and the number of rows as constants.
 */
#ifndef ATTN_SIMD_DECODE_H
#define ATTN_SIMD_DECODE_H

#include "simd/convert.h"
#include "simd/tile.h"

/*
 * Rows go 4, 2 and 1 at a time where there are 32 registers, else 2 and 1: DECODE_KEYS sums each for
 * dot products; for sums of values as many vectors of columns as fit.
 */
#if ATTN_SIMD_BITS == 512 || (ATTN_SIMD_BITS == 128 && defined(__aarch64__))
enum { DECODE_GROUP = 4, DECODE_VECTORS_2 = 8 };
#else
enum { DECODE_GROUP = 2, DECODE_VECTORS_2 = 4 };
#endif
enum { DECODE_KEYS = 4, DECODE_VECTORS_1 = 8, DECODE_VECTORS_4 = 4, DECODE_LINE = 64 };

/*
 * How far to fetch ahead, in bytes, where one row alone waits for memory: the processor's own
 * prefetching starts anew on every page. Measured from 2 to 16 kB at d = 128, f32 and f16: 8 kB are
 * within 4% of the best everywhere.
 */
enum { DECODE_AHEAD = 8192, DECODE_NARROW = VF_LANES < 16 /* several vectors a line */ };

/* Rows of keys or values one after another; elements of a row stand side by side. */
typedef struct decode_rows {
    const char *data;
    int64_t stride, size; /* bytes from row to row, and of a row */
    attn_dtype_t dtype;
} decode_rows_t;

/* The element type of rows. A build that is to be small reads f32 alone: callers widen the others. */
ATTN_INLINE attn_dtype_t decode_dtype(const decode_rows_t *rows) {
    return ATTN_COMPACT ? ATTN_F32 : rows->dtype;
}

/* Element `at` of a row and those behind it as f32. `dtype` is a constant. */
ATTN_INLINE vf decode_load_(attn_dtype_t dtype, const char *row, int64_t at) {
    if (dtype == ATTN_F16) return vf_load_f16((const uint16_t *)(const void *)row + at);
    if (dtype == ATTN_BF16) return vf_load_bf16((const uint16_t *)(const void *)row + at);
    if (dtype == ATTN_I8) return vf_load_i8((const int8_t *)row + at);
    return vf_load((const float *)(const void *)row + at);
}

/* Only the next `count` elements, which may be fewer than a vector has. */
ATTN_INLINE vf decode_load_first_(attn_dtype_t dtype, const char *row, int64_t at, int64_t count) {
    if (count >= VF_LANES) return decode_load_(dtype, row, at);
    if (dtype == ATTN_F32) return vf_load_first((const float *)(const void *)row + at, count);
    char lanes[VF_LANES * sizeof(float)] = {0};
    const int64_t size = convert_size(dtype);
    for (int64_t byte = 0; byte < count * size; byte++) lanes[byte] = row[at * size + byte];
    return decode_load_(dtype, lanes, 0);
}

/* Ask for what stands DECODE_AHEAD behind `bytes` bytes of a row from `first` on. */
ATTN_INLINE void decode_fetch_on_(const char *row, int64_t first, int64_t bytes) {
    const uintptr_t start = (uintptr_t)row + (uintptr_t)(first + DECODE_AHEAD);
    for (int64_t byte = 0; byte < bytes; byte += DECODE_LINE) vf_prefetch(start + (uintptr_t)byte);
}

/* Ask for the lines first <= byte < last of row number `row`, which need not exist. */
ATTN_INLINE void decode_fetch(const decode_rows_t *rows, int64_t row, int64_t first, int64_t last) {
    const uintptr_t start = (uintptr_t)rows->data + (uintptr_t)(row * rows->stride);
    for (int64_t at = first; at < last; at += DECODE_LINE) vf_prefetch(start + (uintptr_t)at);
}

/* ---- logits ------------------------------------------------------------------------------------- */

/* One query row against DECODE_KEYS keys, one after the other as they lie in memory: memory is read
 * faster so than when several rows take turns. */
ATTN_INLINE void decode_dot_row_(attn_dtype_t dtype, int64_t dim, const float *query,
                                 const char *const *key, float *scores) {
    vf sums[DECODE_KEYS];
    const int64_t size = convert_size(dtype);
    ATTN_UNROLL
    for (int j = 0; j < DECODE_KEYS; j++) {
        vf even = vf_zero(), odd = vf_zero();
        int64_t k = 0;
        if (DECODE_NARROW) decode_fetch_on_(key[j], 0, dim * size);
        for (; k + 2 * VF_LANES <= dim; k += 2 * VF_LANES) {
            if (!DECODE_NARROW) decode_fetch_on_(key[j], k * size, 2 * VF_LANES * size);
            even = vf_mul_add(vf_load(query + k), decode_load_(dtype, key[j], k), even);
            odd = vf_mul_add(vf_load(query + k + VF_LANES),
                             decode_load_(dtype, key[j], k + VF_LANES), odd);
        }
        for (; k < dim; k += VF_LANES)
            even =
                vf_mul_add(vf_load(query + k), decode_load_first_(dtype, key[j], k, dim - k), even);
        sums[j] = vf_add(even, odd);
    }
    vf_reduce_add4(scores, sums);
}

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
    int64_t k = 0;
    for (; k + VF_LANES <= dim; k += VF_LANES) {
        vf column[DECODE_KEYS];
        ATTN_UNROLL
        for (int j = 0; j < DECODE_KEYS; j++) column[j] = decode_load_(dtype, key[j], k);
        ATTN_UNROLL
        for (int r = 0; r < rows; r++) {
            const vf row = vf_load(query + r * width + k);
            ATTN_UNROLL
            for (int j = 0; j < DECODE_KEYS; j++)
                sums[r][j] = vf_mul_add(row, column[j], sums[r][j]);
        }
    }
    if (k < dim) {
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

/* What a product works on. `ahead`: rows that will be read next, fetched meanwhile row by row. */
typedef struct decode_dots {
    int64_t rows, dim, width; /* of `query`: dim rounded up to VF_LANES, zeros behind */
    const float *query;       /* [rows][width] */
    decode_rows_t keys, ahead;
    int64_t count;         /* keys */
    float *scores;         /* [rows][scores_stride] */
    int64_t scores_stride; /* at least count rounded up to DECODE_KEYS */
} decode_dots_t;

ATTN_INLINE void decode_dots_of_(attn_dtype_t dtype, const decode_dots_t *dots) {
    const int64_t dim = dots->dim, width = dots->width, stride = dots->scores_stride;
    for (int64_t j = 0; j < dots->count; j += DECODE_KEYS) {
        const char *key[DECODE_KEYS];
        for (int i = 0; i < DECODE_KEYS; i++) { /* the last key stands in for those that are not */
            key[i] = dots->keys.data + tile_min(j + i, dots->count - 1) * dots->keys.stride;
            decode_fetch(&dots->ahead, j + i, 0, dots->ahead.size);
        }
        const float *query = dots->query;
        float *scores = dots->scores + j;
        int64_t r = 0;
        for (; DECODE_GROUP == 4 && r + 4 <= dots->rows; r += 4)
            decode_dot_rows_(4, dtype, dim, query + r * width, width, key, scores + r * stride,
                             stride);
        for (; r + 2 <= dots->rows; r += 2)
            decode_dot_rows_(2, dtype, dim, query + r * width, width, key, scores + r * stride,
                             stride);
        if (r < dots->rows)
            decode_dot_row_(dtype, dim, query + r * width, key, scores + r * stride);
    }
}

/** scores[r*scores_stride + j] = query row r . key j. */
ATTN_STEP void decode_dots(const decode_dots_t *dots) {
    switch (decode_dtype(&dots->keys)) {
    case ATTN_F16:
        decode_dots_of_(ATTN_F16, dots);
        return;
    case ATTN_BF16:
        decode_dots_of_(ATTN_BF16, dots);
        return;
    case ATTN_I8:
        decode_dots_of_(ATTN_I8, dots);
        return;
    default:
        decode_dots_of_(ATTN_F32, dots);
    }
}

/* ---- output ------------------------------------------------------------------------------------- */

/* What is added to `rows` rows of output (at most DECODE_GROUP): the values first <= j < last. */
typedef struct decode_sums {
    int64_t rows, columns;
    float *out;           /* [rows][out_stride] */
    int64_t out_stride;   /* at least columns rounded up to VF_LANES */
    const float *keep;    /* [rows]: what `out` is multiplied by first */
    const float *weights; /* [rows][weights_stride] */
    int64_t weights_stride;
    decode_rows_t values, ahead;
    int64_t first, last;
    int64_t work, done; /* columns of all rows of output, and how many are finished */
} decode_sums_t;

/* Each pass over the values fetches as large a part of the rows ahead as it does of the work. */
ATTN_INLINE int64_t decode_fetched_(const decode_sums_t *sums) {
    return tile_round_up(sums->done * sums->ahead.size / sums->work, DECODE_LINE);
}

/* `vectors` vectors of columns from `c` on of `rows` rows, both constants. */
ATTN_INLINE void decode_columns_(int rows, int vectors, attn_dtype_t dtype, int64_t tail,
                                 decode_sums_t *work, int64_t c) {
    const decode_sums_t s = *work;
    vf sums[4][8];
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            sums[r][v] =
                vf_mul(vf_set1(s.keep[r]), vf_load(s.out + r * s.out_stride + c + v * VF_LANES));
    }
    work->done += rows * vectors * VF_LANES;
    const int64_t size = convert_size(dtype);
    const int64_t fetched = decode_fetched_(&s), fetch = decode_fetched_(work);
    for (int64_t j = s.first; j < s.last; j++) {
        const char *value = s.values.data + j * s.values.stride;
        vf column[8];
        if (rows == 1) decode_fetch_on_(value, c * size, vectors * VF_LANES * size);
        decode_fetch(&s.ahead, j, fetched, fetch);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            column[v] = decode_load_first_(dtype, value, c + v * VF_LANES, tail);
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
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            vf_store(s.out + r * s.out_stride + c + v * VF_LANES, sums[r][v]);
    }
}

/* One row with more columns than there are registers for: all columns of `keys` (a constant) values,
 * as they lie in memory. */
ATTN_INLINE void decode_wide_row_(int keys, attn_dtype_t dtype, const decode_sums_t *s, int64_t j) {
    const char *value = s->values.data + j * s->values.stride;
    vf weight[DECODE_KEYS];
    ATTN_UNROLL
    for (int i = 0; i < keys; i++) {
        weight[i] = vf_set1(s->weights[j + i]);
        decode_fetch_on_(value + i * s->values.stride, 0, s->values.size);
    }
    int64_t c = 0;
    for (; c + VF_LANES <= s->columns; c += VF_LANES) {
        vf sum = vf_load(s->out + c);
        ATTN_UNROLL
        for (int i = 0; i < keys; i++)
            sum = vf_mul_add(weight[i], decode_load_(dtype, value + i * s->values.stride, c), sum);
        vf_store(s->out + c, sum);
    }
    if (c == s->columns) return;
    vf sum = vf_load(s->out + c);
    ATTN_UNROLL
    for (int i = 0; i < keys; i++) {
        const char *row = value + i * s->values.stride;
        sum = vf_mul_add(weight[i], decode_load_first_(dtype, row, c, s->columns - c), sum);
    }
    vf_store(s->out + c, sum);
}

ATTN_INLINE void decode_wide_(attn_dtype_t dtype, const decode_sums_t *s) {
    for (int64_t c = 0; s->keep[0] != 1.0f && c < s->columns; c += VF_LANES)
        vf_store(s->out + c, vf_mul(vf_set1(s->keep[0]), vf_load(s->out + c)));
    int64_t j = s->first;
    for (; j + DECODE_KEYS <= s->last; j += DECODE_KEYS) decode_wide_row_(DECODE_KEYS, dtype, s, j);
    for (; j < s->last; j++) decode_wide_row_(1, dtype, s, j);
}

/* All columns of `rows` rows, `most` vectors at a time where there are so many. */
ATTN_INLINE void decode_sums_rows_(int rows, int most, attn_dtype_t dtype, decode_sums_t *work) {
    int64_t c = 0;
    for (; c + most * VF_LANES <= work->columns; c += most * VF_LANES)
        decode_columns_(rows, most, dtype, VF_LANES, work, c);
    for (; most > 4 && c + 4 * VF_LANES <= work->columns; c += 4 * VF_LANES)
        decode_columns_(rows, 4, dtype, VF_LANES, work, c);
    for (; c < work->columns; c += VF_LANES)
        decode_columns_(rows, 1, dtype, work->columns - c, work, c);
}

ATTN_INLINE void decode_sums_of_(attn_dtype_t dtype, decode_sums_t *work) {
    if (DECODE_GROUP == 4 && work->rows == 4)
        decode_sums_rows_(4, DECODE_VECTORS_4, dtype, work);
    else if (work->rows == 2)
        decode_sums_rows_(2, DECODE_VECTORS_2, dtype, work);
    else if (work->columns > DECODE_VECTORS_1 * VF_LANES)
        decode_wide_(dtype, work);
    else
        decode_sums_rows_(1, DECODE_VECTORS_1, dtype, work);
}

/** Whether the values first <= j < last are all finite. */
ATTN_STEP int decode_all_finite(const decode_rows_t *values, int64_t first, int64_t last,
                                int64_t columns) {
    const attn_dtype_t dtype = decode_dtype(values);
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
ATTN_STEP void decode_sums_seen(const decode_sums_t *work) {
    const attn_dtype_t dtype = decode_dtype(&work->values);
    for (int64_t c = 0; c < work->columns; c += VF_LANES) {
        vf sum = vf_mul(vf_set1(work->keep[0]), vf_load(work->out + c));
        for (int64_t j = work->first; j < work->last; j++) {
            const char *value = work->values.data + j * work->values.stride;
            if (work->weights[j] == 0.0f) continue;
            sum = vf_mul_add(vf_set1(work->weights[j]),
                             decode_load_first_(dtype, value, c, work->columns - c), sum);
        }
        vf_store(work->out + c, sum);
    }
}

/** out[r][c] = keep[r]*out[r][c] + sum_j weights[r][j] * values[j][c]; rows: 1, 2 or DECODE_GROUP. */
ATTN_STEP void decode_sums(decode_sums_t *work) {
    switch (decode_dtype(&work->values)) {
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
