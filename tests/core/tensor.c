/* Views of memory: any element type, inputs that are const, extents that fit in no memory. */
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, QUERIES = 3, KEYS = 5, DIM = 6, VALUE_DIM = 7 };

static void layouts(void **state) {
    (void)state;
    const float numbers[1] = {0};
    const attn_tensor_t head_major = attn_tensor_bhnd(numbers, 2, 3, 5, 7);
    const attn_tensor_t token_major = attn_tensor_bnhd_of(ATTN_BF16, numbers, 2, 3, 5, 7);
    static const int64_t shape[] = {2, 3, 5, 7};
    static const int64_t strides[][4] = {{105, 35, 7, 1}, {105, 7, 21, 1}};
    assert_memory_equal(head_major.shape, shape, sizeof shape);
    assert_memory_equal(token_major.shape, shape, sizeof shape);
    assert_memory_equal(head_major.stride, strides[0], sizeof strides[0]);
    assert_memory_equal(token_major.stride, strides[1], sizeof strides[1]);
    assert_ptr_equal(head_major.data, numbers);
    assert_int_equal(head_major.dtype, ATTN_F32);
    assert_int_equal(token_major.dtype, ATTN_BF16);
}

static void fill(float *numbers, int count, uint64_t stream) {
    for (int i = 0; i < count; i++)
        numbers[i] =
            (float)((double)fixture_draw(stream * 1000 + (uint64_t)i, 2001) / 1000.0 - 1.0);
}

/* A run with what the helpers make, and one whose arrays are written out in f32. */
static void helpers_make_the_arrays_of_a_run(void **state) {
    (void)state;
    enum { Q = BATCH * HEADS * QUERIES * DIM, TOKENS = BATCH * KV_HEADS * KEYS };
    float query[Q], key[TOKENS * DIM], value[TOKENS * VALUE_DIM], scales[2][TOKENS];
    float out[BATCH * HEADS * QUERIES * VALUE_DIM];
    int8_t keys[TOKENS * DIM], values[TOKENS * VALUE_DIM];
    uint16_t halves[Q], answers[BATCH * HEADS * QUERIES * VALUE_DIM];
    const int64_t lengths[BATCH] = {2, 5};
    const float sinks[HEADS] = {0.1f, -1.0f, 0.5f, 2.0f};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(BATCH, HEADS, QUERIES, KEYS, DIM, VALUE_DIM);
    _Alignas(ATTN_ALIGNMENT) static char workspace[1 << 20];
    fill(query, Q, 1), fill(key, TOKENS * DIM, 2), fill(value, TOKENS * VALUE_DIM, 3);
    assert_int_equal(attn_quantise_i8(keys, scales[0], key, TOKENS, DIM, NULL), ATTN_OK);
    assert_int_equal(attn_quantise_i8(values, scales[1], value, TOKENS, VALUE_DIM, NULL), ATTN_OK);
    assert_int_equal(attn_from_f32(halves, ATTN_F16, query, Q, NULL), ATTN_OK);

    problem.kv_heads = KV_HEADS;
    problem.dtype = ATTN_F16;
    problem.kv_dtype = ATTN_I8;
    problem.inputs = ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_SINKS;
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, NULL);
    attn_io_t io;
    attn_io_init(&io);
    io.query = attn_tensor_bhnd_of(ATTN_F16, halves, BATCH, HEADS, QUERIES, DIM);
    io.key = attn_tensor_bhnd_of(ATTN_I8, keys, BATCH, KV_HEADS, KEYS, DIM);
    io.value = attn_tensor_bhnd_of(ATTN_I8, values, BATCH, KV_HEADS, KEYS, VALUE_DIM);
    io.key_scales = attn_tensor_bhnd(scales[0], BATCH, KV_HEADS, KEYS, 1);
    io.value_scales = attn_tensor_bhnd(scales[1], BATCH, KV_HEADS, KEYS, 1);
    io.kv_lengths = attn_tensor_lengths(lengths, BATCH);
    io.sinks = attn_tensor_heads(sinks, HEADS);
    io.out = attn_tensor_bhnd_of(ATTN_F16, answers, BATCH, HEADS, QUERIES, VALUE_DIM);
    io.workspace = workspace, io.workspace_size = sizeof workspace;
    attn_error_t error = {0};
    if (attn_run(plan, &io, &error)) test_fail("%s", error.message);
    attn_plan_destroy(plan);

    for (int i = 0; i < TOKENS; i++) {
        for (int c = 0; c < DIM; c++) key[i * DIM + c] = scales[0][i] * (float)keys[i * DIM + c];
        for (int c = 0; c < VALUE_DIM; c++)
            value[i * VALUE_DIM + c] = scales[1][i] * (float)values[i * VALUE_DIM + c];
    }
    assert_int_equal(attn_to_f32(query, halves, ATTN_F16, Q, NULL), ATTN_OK);
    problem.dtype = problem.kv_dtype = ATTN_F32;
    plan = fixture_plan(context, "softmax", &problem, NULL);
    io.query = attn_tensor_bhnd(query, BATCH, HEADS, QUERIES, DIM);
    io.key = attn_tensor_bhnd(key, BATCH, KV_HEADS, KEYS, DIM);
    io.value = attn_tensor_bhnd(value, BATCH, KV_HEADS, KEYS, VALUE_DIM);
    io.key_scales.data = io.value_scales.data = NULL;
    io.out = attn_tensor_bhnd(out, BATCH, HEADS, QUERIES, VALUE_DIM);
    if (attn_run(plan, &io, &error)) test_fail("%s", error.message);
    for (int i = 0; i < BATCH * HEADS * QUERIES * VALUE_DIM; i++) {
        float answer;
        assert_int_equal(attn_to_f32(&answer, &answers[i], ATTN_F16, 1, NULL), ATTN_OK);
        /* Values are below 1.01: half a unit of f16 there, and some dozen roundings of f32. */
        if (!(fabsf(answer - out[i]) <= 0x1p-11f + 64.0f * 0x1p-24f))
            test_fail("out %d: %g in f16, %g in f32", i, (double)answer, (double)out[i]);
    }
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

