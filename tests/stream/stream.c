/* Streams of all backends: what a batch plan gives, token by token; forks, truncation, saving. */
#include "support/test.h"
#include "tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static attn_context_t *context;

static void make_context(void **state) {
    (void)state;
    context = fixture_context(1);
}

static void drop_context(void **state) {
    (void)state;
    attn_context_destroy(context);
}

#define FOR_EACH_SUBJECT(subject)                                                                  \
    for (const subject_t *subject = tape_next_subject(context, NULL); subject;                     \
         subject = tape_next_subject(context, subject))

static int has_lse(const answer_t *answer) { return answer->lse.block != NULL; }

static void label(const subject_t *subject, const char *what) {
    test_label("%s %s, %s", subject->backend, subject->settings, what);
}

/* ---- the batch's result -------------------------------------------------------------------------- */

/* How many queries a stream answers for sure: all, or those of the last append. */
static int64_t answered(const subject_t *subject, const attn_problem_t *problem, int64_t length,
                        int64_t last) {
    const int bounded = strstr(subject->settings, "window") ||
                        strstr(subject->settings, "dilated") ||
                        strstr(subject->settings, "longformer");
    const int keeps_all = problem->window_left < 0 && !bounded &&
                          (strcmp(subject->backend, "linear") != 0 || !problem->causal);
    const int64_t most = keeps_all ? length : last;
    return most < 21 ? most : 21;
}

/* Over several growths: one by one, many at a time, or split by chance. */
static void walk(const subject_t *subject, const attn_problem_t *problem, uint64_t seed) {
    static const int64_t pieces[] = {1, 1, 3, 60, 1, 70, 1, 13};
    tape_t tape = tape_create(context, subject, problem, 1000);
    int64_t length = 0;
    for (size_t i = 0; length < problem->keys; i++) {
        const int64_t left = problem->keys - length;
        int64_t piece =
            seed ? 1 + fixture_draw(seed + i, 1 + fixture_draw(seed + i + 50, 70)) : pieces[i];
        if (piece > left) piece = left;
        tape_append(&tape, tape.stream, length, piece);
        length += piece;
        tape_expect_batch(&tape, tape.stream, length, 1);
        tape_expect_batch(&tape, tape.stream, length, answered(subject, problem, length, piece));
    }
    tape_destroy(&tape);
}

static const struct {
    const char *name;
    attn_dtype_t dtype, kv_dtype;
} types[] = {{"f32", ATTN_F32, ATTN_F32},
             {"f16", ATTN_F16, ATTN_F16},
             {"bf16", ATTN_BF16, ATTN_BF16},
             {"f32 over i8", ATTN_F32, ATTN_I8}};

static void equals_the_batch_plan(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject)
    for (size_t t = 0; t < TEST_COUNT(types); t++)
        for (int rule = 0; rule < 6; rule++) {
            attn_problem_t problem = tape_problem(150);
            problem.dtype = types[t].dtype;
            problem.kv_dtype = types[t].kv_dtype;
            problem.causal = rule % 4 == 0 ? ATTN_CAUSAL_NONE : ATTN_CAUSAL_TOP_LEFT;
            if (rule == 2) problem.window_left = 9;
            if (rule == 3) problem.softcap = 2.5f, problem.scale = 0.3f;
            if (rule == 4) problem.window_left = 40, problem.window_right = 0;
            if (rule == 5)
                problem.inputs = ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES, problem.window_left = 20;
            test_label("%s %s, %s, rule %d", subject->backend, subject->settings, types[t].name,
                       rule);
            if (!tape_can(context, subject, &problem) || !test_takes_case()) continue;
            walk(subject, &problem, 0);
            walk(subject, &problem, 100 * (1 + 10 * t + (uint64_t)rule));
        }
}

static void refused_without_causal(const subject_t *subject, const attn_problem_t *problem) {
    attn_stream_t *stream;
    attn_error_t error = {0};
    fixture_expect(fixture_try_stream(context, subject->backend, problem, subject->settings, 150,
                                      &stream, &error),
                   &error, ATTN_ERROR_UNSUPPORTED, "no streams without causal");
}

