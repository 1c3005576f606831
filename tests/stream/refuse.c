/* Streams: wrong input and memory that runs out change nothing. */
#include "support/test.h"
#include "tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void refuse_create(const attn_context_t *context, const char *backend,
                          const attn_problem_t *problem, int64_t max_keys, attn_status_t status,
                          const char *words) {
    attn_stream_t *stream = (attn_stream_t *)(uintptr_t)1;
    attn_error_t error = {0};
    test_label("a stream that names %s", words);
    fixture_expect(
        attn_stream_create(context, backend, problem, NULL, 0, max_keys, &stream, &error), &error,
        status, words);
    assert_null(stream);
}

static attn_status_t no_plan(const attn_host_t *host, const attn_problem_t *problem,
                             const attn_value_t *values, attn_backend_plan_t **plan,
                             attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)plan;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "never");
}

/* Without attn.stream/1. */
static const attn_backend_t plain = {.struct_size = sizeof plain,
                                     .features =
                                         ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_KV_LENGTHS,
                                     .id = "org.example.plain",
                                     .plan = no_plan};
static const attn_backend_t *const backends[] = {&plain};
static const attn_plugin_entry_t entry = {.struct_size = sizeof entry,
                                          .abi_major = ATTN_ABI_MAJOR,
                                          .backend_count = 1,
                                          .backends = backends};

/* Parameters are checked as a plan's, and a method may have no streams. */
static void refuse_settings(const attn_context_t *context, const char *settings,
                            attn_status_t status, const char *words) {
    const attn_problem_t problem = tape_problem(8);
    attn_stream_t *stream = (attn_stream_t *)(uintptr_t)1;
    attn_error_t error = {0};
    test_label("a stream with %s", settings);
    fixture_expect(fixture_try_stream(context, "sketch", &problem, settings, 8, &stream, &error),
                   &error, status, words);
    assert_null(stream);
}

static void settings_that_cannot_be(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    if (attn_backend_find(context, "sketch")) {
        refuse_settings(context, "size=x", ATTN_ERROR_ARGUMENT, "size|x");
        refuse_settings(context, "height=1", ATTN_ERROR_NOT_FOUND, "height");
        refuse_settings(context, "method=leverage,size=4", ATTN_ERROR_UNSUPPORTED, "leverage");
        refuse_settings(context, "method=deterministic,size=4", ATTN_ERROR_UNSUPPORTED,
                        "deterministic");
        refuse_settings(context, "method=approximate,size=4", ATTN_ERROR_UNSUPPORTED,
                        "approximate");
    }
    attn_context_destroy(context);
}

static void streams_that_cannot_be(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    assert_int_equal(attn_plugin_register(context, &entry, NULL, NULL), ATTN_OK);
    const attn_problem_t good = tape_problem(8);
    refuse_create(context, "softmax", &good, 0, ATTN_ERROR_RANGE, "max_keys|0");
    refuse_create(context, "softmax", &good, -5, ATTN_ERROR_RANGE, "-5");
    refuse_create(context, "softmax", &good, INT64_MAX, ATTN_ERROR_SHAPE, "memory");
    refuse_create(context, "nothing", &good, 8, ATTN_ERROR_NOT_FOUND, "nothing");
    refuse_create(context, "org.example.plain", &good, 8, ATTN_ERROR_UNSUPPORTED,
                  "org.example.plain|no streams");
    attn_problem_t bad = good;
    bad.inputs = ATTN_INPUT_BIAS | ATTN_INPUT_SINKS;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT,
                  "streams take no bias: it is over the keys, which grow");
    bad.inputs = ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT, "streams take no mask");
    bad.inputs = ATTN_INPUT_KV_LENGTHS;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT,
                  "streams take no kv_lengths|count their tokens");
    bad.inputs = 1u << 9;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT, "unknown inputs 0x200");
    bad = good, bad.backward = 1;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT, "backward is 1|no gradients");
    bad = good;
    bad.inputs = ATTN_INPUT_SLOPES; /* how far a key is away from a query that stands nowhere */
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_UNSUPPORTED, "slopes need causal");
    bad = good, bad.past = 3;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT, "past|3");
    bad = good, bad.dim = 0;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_SHAPE, "dim");
    bad = good, bad.struct_size = 8;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_ARGUMENT, "struct_size|8");
    bad = good, bad.window_left = 4; /* to the right of a position that moves: not without causal */
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_UNSUPPORTED, "window|causal");
    bad = good, bad.dtype = ATTN_F64;
    refuse_create(context, "softmax", &bad, 8, ATTN_ERROR_DTYPE, "dtype");
    attn_stream_destroy(NULL);
    attn_context_destroy(context);
}

