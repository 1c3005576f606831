/* attn_describe(): valid JSON that says all that is declared, cut cleanly to any size. */
#include "support/fixture.h"
#include "support/test.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A reader of JSON (RFC 8259) that only says where it stops understanding: NULL, or what follows. */
static const char *skip_value(const char *at);

static const char *skip_space(const char *at) {
    while (at && *at && strchr(" \t\r\n", *at)) at++;
    return at;
}

static const char *skip_string(const char *at) {
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL; // the end of the text, too
        if (*at != '\\') continue;
        at++;
        if (*at == 'u') {
            for (int k = 0; k < 4; k++)
                if (!isxdigit((unsigned char)*++at)) return NULL;
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *skip_digits(const char *at) {
    if (!isdigit((unsigned char)*at)) return NULL;
    while (isdigit((unsigned char)*at)) at++;
    return at;
}

static const char *skip_number(const char *at) {
    if (*at == '-') at++;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at && *at == '.') at = skip_digits(at + 1);
    if (at && (*at == 'e' || *at == 'E')) {
        at++;
        if (*at == '+' || *at == '-') at++;
        at = skip_digits(at);
    }
    return at;
}

/** The members of an object or the elements of an array, from behind its opening bracket. */
static const char *skip_list(const char *at, char close) {
    at = skip_space(at);
    if (*at == close) return at + 1;
    for (;;) {
        if (close == '}') {
            at = skip_space(skip_string(at));
            if (!at || *at++ != ':') return NULL;
        }
        at = skip_space(skip_value(at));
        if (!at) return NULL;
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
        at = skip_space(at);
    }
}

static const char *skip_value(const char *at) {
    static const char *const words[] = {"null", "true", "false"};
    at = skip_space(at);
    if (*at == '"') return skip_string(at);
    if (*at == '{') return skip_list(at + 1, '}');
    if (*at == '[') return skip_list(at + 1, ']');
    for (int w = 0; w < 3; w++)
        if (strncmp(at, words[w], strlen(words[w])) == 0) return at + strlen(words[w]);
    return skip_number(at);
}

static int is_json(const char *text) {
    const char *end = skip_space(skip_value(text));
    return end && *end == '\0';
}

static void the_reader_can_refuse(void **state) {
    (void)state;
    assert_true(is_json("[{\"a\": -1.5e+3, \"b\": [], \"c\": \"\\u00e9\\n\"}, null, {}]"));
    assert_false(is_json("[1, 2"));
    assert_false(is_json("{\"a\" 1}"));
    assert_false(is_json("[1,]"));
    assert_false(is_json("[01]"));
    assert_false(is_json("[inf]"));
    assert_false(is_json("[\"a\nb\"]"));
    assert_false(is_json("[1] 2"));
}

static char *describe(const attn_context_t *context, size_t *length) {
    *length = attn_describe(context, NULL, 0);
    char *text = malloc(*length + 1);
    assert_non_null(text);
    assert_int_equal(attn_describe(context, text, *length + 1), *length);
    assert_int_equal(strlen(text), *length);
    return text;
}

static void names_everything(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    size_t length;
    char *text = describe(context, &length);
    assert_true(is_json(text));
    for (uint32_t b = 0; b < attn_backend_count(context); b++) {
        const attn_backend_t *backend = attn_backend_at(context, b);
        assert_non_null(strstr(text, backend->id));
        assert_non_null(strstr(text, backend->reference));
        attn_param_info_t param = {.struct_size = sizeof param};
        for (uint32_t i = 0; attn_backend_param(backend, i, &param); i++) {
            assert_non_null(strstr(text, param.name));
            assert_non_null(strstr(text, param.help));
            for (int c = 0; param.choices && param.choices[c]; c++)
                assert_non_null(strstr(text, param.choices[c]));
        }
        attn_array_info_t array = {.struct_size = sizeof array};
        for (uint32_t i = 0; attn_backend_array(backend, i, &array); i++)
            if ((array.feature & backend->features) == array.feature) {
                assert_non_null(strstr(text, array.name));
                assert_non_null(strstr(text, array.help));
            }
    }
    static const char *const keys[] = {
        "\"id\"",        "\"name\"",     "\"version\"",  "\"description\"", "\"reference\"",
        "\"origin\"",    "\"features\"", "\"params\"",   "\"label\"",       "\"help\"",
        "\"unit\"",      "\"type\"",     "\"min\"",      "\"max\"",         "\"default\"",
        "\"automatic\"", "\"choices\"",  "\"built-in\"", "\"arrays\"",      "\"role\"",
        "\"presence\"",  "\"dtype\"",    "\"axes\"",     "\"broadcast\"",   "\"own\"",
        "\"replaces\""};
    for (size_t k = 0; k < TEST_COUNT(keys); k++) assert_non_null(strstr(text, keys[k]));
    free(text);
    attn_context_destroy(context);
}

static void is_cut_to_size(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    size_t length;
    char *text = describe(context, &length);
    char *cut = malloc(length + 8);
    assert_non_null(cut);
    for (size_t size = 1; size <= length + 2; size += size < 100 ? 1 : 97) {
        memset(cut, '#', length + 8);
        assert_int_equal(attn_describe(context, cut, size), length);
        const size_t kept = size - 1 < length ? size - 1 : length;
        assert_memory_equal(cut, text, kept);
        assert_int_equal(cut[kept], 0);
        assert_int_equal(cut[size], '#');
    }
    free(cut);
    free(text);
    attn_context_destroy(context);
}

/** Text that would break out of its quotes, in a backend registered from the program. */
static attn_status_t no_plan(const attn_host_t *host, const attn_problem_t *problem,
                             const attn_value_t *values, attn_backend_plan_t **plan,
                             attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)plan;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "never");
}

static const attn_backend_t quoted = {
    .struct_size = sizeof quoted,
    .id = "org.example.quoted",
    .name = "a \"quoted\" \\ name",
    .version = "1\n2\t3",
    .description = "\x01 and \xC3\xA9",
    .plan = no_plan,
};
static const attn_backend_t *const quoted_list[] = {&quoted};
static const attn_plugin_entry_t quoted_entry = {
    .struct_size = sizeof quoted_entry,
    .abi_major = ATTN_ABI_MAJOR,
    .backend_count = 1,
    .backends = quoted_list,
};

static void escapes_text(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(0);
    assert_int_equal(attn_plugin_register(context, &quoted_entry, "C:\\dir\\\"x\"", NULL), ATTN_OK);
    size_t length;
    char *text = describe(context, &length);
    assert_true(is_json(text));
    assert_non_null(strstr(text, "a \\\"quoted\\\" \\\\ name"));
    assert_non_null(strstr(text, "\"1\\u000a2\\u00093\""));
    assert_non_null(strstr(text, "\"\\u0001 and \xC3\xA9\""));
    assert_non_null(strstr(text, "C:\\\\dir\\\\\\\"x\\\""));
    free(text);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(the_reader_can_refuse), cmocka_unit_test(names_everything),
          cmocka_unit_test(is_cut_to_size), cmocka_unit_test(escapes_text))