/* Which keys a pattern keeps does not depend on what has come since, or it has no stream. */
static void patterns_of_sparse(void **state) {
    (void)state;
#define PATTERN(name, which)                                                                       \
    {                                                                                              \
        "sparse", "pattern=" name ",block=8,local=2,global=3,stride=3,random=2,seed=5", 1, {       \
            .form = FORM_SPARSE, .block = 8, .local = 2, .global = 3, .stride = 3, .random = 2,    \
            .seed = 5, .causal = 1, .among = INT64_MAX, .pattern = PATTERN_##which                 \
        }                                                                                          \
    }
    static const subject_t subjects[] = {
        PATTERN("fixed", FIXED),
        PATTERN("strided", STRIDED),
        PATTERN("window", WINDOW),
        PATTERN("longformer", LONGFORMER),
        PATTERN("bigbird", BIGBIRD),
        PATTERN("dilated", DILATED),
        {"sparse", "pattern=topkeys,top=5", 0, {.form = FORM_SOFTMAX}},
        {"sparse", "pattern=lsh,buckets=6,rounds=2", 0, {.form = FORM_SOFTMAX}},
        {"sparse", "pattern=lsh,buckets=4,shared=1", 0, {.form = FORM_SPARSE}}};
#undef PATTERN
    if (!attn_backend_find(context, "sparse")) return;
    for (size_t s = 0; s < TEST_COUNT(subjects); s++)
        for (int number = 0; number < 5 * (int)TEST_COUNT(types); number++) {
            const int rule = number % 5, type = number / 5;
            attn_problem_t problem = tape_problem(150);
            problem.dtype = types[type].dtype, problem.kv_dtype = types[type].kv_dtype;
            problem.causal = rule ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE;
            if (rule == 2) problem.window_left = 40;
            if (rule == 3) problem.softcap = 2.5f, problem.scale = 0.3f;
            if (rule == 4) problem.inputs = ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES;
            test_label("%s, %s, rule %d", subjects[s].settings, types[type].name, rule);
            if (!test_takes_case()) continue;
            if (tape_can(context, &subjects[s], &problem))
                walk(&subjects[s], &problem, (uint64_t)number);
            else
                refused_without_causal(&subjects[s], &problem);
        }
}

/* Where queries look for their keys one at a time, and where heads share keys. Of other tokens that were at the same
 * places before nothing is left. */
static void buckets_are_those_of_the_tokens(void **state) {
    (void)state;
    static const subject_t lsh = {
        "sparse", "pattern=lsh,buckets=6,rounds=2,block=1", 0, {.form = FORM_SOFTMAX}};
    if (!attn_backend_find(context, "sparse")) return;
    for (int64_t kv_heads = 2; kv_heads <= 4; kv_heads += 2)
        for (int rule = 0; rule < 2; rule++) {
            attn_problem_t problem = tape_problem(150);
            problem.kv_heads = kv_heads;
            if (rule) problem.causal = ATTN_CAUSAL_TOP_LEFT, problem.window_left = 70;
            test_label("%s, %d key heads, rule %d", lsh.settings, (int)kv_heads, rule);
            walk(&lsh, &problem, (uint64_t)rule);
            tape_t tape = tape_create(context, &lsh, &problem, 1000);
            attn_stream_t *fork;
            tape_append(&tape, tape.stream, 0, 25);
            tape_append(&tape, tape.stream, 100, 30);
            answer_t answer = tape_ask(&tape, tape.stream, 129, 1);
            answer_destroy(&answer);
            assert_int_equal(attn_stream_truncate(tape.stream, 25, NULL), ATTN_OK);
            assert_int_equal(attn_stream_fork(tape.stream, &fork, NULL), ATTN_OK);
            tape_append(&tape, tape.stream, 25, 50);
            tape_expect_batch(&tape, tape.stream, 75, 1);
            tape_append(&tape, fork, 25, 30);
            tape_expect_batch(&tape, fork, 55, 3);
            const uint64_t size = attn_stream_save(fork, NULL, 0);
            void *bytes = malloc((size_t)size);
            assert_int_equal(attn_stream_save(fork, bytes, size), size);
            assert_int_equal(attn_stream_truncate(tape.stream, 0, NULL), ATTN_OK);
            tape_append(&tape, tape.stream, 70, 60);
            answer = tape_ask(&tape, tape.stream, 129, 1);
            answer_destroy(&answer);
            assert_int_equal(attn_stream_restore(tape.stream, bytes, size, NULL), ATTN_OK);
            tape_expect_batch(&tape, tape.stream, 55, 1);
            free(bytes);
            attn_stream_destroy(fork);
            tape_destroy(&tape);
        }
}

static void an_empty_stream_gives_zeros(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject) {
        const attn_problem_t problem = tape_problem(3);
        tape_t tape = tape_create(context, subject, &problem, 10);
        label(subject, "empty");
        assert_int_equal(attn_stream_length(tape.stream), 0);
        for (int round = 0; round < 2; round++) {
            answer_t answer = tape_ask(&tape, tape.stream, 0, 2);
            for (int64_t h = 0; h < 4; h++)
                for (int64_t i = 0; i < 2; i++) {
                    if (has_lse(&answer))
                        assert_true(typed_get(&answer.lse.tensor, 1, h, i, 0) == (double)-INFINITY);
                    for (int64_t c = 0; c < 11; c++)
                        assert_true(typed_get(&answer.out.tensor, 1, h, i, c) == 0);
                }
            answer_destroy(&answer);
            tape_append(&tape, tape.stream, 0, 1);
            tape_append(&tape, tape.stream, 1, 2);
            assert_int_equal(attn_stream_truncate(tape.stream, 0, NULL), ATTN_OK);
        }
        tape_append(&tape, tape.stream, 0, 3);
        tape_expect_batch(&tape, tape.stream, 3, 1);
        tape_destroy(&tape);
    }
}

