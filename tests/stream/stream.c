/* Streams: what a batch plan gives, token by token; forks, truncation, saving. */
#include "support/test.h"
#include "tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One by one and many at a time, over several growths. */
static void walk(const attn_context_t *context, const attn_problem_t *problem) {
    static const int64_t pieces[] = {1, 1, 3, 60, 1, 70, 1, 13};
    tape_t tape = tape_create(context, problem, 1000);
    int64_t length = 0;
    for (size_t i = 0; i < TEST_COUNT(pieces); i++) {
        tape_append(&tape, tape.stream, length, pieces[i]);
        length += pieces[i];
        tape_expect_batch(context, &tape, tape.stream, length, 1);
        tape_expect_batch(context, &tape, tape.stream, length, length < 21 ? length : 21);
    }
    tape_destroy(&tape);
}

static void equals_the_batch_plan(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    static const struct {
        const char *name;
        attn_dtype_t dtype, kv_dtype;
    } types[] = {{"f32", ATTN_F32, ATTN_F32},
                 {"f16", ATTN_F16, ATTN_F16},
                 {"bf16", ATTN_BF16, ATTN_BF16},
                 {"f32 over i8", ATTN_F32, ATTN_I8}};
    for (size_t t = 0; t < TEST_COUNT(types); t++)
        for (int rule = 0; rule < 4; rule++) {
            test_label("%s, rule %d", types[t].name, rule);
            attn_problem_t problem = tape_problem(150);
            problem.dtype = types[t].dtype;
            problem.kv_dtype = types[t].kv_dtype;
            problem.causal = rule == 0 ? ATTN_CAUSAL_NONE : ATTN_CAUSAL_TOP_LEFT;
            if (rule == 2) problem.window_left = 9;
            if (rule == 3) problem.softcap = 2.5f, problem.scale = 0.3f;
            walk(context, &problem);
        }
    attn_context_destroy(context);
}

static void an_empty_stream_gives_zeros(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = tape_problem(3);
    tape_t tape = tape_create(context, &problem, 10);
    assert_int_equal(attn_stream_length(tape.stream), 0);
    for (int round = 0; round < 2; round++) {
        answer_t answer = tape_ask(&tape, tape.stream, 0, 2);
        for (int64_t h = 0; h < 4; h++)
            for (int64_t i = 0; i < 2; i++) {
                assert_true(typed_get(&answer.lse.tensor, 1, h, i, 0) == (double)-INFINITY);
                for (int64_t c = 0; c < 11; c++)
                    assert_true(typed_get(&answer.out.tensor, 1, h, i, c) == 0);
            }
        answer_destroy(&answer);
        tape_append(&tape, tape.stream, 0, 3);
        assert_int_equal(attn_stream_truncate(tape.stream, 0, NULL), ATTN_OK);
    }
    tape_destroy(&tape);
    attn_context_destroy(context);
}

/** Of 5 queries over 2 tokens 3 stand before the first: they see what their rule lets them see. */
static void more_queries_than_tokens(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int sees = 0; sees < 2; sees++) {
        attn_problem_t problem = tape_problem(5);
        problem.causal = sees ? ATTN_CAUSAL_NONE : ATTN_CAUSAL_BOTTOM_RIGHT;
        tape_t tape = tape_create(context, &problem, 10);
        tape_append(&tape, tape.stream, 0, 2);
        answer_t answer = tape_ask(&tape, tape.stream, 0, 5);
        for (int64_t h = 0; h < 4; h++)
            for (int64_t i = 0; i < 5; i++) {
                const int any = sees || i >= 3;
                test_label("sees %d, head %d, query %d", sees, (int)h, (int)i);
                assert_true(isfinite(typed_get(&answer.lse.tensor, 1, h, i, 0)) == any);
                assert_true((typed_get(&answer.out.tensor, 1, h, i, 0) != 0) == any);
            }
        answer_destroy(&answer);
        tape_destroy(&tape);
    }
    attn_context_destroy(context);
}