static void refuse_append(const tape_t *tape, const attn_io_t *io, attn_status_t status,
                          const char *words) {
    attn_error_t error = {0};
    test_label("tokens that name %s", words);
    fixture_expect(attn_stream_append(tape->stream, io, &error), &error, status, words);
    assert_int_equal(attn_stream_length(tape->stream), 4);
}

static const subject_t softmax = {"softmax", "", 1, {.form = FORM_SOFTMAX}};

static void tokens_that_do_not_fit(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = tape_problem(10);
    tape_t plain_tape = tape_create(context, &softmax, &problem, 6);
    tape_append(&plain_tape, plain_tape.stream, 0, 4);
    const attn_io_t two = tape_tokens(&plain_tape, 0, 2), three = tape_tokens(&plain_tape, 0, 3),
                    none = tape_tokens(&plain_tape, 0, 0);
    attn_io_t bad = two;
    bad.key.data = NULL;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_ARGUMENT, "key");
    bad = two, bad.value = (attn_tensor_t){0};
    refuse_append(&plain_tape, &bad, ATTN_ERROR_ARGUMENT, "value");
    bad = two, bad.key.dtype = ATTN_F16;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_DTYPE, "key");
    bad = two, bad.key.shape[3]--;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_SHAPE, "18|19");
    bad = two, bad.value = three.value;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_SHAPE, "value|3");
    refuse_append(&plain_tape, &none, ATTN_ERROR_SHAPE, "0");
    refuse_append(&plain_tape, &three, ATTN_ERROR_RANGE, "4|3|6");
    bad = two, bad.key_scales = two.key;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_ARGUMENT, "key_scales|i8");
    bad = two, bad.query = two.key;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_ARGUMENT, "query|append");
    bad = two, bad.struct_size = 8;
    refuse_append(&plain_tape, &bad, ATTN_ERROR_ARGUMENT, "struct_size");
    tape_expect_batch(&plain_tape, plain_tape.stream, 4, 1);
    tape_append(&plain_tape, plain_tape.stream, 4, 2); /* exactly full */
    tape_expect_batch(&plain_tape, plain_tape.stream, 6, 6);

    problem.kv_dtype = ATTN_I8;
    tape_t tape = tape_create(context, &softmax, &problem, 10);
    tape_append(&tape, tape.stream, 0, 4);
    bad = tape_tokens(&tape, 4, 2), bad.key_scales.data = NULL;
    refuse_append(&tape, &bad, ATTN_ERROR_ARGUMENT, "key_scales");
    bad = tape_tokens(&tape, 4, 2), bad.value_scales.data = NULL;
    refuse_append(&tape, &bad, ATTN_ERROR_ARGUMENT, "value_scales");
    static const float wrong[] = {0.0f, -1.0f, INFINITY, NAN};
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        typed_set(&tape.value_scales, 1, 1, 5, 0, (double)wrong[i]);
        bad = tape_tokens(&tape, 4, 2);
        refuse_append(&tape, &bad, ATTN_ERROR_RANGE, "value_scales");
    }
    tape_expect_batch(&tape, tape.stream, 4, 2);
    tape_destroy(&tape);
    tape_destroy(&plain_tape);
    attn_context_destroy(context);
}

