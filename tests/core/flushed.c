/* What a process keeps that takes denormal floats for zero (ATTN_TEST_FLUSH): they are numbers to whatever checks them,
 * copies them or saves them. Without it the same holds of itself. */
#include "attn/combine.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float of_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static const uint32_t denormals[] = {1, 0x1000, 0x7fffff};

static void softcaps_are_not_zero(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(denormals); i++) {
        attn_problem_t problem = fixture_problem(1, 1, 2, 3, 4, 5);
        problem.softcap = of_bits(denormals[i]);
        test_label("a softcap of %08x", (unsigned)denormals[i]);
        assert_true(attn_problem_features(&problem) & ATTN_FEATURE_SOFTCAP);
        fixture_refuse_plan(context, "linear", &problem, NULL, ATTN_ERROR_UNSUPPORTED, "softcap");
        problem.softcap = of_bits(0x80000000u | denormals[i]);
        fixture_refuse_plan(context, "softmax", &problem, NULL, ATTN_ERROR_RANGE,
                            "softcap|must be 0 or more");
    }
    attn_problem_t problem = fixture_problem(1, 1, 2, 3, 4, 5);
    problem.softcap = -0.0f; /* none */
    assert_false(attn_problem_features(&problem) & ATTN_FEATURE_SOFTCAP);
    attn_plan_destroy(fixture_plan(context, "linear", &problem, NULL));
    attn_context_destroy(context);
}

/* Rows of one part alone stay as they are, whatever the other part has. */
static void single_parts_stay(void **state) {
    (void)state;
    float some[4], others[4] = {1, 2, 3, 4}, lse[2] = {0.5f, -INFINITY}, out[4] = {7, 7, 7, 7};
    uint16_t half[4];
    for (int i = 0; i < 4; i++)
        some[i] = of_bits((uint32_t)(i % 2) << 31 | denormals[i % (int)TEST_COUNT(denormals)]);
    const attn_part_t parts[2] = {
        {attn_tensor_bhnd(others, 1, 1, 1, 4), attn_tensor_bhnd(lse + 1, 1, 1, 1, 1)},
        {attn_tensor_bhnd(some, 1, 1, 1, 4), attn_tensor_bhnd(lse, 1, 1, 1, 1)},
    };
    const attn_tensor_t whole = attn_tensor_bhnd(out, 1, 1, 1, 4);
    assert_int_equal(attn_combine(parts, 2, &whole, NULL, NULL), ATTN_OK);
    assert_memory_equal(out, some, sizeof some);
    const attn_tensor_t halves = attn_tensor_bhnd_of(ATTN_BF16, half, 1, 1, 1, 4);
    uint16_t expected[4];
    attn_from_f32(expected, ATTN_BF16, some, 4, NULL);
    assert_int_equal(attn_combine(parts, 2, &halves, NULL, NULL), ATTN_OK);
    assert_memory_equal(half, expected, sizeof half);
}

enum { TOKENS = 3, DIM = 4 };

static void restore_scale(attn_stream_t *stream, float scale, attn_status_t status) {
    int8_t bytes[TOKENS * DIM] = {1, 2, 3, -4};
    float scales[TOKENS];
    attn_error_t error = {0};
    attn_io_t io;
    attn_io_init(&io);
    for (int i = 0; i < TOKENS; i++) scales[i] = 1.0f;
    io.key = io.value = attn_tensor_bhnd_of(ATTN_I8, bytes, 1, 1, TOKENS, DIM);
    io.key_scales = io.value_scales = attn_tensor_bhnd(scales, 1, 1, TOKENS, 1);
    assert_int_equal(attn_stream_truncate(stream, 0, NULL), ATTN_OK);
    if (attn_stream_append(stream, &io, &error)) test_fail("%s", error.message);
    const uint64_t size = attn_stream_save(stream, NULL, 0);
    char *saved = malloc(size);
    assert_non_null(saved);
    attn_stream_save(stream, saved, size);
    memcpy(saved + size - sizeof scale, &scale, sizeof scale); /* the last value's */
    const attn_status_t got = attn_stream_restore(stream, saved, size, &error);
    if (got != status) test_fail("%s", got ? error.message : "was restored");
    free(saved);
}

/* A stream takes scales of i8 that are denormal, and takes them back; no scale is 0, negative or not finite. */
static void saved_scales(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "sparse"};
    attn_context_t *context = fixture_context(1);
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        attn_problem_t problem = fixture_problem(1, 1, 1, 1, DIM, DIM);
        attn_stream_t *stream = NULL;
        problem.kv_dtype = ATTN_I8;
        problem.causal = ATTN_CAUSAL_TOP_LEFT;
        test_label("a stream of %s", backends[b]);
        assert_int_equal(
            attn_stream_create(context, backends[b], &problem, NULL, 0, 8, &stream, NULL), ATTN_OK);
        for (size_t i = 0; i < TEST_COUNT(denormals); i++)
            restore_scale(stream, of_bits(denormals[i]), ATTN_OK);
        restore_scale(stream, 0.5f, ATTN_OK);
        static const float wrong[] = {0.0f, -0.0f, -1.0f, INFINITY, -INFINITY, NAN};
        for (size_t i = 0; i < TEST_COUNT(wrong); i++)
            restore_scale(stream, wrong[i], ATTN_ERROR_ARGUMENT);
        restore_scale(stream, of_bits(0x80000001u), ATTN_ERROR_ARGUMENT);
        attn_stream_destroy(stream);
    }
    attn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softcaps_are_not_zero),
        cmocka_unit_test(single_parts_stay),
        cmocka_unit_test(saved_scales),
    };
    if (!test_begin()) return TEST_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