static void forks_are_independent(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = tape_problem(120);
    problem.kv_dtype = ATTN_I8;
    tape_t tape = tape_create(context, &problem, 200);
    attn_stream_t *empty = NULL, *fork = NULL;
    assert_int_equal(attn_stream_fork(tape.stream, &empty, NULL), ATTN_OK);
    assert_int_equal(attn_stream_length(empty), 0);
    tape_append(&tape, tape.stream, 0, 40);
    tape_expect_batch(context, &tape, tape.stream, 40, 5);
    assert_int_equal(attn_stream_fork(tape.stream, &fork, NULL), ATTN_OK);
    tape_append(&tape, fork, 40, 80);
    tape_expect_batch(context, &tape, fork, 120, 5);
    tape_expect_batch(context, &tape, tape.stream, 40, 5);
    assert_int_equal(attn_stream_truncate(tape.stream, 7, NULL), ATTN_OK);
    tape_append(&tape, empty, 0, 12);
    attn_stream_destroy(tape.stream);
    tape.stream = NULL;
    tape_expect_batch(context, &tape, fork, 120, 3);
    tape_expect_batch(context, &tape, empty, 12, 3);
    attn_stream_destroy(fork);
    attn_stream_destroy(empty);
    tape_destroy(&tape);
    attn_context_destroy(context);
}

static void truncated_tokens_are_forgotten(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = tape_problem(90);
    tape_t tape = tape_create(context, &problem, 100);
    tape_append(&tape, tape.stream, 0, 30);
    tape_append(&tape, tape.stream, 50, 40); /* not what comes next on the tape */
    assert_int_equal(attn_stream_truncate(tape.stream, 30, NULL), ATTN_OK);
    tape_expect_batch(context, &tape, tape.stream, 30, 4);
    tape_append(&tape, tape.stream, 30, 60);
    tape_expect_batch(context, &tape, tape.stream, 90, 4);
    attn_error_t error = {0};
    test_label("truncate");
    fixture_expect(attn_stream_truncate(tape.stream, 91, &error), &error, ATTN_ERROR_RANGE,
                   "90|91");
    fixture_expect(attn_stream_truncate(tape.stream, -1, &error), &error, ATTN_ERROR_RANGE, "-1");
    tape_expect_batch(context, &tape, tape.stream, 90, 1);
    tape_destroy(&tape);
    attn_context_destroy(context);
}

/* ---- save and restore ------------------------------------------------------------------------------ */

static char *saved(const attn_stream_t *stream, uint64_t *size) {
    *size = attn_stream_save(stream, NULL, 0);
    char *bytes = malloc((size_t)*size);
    assert_non_null(bytes);
    memset(bytes, 0x5A, (size_t)*size);
    assert_int_equal(attn_stream_save(stream, bytes, *size - 1), *size); /* too small: untouched */
    for (uint64_t i = 0; i < *size; i++) assert_int_equal(bytes[i], 0x5A);
    assert_int_equal(attn_stream_save(stream, bytes, *size), *size);
    return bytes;
}

static void a_saved_stream_comes_back(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int quantised = 0; quantised < 2; quantised++) {
        attn_problem_t problem = tape_problem(100);
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (quantised) problem.kv_dtype = ATTN_I8;
        tape_t tape = tape_create(context, &problem, 100);
        tape_append(&tape, tape.stream, 0, 77);
        uint64_t size;
        char *bytes = saved(tape.stream, &size);
        attn_stream_t *other = tape_open(context, &problem, 100);
        tape_append(&tape, other, 90, 5); /* is replaced */
        assert_int_equal(attn_stream_restore(other, bytes, size, NULL), ATTN_OK);
        tape_expect_batch(context, &tape, other, 77, 6);
        tape_append(&tape, other, 77, 23);
        tape_expect_batch(context, &tape, other, 100, 6);
        attn_stream_destroy(other);
        free(bytes);

        assert_int_equal(attn_stream_truncate(tape.stream, 0, NULL), ATTN_OK);
        bytes = saved(tape.stream, &size);
        tape_append(&tape, tape.stream, 0, 9);
        assert_int_equal(attn_stream_restore(tape.stream, bytes, size, NULL), ATTN_OK);
        assert_int_equal(attn_stream_length(tape.stream), 0);
        free(bytes);
        tape_destroy(&tape);
    }
    attn_context_destroy(context);
}