/* Extents whose product overflows: defined, and refused by every call. */
static void extents_beyond_memory(void **state) {
    (void)state;
    static const int64_t extents[][4] = {{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
                                         {1, 1, INT64_C(1) << 32, INT64_C(1) << 32},
                                         {1, INT64_C(1) << 62, 2, 2},
                                         {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN},
                                         {-1, INT64_MAX, -3, INT64_MAX}};
    static attn_tensor_t (*const makers[])(attn_dtype_t, const void *, int64_t, int64_t, int64_t,
                                           int64_t) = {attn_tensor_bhnd_of, attn_tensor_bnhd_of};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, NULL);
    float numbers[4] = {0}, answer = 0;
    for (size_t i = 0; i < TEST_COUNT(extents); i++)
        for (size_t m = 0; m < TEST_COUNT(makers); m++) {
            const int64_t *e = extents[i];
            attn_io_t io;
            attn_error_t error = {0};
            attn_io_init(&io);
            io.query = makers[m](ATTN_F32, numbers, e[0], e[1], e[2], e[3]);
            io.key = io.value = attn_tensor_bhnd(numbers, 1, 1, 1, 1);
            io.out = attn_tensor_bhnd(&answer, 1, 1, 1, 1);
            test_label("extents %zu, maker %zu", i, m);
            assert_memory_equal(io.query.shape, e, sizeof io.query.shape);
            fixture_expect(attn_check(plan, &io, &error), &error, ATTN_ERROR_SHAPE, "query|shape");
            io.lse = io.query;
            io.query = io.key;
            fixture_expect(attn_check(plan, &io, &error), &error, ATTN_ERROR_SHAPE, "lse|shape");
        }
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

static void an_io_without_arrays(void **state) {
    (void)state;
    attn_io_t io;
    memset(&io, 0xff, sizeof io);
    attn_io_init(&io);
    assert_int_equal(io.struct_size, sizeof io);
    for (uint32_t i = 0; i < ATTN_ARRAY_OWN; i++) assert_null(attn_io_array(&io, i)->data);
    assert_null(io.workspace);
    assert_null(io.report);
    assert_null(io.own);
    assert_int_equal(io.own_count, 0);
    attn_io_init(NULL);
}

TEST_MAIN(cmocka_unit_test(layouts), cmocka_unit_test(helpers_make_the_arrays_of_a_run),
          cmocka_unit_test(extents_beyond_memory), cmocka_unit_test(an_io_without_arrays))
