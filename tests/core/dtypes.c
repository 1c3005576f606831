/* Numbers that are no element type are an error wherever one is given, and nothing is read by them. */
#include "attn/oracle.h"
#include "support/fixture.h"
#include "support/test.h"
#include "support/typed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Around the list, far from it, and what a signed number may be. */
static const attn_dtype_t UNKNOWN[] = {0, -1, ATTN_I64 + 1, 99, INT32_MIN, INT32_MAX};

static const char *const BACKENDS[] = {"softmax", "linear", "sparse", "sketch"};

static void have_no_size(void **state) {
    (void)state;
    for (size_t u = 0; u < TEST_COUNT(UNKNOWN); u++) {
        assert_int_equal(attn_dtype_size(UNKNOWN[u]), 0);
        assert_string_equal(attn_dtype_name(UNKNOWN[u]), "?");
    }
}

/* The name of a field, and the number it holds. */
static const char *words_of(char text[48], const char *name, attn_dtype_t dtype) {
    snprintf(text, 48, "%s|%d", name, (int)dtype);
    return text;
}

static void make_no_problem(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t u = 0; u < TEST_COUNT(UNKNOWN); u++)
        for (int kv = 0; kv < 2; kv++) {
            char words[48];
            attn_problem_t problem = fixture_problem(1, 1, 4, 4, 8, 8);
            *(kv ? &problem.kv_dtype : &problem.dtype) = UNKNOWN[u];
            words_of(words, kv ? "kv_dtype" : "dtype", UNKNOWN[u]);
            test_label("%s", words);
            attn_error_t error = {0};
            fixture_expect(attn_problem_check(&problem, &error), &error, ATTN_ERROR_DTYPE, words);
            for (size_t b = 0; b < TEST_COUNT(BACKENDS); b++) {
                fixture_refuse_plan(context, BACKENDS[b], &problem, NULL, ATTN_ERROR_DTYPE, words);
                attn_stream_t *stream = NULL;
                error = (attn_error_t){0};
                fixture_expect(
                    attn_stream_create(context, BACKENDS[b], &problem, NULL, 0, 8, &stream, &error),
                    &error, ATTN_ERROR_DTYPE, words);
                assert_null(stream);
            }
        }
    attn_context_destroy(context);
}

/* A run's arrays, with what each is called in errors. */
typedef struct named {
    const char *name;
    attn_tensor_t *tensor;
} named_t;

static void make_no_array(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 3, 4, 8, 8);
    problem.kv_dtype = ATTN_I8;
    problem.inputs = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_SINKS |
                     ATTN_INPUT_SLOPES;
    static const int64_t rows[4] = {1, 2, 3, 8}, keys[4] = {1, 2, 4, 8}, grid[4] = {1, 2, 3, 4};
    static const int64_t one[4] = {1, 1, 1, 1}, heads[4] = {1, 2, 1, 1}, lses[4] = {1, 2, 3, 1};
    static const int64_t scales[4] = {1, 2, 4, 1};
    typed_t arrays[] = {
        typed_create(ATTN_F32, LAYOUT_BHND, rows),   typed_create(ATTN_I8, LAYOUT_BHND, keys),
        typed_create(ATTN_I8, LAYOUT_BHND, keys),    typed_create(ATTN_F32, LAYOUT_BHND, rows),
        typed_create(ATTN_F32, LAYOUT_BHND, lses),   typed_create(ATTN_F32, LAYOUT_BHND, grid),
        typed_create(ATTN_BOOL, LAYOUT_BHND, grid),  typed_create(ATTN_I64, LAYOUT_BHND, one),
        typed_create(ATTN_F32, LAYOUT_BHND, heads),  typed_create(ATTN_F32, LAYOUT_BHND, heads),
        typed_create(ATTN_F32, LAYOUT_BHND, scales), typed_create(ATTN_F32, LAYOUT_BHND, scales),
        typed_create(ATTN_F32, LAYOUT_BHND, grid)};
    attn_io_t io = {.struct_size = sizeof io};
    const named_t all[] = {{"query", &io.query},
                           {"key", &io.key},
                           {"value", &io.value},
                           {"out", &io.out},
                           {"lse", &io.lse},
                           {"bias", &io.bias},
                           {"mask", &io.mask},
                           {"kv_lengths", &io.kv_lengths},
                           {"sinks", &io.sinks},
                           {"slopes", &io.slopes},
                           {"key_scales", &io.key_scales},
                           {"value_scales", &io.value_scales},
                           {"scores", &io.scores}};
    for (size_t a = 0; a < TEST_COUNT(all); a++) {
        typed_fill(&arrays[a], a, 1);
        *all[a].tensor = arrays[a].tensor;
    }
    typed_set(&arrays[7], 0, 0, 0, 0, 4);
    for (int64_t h = 0; h < 2; h++)
        for (int64_t j = 0; j < 4; j++)
            typed_set(&arrays[10], 0, h, j, 0, 1), typed_set(&arrays[11], 0, h, j, 0, 1);
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, NULL);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = aligned_alloc(64, (size_t)(io.workspace_size + 63) / 64 * 64 + 64);
    assert_non_null(io.workspace);
    attn_error_t error = {0};
    if (attn_run(plan, &io, &error)) test_fail("attn_run: %s", error.message);
    for (size_t a = 0; a < TEST_COUNT(all); a++)
        for (size_t u = 0; u < TEST_COUNT(UNKNOWN); u++) {
            const attn_dtype_t good = all[a].tensor->dtype;
            test_label("%s of type %d", all[a].name, (int)UNKNOWN[u]);
            all[a].tensor->dtype = UNKNOWN[u];
            error = (attn_error_t){0};
            fixture_expect(attn_run(plan, &io, &error), &error, ATTN_ERROR_DTYPE, all[a].name);
            all[a].tensor->dtype = good;
        }
    free(io.workspace);
    for (size_t a = 0; a < TEST_COUNT(all); a++) typed_destroy(&arrays[a]);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

