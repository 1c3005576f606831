/* Contexts, tiers, the registry of built-in backends, names. */
#define _POSIX_C_SOURCE 200809L // setenv

#include "support/fixture.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void version_is_the_headers(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", ATTN_VERSION_MAJOR, ATTN_VERSION_MINOR,
             ATTN_VERSION_PATCH);
    assert_string_equal(text, ATTN_VERSION);
    assert_string_equal(attn_version(), ATTN_VERSION);
}

static void statuses_have_names(void **state) {
    (void)state;
    assert_string_equal(attn_status_name(ATTN_OK), "ATTN_OK");
    assert_string_equal(attn_status_name(ATTN_ERROR_WORKSPACE), "ATTN_ERROR_WORKSPACE");
    for (attn_status_t a = ATTN_OK; a <= ATTN_ERROR_WORKSPACE; a++) {
        assert_true(strncmp(attn_status_name(a), "ATTN_", 5) == 0);
        for (attn_status_t b = ATTN_OK; b < a; b++)
            assert_true(strcmp(attn_status_name(a), attn_status_name(b)) != 0);
    }
    assert_non_null(attn_status_name(-7));
    assert_non_null(attn_tier_name(12345));
}

static void tiers_climb(void **state) {
    (void)state;
    attn_tier_t tiers[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const uint32_t count = attn_available_tiers(tiers, 8);
    assert_true(count >= 1 && count <= 8);
    for (uint32_t i = 1; i < count; i++) assert_true(tiers[i] > tiers[i - 1]);
    assert_int_equal(attn_available_tiers(NULL, 0), count);
    attn_tier_t one[2] = {-1, -1};
    assert_int_equal(attn_available_tiers(one, 1), count);
    assert_int_equal(one[0], tiers[0]);
    assert_int_equal(one[1], -1);
}

static attn_status_t create(const char *cpu, attn_context_t **context, attn_error_t *error) {
    const attn_context_options_t options = {.struct_size = sizeof options, .cpu = cpu};
    return attn_context_create(&options, context, error);
}

static void every_tier_by_name(void **state) {
    (void)state;
    attn_tier_t tiers[8];
    const uint32_t count = attn_available_tiers(tiers, 8);
    for (uint32_t i = 0; i < count; i++) {
        attn_context_t *context = NULL;
        assert_int_equal(create(attn_tier_name(tiers[i]), &context, NULL), ATTN_OK);
        assert_int_equal(attn_context_tier(context), tiers[i]);
        attn_context_destroy(context);
    }
}

static void unknown_and_missing_tiers(void **state) {
    (void)state;
    attn_error_t error = {0};
    attn_context_t *context = (attn_context_t *)&error; // must become NULL
    test_label("tier vax");
    fixture_expect(create("vax", &context, &error), &error, ATTN_ERROR_NOT_FOUND, "vax");
    assert_null(context);
    assert_int_equal(create("vax", &context, NULL), ATTN_ERROR_NOT_FOUND);
#if defined(__aarch64__)
    const char *other = "avx2";
#else
    const char *other = "neon";
#endif
    test_label("tier %s", other);
    fixture_expect(create(other, &context, &error), &error, ATTN_ERROR_UNSUPPORTED, other);
}

static void environment_lowers_the_tier(void **state) {
    (void)state;
    attn_tier_t lowest[1];
    attn_available_tiers(lowest, 1);
    attn_error_t error = {0};
    attn_context_t *context = NULL;
    setenv("ATTN_CPU", attn_tier_name(lowest[0]), 1);
    assert_int_equal(create(NULL, &context, NULL), ATTN_OK);
    assert_int_equal(attn_context_tier(context), lowest[0]);
    attn_context_destroy(context);

    setenv("ATTN_CPU", "vax", 1);
    test_label("ATTN_CPU=vax");
    fixture_expect(create(NULL, &context, &error), &error, ATTN_ERROR_NOT_FOUND, "vax");
    fixture_expect(attn_context_create(NULL, &context, &error), &error, ATTN_ERROR_NOT_FOUND,
                   "vax");
    assert_int_equal(create(attn_tier_name(lowest[0]), &context, NULL), ATTN_OK); // the option wins
    attn_context_destroy(context);
    unsetenv("ATTN_CPU");
}

static void bad_options(void **state) {
    (void)state;
    static const struct {
        attn_context_options_t options;
        attn_status_t status;
        const char *words;
    } cases[] = {
        {{.struct_size = 0}, ATTN_ERROR_ARGUMENT, "struct_size|0"},
        {{.struct_size = sizeof(attn_context_options_t) - 8}, ATTN_ERROR_ARGUMENT, "struct_size"},
        {{.struct_size = ATTN_STRUCT_LIMIT + 1}, ATTN_ERROR_ARGUMENT, "struct_size"},
        {{.struct_size = sizeof(attn_context_options_t), .threads = -1},
         ATTN_ERROR_RANGE,
         "threads|-1|1024"},
        {{.struct_size = sizeof(attn_context_options_t), .threads = 1025},
         ATTN_ERROR_RANGE,
         "threads|1025|1024"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        attn_error_t error = {0};
        attn_context_t *context = (attn_context_t *)&error;
        test_label("options %zu", i);
        fixture_expect(attn_context_create(&cases[i].options, &context, &error), &error,
                       cases[i].status, cases[i].words);
        assert_null(context);
    }
    attn_error_t error = {0};
    test_label("no place for the context");
    fixture_expect(attn_context_create(NULL, NULL, &error), &error, ATTN_ERROR_ARGUMENT, "context");
    attn_context_destroy(NULL);
}

static void success_leaves_the_error_alone(void **state) {
    (void)state;
    attn_error_t error = {.status = 77, .message = "mine"};
    attn_context_t *context = NULL;
    assert_int_equal(create(NULL, &context, &error), ATTN_OK);
    assert_int_equal(error.status, 77);
    assert_string_equal(error.message, "mine");
    attn_context_destroy(context);
}

static void built_in_backends(void **state) {
    (void)state;
    static const char *const ids[] = {"softmax", "linear", "sparse", "sketch"};
    attn_context_t *context = fixture_context(0);
    const uint32_t count = attn_backend_count(context); /* a build may have more */
    assert_true(count >= TEST_COUNT(ids));
    for (uint32_t i = 0; i < TEST_COUNT(ids); i++) {
        const attn_backend_t *backend = attn_backend_at(context, i);
        assert_non_null(backend);
        assert_string_equal(backend->id, ids[i]);
        assert_ptr_equal(attn_backend_find(context, ids[i]), backend);
        assert_string_equal(attn_backend_origin(context, i), "built-in");
        assert_true(strlen(backend->name) && strlen(backend->version));
        assert_true(strlen(backend->description) && strlen(backend->reference));
    }
    assert_null(attn_backend_at(context, count));
    assert_null(attn_backend_origin(context, TEST_COUNT(ids)));
    assert_null(attn_backend_find(context, "soft"));
    assert_null(attn_backend_find(context, NULL));
    attn_context_destroy(context);
}

/** What a backend declares must be fit to be read, checked and drawn as a slider. */
static void parameters_are_declared_whole(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    for (uint32_t b = 0; b < attn_backend_count(context); b++) {
        attn_param_info_t declared = {.struct_size = sizeof declared}, *info = &declared;
        for (uint32_t i = 0; attn_backend_param(attn_backend_at(context, b), i, info); i++) {
            assert_int_equal(info->struct_size, sizeof *info);
            assert_true(strlen(info->name) && strlen(info->label) && strlen(info->help));
            assert_non_null(info->unit);
            assert_true(info->minimum <= info->initial && info->initial <= info->maximum);
            if (info->type != ATTN_PARAM_CHOICE) continue;
            assert_true(info->minimum == 0);
            for (int c = 0; c <= (int)info->maximum; c++) assert_non_null(info->choices[c]);
            assert_null(info->choices[(int)info->maximum + 1]);
        }
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(version_is_the_headers), cmocka_unit_test(statuses_have_names),
          cmocka_unit_test(tiers_climb), cmocka_unit_test(every_tier_by_name),
          cmocka_unit_test(unknown_and_missing_tiers),
          cmocka_unit_test(environment_lowers_the_tier), cmocka_unit_test(bad_options),
          cmocka_unit_test(success_leaves_the_error_alone), cmocka_unit_test(built_in_backends),
          cmocka_unit_test(parameters_are_declared_whole))
