/* Quantising (core/attention/quantise.h) and integer products (core/gemm/dots.h) against plain C: exactly. */
#include "dots_kernels.h"
#include "support/fixture.h"
#include "support/test.h"

#include "attn/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const dots_kernels_t *kernels(void) {
    attn_context_t *context = fixture_context(0);
    const attn_tier_t tier = attn_context_tier(context);
    attn_context_destroy(context);
    return attn_test_dots(tier);
}

static void *memory(int64_t count, size_t size) {
    void *data = calloc((size_t)count, size);
    assert_non_null(data);
    return data;
}

/* Columns of floats, quantised. */
typedef struct columns {
    int bytes;
    int64_t terms, width;
    float *from;  /* [terms][width] */
    float *sizes; /* of columns: their largest numbers */
    float level;
    int32_t *words, *starts;
    float *scales;
} columns_t;

/* The size of a column, as attention/quantise.h defines it; a NaN is passed over. */
static float size_of(const columns_t *c, int64_t column) {
    float size = 0;
    for (int64_t i = 0; i < c->terms; i++)
        size = fmaxf(size, fabsf(c->from[i * c->width + column]));
    return size;
}

static void columns_quantise(const dots_kernels_t *k, columns_t *c, int32_t flip) {
    k->quantise(c->bytes, c->from, c->terms, c->level, flip, c->width, c->words, c->scales,
                c->starts);
    for (int64_t j = 0; j < c->width; j++) c->sizes[j] = size_of(c, j);
}

/* Normal numbers, or, with `extreme`, all of them the largest, by turns of either sign. */
static columns_t columns_create(const dots_kernels_t *k, int bytes, int64_t terms, int64_t width,
                                uint64_t stream, int extreme, int32_t flip) {
    columns_t c = {.bytes = bytes, .terms = terms, .width = width};
    c.from = memory(terms * width, sizeof *c.from);
    c.sizes = memory(width, sizeof *c.sizes);
    c.words = memory((terms * bytes + 3) / 4 * width, sizeof *c.words);
    c.scales = memory(width, sizeof *c.scales);
    c.starts = memory(width, sizeof *c.starts);
    c.level = k->level(bytes == 1 ? 127 : 32767, terms);
    for (int64_t i = 0; i < terms * width; i++)
        c.from[i] = extreme ? (float)(1 - 2 * (i % width % 2))
                            : (float)attn_random_normal(test_seed(), stream, (uint64_t)i);
    columns_quantise(k, &c, flip);
    return c;
}

static void columns_destroy(columns_t *c) {
    free(c->from);
    free(c->sizes);
    free(c->words);
    free(c->scales);
    free(c->starts);
}

/* An integer of a column, as attention/quantise.h defines it. */
static int64_t integer(const columns_t *c, int64_t term, int64_t column) {
    const float size = c->sizes[column];
    if (size == 0) return 0;
    const float share = c->from[term * c->width + column] / size;
    return (int64_t)rintf(share * c->level);
}

static int64_t stored(const columns_t *c, int64_t term, int64_t column, int32_t flip) {
    const int64_t per_word = 4 / c->bytes;
    const uint32_t word = (uint32_t)(c->words[term / per_word * c->width + column] ^ flip);
    const uint32_t bits = word >> (8 * c->bytes * (term % per_word));
    return c->bytes == 1 ? (int8_t)bits : (int16_t)bits;
}

static void check_columns(const columns_t *c, int32_t flip) {
    for (int64_t j = 0; j < c->width; j++) {
        int64_t sum = 0;
        assert_true(c->scales[j] == c->sizes[j] / c->level);
        for (int64_t i = 0; i < c->terms; i++) {
            sum += integer(c, i, j);
            if (stored(c, i, j, flip) != integer(c, i, j))
                test_fail("term %" PRId64 " of column %" PRId64 " is %" PRId64 ", not %" PRId64, i,
                          j, stored(c, i, j, flip), integer(c, i, j));
        }
        if (c->bytes == 1) assert_int_equal(c->starts[j], -128 * sum);
    }
}

static const int64_t TERMS[] = {1, 2, 3, 4, 5, 7, 64, 129, 1000};

