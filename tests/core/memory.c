/* An embedder's allocator that fails at the k-th request, for every k: a status, and no leak. */
#include "support/backends.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct counter {
    int64_t requests, live, fail_at; /**< fail_at: number of the request that fails; 0: none */
    int64_t bytes;                   /**< of all requests */
} counter_t;

static void *allocate(void *user, size_t size) {
    counter_t *counter = user;
    if (++counter->requests == counter->fail_at) return NULL;
    void *memory = aligned_alloc(64, (size / 64 + 1) * 64);
    if (!memory) return NULL;
    counter->live++;
    counter->bytes += (int64_t)size;
    memset(memory, 0xA5, size); // "contents undefined"
    return memory;
}

static void release(void *user, void *memory) {
    counter_t *counter = user;
    if (memory) counter->live--;
    free(memory);
}

/** A context and a plan through the counter's allocator; destroyed again. */
static attn_status_t cycle(counter_t *counter, const subject_t *subject, int threads,
                           attn_error_t *error) {
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .user = counter, .allocate = allocate, .release = release};
    const attn_context_options_t options = {
        .struct_size = sizeof options, .threads = threads, .memory = &memory};
    const attn_problem_t problem = fixture_problem(1, 2, 20, 30, 16, 5);
    attn_context_t *context = NULL;
    attn_status_t status = attn_context_create(&options, &context, error);
    if (status != ATTN_OK) {
        assert_null(context);
        return status;
    }
    attn_plan_t *plan = NULL;
    status = fixture_try_plan(context, subject->backend, &problem, subject->settings, &plan, error);
    if (status == ATTN_OK) {
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
        const int64_t before = counter->requests;
        arrays_run(&arrays, plan);
        assert_int_equal(counter->requests, before); // a run does not allocate
        arrays_destroy(&arrays);
    } else {
        assert_null(plan);
    }
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    return status;
}

static void every_failure(const subject_t *subject, int threads) {
    counter_t counter = {.fail_at = 0};
    test_label("%s %s with memory", subject->backend, subject->settings);
    assert_int_equal(cycle(&counter, subject, threads, NULL), ATTN_OK);
    assert_int_equal(counter.live, 0);
    const int64_t requests = counter.requests;
    assert_true(requests >= 2); // at least the context and a plan
    for (int64_t k = 1; k <= requests; k++) {
        attn_error_t error = {0};
        counter = (counter_t){.fail_at = k};
        test_label("%s %s, request %d of %d fails", subject->backend, subject->settings, (int)k,
                   (int)requests);
        fixture_expect(cycle(&counter, subject, threads, &error), &error, ATTN_ERROR_MEMORY,
                       "memory");
        if (counter.live != 0) test_fail("%d allocations are not given back", (int)counter.live);
    }
}

static void every_request_may_fail(void **state) {
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) every_failure(&SUBJECTS[s], 1);
}

/** Of a plan that also does attn_backward(), with self-attention of n tokens, and of its workspace. */
static int64_t gradient_bytes(const subject_t *subject, int64_t n) {
    counter_t counter = {.fail_at = 0};
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .user = &counter, .allocate = allocate, .release = release};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &memory};
    attn_problem_t problem = fixture_problem(1, 1, n, n, 16, 16);
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    const int64_t before = counter.bytes;
    problem.backward = 1;
    attn_plan_t *plan = fixture_plan(context, subject->backend, &problem, subject->settings);
    const int64_t bytes = counter.bytes - before + (int64_t)attn_plan_workspace_size(plan);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    return bytes;
}

/** a + b n bytes are at most doubled by twice as many tokens, but for the arrays' alignment: never n m. */
static void gradients_take_memory_linear_in_length(void **state) {
    (void)state;
    enum { LENGTH = 1 << 14, ARRAYS = 64 }; /* where blocks of rows are as large as they get */
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) {
        const int64_t one = gradient_bytes(&SUBJECTS[s], LENGTH);
        const int64_t two = gradient_bytes(&SUBJECTS[s], 2 * LENGTH);
        test_label("%s %s", SUBJECTS[s].backend, SUBJECTS[s].settings);
        if (!(one > 0 && two <= 2 * one + ARRAYS * ATTN_ALIGNMENT &&
              two < (int64_t)LENGTH * LENGTH))
            test_fail("%" PRId64 " bytes, and %" PRId64 " for twice as many tokens", one, two);
    }
}

