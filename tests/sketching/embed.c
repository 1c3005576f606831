/* Sparse embeddings: the draws of the backend, many at a time, and products with them by definition. */
#include "sketching/embed.h"
#include "attn/attn.h"
#include "inputs.h"
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
                    attn_sketching_kernels(tiers[t])->draw(many, &part, sparsity);
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
    float *turned = room(ROWS * COLUMNS, sizeof *turned),
          *result = room(SIZE * ROWS, sizeof *result);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) turned[j * ROWS + i] = input.x.dense[i * COLUMNS + j];
    for (size_t i = 0; i < TEST_COUNT(sparsities); i++) {
        const sketching_embedding_t s = {SIZE, sparsities[i], test_seed()};
        test_label("%lld entries", (long long)sparsities[i]);
        assert_true(sketching_embed_rows(&s, turned, COLUMNS, ROWS, result));
        check_product(&s, turned, COLUMNS, ROWS, result);
        for (int way = 0; way < 2; way++) {
            sketching_features_t features;
            assert_true(sketching_features_create(way ? &input.csr : &input.x, &features));
            assert_true(sketching_embed_features(&s, &features, result));
            check_product(&s, turned, COLUMNS, ROWS, result);
            sketching_features_destroy(&features);
        }
    }
    free(turned);
    free(result);
    input_destroy(&input);
}

TEST_MAIN(cmocka_unit_test(kernels_draw_the_same), cmocka_unit_test(products_are_by_definition))