static void quantising(void **state) {
    (void)state;
    const dots_kernels_t *k = kernels();
    for (int bytes = k->has_bytes ? 1 : 2; bytes <= 2; bytes++)
        for (size_t n = 0; n < TEST_COUNT(TERMS); n++) {
            const int32_t flip = n % 2 && bytes == 1 ? (int32_t)0x80808080 : 0;
            test_label("%d bytes, %" PRId64 " terms", bytes, TERMS[n]);
            columns_t c = columns_create(k, bytes, TERMS[n], k->panel, n, 0, flip);
            check_columns(&c, flip);
            columns_destroy(&c);
        }
}

/** Columns of zeros, of the least and the largest floats; NaN and infinities keep to their column. */
static void odd_columns(void **state) {
    (void)state;
    static const float sizes[] = {0, 0x1p-149f, 0x1p-126f, 0x1.fffffep127f};
    const dots_kernels_t *k = kernels();
    for (int bytes = k->has_bytes ? 1 : 2; bytes <= 2; bytes++)
        for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
            test_label("%d bytes, numbers of %g", bytes, (double)sizes[s]);
            columns_t c = columns_create(k, bytes, 6, 2 * k->panel, 1, 1, 0);
            for (int64_t i = 0; i < c.terms * c.width; i++) c.from[i] *= sizes[s];
            columns_quantise(k, &c, 0);
            check_columns(&c, 0);
            c.from[3 * c.width] = s % 2 ? NAN : -INFINITY;
            columns_quantise(k, &c, 0);
            assert_true(isnan(c.scales[0]));
            for (int64_t j = 1; j < c.width; j++) assert_true(c.scales[j] == sizes[s] / c.level);
            columns_destroy(&c);
        }
}

static void check_scores(const dots_kernels_t *k, const columns_t *rows, const columns_t *columns) {
    const int64_t stride = k->panel + 3;
    float *result = memory(k->rows * stride, sizeof *result);
    float *shift = memory(k->row_words, sizeof *shift);
    k->scores(rows->bytes, (rows->terms * rows->bytes + 3) / 4, rows->words, rows->scales, shift,
              columns->words, columns->scales, columns->starts, result, stride);
    for (int64_t r = 0; r < k->rows; r++)
        for (int64_t j = 0; j < k->panel; j++) {
            int64_t sum = 0;
            for (int64_t i = 0; i < rows->terms; i++)
                sum += integer(rows, i, r) * integer(columns, i, j);
            assert_true(sum <= INT32_MAX && sum >= -INT32_MAX);
            const float scale = rows->scales[r] * columns->scales[j];
            if (result[r * stride + j] != (float)sum * scale)
                test_fail("row %" PRId64 ", column %" PRId64 ": %.9g, not %.9g", r, j,
                          (double)result[r * stride + j], (double)((float)sum * scale));
        }
    free(result);
    free(shift);
}

/** Also where all terms are the largest there are: no sum leaves 32 bits. */
static void scores_are_exact(void **state) {
    (void)state;
    const dots_kernels_t *k = kernels();
    for (int bytes = k->has_bytes ? 1 : 2; bytes <= 2; bytes++)
        for (size_t n = 0; n < TEST_COUNT(TERMS); n++)
            for (int extreme = 0; extreme < 2; extreme++) {
                const int32_t flip = bytes == 1 ? k->flip : 0;
                test_label("%d bytes, %" PRId64 " terms, extreme %d", bytes, TERMS[n], extreme);
                columns_t rows =
                    columns_create(k, bytes, TERMS[n], k->row_words, 20 + n, extreme, flip);
                columns_t columns =
                    columns_create(k, bytes, TERMS[n], k->panel, 40 + n, extreme, 0);
                check_scores(k, &rows, &columns);
                columns_destroy(&rows);
                columns_destroy(&columns);
            }
}

