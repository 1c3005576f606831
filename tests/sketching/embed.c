/* Sparse embeddings: the draws of the backend, many at a time, and products with them by definition. */
#include "sketching/embed.h"
#include "attn/attn.h"
#include "attn/random.h"
#include "inputs.h"
#include "sketch/approximate.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

static void *room(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    assert_non_null(memory);
    return memory;
}

static const int64_t sparsities[] = {1, 3, 4, 5, 8, 64};

/** Each tier draws what attn_sketch_osnap() does, from any feature on, to the bit. */
static void kernels_draw_the_same(void **state) {
    (void)state;
    enum { COUNT = 200, MOST = COUNT * ATTN_SKETCH_MOST_SPARSITY };
    static const int64_t firsts[] = {0, 7, INT64_C(4294967290)}, sizes[] = {64, 100, INT32_MAX};
    attn_tier_t tiers[16];
    const uint32_t tier_count = attn_available_tiers(tiers, 16);
    attn_sketch_entry_t *one = room(MOST, sizeof *one), *many = room(MOST, sizeof *many);
    for (size_t f = 0; f < TEST_COUNT(firsts); f++)
        for (size_t k = 0; k < TEST_COUNT(sizes); k++)
            for (size_t i = 0; i < TEST_COUNT(sparsities); i++) {
                const attn_sketch_part_t part = {firsts[f], COUNT, sizes[k], test_seed()};
                const int64_t sparsity = sparsities[i];
                test_label("from %lld, size %lld, %lld", (long long)firsts[f], (long long)sizes[k],
                           (long long)sparsity);
                attn_sketch_osnap(one, &part, sparsity);
                for (uint32_t t = 0; t < tier_count; t++) {
                    attn_embedding_kernels(tiers[t])->draw(many, &part, sparsity);
                    assert_memory_equal(one, many, (size_t)(COUNT * sparsity) * sizeof *one);
                }
            }
    free(one);
    free(many);
}

/** result[t][c] = sum of w a over the entries in t, within the rounding of as many terms in float. */
static void check_product(const sketching_embedding_t *s, const float *a, int64_t rows,
                          int64_t columns, const float *result) {
    const attn_sketch_part_t all = {0, rows, s->size, s->seed};
    attn_sketch_entry_t *entries = room(rows * s->sparsity, sizeof *entries);
    double *sum = room(s->size * columns, sizeof *sum),
           *size = room(s->size * columns, sizeof *sum);
    attn_sketch_osnap(entries, &all, s->sparsity);
    for (int64_t j = 0; j < rows; j++)
        for (int64_t i = 0; i < s->sparsity; i++)
            for (int64_t c = 0; c < columns; c++) {
                const attn_sketch_entry_t *entry = entries + j * s->sparsity + i;
                const double term = (double)entry->weight * (double)a[j * columns + c];
                sum[entry->column * columns + c] += term;
                size[entry->column * columns + c] += fabs(term);
            }
    for (int64_t i = 0; i < s->size * columns; i++)
        assert_true(fabs((double)result[i] - sum[i]) <= (double)(rows + 2) * 0x1p-24 * size[i]);
    free(entries);
    free(sum);
    free(size);
}

