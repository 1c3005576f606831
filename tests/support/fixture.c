#include "fixture.h"

#include "attn/random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Garbage in it and behind it: NaN in all types of floats, and no address or size. */
static void *allocate(void *user, size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    const size_t behind = 0; /* is told by itself */
#else
    const size_t behind = 4096;
#endif
    const size_t bytes = (size + behind + ATTN_ALIGNMENT - 1) / ATTN_ALIGNMENT * ATTN_ALIGNMENT;
    void *memory = bytes < size ? NULL : aligned_alloc(ATTN_ALIGNMENT, bytes);
    (void)user;
    if (memory) memset(memory, 0xff, bytes);
    return memory;
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

attn_context_t *fixture_context(int threads) {
    static const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .allocate = allocate, .release = release};
#ifdef __wasm__
    threads = 1;
#endif
    const attn_context_options_t options = {
        .struct_size = sizeof options, .threads = threads, .memory = &memory};
    attn_context_t *context = NULL;
    attn_error_t error = {0};
    if (attn_context_create(&options, &context, &error) != ATTN_OK)
        test_fail("attn_context_create: %s", error.message);
    return context;
}

int64_t fixture_lanes(const attn_context_t *context) {
    switch (attn_context_tier(context)) {
    case ATTN_TIER_AVX2:
        return 8;
    case ATTN_TIER_AVX512:
    case ATTN_TIER_AVX512VNNI:
    case ATTN_TIER_AVX512BF16:
        return 16;
    default:
        return 4;
    }
}

int fixture_multiplies_bf16(const attn_context_t *context) {
    const attn_tier_t tier = attn_context_tier(context);
    return tier == ATTN_TIER_AVX512BF16 || tier == ATTN_TIER_AMX || tier == ATTN_TIER_NEONBF16;
}

attn_problem_t fixture_problem(int64_t batch, int64_t heads, int64_t queries, int64_t keys,
                               int64_t dim, int64_t value_dim) {
    attn_problem_t problem;
    attn_problem_init(&problem, batch, heads, queries, keys, dim, value_dim);
    return problem;
}

uint32_t fixture_settings(char *text, attn_param_t params[FIXTURE_SETTINGS]) {
    uint32_t count = 0;
    for (char *next; text && *text && count < FIXTURE_SETTINGS; text = next) {
        next = strchr(text, ',');
        if (next) *next++ = 0;
        char *value = strchr(text, '=');
        if (!value) test_fail("the test's settings lack a value: %s", text);
        *value++ = 0;
        params[count++] = (attn_param_t){.name = text, .value = value};
    }
    return count;
}

attn_status_t fixture_try_plan(const attn_context_t *context, const char *backend,
                               const attn_problem_t *problem, const char *settings,
                               attn_plan_t **plan, attn_error_t *error) {
    char text[256];
    snprintf(text, sizeof text, "%s", settings ? settings : "");
    attn_param_t params[FIXTURE_SETTINGS];
    const uint32_t count = fixture_settings(text, params);
    return attn_plan_create(context, backend, problem, params, count, plan, error);
}

attn_status_t fixture_try_stream(const attn_context_t *context, const char *backend,
                                 const attn_problem_t *problem, const char *settings,
                                 int64_t max_keys, attn_stream_t **stream, attn_error_t *error) {
    char text[256];
    snprintf(text, sizeof text, "%s", settings ? settings : "");
    attn_param_t params[FIXTURE_SETTINGS];
    const uint32_t count = fixture_settings(text, params);
    return attn_stream_create(context, backend, problem, params, count, max_keys, stream, error);
}

attn_plan_t *fixture_plan(const attn_context_t *context, const char *backend,
                          const attn_problem_t *problem, const char *settings) {
    attn_plan_t *plan = NULL;
    attn_error_t error = {0};
    if (fixture_try_plan(context, backend, problem, settings, &plan, &error) != ATTN_OK)
        test_fail("attn_plan_create(%s, %s): %s", backend, settings ? settings : "", error.message);
    assert_non_null(plan);
    return plan;
}

void fixture_solve(const attn_context_t *context, const char *backend, const char *settings,
                   arrays_t *arrays) {
    attn_plan_t *plan = fixture_plan(context, backend, &arrays->problem, settings);
    arrays_run(arrays, plan);
    attn_plan_destroy(plan);
}

double fixture_fact(const attn_plan_t *plan, const char *name, double otherwise) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t index = 0; attn_plan_fact(plan, index, &fact); index++)
        if (strcmp(fact.name, name) == 0) return fact.number;
    return otherwise;
}

int64_t fixture_draw(uint64_t index, int64_t count) {
    return (int64_t)(attn_random_uniform(test_seed(), 9, index) * (double)count);
}

/** Are all words in the text? */
static int has_words(const char *text, const char *words) {
    for (const char *word = words; *word;) {
        const size_t length = strcspn(word, "|");
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)length, word);
        if (!strstr(text, one)) return 0;
        word += length + (word[length] == '|');
    }
    return 1;
}

void fixture_expect(attn_status_t status, const attn_error_t *error, attn_status_t expected,
                    const char *words) {
    if (status != expected)
        test_fail("status %s instead of %s", attn_status_name(status), attn_status_name(expected));
    if (error->status != expected)
        test_fail("error says %s instead of %s", attn_status_name(error->status),
                  attn_status_name(expected));
    if (!memchr(error->message, 0, sizeof error->message)) test_fail("the message has no end");
    if (!error->message[0] || strchr(error->message, '\n'))
        test_fail("the message is not one line: \"%s\"", error->message);
    if (!has_words(error->message, words))
        test_fail("the message \"%s\" does not name %s", error->message, words);
}

void fixture_refuse_plan(const attn_context_t *context, const char *backend,
                         const attn_problem_t *problem, const char *settings,
                         attn_status_t expected, const char *words) {
    attn_error_t error = {0};
    attn_plan_t *plan = (attn_plan_t *)&error; /* to be set to none */
    fixture_expect(fixture_try_plan(context, backend, problem, settings, &plan, &error), &error,
                   expected, words);
    assert_null(plan);
}