static void queries_that_do_not_fit(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = tape_problem(10);
    tape_t tape = tape_create(context, &softmax, &problem, 10);
    tape_append(&tape, tape.stream, 0, 10);
    answer_t answer = answer_create(&tape, 2);
    const attn_tensor_t query = tape_part(&tape.query.tensor, 8, 2),
                        three = tape_part(&tape.query.tensor, 7, 3),
                        none = tape_part(&tape.query.tensor, 8, 0);
    attn_tensor_t half = query;
    half.dtype = ATTN_F16;
    const attn_tensor_t absent = {0};
    const struct {
        attn_tensor_t query, scores, mask;
        attn_status_t status;
        const char *words;
    } cases[] = {
        {absent, absent, absent, ATTN_ERROR_ARGUMENT, "query"},
        {none, absent, absent, ATTN_ERROR_SHAPE, "0 queries"},
        {half, absent, absent, ATTN_ERROR_DTYPE, "query"},
        {three, absent, absent, ATTN_ERROR_SHAPE, "out"},
        {query, query, absent, ATTN_ERROR_ARGUMENT, "scores"},
        {query, absent, query, ATTN_ERROR_ARGUMENT, "mask"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        attn_error_t error = {0};
        const attn_io_t io = {.struct_size = sizeof io,
                              .query = cases[i].query,
                              .out = answer.out.tensor,
                              .lse = answer.lse.tensor,
                              .scores = cases[i].scores,
                              .mask = cases[i].mask};
        test_label("a query that names %s", cases[i].words);
        fixture_expect(attn_stream_query(tape.stream, &io, &error), &error, cases[i].status,
                       cases[i].words);
        typed_check_untouched(&answer.out, "out");
    }
    answer_destroy(&answer);
    tape_expect_batch(&tape, tape.stream, 10, 2);
    tape_destroy(&tape);
    attn_context_destroy(context);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

typedef struct counter {
    int64_t requests, live, fail_at; /* fail_at: number of the request that fails; 0: none */
    uint64_t bytes;                  /* asked for, of what is live */
} counter_t;

static void *allocate(void *user, size_t size) {
    counter_t *counter = user;
    if (++counter->requests == counter->fail_at) return NULL;
    char *whole = aligned_alloc(64, (size / 64 + 2) * 64); /* the size, then the memory */
    if (!whole) return NULL;
    counter->live++;
    counter->bytes += size;
    memcpy(whole, &size, sizeof size);
    memset(whole + 64, 0xA5, size); /* "contents undefined" */
    return whole + 64;
}

static void release(void *user, void *memory) {
    counter_t *counter = user;
    size_t size;
    if (!memory) return;
    char *whole = (char *)memory - 64;
    memcpy(&size, whole, sizeof size);
    counter->live--;
    counter->bytes -= size;
    free(whole);
}

/* What needs memory; all of it has to be refused or done. */
static attn_status_t grow(const tape_t *tape, attn_error_t *error) {
    return tape_try_append(tape, tape->stream, 60, 30, error);
}

static attn_status_t ask_more(const tape_t *tape, attn_error_t *error) {
    answer_t answer = answer_create(tape, 9);
    const attn_status_t status = tape_try_ask(tape, tape->stream, 51, 9, &answer, error);
    if (status != ATTN_OK) typed_check_untouched(&answer.out, "out");
    answer_destroy(&answer);
    return status;
}

static attn_status_t fork_it(const tape_t *tape, attn_error_t *error) {
    attn_stream_t *copy = (attn_stream_t *)(uintptr_t)1;
    const attn_status_t status = attn_stream_fork(tape->stream, &copy, error);
    if (status != ATTN_OK) assert_null(copy);
    attn_stream_destroy(copy);
    return status;
}

static attn_status_t create_other(const tape_t *tape, attn_error_t *error) {
    attn_stream_t *stream = (attn_stream_t *)(uintptr_t)1;
    const attn_status_t status =
        fixture_try_stream(tape->context, tape->subject->backend, &tape->problem,
                           tape->subject->settings, 99, &stream, error);
    if (status != ATTN_OK) assert_null(stream);
    attn_stream_destroy(stream);
    return status;
}

/* Request number 1, 2, ... of `act` fails until it needs no more; returns how many there were. */
static int64_t every_failure(const attn_context_t *context, counter_t *counter,
                             const subject_t *subject, const attn_problem_t *problem,
                             attn_status_t (*act)(const tape_t *, attn_error_t *)) {
    for (int64_t k = 1;; k++) {
        tape_t tape = tape_create(context, subject, problem, 200);
        tape_append(&tape, tape.stream, 0, 60);
        answer_t before = tape_ask(&tape, tape.stream, 58, 2);
        const int64_t live = counter->live;
        attn_error_t error = {0};
        test_label("%s %s, request %d fails", subject->backend, subject->settings, (int)k);
        counter->requests = 0;
        counter->fail_at = k;
        const attn_status_t status = act(&tape, &error);
        const int done = counter->requests < k;
        counter->fail_at = 0;
        if (!done) {
            fixture_expect(status, &error, ATTN_ERROR_MEMORY, "memory");
            assert_true(counter->live <= live); /* a plan may have been given back */
            assert_int_equal(attn_stream_length(tape.stream), 60);
            answer_t after = tape_ask(&tape, tape.stream, 58, 2);
            answer_check_same(&after, &before);
            answer_destroy(&after);
            assert_int_equal(act(&tape, &error), ATTN_OK); /* with memory it works again */
        } else {
            assert_int_equal(status, ATTN_OK);
        }
        answer_destroy(&before);
        tape_destroy(&tape);
        if (done) return k - 1;
    }
}

static void nothing_is_lost_when_memory_runs_out(void **state) {
    (void)state;
    counter_t counter = {0};
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .user = &counter, .allocate = allocate, .release = release};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &memory};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    const int64_t bare = counter.live;
    attn_problem_t problem = tape_problem(100);
    problem.kv_dtype = ATTN_I8; /* four arrays of a cache that grow */
    assert_int_equal(every_failure(context, &counter, &softmax, &problem, grow), 4);
    problem.kv_dtype = ATTN_F32;
    const subject_t *subject = NULL;
    while ((subject = tape_next_subject(context, subject))) {
        const int sums = strcmp(subject->backend, "linear") == 0; /* its cache has room for 64 */
        assert_true(every_failure(context, &counter, subject, &problem, grow) >= (sums ? 0 : 2));
        assert_true(every_failure(context, &counter, subject, &problem, ask_more) >=
                    (sums ? 0 : 2)); /* plan, workspace */
        assert_true(every_failure(context, &counter, subject, &problem, fork_it) >= 4);
        assert_true(every_failure(context, &counter, subject, &problem, create_other) >= 3);
    }
    assert_int_equal(counter.live, bare);
    attn_context_destroy(context);
    assert_int_equal(counter.live, 0);
}

