/*
 * attention/decode_rows.h: rows of keys and values where they lie, how they are asked for ahead, and what the products of
 * decode_products.h work on.
 */
#ifndef ATTN_ATTENTION_DECODE_ROWS_H
#define ATTN_ATTENTION_DECODE_ROWS_H

#include "gemm/tile.h"
#include "simd/convert.h"

/*
 * Rows go 4, 2 and 1 at a time where there are 32 registers, else 2 and 1: DECODE_KEYS sums each for
 * dot products; for sums of values as many vectors of columns as fit. What a loop itself costs shows
 * where one row has narrow vectors: they go two at a time.
 */
#if ATTN_SIMD_BITS == 512 || (ATTN_SIMD_BITS == 128 && defined(__aarch64__))
enum { DECODE_GROUP = 4, DECODE_VECTORS_2 = 8 };
#else
enum { DECODE_GROUP = 2, DECODE_VECTORS_2 = 4 };
#endif
enum { DECODE_KEYS = 4, DECODE_VECTORS_1 = 8, DECODE_VECTORS_4 = 4 };
/* Columns of a row alone whose sums stay in registers. In a module all are summed where they lie: engines are as fast, and
 * it is downloaded. */
enum { DECODE_IN_REGISTERS = VF_FETCHES ? DECODE_VECTORS_1 * VF_LANES : 0 };
enum { DECODE_VECTORS_DOT = VF_LANES < 16 ? 2 : 1 /* of a row alone */ };

/*
 * One row alone waits for memory. Its keys, and its values, go as DECODE_KEYS stretches side by side:
 * the processor's own prefetching starts anew on every page, and several pages start together in the
 * time of one. In each stretch DECODE_AHEAD bytes of rows are asked for ahead (twice as many are
 * slower by a tenth), where it ends of what is read next: values, or the keys of the next split.
 *
 * Several rows compute on each key for longer. Their keys are one stretch, and with each the value of its number is
 * asked for, as values are gone over in parts, whose loops are too short to ask for anything. A processor that waits
 * for some twenty lines drops what it is asked for then: each group of rows asks for a part, and multiplies meanwhile.
 */
enum { DECODE_AHEAD = 1024 };

enum { DECODE_SUMMED = 128 }; /* values whose sum is one term of the output's */

/* Rows of keys or values one after another; elements of a row stand side by side. */
typedef struct decode_rows {
    const char *data;
    int64_t stride, size; /* bytes from row to row, and of a row */
    attn_dtype_t dtype;
} decode_rows_t;

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
    const int64_t size = attn_dtype_size(dtype);
    for (int64_t byte = 0; byte < count * size; byte++) lanes[byte] = row[at * size + byte];
    return decode_load_(dtype, lanes, 0);
}

/* How many rows further on those stand that are asked for `bytes` ahead; rows may be far apart. */
ATTN_INLINE int64_t decode_rows_on_(const decode_rows_t *rows, int64_t bytes) {
    return attn_max(1, bytes / rows->size);
}

/*
 * How far behind row `j` of a stretch of `part` rows the one stands that is to be asked for: `on` rows further in the
 * stretch, or where this ends in `next`, rows that are read next and as stretches as long.
 */
ATTN_INLINE uintptr_t decode_ahead_(const decode_rows_t *rows, const decode_rows_t *next,
                                    int64_t on, int64_t part, int64_t j) {
    const uintptr_t stride = (uintptr_t)rows->stride;
    if (j + on < part || next->stride != rows->stride) return (uintptr_t)on * stride;
    return (uintptr_t)next->data - (uintptr_t)rows->data + (uintptr_t)(on - part) * stride;
}

ATTN_INLINE void decode_fetch_on_(const char *row, uintptr_t ahead, int64_t bytes) {
    vf_prefetch_bytes((uintptr_t)row + ahead, bytes);
}

/* Ask for row number `row`, which need not exist. */
ATTN_INLINE void decode_fetch_(const decode_rows_t *rows, int64_t row) {
    decode_fetch_on_(rows->data, (uintptr_t)row * (uintptr_t)rows->stride, rows->size);
}

/* Rows of heads that stand side by side, token by token, of which one after the other is asked for. */
typedef struct decode_line {
    uintptr_t at;        /* the next */
    int64_t size;        /* of a row, in bytes */
    int64_t head;        /* whose row it is, */
    int64_t heads;       /* of how many */
    uintptr_t heads_on;  /* bytes to the next head's row */
    uintptr_t tokens_on; /* from behind the last head's row to the next token's first */
} decode_line_t;

/* Ask for the next row of each. Not inlined: loops that have no lines are not to be shaped by it. */
static __attribute__((noinline, unused)) void decode_fetch_next_(decode_line_t lines[2]) {
    for (decode_line_t *line = lines; line < lines + 2; line++) {
        vf_prefetch_bytes(line->at, line->size);
        line->at += line->heads_on;
        if (++line->head < line->heads) continue;
        line->head = 0;
        line->at += line->tokens_on;
    }
}

/* ---- products ----------------------------------------------------------------------------------- */

/* What a product works on. `ahead`: rows that will be read next, for several rows of query asked for row by row where
 * it `asks`, for one where its stretches end. */
typedef struct decode_dots {
    int64_t rows, dim, width; /* of `query`: dim rounded up to VF_LANES, zeros behind */
    const float *query;       /* [rows][width] */
    decode_rows_t keys, ahead;
    int asks;
    decode_line_t *lines; /* [2], of keys and values, which are asked for instead; or NULL */
    int64_t count;        /* keys */
    /* The query once more (decode_i8.h), [rows][words_width], for keys in i8; or NULL. */
    const uint16_t *words;
    int64_t words_width;
    const float *word_scales; /* [rows] */
    float *scores;            /* [rows][scores_stride] */
    int64_t scores_stride;    /* at least count rounded up to DECODE_KEYS */
} decode_dots_t;

/* What is added to `rows` rows of output (at most DECODE_GROUP): the values first <= j < last. `ahead`: where one row's
 * stretches end. */
typedef struct decode_sums {
    int64_t rows, columns;
    float *out;           /* [rows][out_stride] */
    int64_t out_stride;   /* at least columns rounded up to VF_LANES */
    float *part;          /* [out_stride]: of one row, zeros before a call and after it */
    const float *rescale; /* [rows]: factors that `out` is multiplied by first */
    const float *weights; /* [rows][weights_stride] */
    int64_t weights_stride;
    /* The weights once more, [rows][words_stride], and 0 at `last`, for values in i8; or NULL. */
    const uint16_t *words;
    int64_t words_stride;
    const float *word_scales; /* [rows] */
    decode_rows_t values, ahead;
    int64_t first, last;
} decode_sums_t;

/* Which of `count` values comes as number `turn`: for one row the stretches take turns. */
ATTN_INLINE int64_t decode_turn_(int rows, int64_t turn, int64_t count) {
    const int64_t part = count / DECODE_KEYS;
    if (rows > 1 || turn >= part * DECODE_KEYS) return turn;
    return turn / DECODE_KEYS + turn % DECODE_KEYS * part;
}

#endif
