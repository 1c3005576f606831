/*
 * Products of bf16 numbers (core/gemm/bf16.h) against plain C.
 *
 * u = 2^-24. Products are exact. A word's two are added to the sum one after another, each addition off by at most u of
 * its result; or to each other first, and then to the sum, and each addition rounds to odd, off by at most 2 u
 * (core/simd/arm.h). So d terms are off by at most d u of the sum of their sizes, or (d/2 + 1) 2 u. Denormals may count as zero:
 * a factor, which costs FLT_MIN times the other, a product, and a sum.
 */
#include "bf16_kernels.h"
#include "support/fixture.h"
#include "support/test.h"

#include "attn/random.h"
#include "simd/half.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const bf16_kernels_t *kernels(void) {
    attn_context_t *context = fixture_context(0);
    const attn_tier_t tier = attn_context_tier(context);
    attn_context_destroy(context);
    assert_non_null(attn_test_bf16(tier));
    return attn_test_bf16(tier);
}

static void *memory(int64_t count, size_t size) {
    void *data = calloc((size_t)count, size);
    assert_non_null(data);
    return data;
}

static const int64_t TERMS[] = {1, 2, 3, 4, 5, 7, 8, 31, 64, 129, 300};

/* Rows and columns of bf16 numbers, as floats and as products take them. */
typedef struct scene {
    const bf16_kernels_t *k;
    int64_t terms, words, stride;
    float *rows, *columns; /* [rows][stride], [terms][panel] */
    uint16_t *left;        /* [rows][stride] */
    int32_t *panel;        /* [words][panel] */
} scene_t;

static float nearest(float x) { return bf16_to_float(float_to_bf16(x)); }

static float draw(uint64_t stream, int64_t i, double size) {
    return nearest((float)(size * attn_random_normal(test_seed(), stream, (uint64_t)i)));
}

static scene_t scene_create(const bf16_kernels_t *k, int64_t terms, double size) {
    scene_t s = {.k = k, .terms = terms, .words = k->words(terms)};
    s.stride = (2 * s.words + 31) / 32 * 32;
    s.rows = memory(k->rows * s.stride, sizeof *s.rows);
    s.left = memory(k->rows * s.stride, sizeof *s.left);
    s.columns = memory(terms * k->panel, sizeof *s.columns);
    s.panel = memory(s.words * k->panel, sizeof *s.panel);
    for (int64_t r = 0; r < k->rows; r++) {
        for (int64_t t = 0; t < terms; t++) s.rows[r * s.stride + t] = draw(1, r * terms + t, size);
        k->split(1, s.rows + r * s.stride, s.stride, s.left + r * s.stride, 0);
    }
    for (int64_t i = 0; i < terms * k->panel; i++) s.columns[i] = draw(2, i, size);
    k->pack(1, s.columns, terms, s.words, s.panel);
    return s;
}

static void scene_destroy(scene_t *s) {
    free(s->rows);
    free(s->columns);
    free(s->left);
    free(s->panel);
}

static float half_of(const int32_t *word, int64_t half) {
    const uint32_t bits = (uint32_t)*word;
    return bf16_to_float((uint16_t)(half ? bits >> 16 : bits));
}

/** A word of a column has two of its terms, and zeros behind the last; columns that come as rows make the same. */
static void columns_are_words(void **state) {
    (void)state;
    const bf16_kernels_t *k = kernels();
    for (size_t n = 0; n < TEST_COUNT(TERMS); n++) {
        scene_t s = scene_create(k, TERMS[n], 1);
        test_label("%" PRId64 " terms", s.terms);
        for (int64_t j = 0; j < k->panel; j++)
            for (int64_t t = 0; t < 2 * s.words; t++)
                assert_true(half_of(s.panel + t / 2 * k->panel + j, t % 2) ==
                            (t < s.terms ? s.columns[t * k->panel + j] : 0));
        for (int64_t count = 1; count <= k->panel; count += k->panel - 1) {
            const int64_t stride = s.terms + 3;
            uint16_t *rows = memory(count * stride, sizeof *rows);
            int32_t *words = memory(s.words * k->panel, sizeof *words);
            for (int64_t j = 0; j < count; j++)
                for (int64_t t = 0; t < s.terms; t++)
                    rows[j * stride + t] = float_to_bf16(s.columns[t * k->panel + j]);
            k->pack_rows(rows, stride, count, s.terms, s.words, words);
            for (int64_t g = 0; g < s.words; g++)
                for (int64_t j = 0; j < k->panel; j++)
                    assert_int_equal(words[g * k->panel + j],
                                     j < count ? s.panel[g * k->panel + j] : 0);
            free(rows);
            free(words);
        }
        scene_destroy(&s);
    }
}