/** Of 5 queries over 2 tokens 3 stand before the first: they see what their rule lets them see. */
static void more_queries_than_tokens(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject)
    for (int sees = 0; sees < 2; sees++) {
        attn_problem_t problem = tape_problem(5);
        problem.causal = sees ? ATTN_CAUSAL_NONE : ATTN_CAUSAL_BOTTOM_RIGHT;
        if (!tape_can(context, subject, &problem)) continue;
        tape_t tape = tape_create(context, subject, &problem, 10);
        tape_append(&tape, tape.stream, 0, 2);
        answer_t answer = tape_ask(&tape, tape.stream, 0, 5);
        for (int64_t h = 0; h < 4; h++)
            for (int64_t i = 0; i < 5; i++) {
                /* relu's features may all be 0 */
                const int any = sees || i >= 3, maybe = strstr(subject->settings, "relu") != 0;
                test_label("%s %s, sees %d, head %d, query %d", subject->backend, subject->settings,
                           sees, (int)h, (int)i);
                if (has_lse(&answer))
                    assert_true(isfinite(typed_get(&answer.lse.tensor, 1, h, i, 0)) == any);
                assert_true((typed_get(&answer.out.tensor, 1, h, i, 0) != 0) == any ||
                            (any && maybe));
            }
        answer_destroy(&answer);
        tape_destroy(&tape);
    }
}

/** Linear's normaliser may be 0: such rows are counted, as in a run. */
static void degenerate_rows_are_counted(void **state) {
    (void)state;
    if (!attn_backend_find(context, "linear")) return;
    const subject_t linear = {"linear", "feature_map=relu", 1, {.form = FORM_LINEAR}};
    attn_problem_t problem = tape_problem(6);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    tape_t tape = tape_create(context, &linear, &problem, 6);
    for (int64_t b = 0; b < 2; b++)
        for (int64_t c = 0; c < 19; c++) typed_set(&tape.query, b, 3, 5, c, -1); /* phi is 0 */
    for (int64_t first = 0; first < 6; first += 3) tape_append(&tape, tape.stream, first, 3);
    answer_t answer = answer_create(&tape, 3);
    attn_report_t report = {.struct_size = sizeof report};
    attn_io_t io = {.struct_size = sizeof io,
                    .query = tape_part(&tape.query.tensor, 3, 3),
                    .out = answer.out.tensor,
                    .report = &report};
    test_label("degenerate rows");
    assert_int_equal(attn_stream_query(tape.stream, &io, NULL), ATTN_OK);
    assert_int_equal(report.degenerate_rows, 2); /* one in each batch */
    assert_true(typed_get(&answer.out.tensor, 1, 3, 2, 0) == 0);
    answer_destroy(&answer);
    tape_destroy(&tape);
}

/* ---- memory that does not grow ------------------------------------------------------------------- */

/** 10^5 tokens, of which no more is kept than their rules need. */
static void a_long_stream_stays_small(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject) {
        attn_problem_t problem = fixture_problem(1, 2, 1, 1000, 5, 3);
        problem.kv_heads = 1;
        problem.causal = ATTN_CAUSAL_TOP_LEFT;
        const int sums = strcmp(subject->backend, "linear") == 0;
        if (!sums) problem.window_left = 64;
        if (!tape_can(context, subject, &problem)) continue;
        label(subject, "a long stream");
        tape_t tape = tape_create(context, subject, &problem, 100000);
        uint64_t most = 0;
        for (int64_t length = 0; length < 100000; length += 5) {
            tape_append(&tape, tape.stream, length % 1000, 5);
            if (length == 995) most = attn_stream_memory(tape.stream);
        }
        assert_int_equal(attn_stream_memory(tape.stream), most);
        tape_expect_repeated(&tape, tape.stream, 100, 1);
        tape_expect_repeated(&tape, tape.stream, 100, sums ? 1 : 5);
        tape_destroy(&tape);
    }
}

