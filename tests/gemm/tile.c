/* Packing and the two products of core/gemm/tile.h, against sums in double precision. */
#include "support/fixture.h"
#include "support/test.h"
#include "tile_kernels.h"

#include "attn/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const float MARK = -777.25f;
static const double U = 0x1p-24;

static const tile_kernels_t *kernels(void) {
    attn_context_t *context = fixture_context(0);
    const attn_tier_t tier = attn_context_tier(context);
    attn_context_destroy(context);
    return attn_test_tile(tier);
}

/** `count` normal numbers, then `more` marks. */
static float *numbers(int64_t count, int64_t more, uint64_t stream) {
    float *data = malloc((size_t)(count + more) * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)attn_random_normal(test_seed(), stream, (uint64_t)i);
    for (int64_t i = count; i < count + more; i++) data[i] = MARK;
    return data;
}

static void packing(void **state) {
    (void)state;
    static const int64_t dims[] = {1, 3, 8, 17};
    static const int64_t strides[][2] = {{20, 1}, {1, 40}, {-20, 1}, {0, 2}};
    const tile_kernels_t *k = kernels();
    float *source = numbers(2000, 0, 1);
    for (size_t n = 0; n < TEST_COUNT(dims); n++)
        for (size_t s = 0; s < TEST_COUNT(strides); s++)
            for (int64_t count = 0; count <= k->panel; count++) {
                const int64_t d = dims[n], width = k->panel;
                const int64_t *stride = strides[s];
                const float *start = source + 1000;
                float *panel = numbers(0, d * width + 1, 0);
                test_label("pack %" PRId64 " of %" PRId64 ", d %" PRId64, count, width, d);
                k->pack(panel, width, count, d, start, stride[0], stride[1], 0.5f);
                for (int64_t i = 0; i < d; i++)
                    for (int64_t j = 0; j < width; j++) {
                        const float expected =
                            j < count ? 0.5f * start[j * stride[0] + i * stride[1]] : 0;
                        if (panel[i * width + j] != expected)
                            test_fail("element %" PRId64 " of vector %" PRId64, i, j);
                    }
                assert_true(panel[d * width] == MARK);
                free(panel);
            }
    free(source);
}

/** The first `count` rows, and the columns [first, last); nothing but `width` columns from `from` on. */
static void check_product(const tile_kernels_t *k, int64_t d, int64_t count, int64_t first,
                          int64_t last, int64_t from, int64_t width) {
    const int64_t stride = k->panel + 5;
    test_label("product, d %" PRId64 ", %" PRId64 " rows, columns %" PRId64 " to %" PRId64
               " of %" PRId64 " from %" PRId64,
               d, count, first, last, width, from);
    float *rows = numbers(d * k->rows, 0, 1), *panel = numbers(d * k->panel, 0, 2);
    float *room = numbers(0, (k->rows + 2) * stride, 0), *scores = room + stride;
    k->product(count, first, last, d, rows, panel, scores, from, stride);
    for (int64_t r = 0; r < k->rows; r++) {
        for (int64_t j = first > 0 ? first : 0; r < count && j < last && j < k->panel; j++) {
            double sum = 0, absolute = 0;
            for (int64_t i = 0; i < d; i++) {
                const double term = (double)rows[i * k->rows + r] * (double)panel[i * k->panel + j];
                sum += term;
                absolute += fabs(term);
            }
            const int64_t at[4] = {r, j, 0, 0};
            compare_number((double)scores[r * stride + j - from], sum, (double)d * U * absolute,
                           "score",
                           at); // d products and d - 1 additions
        }
        for (int64_t j = width; j < stride; j++) assert_true(scores[r * stride + j] == MARK);
    }
    for (int64_t j = 0; j < stride; j++) assert_true(room[j] == MARK);
    free(rows);
    free(panel);
    free(room);
}

static void panel_product(void **state) {
    (void)state;
    static const int64_t dims[] = {1, 2, 7, 64, 129};
    const tile_kernels_t *k = kernels();
    for (size_t n = 0; n < TEST_COUNT(dims); n++)
        for (int64_t count = 1; count <= k->rows; count++)
            for (int64_t first = -3; first < k->panel; first += 3) {
                check_product(k, dims[n], count, first, first + 4, 0, k->panel);
                check_product(k, dims[n], count, first, k->panel + 9, 0, k->panel);
            }
}