/** A float is the sum of its parts but for 2^-8 of it for each of them, and the first is the nearest bf16 number. */
static void parts_of_floats(void **state) {
    (void)state;
    enum { COUNT = 256 };
    const bf16_kernels_t *k = kernels();
    float from[COUNT];
    uint16_t parts[3 * COUNT];
    for (int i = 0; i < COUNT; i++)
        from[i] = (float)attn_random_normal(test_seed(), 3, (uint64_t)i);
    from[0] = FLT_MAX, from[1] = -FLT_MAX, from[2] = 0, from[3] = 1.00390625f; /* halfway */
    for (int count = 1; count <= 3; count++) {
        k->split(count, from, COUNT, parts, COUNT);
        for (int i = 0; i < COUNT; i++) {
            double rest = (double)from[i];
            for (int p = 0; p < count; p++) rest -= (double)bf16_to_float(parts[p * COUNT + i]);
            if (!(fabs(rest) <= ldexp(fabs((double)from[i]), i < 2 ? 1 - 8 * count : -8 * count)))
                test_fail("%.9g in %d parts lacks %g", (double)from[i], count, rest);
            if (i > 1) assert_int_equal(parts[i], float_to_bf16(from[i]));
        }
    }
}

static void check_products(const scene_t *s, int is_few, int is_one) {
    const bf16_kernels_t *k = s->k;
    const int64_t rows = is_few ? k->few : k->rows, columns = is_one ? k->lanes : k->panel;
    float *out = memory(k->rows * k->panel, sizeof *out);
    k->multiply(is_few, is_one, s->words, s->left, s->stride, s->panel, out);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0, size = 0, flushed = 0;
            for (int64_t t = 0; t < s->terms; t++) {
                const double a = (double)s->rows[r * s->stride + t];
                const double b = (double)s->columns[t * k->panel + j];
                sum += a * b, size += fabs(a * b), flushed += 2 + fabs(a) + fabs(b);
            }
            const double off = (double)(s->terms + 2) * 0x1p-24;
            const double bound = off / (1 - off) * size + (double)FLT_MIN * flushed;
            const double result = (double)out[r * k->panel + j];
            if (!(fabs(result - sum) <= bound))
                test_fail("row %" PRId64 ", column %" PRId64
                          ": %.9g, not %.9g, off by %.3g of %.3g",
                          r, j, result, sum, fabs(result - sum), bound);
        }
    free(out);
}

/** All shapes of a tile, of numbers around one, of such whose products are denormal, and of large ones. */
static void products_are_sums(void **state) {
    (void)state;
    static const double sizes[] = {1, 0x1p-64, 0x1p58};
    const bf16_kernels_t *k = kernels();
    for (size_t n = 0; n < TEST_COUNT(TERMS); n++)
        for (size_t z = 0; z < TEST_COUNT(sizes); z++) {
            scene_t s = scene_create(k, TERMS[n], sizes[z]);
            for (int is_few = 0; is_few < 2; is_few++)
                for (int is_one = 0; is_one <= k->has_one; is_one++) {
                    test_label("%" PRId64 " terms of %g, few %d, one %d", s.terms, sizes[z], is_few,
                               is_one);
                    check_products(&s, is_few, is_one);
                }
            scene_destroy(&s);
        }
}

/** NaN and an infinity reach the sums of their row, and of their column, and no others. */
static void what_is_not_finite_stays_in_its_row(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    const bf16_kernels_t *k = kernels();
    float *out = memory(k->rows * k->panel, sizeof *out);
    for (size_t b = 0; b < TEST_COUNT(bad); b++)
        for (int64_t r = 0; r < k->rows; r++) {
            scene_t s = scene_create(k, 6, 1);
            const int64_t column = r % k->panel;
            test_label("%g in row %" PRId64, (double)bad[b], r);
            s.left[r * s.stride + r % 6] = float_to_bf16(bad[b]);
            k->multiply(0, 0, s.words, s.left, s.stride, s.panel, out);
            for (int64_t i = 0; i < k->rows * k->panel; i++)
                assert_true(!isfinite(out[i]) == (i / k->panel == r));
            s.left[r * s.stride + r % 6] = 0;
            s.panel[column] = (int32_t)(s.panel[column] & 0xffff0000) | float_to_bf16(bad[b]);
            k->multiply(0, 0, s.words, s.left, s.stride, s.panel, out);
            for (int64_t i = 0; i < k->rows * k->panel; i++)
                assert_true(!isfinite(out[i]) == (i % k->panel == column));
            scene_destroy(&s);
        }
    free(out);
}

TEST_MAIN(cmocka_unit_test(columns_are_words), cmocka_unit_test(parts_of_floats),
          cmocka_unit_test(products_are_sums),
          cmocka_unit_test(what_is_not_finite_stays_in_its_row))