static void make_no_tokens(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 2, 2, 8, 8);
    attn_error_t error = {0};
    attn_stream_t *stream = NULL;
    assert_int_equal(attn_stream_create(context, "softmax", &problem, NULL, 0, 8, &stream, &error),
                     ATTN_OK);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (size_t u = 0; u < TEST_COUNT(UNKNOWN); u++) {
        attn_tensor_t wrong = arrays.io.key;
        wrong.dtype = UNKNOWN[u];
        test_label("tokens of type %d", (int)UNKNOWN[u]);
        error = (attn_error_t){0};
        attn_io_t io = {.struct_size = sizeof io, .key = wrong, .value = arrays.io.value};
        fixture_expect(attn_stream_append(stream, &io, &error), &error, ATTN_ERROR_DTYPE, "key");
        error = (attn_error_t){0};
        io.key = arrays.io.key, io.value = wrong;
        fixture_expect(attn_stream_append(stream, &io, &error), &error, ATTN_ERROR_DTYPE, "value");
        assert_int_equal(attn_stream_length(stream), 0);
        error = (attn_error_t){0};
        io = (attn_io_t){.struct_size = sizeof io, .query = wrong, .out = arrays.io.out};
        fixture_expect(attn_stream_query(stream, &io, &error), &error, ATTN_ERROR_DTYPE, "query");
    }
    arrays_destroy(&arrays);
    attn_stream_destroy(stream);
    attn_context_destroy(context);
}

/* One byte that says it is a thousand: an address sanitizer sees any read beside it. */
static void are_not_counted(void **state) {
    (void)state;
    char *byte = malloc(1);
    assert_non_null(byte);
    *byte = 0x7F;
    attn_tensor_t tensor = attn_tensor_bhnd_of(ATTN_I8, byte, 1, 1, 10, 100);
    for (size_t u = 0; u < TEST_COUNT(UNKNOWN); u++) {
        tensor.dtype = UNKNOWN[u];
        assert_int_equal(attn_count_nonfinite(&tensor), 0);
    }
    free(byte);
}

static void have_no_error(void **state) {
    (void)state;
    const attn_problem_t problem = fixture_problem(1, 2, 3, 4, 8, 8);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    array_fill_normal(&arrays.out, 9, 1);
    double scratch[4 + 8];
    attn_tensor_t *const tensors[] = {&arrays.io.query, &arrays.io.key, &arrays.io.value,
                                      &arrays.io.out};
    assert_true(attn_oracle_error(&problem, &arrays.io, 1, scratch) > 0);
    for (size_t t = 0; t < TEST_COUNT(tensors); t++)
        for (size_t u = 0; u < TEST_COUNT(UNKNOWN); u++) {
            test_label("array %zu of type %d", t, (int)UNKNOWN[u]);
            tensors[t]->dtype = UNKNOWN[u];
            const double error = attn_oracle_error(&problem, &arrays.io, 1, scratch);
            if (error != -1) test_fail("the oracle's error is %g", error);
            tensors[t]->dtype = ATTN_F32;
        }
    arrays_destroy(&arrays);
}

TEST_MAIN(cmocka_unit_test(have_no_size), cmocka_unit_test(make_no_problem),
          cmocka_unit_test(make_no_array), cmocka_unit_test(make_no_tokens),
          cmocka_unit_test(are_not_counted), cmocka_unit_test(have_no_error))