static void refuse(attn_stream_t *stream, const void *bytes, uint64_t size, attn_status_t status,
                   const char *words) {
    attn_error_t error = {0};
    fixture_expect(attn_stream_restore(stream, bytes, size, &error), &error, status, words);
}

static void what_is_no_saved_stream_changes_nothing(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = tape_problem(40);
    problem.kv_dtype = ATTN_I8;
    tape_t tape = tape_create(context, &problem, 40);
    tape_append(&tape, tape.stream, 0, 30);
    uint64_t size;
    char *bytes = saved(tape.stream, &size);

    test_label("cut off");
    for (uint64_t cut = 0; cut < size; cut += cut < 70 ? 1 : 97)
        refuse(tape.stream, bytes, cut, ATTN_ERROR_ARGUMENT, "bytes");
    test_label("too long");
    char *longer = calloc(1, (size_t)size + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, (size_t)size);
    refuse(tape.stream, longer, size + 1, ATTN_ERROR_ARGUMENT, "30");
    test_label("garbage");
    memset(longer, 0xC3, (size_t)size);
    refuse(tape.stream, longer, size, ATTN_ERROR_ARGUMENT, "no saved stream");
    test_label("a length below 0, and one past all memory");
    for (int i = 0; i < 2; i++) {
        const int64_t lengths[] = {-1, INT64_MAX};
        memcpy(longer, bytes, (size_t)size);
        memcpy(longer + 48, &lengths[i], sizeof lengths[i]); /* after the magic and five numbers */
        refuse(tape.stream, longer, size, i ? ATTN_ERROR_RANGE : ATTN_ERROR_ARGUMENT, "stream");
    }
    test_label("a scale of zero");
    memcpy(longer, bytes, (size_t)size);
    memset(longer + size - sizeof(float), 0, sizeof(float));
    refuse(tape.stream, longer, size, ATTN_ERROR_RANGE, "scale");
    test_label("nothing");
    refuse(tape.stream, NULL, 0, ATTN_ERROR_ARGUMENT, "null");
    tape_expect_batch(context, &tape, tape.stream, 30, 2);

    test_label("more than max_keys");
    attn_stream_t *small = tape_open(context, &problem, 29);
    refuse(small, bytes, size, ATTN_ERROR_RANGE, "30|29");
    attn_stream_destroy(small);
    test_label("another shape, another type");
    for (int i = 0; i < 5; i++) {
        attn_problem_t other = problem;
        if (i == 0) other.dim++;
        if (i == 1) other.value_dim--;
        if (i == 2) other.kv_heads = 4;
        if (i == 3) other.batch = 1;
        if (i == 4) other.kv_dtype = ATTN_F32;
        attn_stream_t *stream = tape_open(context, &other, 40);
        refuse(stream, bytes, size, ATTN_ERROR_SHAPE, "shape");
        assert_int_equal(attn_stream_length(stream), 0);
        attn_stream_destroy(stream);
    }
    free(longer);
    free(bytes);
    tape_destroy(&tape);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_the_batch_plan), cmocka_unit_test(an_empty_stream_gives_zeros),
          cmocka_unit_test(more_queries_than_tokens), cmocka_unit_test(forks_are_independent),
          cmocka_unit_test(truncated_tokens_are_forgotten),
          cmocka_unit_test(a_saved_stream_comes_back),
          cmocka_unit_test(what_is_no_saved_stream_changes_nothing))
