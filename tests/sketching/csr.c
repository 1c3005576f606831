/* X as CSR: what is one, what is refused in words, and that all methods do with it what they do with dense X. */
#include "inputs.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, STORED = 5 };
static const int64_t starts[ROWS + 1] = {0, 2, 2, 5};
static const int32_t indices[STORED] = {1, 3, 0, 1, 9};
static const float data[STORED] = {1, -2, 0.5f, 0, 3};

static void refuse(int64_t rows, int64_t columns, const int64_t *s, const int32_t *i,
                   const float *values, const char *says) {
    const sketching_x_t x = {
        .rows = rows, .columns = columns, .starts = s, .indices = i, .data = values};
    attn_error_t error = {0};
    test_label("%s", says);
    assert_int_not_equal(sketching_check(&x, STORED, &error), ATTN_OK);
    if (!strstr(error.message, says)) test_fail("'%s'", error.message);
}

static void what_is_none_is_refused(void **state) {
    (void)state;
    const sketching_x_t good = {
        .rows = ROWS, .columns = 10, .starts = starts, .indices = indices, .data = data};
    assert_int_equal(sketching_check(&good, STORED, NULL), ATTN_OK);
    static const int64_t late[] = {1, 2, 2, 5}, falls[] = {0, 3, 2, 5}, far[] = {0, 2, 2, 6},
                         huge[] = {0, INT64_MAX, 2, 5}, few[] = {0, 2, 2, 4};
    static const int32_t swapped[] = {3, 1, 0, 1, 9}, twice[] = {1, 3, 0, 0, 9},
                         negative[] = {-1, 3, 0, 1, 9}, outside[] = {1, 3, 0, 1, 10};
    static const float nans[] = {1, 2, NAN, 0, 3}, infinite[] = {1, 2, 3, 0, -INFINITY};
    refuse(ROWS, 10, late, indices, data, "indptr: begins with 1, not 0");
    refuse(ROWS, 10, falls, indices, data, "indptr: falls from 3 to 2 after row 1");
    refuse(ROWS, 10, huge, indices, data, "indptr: falls from 9223372036854775807 to 2");
    refuse(ROWS, 10, far, indices, data, "indptr: ends with 6, there are 5 elements");
    refuse(ROWS, 10, few, indices, data, "indptr: ends with 4, there are 5 elements");
    refuse(ROWS, 10, starts, swapped, data, "row 0 has column 1 after 3: they have to ascend");
    refuse(ROWS, 10, starts, twice, data, "row 2 has column 0 after 0");
    refuse(ROWS, 10, starts, negative, data, "row 0 has column -1, must be 0 to 9");
    refuse(ROWS, 10, starts, outside, data, "row 2 has column 10, must be 0 to 9");
    refuse(ROWS, 10, starts, indices, nans, "X: element 2 is NaN");
    refuse(ROWS, 10, starts, indices, infinite, "X: element 4 is infinite in float32");
    refuse(0, 10, starts, indices, data, "X: 0 x 10");
    refuse(ROWS, 0, starts, indices, data, "X: 3 x 0");
    refuse(ROWS, SKETCHING_MOST_COLUMNS + 1, starts, indices, data, "2^31 are the most");
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    static const struct {
        sketching_options_t options;
        const char *says;
    } cases[] = {
        {{SKETCHING_GAUSSIAN, &algebra_plain, 0, 0.1, 5, 0, 0, 0},
         "eps is 0, has to be 0.001 to 0.999"},
        {{SKETCHING_GAUSSIAN, &algebra_plain, 1, 0.1, 5, 0, 0, 0}, "eps is 1"},
        {{SKETCHING_GAUSSIAN, &algebra_plain, NAN, 0.1, 5, 0, 0, 0}, "eps is"},
        {{SKETCHING_GAUSSIAN, &algebra_plain, 0.5, 0, 5, 0, 0, 0},
         "delta is 0, has to be 1e-06 to 0.999"},
        {{SKETCHING_LEVERAGE, &algebra_plain, 0.5, 1, 5, 0, 0, 0}, "delta is 1"},
        {{SKETCHING_GAUSSIAN, &algebra_plain, 0.5, 0.1, -1, 0, 0, 0},
         "size is -1, has to be 1 to 2^31"},
        {{SKETCHING_GAUSSIAN, &algebra_plain, 0.5, 0.1, (int64_t)1 << 40, 0, 0, 0},
         "has to be 1 to 2^31"},
        {{SKETCHING_APPROXIMATE, &algebra_plain, 0.5, 0.1, 5, 0, 0, 1.9},
         "factor is 1.9, has to be 2 to 1000"},
        {{SKETCHING_UNIFORM, &algebra_plain, 0.5, 0.1, 0, 0, 0, 0}, "it has to be given a size"},
        {{SKETCHING_DETERMINISTIC, &algebra_plain, 0.5, 0.1, 6, 0, 0, 0},
         "6 features are too few: deterministic takes more than the rank of X, 6"},
    };
    input_t input = input_create(INPUT_RANDOM, 6, 50, 0.05);
    sketching_features_t features;
    assert_true(sketching_features_create(&input.csr, &features));
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        sketching_result_t result;
        attn_error_t error = {0};
        test_label("%s", cases[c].says);
        const attn_status_t status =
            sketching_sketch(&features, &cases[c].options, &result, &error);
        assert_int_not_equal(status, ATTN_OK);
        if (!strstr(error.message, cases[c].says)) test_fail("'%s'", error.message);
        sketching_result_destroy(&result);
    }
    sketching_features_destroy(&features);
    input_destroy(&input);
}