static void memory_is_bounded_and_told(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = tape_problem(100);
    tape_t tape = tape_create(context, &softmax, &problem, 100);
    const uint64_t row = 2 * 2 * (19 + 11) * sizeof(float); /* one token of all heads */
    const uint64_t empty = attn_stream_memory(tape.stream);
    for (int64_t j = 0; j < 100; j++) {
        tape_append(&tape, tape.stream, j, 1);
        const uint64_t cache = attn_stream_memory(tape.stream) - empty;
        assert_true(cache >= (uint64_t)(j + 1) * row);
        assert_true(cache <= 100 * row);
    }
    attn_error_t error = {0};
    test_label("one too many");
    fixture_expect(tape_try_append(&tape, tape.stream, 0, 1, &error), &error, ATTN_ERROR_RANGE,
                   "100|1 more|100");
    tape_expect_batch(&tape, tape.stream, 100, 1);
    assert_true(attn_stream_memory(tape.stream) > empty + 100 * row); /* and the workspace */
    tape_destroy(&tape);
    attn_context_destroy(context);
}

/* To the byte, whatever it is for. */
static void all_memory_is_told(void **state) {
    (void)state;
    counter_t counter = {0};
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .user = &counter, .allocate = allocate, .release = release};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &memory};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    const attn_problem_t problem = tape_problem(100);
    const subject_t *subject = NULL;
    while ((subject = tape_next_subject(context, subject))) {
        const uint64_t bare = counter.bytes;
        tape_t tape = tape_create(context, subject, &problem, 200);
        assert_int_equal(attn_stream_memory(tape.stream), counter.bytes - bare);
        for (int64_t first = 0; first < 100; first += 25) {
            tape_append(&tape, tape.stream, first, 25);
            answer_t answer = tape_ask(&tape, tape.stream, first, 1 + first / 5);
            answer_destroy(&answer);
            test_label("%s %s", subject->backend, subject->settings);
            if (attn_stream_memory(tape.stream) != counter.bytes - bare)
                test_fail("%d bytes are told, %d taken", (int)attn_stream_memory(tape.stream),
                          (int)(counter.bytes - bare));
        }
        tape_destroy(&tape);
        assert_int_equal(counter.bytes, bare);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(streams_that_cannot_be), cmocka_unit_test(settings_that_cannot_be),
          cmocka_unit_test(tokens_that_do_not_fit), cmocka_unit_test(queries_that_do_not_fit),
          cmocka_unit_test(nothing_is_lost_when_memory_runs_out),
          cmocka_unit_test(memory_is_bounded_and_told), cmocka_unit_test(all_memory_is_told))