/** Columns in one vector of the panel, which is all that is written. */
static void one_vector_product(void **state) {
    (void)state;
    static const int64_t dims[] = {1, 7, 64};
    const tile_kernels_t *k = kernels();
    for (size_t n = 0; n < TEST_COUNT(dims); n++)
        for (int64_t count = 1; count <= k->rows; count++)
            for (int64_t from = 0; k->one && from < k->panel; from += k->one)
                for (int64_t first = from; first < from + k->one; first += 3)
                    for (int64_t last = first + 1; last <= from + k->one; last += 2)
                        check_product(k, dims[n], count, first, last, from, k->one);
}

/** What accumulate() and its ranged form work on. */
typedef struct sums {
    int64_t rows, count, columns, width, stride, weights_stride, values_stride;
    float *out, *before, *weights, *values;
} sums_t;

static sums_t sums_create(const tile_kernels_t *k, int64_t count, int64_t columns) {
    sums_t s = {.rows = k->rows, .count = count, .columns = columns};
    s.width = (columns + k->lanes - 1) / k->lanes * k->lanes;
    s.stride = s.width + 3;
    s.weights_stride = count + 2;
    s.values_stride = columns + 1;
    s.out = numbers(s.rows * s.stride, 0, 3);
    s.before = numbers(s.rows * s.stride, 0, 3);
    s.weights = numbers(s.rows * s.weights_stride, 0, 5);
    s.values = numbers(count * s.values_stride, 0, 6);
    for (int64_t j = 0; j < count; j++) s.values[j * s.values_stride + columns] = NAN; // no column
    return s;
}

static void sums_destroy(sums_t *s) {
    free(s->out);
    free(s->before);
    free(s->weights);
    free(s->values);
}

/** Row r against out + sum of the keys [first, last); the space behind the row is untouched. */
static void check_row(const sums_t *s, int64_t r, int64_t first, int64_t last) {
    for (int64_t c = 0; c < s->columns; c++) {
        const double start = (double)s->before[r * s->stride + c];
        double sum = start, absolute = fabs(start);
        for (int64_t j = first; j < last; j++) {
            const double term = (double)s->weights[r * s->weights_stride + j] *
                                (double)s->values[j * s->values_stride + c];
            sum += term;
            absolute += fabs(term);
        }
        const int64_t at[4] = {r, c, 0, 0};
        compare_number((double)s->out[r * s->stride + c], sum,
                       (double)(s->count + 2) * U * absolute, "sum", at);
    }
    for (int64_t c = s->width; c < s->stride; c++)
        assert_true(s->out[r * s->stride + c] == s->before[r * s->stride + c]);
}

static void accumulation(void **state) {
    (void)state;
    const tile_kernels_t *k = kernels();
    for (int64_t columns = 1; columns <= 2 * k->panel + 1; columns++)
        for (int64_t count = 0; count < 200; count += count == 39 ? 111 : 13) {
            const int64_t rows = 1 + (columns + count) % k->rows;
            test_label("%" PRId64 " values of %" PRId64 " columns, %" PRId64 " rows", count,
                       columns, rows);
            sums_t s = sums_create(k, count, columns);
            const int64_t first = count / 5;
            k->accumulate(rows, s.out, s.stride, s.weights, s.weights_stride, s.values,
                          s.values_stride, first, count, columns);
            for (int64_t r = 0; r < rows; r++) check_row(&s, r, first, count);
            sums_destroy(&s);
        }
}