static void zeros_have_no_sketch(void **state) {
    (void)state;
    static const int64_t none[] = {0, 0, 0, 0};
    static const float zeros[3 * 8] = {0};
    const sketching_x_t xs[] = {
        {.rows = 3, .columns = 8, .dense = zeros},
        {.rows = 3, .columns = 8, .starts = none, .indices = indices, .data = data}};
    for (int which = 0; which < 2; which++)
        for (int method = 0; method < SKETCHING_METHODS; method++) {
            const sketching_options_t options = {
                (enum sketching_method)method, &algebra_plain, 0.5, 0.1, 4, 0, 0, 0};
            sketching_features_t features;
            sketching_result_t result;
            attn_error_t error = {0};
            assert_true(sketching_features_create(&xs[which], &features));
            assert_int_equal(sketching_check(&xs[which], 0, NULL), ATTN_OK);
            assert_int_equal(sketching_sketch(&features, &options, &result, &error),
                             ATTN_ERROR_RANGE);
            assert_non_null(strstr(error.message, "rank 0"));
            sketching_result_destroy(&result);
            sketching_features_destroy(&features);
        }
}

/** The same Y, but for the order of sums, for all methods and kinds of X; the same features are kept. */
static void csr_is_what_dense_is(void **state) {
    (void)state;
    enum { LINES = 7, COLUMNS = 331, SIZE = 50 };
    for (int kind = 0; kind < INPUT_KINDS; kind++)
        for (int method = 0; method < SKETCHING_METHODS; method++)
            for (int lapack = 0; lapack < 2; lapack++) {
                input_t input = input_create((enum input_kind)kind, LINES, COLUMNS, 0.05);
                const sketching_options_t options = {.method = (enum sketching_method)method,
                                                     .solver =
                                                         lapack ? algebra_best() : &algebra_plain,
                                                     .eps = 0.5,
                                                     .delta = 0.1,
                                                     .size = SIZE,
                                                     .sparsity = kind,
                                                     .seed = 3};
                sketching_options_t plain = options;
                plain.solver = &algebra_plain;
                sketching_features_t dense, sparse;
                sketching_result_t a, b;
                test_label("%s, %s", sketching_names[method], input_names[kind]);
                assert_true(sketching_features_create(&input.x, &dense));
                assert_true(sketching_features_create(&input.csr, &sparse));
                assert_int_equal(sketching_sketch(&dense, &plain, &a, NULL), ATTN_OK);
                assert_int_equal(sketching_sketch(&sparse, &options, &b, NULL), ATTN_OK);
                assert_int_equal(a.size, b.size);
                if (a.kept) assert_memory_equal(a.kept, b.kept, (size_t)a.size * sizeof *a.kept);
                for (int64_t i = 0; i < LINES * a.size; i++)
                    if (!(fabs((double)a.y[i] - (double)b.y[i]) <= 0x1p-20))
                        test_fail("element %d: %g and %g", (int)i, (double)a.y[i], (double)b.y[i]);
                sketching_result_destroy(&a);
                sketching_result_destroy(&b);
                sketching_features_destroy(&dense);
                sketching_features_destroy(&sparse);
                input_destroy(&input);
            }
}