static void products_are_by_definition(void **state) {
    (void)state;
    enum { ROWS = 37, COLUMNS = 700, SIZE = 64 };
    input_t input = input_create(INPUT_SPARSE, ROWS, COLUMNS, 0.05);
    enum { PANELS = (ROWS + ATTN_EMBED_ROWS - 1) / ATTN_EMBED_ROWS * ATTN_EMBED_ROWS };
    float *turned = room(ROWS * COLUMNS, sizeof *turned),
          *panels = room(SIZE * PANELS, sizeof *panels),
          *result = room(SIZE * ROWS, sizeof *result);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) turned[j * ROWS + i] = input.x.dense[i * COLUMNS + j];
    for (size_t i = 0; i < TEST_COUNT(sparsities); i++) {
        const sketching_embedding_t s = {SIZE, sparsities[i], test_seed(), 0};
        test_label("%lld entries", (long long)sparsities[i]);
        assert_true(sketching_embed_rows(&s, turned, COLUMNS, ROWS, result));
        check_product(&s, turned, COLUMNS, ROWS, result);
        for (int way = 0; way < 2; way++) {
            sketching_features_t features;
            assert_true(sketching_features_create(way ? &input.csr : &input.x, &features));
            assert_true(sketching_embed_features(&s, &features, panels));
            for (int64_t t = 0; t < SIZE; t++)
                for (int64_t c = 0; c < PANELS; c++) {
                    const float sum = panels[attn_embed_panel(SIZE, c) + t * ATTN_EMBED_ROWS];
                    if (c < ROWS) result[t * ROWS + c] = sum;
                    assert_true(c < ROWS || sum == 0);
                }
            check_product(&s, turned, COLUMNS, ROWS, result);
            sketching_features_destroy(&features);
        }
    }
    free(turned);
    free(panels);
    free(result);
    input_destroy(&input);
}

static float normal(uint64_t stream, int64_t at) {
    return (float)attn_random_normal(test_seed(), stream, (uint64_t)at);
}

enum { TERMS = 19, FACTORS = 24 };

static int64_t place(int r, int c) {
    enum { C = ATTN_EMBED_COLUMNS };
    return (c / C * TERMS + r) * C + c % C;
}

/* Two operations a term and a square, each rounded, of sums of TERMS and FACTORS of them. */
static void check_squares(const float *x, int64_t width, const float *n, const double *squares) {
    for (int64_t f = 0; f < width; f++) {
        double square = 0, bound = 0;
        for (int c = 0; c < FACTORS; c++) {
            double sum = 0, absolute = 0;
            for (int r = 0; r < TERMS; r++) {
                const double term = (double)x[r * width + f] * (double)n[place(r, c)];
                sum += term;
                absolute += fabs(term);
            }
            square += sum * sum;
            bound += absolute * absolute;
        }
        assert_true(fabs(squares[f] - square) <= (2 * TERMS + FACTORS + 4) * 0x1p-24 * bound);
    }
}

/** Squares of x_j^T N, N a triangle or full, by definition and on every tier to the bit. */
static void squares_are_by_definition(void **state) {
    (void)state;
    enum { MOST = 3 * ATTN_EMBED_COPIED };
    static const int64_t widths[] = {1, 15, 33, ATTN_EMBED_COPIED, MOST};
    static float x[TERMS * MOST], copy[TERMS * ATTN_EMBED_COPIED];
    attn_tier_t tiers[16];
    const uint32_t tier_count = attn_available_tiers(tiers, 16);
    for (int i = 0; i < TERMS * MOST; i++) x[i] = normal(3, i);
    for (int is_triangle = 0; is_triangle < 2; is_triangle++) {
        float n[TERMS * FACTORS] = {0};
        int32_t last[FACTORS];
        for (int c = 0; c < FACTORS; c++) {
            last[c] = is_triangle && c < TERMS ? c : TERMS - 1;
            for (int r = 0; r <= last[c]; r++) n[place(r, c)] = normal(2, c * TERMS + r);
        }
        for (size_t k = 0; k < TEST_COUNT(widths); k++) {
            const int64_t width = widths[k];
            double first[MOST], result[MOST];
            for (uint32_t t = 0; t < tier_count; t++) {
                double *to = t ? result : first;
                test_label("%s, %lld features, tier %u", is_triangle ? "triangle" : "full",
                           (long long)width, (unsigned)t);
                attn_embedding_kernels(tiers[t])->squares(x, width, width, n, TERMS, last, FACTORS,
                                                          copy, to);
                assert_memory_equal(to, first, (size_t)width * sizeof *first);
            }
            check_squares(x, width, n, first);
        }
    }
}