/* Weights are whole numbers up to `most`; all of them that, with `extreme`. */
static void check_sums(const dots_kernels_t *k, int bytes, int64_t terms, int64_t count,
                       int64_t most, int extreme) {
    const int64_t step = terms * bytes, stride = k->panel + 3;
    columns_t values = columns_create(k, bytes, terms, k->panel, 60, extreme, 0);
    float *out = memory(k->rows * stride, sizeof *out), scales[64], rescale[64];
    float *weights = memory(terms, sizeof *weights * (size_t)k->rows);
    char *rows = memory(k->rows, (size_t)step);
    for (int64_t i = 0; i < k->rows * terms; i++)
        weights[i] = (float)(extreme ? most : fixture_draw((uint64_t)i, most + 1));
    for (int64_t i = 0; i < k->rows * terms; i += k->lanes)
        k->store(bytes, rows + i * bytes, weights + i);
    for (int64_t r = 0; r < k->rows; r++) scales[r] = 0.5f, rescale[r] = 2.0f;
    for (int64_t i = 0; i < k->rows * stride; i++) out[i] = 0;
    k->accumulate(bytes, step / 4, rows, step, scales, rescale, values.words, values.scales, out,
                  stride, count);
    for (int64_t r = 0; r < k->rows; r++)
        for (int64_t c = 0; c < count; c++) {
            int64_t sum = 0;
            for (int64_t i = 0; i < terms; i++)
                sum += (int64_t)weights[r * terms + i] * integer(&values, i, c);
            assert_true(sum <= INT32_MAX && sum >= -INT32_MAX);
            if (out[r * stride + c] != (float)sum * (0.5f * values.scales[c]))
                test_fail("row %" PRId64 ", column %" PRId64 ": %.9g, not %.9g", r, c,
                          (double)out[r * stride + c],
                          (double)((float)sum * (0.5f * values.scales[c])));
        }
    columns_destroy(&values);
    free(out);
    free(weights);
    free(rows);
}

/** 192 keys are what attention sums at a time (core/attention/quantised.h), with weights up to 255 and 4096. */
static void sums_are_exact(void **state) {
    (void)state;
    static const int64_t terms[] = {16, 32, 192};
    const dots_kernels_t *k = kernels();
    for (int bytes = k->has_bytes ? 1 : 2; bytes <= 2; bytes++)
        for (size_t n = 0; n < TEST_COUNT(terms); n++)
            for (int extreme = 0; extreme < 2; extreme++) {
                test_label("%d bytes, %" PRId64 " terms, extreme %d", bytes, terms[n], extreme);
                for (int64_t count = 1; count <= k->panel; count += k->lanes)
                    check_sums(k, bytes, terms[n], count,
                               bytes == 1        ? 255
                               : terms[n] == 192 ? 3344
                                                 : 4096,
                               extreme);
            }
}

/** Words that are written as numbers of 16 bits are read as pairs of them. */
static void products_of_words(void **state) {
    (void)state;
    const dots_kernels_t *k = kernels();
    for (int64_t count = k->pair; count <= DOTS_MOST_WORDS; count += k->pair) {
        float row[DOTS_MOST_WORDS], products[4];
        int8_t keys[4 * DOTS_MOST_WORDS];
        for (int64_t i = 0; i < count; i++) row[i] = (float)(i % 2 ? -i : 3 * i);
        row[count / 2] = 32767; /* the level: words are the numbers */
        for (int64_t i = 0; i < 4 * count; i++) keys[i] = (int8_t)(i * 37 % 256 - 128);
        assert_true(k->word_products(row, count, 32767, keys, products) == 1.0f);
        for (int64_t j = 0; j < 4; j++) {
            float sum = 0; /* of whole numbers below 2^24 */
            for (int64_t i = 0; i < count; i++) sum += row[i] * (float)keys[j * count + i];
            if (products[j] != sum)
                test_fail("%d words, key %d: %.9g, not %.9g", (int)count, (int)j,
                          (double)products[j], (double)sum);
        }
    }
}

/** The scale of a row with NaN or an infinity is NaN, whatever else is in it. */
static void words_that_are_not_finite(void **state) {
    (void)state;
    const dots_kernels_t *k = kernels();
    static const float bad[] = {NAN, INFINITY, -INFINITY}, others[] = {0, 1e-44f, 1, NAN};
    const int8_t keys[4 * DOTS_MOST_WORDS] = {0};
    for (size_t b = 0; b < TEST_COUNT(bad); b++)
        for (size_t o = 0; o < TEST_COUNT(others); o++) {
            float row[DOTS_MOST_WORDS], products[4];
            test_label("%g among %g", (double)bad[b], (double)others[o]);
            for (int64_t i = 0; i < k->pair; i++) row[i] = others[o];
            row[k->pair - 1] = bad[b];
            assert_true(isnan(k->word_products(row, k->pair, 32767, keys, products)));
        }
}

TEST_MAIN(cmocka_unit_test(quantising), cmocka_unit_test(odd_columns),
          cmocka_unit_test(scores_are_exact), cmocka_unit_test(sums_are_exact),
          cmocka_unit_test(products_of_words), cmocka_unit_test(words_that_are_not_finite))