/** Of a CSR with few elements osnap draws theirs alone: the same as in a table of all. */
static void few_elements_draw_their_own(void **state) {
    (void)state;
    enum { LINES = 3, COLUMNS = 4096, COUNT = 5, SIZE = 24 };
    static const int64_t from[LINES + 1] = {0, 2, 2, COUNT};
    static const int32_t places[COUNT] = {0, 4095, 7, 1000, 4095};
    static const float values[COUNT] = {0.1f, -0.2f, 0.3f, 0.05f, 0.4f};
    static float x[LINES * COLUMNS];
    const sketching_x_t dense = {.rows = LINES, .columns = COLUMNS, .dense = x};
    const sketching_x_t csr = {LINES, COLUMNS, NULL, from, places, values};
    for (int64_t i = 0; i < LINES; i++)
        for (int64_t at = from[i]; at < from[i + 1]; at++) x[i * COLUMNS + places[at]] = values[at];
    for (int64_t sparsity = 1; sparsity <= 4; sparsity++) {
        const sketching_options_t options = {
            SKETCHING_OSNAP, &algebra_plain, 0.5, 0.1, SIZE, sparsity, 3, 0};
        const sketching_features_t forms[] = {{.x = &dense}, {.x = &csr}};
        sketching_result_t results[2];
        for (int form = 0; form < 2; form++)
            assert_int_equal(sketching_sketch(&forms[form], &options, &results[form], NULL),
                             ATTN_OK);
        assert_memory_equal(results[0].y, results[1].y, LINES * SIZE * sizeof(float));
        for (int form = 0; form < 2; form++) sketching_result_destroy(&results[form]);
    }
}

/**
 * The same features on every machine, of every tier and algebra, natively and in WebAssembly: here is which. (Of a
 * given X, whatever ATTN_TEST_SEED is.)
 */
static void features_are_the_same_everywhere(void **state) {
    (void)state;
    enum { LINES = 5, COLUMNS = 700, SIZE = 40 };
    static const struct {
        enum sketching_method method;
        int64_t sum; /* of (t + 1) kept[t] modulo a prime */
    } cases[] = {{SKETCHING_APPROXIMATE, 293481},
                 {SKETCHING_LEVERAGE, 293746},
                 {SKETCHING_UNIFORM, 298831},
                 {SKETCHING_DETERMINISTIC, 35430}};
    static float x[LINES * COLUMNS];
    for (int i = 0; i < LINES * COLUMNS; i++)
        x[i] = (float)((i * 7919 + i * i % 1009) % 2003 - 1001) / 4096 *
               (i % COLUMNS % 60 == 7 ? 8 : 1);
    const sketching_x_t dense = {.rows = LINES, .columns = COLUMNS, .dense = x};
    for (size_t c = 0; c < TEST_COUNT(cases); c++)
        for (int lapack = 0; lapack < 2; lapack++) {
            const sketching_options_t options = {cases[c].method,
                                                 lapack ? algebra_best() : &algebra_plain,
                                                 0.5,
                                                 0.1,
                                                 SIZE,
                                                 0,
                                                 11,
                                                 0};
            sketching_features_t features;
            sketching_result_t result;
            int64_t sum = 0;
            assert_true(sketching_features_create(&dense, &features));
            assert_int_equal(sketching_sketch(&features, &options, &result, NULL), ATTN_OK);
            for (int64_t t = 0; t < result.size; t++)
                sum = (sum + (t + 1) * result.kept[t]) % 999983;
            if (sum != cases[c].sum)
                test_fail("%s: %d features with the sum %d", sketching_names[cases[c].method],
                          (int)result.size, (int)sum);
            sketching_result_destroy(&result);
            sketching_features_destroy(&features);
        }
}

TEST_MAIN(cmocka_unit_test(what_is_none_is_refused), cmocka_unit_test(wrong_options_are_refused),
          cmocka_unit_test(zeros_have_no_sketch), cmocka_unit_test(csr_is_what_dense_is),
          cmocka_unit_test(few_elements_draw_their_own),
          cmocka_unit_test(features_are_the_same_everywhere))
