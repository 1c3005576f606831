/* Streams of all backends: what is saved comes back, and damaged bytes change nothing. */
#include "support/test.h"
#include "tape.h"

#include <stdlib.h>
#include <string.h>

#define FOR_EACH_SUBJECT(subject)                                                                  \
    for (const subject_t *subject = tape_next_subject(context, NULL); subject;                     \
         subject = tape_next_subject(context, subject))

static void label(const subject_t *subject, const char *what) {
    test_label("%s %s, %s", subject->backend, subject->settings, what);
}

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

/* Causal and, where the backend can, in i8 and with a window. */
static int pose(const attn_context_t *context, const subject_t *subject, int variant,
                attn_problem_t *problem) {
    *problem = tape_problem(100);
    problem->causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    if (variant == 1) problem->kv_dtype = ATTN_I8;
    if (variant == 2) problem->window_left = 12;
    return tape_can(context, subject, problem);
}

static void a_saved_stream_comes_back(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    FOR_EACH_SUBJECT(subject)
    for (int variant = 0; variant < 3; variant++) {
        attn_problem_t problem;
        if (!pose(context, subject, variant, &problem)) continue;
        label(subject, "save");
        tape_t tape = tape_create(context, subject, &problem, 100);
        for (int64_t first = 0; first < 77; first += 11) tape_append(&tape, tape.stream, first, 11);
        uint64_t size;
        char *bytes = saved(tape.stream, &size);
        attn_stream_t *other = tape_open(context, subject, &problem, 100);
        tape_append(&tape, other, 90, 5); /* is replaced */
        assert_int_equal(attn_stream_restore(other, bytes, size, NULL), ATTN_OK);
        tape_expect_batch(&tape, other, 77, 6);
        tape_append(&tape, other, 77, 23);
        tape_expect_batch(&tape, other, 100, 6);
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

enum { VERSION = 6, LENGTH = 80, HEADER = 88 }; /* of the header: where these stand, and its size */

/* A byte that is not what it was is refused, or is one of the tokens' own. */
static void flip_bytes(const tape_t *tape, const char *bytes, uint64_t size) {
    char *damaged = malloc((size_t)size);
    assert_non_null(damaged);
    memcpy(damaged, bytes, (size_t)size);
    for (uint64_t i = 0; i < size; i += i < HEADER + 64 ? 1 : 61) {
        attn_error_t error = {0};
        damaged[i] = (char)(bytes[i] ^ 0x81);
        const attn_status_t status = attn_stream_restore(tape->stream, damaged, size, &error);
        if (i < HEADER) assert_int_not_equal(status, ATTN_OK);
        if (status != ATTN_OK) fixture_expect(status, &error, status, "");
        damaged[i] = bytes[i];
    }
    free(damaged);
    assert_int_equal(attn_stream_restore(tape->stream, bytes, size, NULL), ATTN_OK);
}

static void other_streams_refuse(const attn_context_t *context, const tape_t *tape,
                                 const char *bytes, uint64_t size) {
    const attn_problem_t *problem = &tape->problem;
    attn_stream_t *small = tape_open(context, tape->subject, problem, 29);
    label(tape->subject, "more than max_keys");
    refuse(small, bytes, size, ATTN_ERROR_RANGE, "30|29");
    attn_stream_destroy(small);
    label(tape->subject, "another shape, another type");
    for (int i = 0; i < 5; i++) {
        attn_problem_t other = *problem;
        if (i == 0) other.dim++;
        if (i == 1) other.value_dim--;
        if (i == 2) other.kv_heads = 4;
        if (i == 3) other.batch = 1;
        if (i == 4) other.kv_dtype = problem->kv_dtype == ATTN_I8 ? ATTN_F32 : ATTN_F16;
        if (!tape_can(context, tape->subject, &other)) continue;
        attn_stream_t *stream = tape_open(context, tape->subject, &other, 40);
        refuse(stream, bytes, size, ATTN_ERROR_SHAPE, "shape");
        assert_int_equal(attn_stream_length(stream), 0);
        attn_stream_destroy(stream);
    }
    label(tape->subject, "another backend or method");
    FOR_EACH_SUBJECT(subject) {
        const int same = strcmp(subject->backend, tape->subject->backend) == 0;
        if (subject == tape->subject || !tape_can(context, subject, problem)) continue;
        attn_stream_t *stream = tape_open(context, subject, problem, 40);
        refuse(stream, bytes, size, ATTN_ERROR_ARGUMENT, same ? "another" : "backend");
        attn_stream_destroy(stream);
    }
}

static void what_is_no_saved_stream_changes_nothing(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    FOR_EACH_SUBJECT(subject)
    for (int variant = 0; variant < 3; variant++) {
        attn_problem_t problem;
        if (!pose(context, subject, variant, &problem)) continue;
        tape_t tape = tape_create(context, subject, &problem, 40);
        for (int64_t first = 0; first < 30; first += 10) tape_append(&tape, tape.stream, first, 10);
        uint64_t size;
        char *bytes = saved(tape.stream, &size);

        label(subject, "cut off");
        for (uint64_t cut = 0; cut < size; cut += cut < HEADER + 32 ? 1 : 97)
            refuse(tape.stream, bytes, cut, ATTN_ERROR_ARGUMENT, "bytes");
        label(subject, "too long");
        char *longer = calloc(1, (size_t)size + 1);
        assert_non_null(longer);
        memcpy(longer, bytes, (size_t)size);
        refuse(tape.stream, longer, size + 1, ATTN_ERROR_ARGUMENT, ": 30 tokens take 1 bytes less");
        refuse(tape.stream, bytes, size - 1, ATTN_ERROR_ARGUMENT, ": 30 tokens take 1 bytes more");
        label(subject, "garbage");
        memset(longer, 0xC3, (size_t)size);
        refuse(tape.stream, longer, size, ATTN_ERROR_ARGUMENT, "no saved stream");
        label(subject, "another version");
        memcpy(longer, bytes, (size_t)size);
        longer[VERSION] = '2';
        refuse(tape.stream, longer, size, ATTN_ERROR_ARGUMENT, "version 2|not 3");
        label(subject, "a length below 0, and one past all memory");
        for (int i = 0; i < 2; i++) {
            const int64_t lengths[] = {-1, INT64_MAX};
            memcpy(longer, bytes, (size_t)size);
            memcpy(longer + LENGTH, &lengths[i], sizeof lengths[i]);
            refuse(tape.stream, longer, size, i ? ATTN_ERROR_RANGE : ATTN_ERROR_ARGUMENT, "stream");
        }
        if (variant == 1) {
            label(subject, "a scale of zero");
            memcpy(longer, bytes, (size_t)size);
            memset(longer + size - sizeof(float), 0, sizeof(float));
            refuse(tape.stream, longer, size, ATTN_ERROR_ARGUMENT, "scale");
        }
        label(subject, "nothing");
        refuse(tape.stream, NULL, 0, ATTN_ERROR_ARGUMENT, "null");
        tape_expect_batch(&tape, tape.stream, 30, 2);
        flip_bytes(&tape, bytes, size);
        tape_expect_batch(&tape, tape.stream, 30, 2);
        other_streams_refuse(context, &tape, bytes, size);
        free(longer);
        free(bytes);
        tape_destroy(&tape);
    }
    attn_context_destroy(context);
}

/** A stream that needs all tokens does not take what a window has left of them. */
static void a_window_is_not_enough_for_all(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    FOR_EACH_SUBJECT(subject) {
        attn_problem_t problem;
        if (!pose(context, subject, 2, &problem)) continue;
        label(subject, "a window");
        tape_t tape = tape_create(context, subject, &problem, 200);
        for (int64_t first = 0; first < 100; first += 10)
            tape_append(&tape, tape.stream, first, 10);
        uint64_t size;
        char *bytes = saved(tape.stream, &size);
        for (int64_t left = -1; left < 100; left += 100) { /* none, and a wider one */
            problem.window_left = left;
            attn_stream_t *other = tape_open(context, subject, &problem, 200);
            refuse(other, bytes, size, ATTN_ERROR_ARGUMENT, "bytes|tokens");
            attn_stream_destroy(other);
        }
        free(bytes);
        tape_destroy(&tape);
    }
    attn_context_destroy(context);
}

/** What is saved goes on as what it was: with the parameters that it was saved with. */
static void other_parameters_are_another_method(void **state) {
    (void)state;
    static const subject_t subjects[] = {
        {.backend = "sparse", .settings = "block=8"},
        {.backend = "sparse", .settings = "block=8,local=2"},
        {.backend = "sparse", .settings = "block=16"},
        {.backend = "sparse", .settings = "pattern=window,block=8"},
        {.backend = "sparse", .settings = "pattern=fixed,block=8"},
        {.backend = "sparse", .settings = "pattern=topkeys,block=8,top=5"},
        {.backend = "sparse", .settings = "pattern=topkeys,block=8,top=6"},
        {.backend = "sparse", .settings = "pattern=lsh,block=8"},
        {.backend = "sparse", .settings = "pattern=lsh,block=8,seed=2"},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t a = 0; attn_backend_find(context, "sparse") && a < TEST_COUNT(subjects); a++)
        for (size_t b = 0; b < TEST_COUNT(subjects); b++) {
            attn_problem_t problem = tape_problem(64);
            problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
            problem.window_left = 12;
            test_label("saved with %s, restored with %s", subjects[a].settings,
                       subjects[b].settings);
            tape_t tape = tape_create(context, &subjects[a], &problem, 64);
            for (int64_t first = 0; first < 48; first += 8)
                tape_append(&tape, tape.stream, first, 8);
            uint64_t size;
            char *bytes = saved(tape.stream, &size);
            attn_stream_t *other = tape_open(context, &subjects[b], &problem, 64);
            if (a == b)
                assert_int_equal(attn_stream_restore(other, bytes, size, NULL), ATTN_OK);
            else
                refuse(other, bytes, size, ATTN_ERROR_ARGUMENT, "another");
            assert_int_equal(attn_stream_length(other), a == b ? 48 : 0);
            attn_stream_destroy(other);
            free(bytes);
            tape_destroy(&tape);
        }
    attn_context_destroy(context);
}

/**
 * What is said of parameters is alike in all builds, whether they have them all, and where in their lists: FNV-1a of
 * those that are not as by default (a build may lack softmax's precision, or lsh).
 */
static void parameters_are_saved_by_name(void **state) {
    (void)state;
    static const struct {
        subject_t subject;
        uint64_t settings;
    } cases[] = {
        {{.backend = "softmax", .settings = ""}, 0xcbf29ce484222325u},
        {{.backend = "sparse", .settings = "pattern=strided,block=8,stride=4"},
         0xfbe6c478674dade4u},
        {{.backend = "sparse", .settings = "pattern=window,block=8,stride=4"}, 0xe8dbb8fc95d06b73u},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        if (!attn_backend_find(context, cases[i].subject.backend)) continue;
        attn_problem_t problem = tape_problem(8);
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        label(&cases[i].subject, "parameters");
        tape_t tape = tape_create(context, &cases[i].subject, &problem, 8);
        uint64_t size, settings;
        char *bytes = saved(tape.stream, &size);
        memcpy(&settings, bytes + HEADER + sizeof(int64_t), sizeof settings);
        assert_int_equal(settings, cases[i].settings);
        free(bytes);
        tape_destroy(&tape);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(a_saved_stream_comes_back),
          cmocka_unit_test(what_is_no_saved_stream_changes_nothing),
          cmocka_unit_test(a_window_is_not_enough_for_all),
          cmocka_unit_test(other_parameters_are_another_method),
          cmocka_unit_test(parameters_are_saved_by_name))