/** A tile of a Gram matrix, on every tier to the bit; a product and a sum in float for each term. */
static void gram_is_by_definition(void **state) {
    (void)state;
    enum { COUNT = 37, R = ATTN_EMBED_ROWS };
    float a[COUNT * R], b[COUNT * R];
    double first[R * R], tile[R * R];
    attn_tier_t tiers[16];
    const uint32_t tier_count = attn_available_tiers(tiers, 16);
    for (int i = 0; i < COUNT * R; i++) a[i] = normal(4, i), b[i] = normal(5, i);
    for (uint32_t t = 0; t < tier_count; t++) {
        double *to = t ? tile : first;
        test_label("tier %u", (unsigned)t);
        for (int i = 0; i < R * R; i++) to[i] = i;
        attn_embedding_kernels(tiers[t])->gram(a, b, COUNT, to);
        assert_memory_equal(to, first, sizeof first);
    }
    for (int i = 0; i < R * R; i++) {
        double sum = 0, absolute = 0;
        for (int t = 0; t < COUNT; t++) {
            const double term = (double)a[t * R + i / R] * (double)b[t * R + i % R];
            sum += term;
            absolute += fabs(term);
        }
        assert_true(fabs(first[i] - i - sum) <= (COUNT + 2) * 0x1p-24 * absolute);
    }
}

/** A row of a matrix without its part in those above it, on every tier to the bit. */
static void elimination_is_by_definition(void **state) {
    (void)state;
    enum { STRIDE = 23, MOST = 9 };
    double above[MOST * STRIDE], first[STRIDE], row[STRIDE];
    attn_tier_t tiers[16];
    const uint32_t tier_count = attn_available_tiers(tiers, 16);
    for (int i = 0; i < MOST * STRIDE; i++) above[i] = (double)normal(6, i);
    for (int64_t terms = 0; terms <= MOST; terms++) {
        for (uint32_t t = 0; t < tier_count; t++) {
            double *to = t ? row : first;
            test_label("%d terms, tier %u", (int)terms, (unsigned)t);
            for (int i = 0; i < STRIDE; i++) to[i] = i;
            attn_embedding_kernels(tiers[t])->eliminate(to, above, STRIDE, terms, STRIDE - 1);
            assert_memory_equal(to, first, sizeof first);
        }
        for (int i = 0; i < STRIDE; i++) {
            double expected = i, absolute = i;
            for (int64_t k = 0; k < terms && i < STRIDE - 1; k++) {
                expected -= above[k * STRIDE] * above[k * STRIDE + i];
                absolute += fabs(above[k * STRIDE] * above[k * STRIDE + i]);
            }
            assert_true(fabs(first[i] - expected) <= (double)(2 * terms + 2) * 0x1p-53 * absolute);
        }
    }
}

/** What confirms an embedding has no word of its draws, nor of another check's: else it would not be independent. */
static void embeddings_share_no_word(void **state) {
    (void)state;
    static const int64_t rows[] = {1, 8, 64, 148, 400}, columns[] = {200, 5000, 65536, 1000000};
    static const double factors[] = {2, 3, 16, 360}, deltas[] = {0.5, 0.1, 1e-6};
    for (int64_t c = 0; c < 5 * 4 * 4 * 3; c++) {
        const int64_t d = columns[c / 12 % 4];
        const attn_scores_way_t way =
            attn_scores_way(rows[c / 48], d, factors[c / 3 % 4], deltas[c % 3]);
        int64_t end = 0; /* of the words so far */
        test_label("n %d, d %d, F %g, delta %g", (int)rows[c / 48], (int)d, factors[c / 3 % 4],
                   deltas[c % 3]);
        for (int64_t k = 0; k <= way.checks; k++) {
            const attn_embedding_t s = attn_scores_embedding(&way, d, 7, k);
            assert_int_equal(s.size, k ? way.check_size : way.size);
            assert_true(s.first * s.sparsity >= end);
            end = (s.first + d) * s.sparsity;
        }
    }
}

TEST_MAIN(cmocka_unit_test(embeddings_share_no_word), cmocka_unit_test(kernels_draw_the_same),
          cmocka_unit_test(products_are_by_definition), cmocka_unit_test(squares_are_by_definition),
          cmocka_unit_test(gram_is_by_definition), cmocka_unit_test(elimination_is_by_definition))
