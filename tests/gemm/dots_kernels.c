/* Compiled once for each tier, like a plugin's kernels. */
#include "dots_kernels.h"

#include "attention/decode_i8.h"
#include "attention/quantise.h"

enum { ROW_WORDS = (TILE_ROWS + VF_LANES - 1) / VF_LANES * VF_LANES };

/* The kernels take `bytes` as a constant. */
#if VI_HAS_DOT8
#define BY_BYTES(call, ...)                                                                        \
    do {                                                                                           \
        if (bytes == 1)                                                                            \
            call(1, __VA_ARGS__);                                                                  \
        else                                                                                       \
            call(2, __VA_ARGS__);                                                                  \
    } while (0)
#else
#define BY_BYTES(call, ...)                                                                        \
    do {                                                                                           \
        (void)bytes;                                                                               \
        call(2, __VA_ARGS__);                                                                      \
    } while (0)
#endif

static float level(int64_t most, int64_t terms) { return quantise_level(most, terms); }

static void quantise(int bytes, const float *from, int64_t terms, float largest, int32_t flip,
                     int64_t width, int32_t *words, float *scales, int32_t *starts) {
    const quantise_to_t to = {words, scales, starts, width, flip};
    BY_BYTES(quantise_columns, from, width, terms, largest, &to, width);
}

static void scores(int bytes, int64_t words, const int32_t *rows, const float *row_scales,
                   const float *shift, const int32_t *columns, const float *scales,
                   const int32_t *starts, float *result, int64_t stride) {
    const dots_columns_t panel = {columns, scales, starts};
    BY_BYTES(dots_scores, words, rows, ROW_WORDS, row_scales, shift, &panel, result, stride);
}

static void accumulate(int bytes, int64_t words, const void *rows, int64_t row_step,
                       const float *row_scales, const float *rescale, const int32_t *columns,
                       const float *scales, float *out, int64_t stride, int64_t count) {
    const dots_columns_t panel = {columns, scales, NULL};
    BY_BYTES(dots_accumulate, words, rows, row_step, row_scales, rescale, &panel, out, stride,
             count);
}

static void store(int bytes, void *to, const float *numbers) {
    const vf rounded = vf_add(vf_load(numbers), vf_set1(DOTS_ROUND));
    BY_BYTES(dots_store, to, rounded);
}

static float word_products(float *row, int64_t count, float largest, const int8_t *keys,
                           float products[4]) {
    uint16_t words[DOTS_MOST_WORDS];
    const float scale = decode_to_words(row, count, largest, words);
    const char *key[4];
    vf sums[4][4];
    for (int j = 0; j < 4; j++) key[j] = (const char *)keys + j * count;
    decode_dot_bytes_(1, count, words, count, key, sums);
    vf_reduce_add4(products, sums[0]);
    return scale;
}

const dots_kernels_t ATTN_KERNEL(attn_test_dots) = {
    .rows = TILE_ROWS,
    .panel = PANEL,
    .row_words = ROW_WORDS,
    .has_bytes = VI_HAS_DOT8,
    .flip = DOTS_FLIP,
    .level = level,
    .quantise = quantise,
    .scores = scores,
    .accumulate = accumulate,
    .lanes = VF_LANES,
    .store = store,
    .pair = DECODE_BYTES,
    .word_products = word_products,
};