static void with_threads_too(void **state) {
    (void)state;
#ifndef __wasm__
    every_failure(&SUBJECTS[0], 3);
#endif
}

static attn_status_t no_plan(const attn_host_t *host, const attn_problem_t *problem,
                             const attn_value_t *values, attn_backend_plan_t **plan,
                             attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)plan;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "never");
}

static const attn_backend_t first = {
    .struct_size = sizeof first, .id = "org.example.first", .plan = no_plan};
static const attn_backend_t second = {
    .struct_size = sizeof second, .id = "org.example.second", .plan = no_plan};
static const attn_backend_t *const both[] = {&first, &second};
static const attn_plugin_entry_t pair = {
    .struct_size = sizeof pair, .abi_major = ATTN_ABI_MAJOR, .backend_count = 2, .backends = both};

/** Registers two backends in a context of its own, with the k-th request after that failing. */
static attn_status_t register_pair(int64_t k) {
    counter_t counter = {.fail_at = 0};
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .user = &counter, .allocate = allocate, .release = release};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &memory};
    attn_context_t *context = NULL;
    attn_error_t error = {0};
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    const uint32_t before = attn_backend_count(context);
    counter.fail_at = counter.requests + k;
    test_label("register with request %d failing", (int)k);
    const attn_status_t status = attn_plugin_register(context, &pair, "test", &error);
    if (status == ATTN_OK) {
        assert_int_equal(attn_backend_count(context), before + 2);
        assert_int_equal(attn_plugin_unregister(context, &pair, &error), ATTN_OK);
        assert_int_equal(attn_backend_count(context), before);
        assert_null(attn_backend_find(context, "org.example.second"));
        assert_non_null(attn_backend_find(context, "sketch")); // the others stay
        fixture_expect(attn_plugin_unregister(context, &pair, &error), &error, ATTN_ERROR_NOT_FOUND,
                       "not registered");
        counter.fail_at = 0;
        assert_int_equal(attn_plugin_register(context, &pair, "again", &error), ATTN_OK);
        assert_string_equal(attn_backend_origin(context, before), "again");
    } else {
        fixture_expect(status, &error, ATTN_ERROR_MEMORY, "memory");
        assert_int_equal(attn_backend_count(context), before);
        assert_null(attn_backend_find(context, "org.example.first"));
    }
    attn_context_destroy(context);
    assert_int_equal(counter.live, 0);
    return status;
}

/** Two backends come in together or not at all, wherever memory ends. */
static void registering_is_all_or_nothing(void **state) {
    (void)state;
    int64_t k = 1;
    while (register_pair(k) != ATTN_OK) k++;
    assert_true(k >= 3); // at least one request for each of the two
}

static void refused_plans_leak_nothing(void **state) {
    (void)state;
    static const char *const settings[] = {"block=-1", "block=x", "nothing=1"};
    counter_t counter = {.fail_at = 0};
    for (size_t i = 0; i < TEST_COUNT(settings); i++) {
        const subject_t subject = {.backend = "sparse", .settings = settings[i]};
        assert_int_not_equal(cycle(&counter, &subject, 1, NULL), ATTN_OK);
        assert_int_equal(counter.live, 0);
    }
}

static void allocator_must_be_whole(void **state) {
    (void)state;
    const attn_ext_memory_t half = {.struct_size = sizeof half, .allocate = allocate};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &half};
    attn_context_t *context = NULL;
    attn_error_t error = {0};
    test_label("an allocator without release");
    fixture_expect(attn_context_create(&options, &context, &error), &error, ATTN_ERROR_ARGUMENT,
                   "memory");
    assert_null(context);
}

TEST_MAIN(cmocka_unit_test(every_request_may_fail), cmocka_unit_test(with_threads_too),
          cmocka_unit_test(gradients_take_memory_linear_in_length),
          cmocka_unit_test(registering_is_all_or_nothing),
          cmocka_unit_test(refused_plans_leak_nothing), cmocka_unit_test(allocator_must_be_whole))