/** What was dropped is not answered with, nor truncated to; the stream lives on. */
static void what_is_gone_is_refused(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject) {
        attn_problem_t problem = tape_problem(300);
        problem.causal = ATTN_CAUSAL_TOP_LEFT;
        const int sums = strcmp(subject->backend, "linear") == 0;
        if (!sums) problem.window_left = 30;
        if (!tape_can(context, subject, &problem)) continue;
        label(subject, "what is gone");
        tape_t tape = tape_create(context, subject, &problem, 1000);
        for (int64_t first = 0; first < 300; first += 10)
            tape_append(&tape, tape.stream, first, 10);
        answer_t answer = answer_create(&tape, 250);
        attn_error_t error = {0};
        fixture_expect(tape_try_ask(&tape, tape.stream, 50, 250, &answer, &error), &error,
                       ATTN_ERROR_UNSUPPORTED, "250|kept");
        typed_check_untouched(&answer.out, "out");
        answer_destroy(&answer);
        fixture_expect(attn_stream_truncate(tape.stream, 20, &error), &error,
                       ATTN_ERROR_UNSUPPORTED, "20|kept");
        tape_expect_batch(&tape, tape.stream, 300, 10);
        assert_int_equal(attn_stream_truncate(tape.stream, 295, NULL), ATTN_OK);
        tape_expect_batch(&tape, tape.stream, 295, 1);
        tape_append(&tape, tape.stream, 295, 5);
        tape_expect_batch(&tape, tape.stream, 300, 5);
        assert_int_equal(attn_stream_truncate(tape.stream, 0, NULL), ATTN_OK);
        tape_append(&tape, tape.stream, 0, 50);
        tape_append(&tape, tape.stream, 50, 1);
        tape_expect_batch(&tape, tape.stream, 51, 1);
        tape_destroy(&tape);
    }
}

/* ---- copies -------------------------------------------------------------------------------------- */

static void forks_are_independent(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject) {
        attn_problem_t problem = tape_problem(120);
        problem.kv_dtype = ATTN_I8;
        if (!tape_can(context, subject, &problem)) problem.kv_dtype = ATTN_F32;
        label(subject, "forks");
        tape_t tape = tape_create(context, subject, &problem, 200);
        attn_stream_t *empty = NULL, *fork = NULL;
        assert_int_equal(attn_stream_fork(tape.stream, &empty, NULL), ATTN_OK);
        assert_int_equal(attn_stream_length(empty), 0);
        tape_append(&tape, tape.stream, 0, 7);
        tape_append(&tape, tape.stream, 7, 33);
        tape_expect_batch(&tape, tape.stream, 40, 5);
        assert_int_equal(attn_stream_fork(tape.stream, &fork, NULL), ATTN_OK);
        tape_append(&tape, fork, 40, 80);
        tape_expect_batch(&tape, fork, 120, 5);
        tape_expect_batch(&tape, tape.stream, 40, 5);
        assert_int_equal(attn_stream_truncate(tape.stream, 7, NULL), ATTN_OK);
        tape_append(&tape, empty, 0, 12);
        attn_stream_destroy(tape.stream);
        tape.stream = NULL;
        tape_expect_batch(&tape, fork, 120, 3);
        tape_expect_batch(&tape, empty, 12, 3);
        attn_stream_destroy(fork);
        attn_stream_destroy(empty);
        tape_destroy(&tape);
    }
}

static void truncated_tokens_are_forgotten(void **state) {
    (void)state;
    FOR_EACH_SUBJECT(subject) {
        const attn_problem_t problem = tape_problem(90);
        label(subject, "truncate");
        tape_t tape = tape_create(context, subject, &problem, 100);
        tape_append(&tape, tape.stream, 0, 30);
        tape_append(&tape, tape.stream, 50, 40); /* not what comes next on the tape */
        assert_int_equal(attn_stream_truncate(tape.stream, 30, NULL), ATTN_OK);
        tape_expect_batch(&tape, tape.stream, 30, 4);
        tape_append(&tape, tape.stream, 30, 60);
        tape_expect_batch(&tape, tape.stream, 90, 4);
        attn_error_t error = {0};
        fixture_expect(attn_stream_truncate(tape.stream, 91, &error), &error, ATTN_ERROR_RANGE,
                       "90|91");
        fixture_expect(attn_stream_truncate(tape.stream, -1, &error), &error, ATTN_ERROR_RANGE,
                       "-1");
        tape_expect_batch(&tape, tape.stream, 90, 1);
        tape_destroy(&tape);
    }
}

TEST_MAIN(cmocka_unit_test(make_context), cmocka_unit_test(equals_the_batch_plan),
          cmocka_unit_test(patterns_of_sparse), cmocka_unit_test(buckets_are_those_of_the_tokens),
          cmocka_unit_test(an_empty_stream_gives_zeros), cmocka_unit_test(more_queries_than_tokens),
          cmocka_unit_test(degenerate_rows_are_counted),
          cmocka_unit_test(a_long_stream_stays_small), cmocka_unit_test(what_is_gone_is_refused),
          cmocka_unit_test(forks_are_independent), cmocka_unit_test(truncated_tokens_are_forgotten),
          cmocka_unit_test(drop_context))