/** Each row its own range; weights outside are 0, as the function asks; values may be NaN there. */
static void accumulation_of_ranges(void **state) {
    (void)state;
    enum { COUNT = 160 };
    const tile_kernels_t *k = kernels();
    for (int64_t columns = 1; columns <= k->panel + 1; columns += 3)
        for (int kind = 0; kind < 6; kind++) {
            int64_t first[64], last[64];
            test_label("ranges of kind %d, %" PRId64 " columns", kind, columns);
            sums_t s = sums_create(k, COUNT, columns);
            for (int64_t r = 0; r < s.rows; r++) {
                first[r] = kind == 0 || kind >= 4 ? 0 : kind == 1 ? 5 : r % 7;
                last[r] = kind == 0 ? COUNT : kind == 1 ? 80 : kind == 2 ? 70 + r : r % 5 ? 145 : 0;
                if (kind == 4) last[r] = 0; // nobody sees anything
                if (kind == 5) last[r] = 3 + r;
                for (int64_t j = 0; j < COUNT; j++)
                    if (j < first[r] || j >= last[r]) s.weights[r * s.weights_stride + j] = 0;
            }
            if (kind == 5) // seen by the last rows only
                s.values[(2 + s.rows) * s.values_stride] = NAN;
            for (int64_t j = 150; j < COUNT && kind > 0; j++)
                for (int64_t c = 0; c < columns; c++) s.values[j * s.values_stride + c] = INFINITY;
            k->accumulate_ranges(s.rows, s.out, s.stride, s.weights, s.weights_stride, s.values,
                                 s.values_stride, first, last, columns);
            for (int64_t r = 0; r < s.rows; r++) check_row(&s, r, first[r], last[r]);
            sums_destroy(&s);
        }
}

/** A value that a row does not see changes none of its bits, be it a number or not; sums are three. */
static void what_is_hidden_leaves_no_trace(void **state) {
    (void)state;
    enum { COUNT = 400, COLUMNS = 5, HIDDEN = COUNT - 2 };
    const tile_kernels_t *k = kernels();
    int64_t first[64], last[64];
    sums_t s[2];
    for (int i = 0; i < 2; i++) {
        s[i] = sums_create(k, COUNT, COLUMNS);
        for (int64_t r = 0; r < k->rows; r++) {
            first[r] = 7 + 20 * (r % 7);
            last[r] = r ? HIDDEN - 30 * (r % 5) : COUNT;
            for (int64_t j = 0; j < COUNT; j++)
                if (j < first[r] || j >= last[r]) s[i].weights[r * s[i].weights_stride + j] = 0;
        }
        if (i) s[i].values[HIDDEN * s[i].values_stride] = INFINITY;
        k->accumulate_ranges(k->rows, s[i].out, s[i].stride, s[i].weights, s[i].weights_stride,
                             s[i].values, s[i].values_stride, first, last, COLUMNS);
    }
    for (int64_t r = 1; r < k->rows; r++)
        assert_memory_equal(s[0].out + r * s[0].stride, s[1].out + r * s[1].stride,
                            COLUMNS * sizeof(float));
    assert_true(isfinite(s[0].out[0]) && !isfinite(s[1].out[0]));
    for (int i = 0; i < 2; i++) sums_destroy(&s[i]);
}

static void finding_what_is_not_finite(void **state) {
    (void)state;
    static const float specials[] = {NAN, INFINITY, -INFINITY};
    const tile_kernels_t *k = kernels();
    for (int64_t columns = 1; columns <= k->panel + 1; columns++) {
        sums_t s = sums_create(k, 5, columns); // column `columns` is NaN and does not count
        assert_true(k->all_finite(s.values, s.values_stride, 5, columns));
        assert_true(k->all_finite(s.values, s.values_stride, 0, columns));
        for (int64_t at = 0; at < 5 * columns; at++) {
            float *value = &s.values[at / columns * s.values_stride + at % columns];
            const float kept = *value;
            *value = specials[at % 3];
            assert_false(k->all_finite(s.values, s.values_stride, 5, columns));
            *value = kept;
        }
        sums_destroy(&s);
    }
}

TEST_MAIN(cmocka_unit_test(packing), cmocka_unit_test(panel_product),
          cmocka_unit_test(one_vector_product), cmocka_unit_test(accumulation),
          cmocka_unit_test(accumulation_of_ranges),
          cmocka_unit_test(what_is_hidden_leaves_no_trace),
          cmocka_unit_test(finding_what_is_not_finite))
