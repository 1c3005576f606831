// Messages are one line of UTF-8 without control characters, whatever names, values and bytes they tell of.
#include "attn/ext/stream.h"
#include "attn/line.h"
#include "support/fixture.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a line is -------------------------------------------------------------------------------- */

static void check_line(const char *text, size_t room) {
    if (!memchr(text, 0, room)) test_fail("the message has no end");
    for (uint32_t length; *text; text += length) {
        length = attn_utf8_length(text);
        if (length == 0) test_fail("a byte %02x is not UTF-8", (unsigned char)*text);
        if (attn_is_control(text, length)) test_fail("a control character %02x", (unsigned)*text);
    }
}

static void texts_become_lines(void **state) {
    (void)state;
    static const struct {
        const char *text, *line;
    } cases[] = {
        {"", ""},
        {"plain \\ text", "plain \\ text"},
        {"a\nb\r\tc\x1b[31m\x7f", "a\\x0ab\\x0d\\x09c\\x1b[31m\\x7f"},
        {"\xc3\xa4 \xe4\xba\x8c \xf0\x9f\x99\x82", "\xc3\xa4 \xe4\xba\x8c \xf0\x9f\x99\x82"},
        {"\xc2\x85 \xe2\x80\xa8", "\\xc2\\x85 \\xe2\\x80\\xa8"}, /* C1, a line separator */
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xc0\x80 \xe0\x80\x80", "\\xc0\\x80 \\xe0\\x80\\x80"}, /* too long */
        {"\xed\xa0\x80 \xf4\x90\x80\x80",
         "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"}, /* no characters */
        {"\xe4\xba", "\\xe4\\xba"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        char line[64];
        test_label("text %zu", i);
        attn_line(line, sizeof line, cases[i].text);
        assert_string_equal(line, cases[i].line);
        for (size_t room = 1; room <= strlen(cases[i].line); room++) { // cut at whole characters
            memset(line, 'x', sizeof line);
            attn_line(line, room, cases[i].text);
            check_line(line, room);
            assert_memory_equal(line, cases[i].line, strlen(line));
        }
    }
}

static void long_messages_end_with_a_whole_character(void **state) {
    (void)state;
    for (int before = 0; before < 4; before++) {
        char text[400] = "";
        attn_error_t error;
        for (int i = 0; i < before; i++) strcat(text, ".");
        while (strlen(text) < 390) strcat(text, "\xe4\xba\x8c");
        attn_fail(&error, ATTN_ERROR_ARGUMENT, "%s", text);
        check_line(error.message, sizeof error.message);
        assert_null(strstr(error.message, "\\x"));
        assert_true(strlen(error.message) >= sizeof error.message - 7);
    }
}

/* ---- every place that tells of what it was given -------------------------------------------------- */

static const char *const evil[] = {"a\nb",          "a\rattn: done", "a\x1b]0;title\x07",
                                   "a\x7f\xc2\x9b", "a\xff\xfe",     "\xe4\xba",
                                   "a\xe2\x80\xa8z"};

typedef struct scene {
    attn_context_t *context;
    attn_problem_t problem;
    const char *text; // what is wrong
    attn_error_t error;
} scene_t;

static attn_status_t plan(scene_t *scene, const char *id, const attn_param_t *params) {
    attn_plan_t *made;
    return attn_plan_create(scene->context, id, &scene->problem, params, params ? 1 : 0, &made,
                            &scene->error);
}

static attn_status_t plan_id(scene_t *scene) { return plan(scene, scene->text, NULL); }

static attn_status_t stream_id(scene_t *scene) {
    attn_stream_t *made;
    return attn_stream_create(scene->context, scene->text, &scene->problem, NULL, 0, 8, &made,
                              &scene->error);
}

static attn_status_t param_name(scene_t *scene) {
    return plan(scene, "softmax", &(attn_param_t){scene->text, "1"});
}

static attn_status_t param_name_without_any(scene_t *scene) {
    return plan(scene, "linear", &(attn_param_t){scene->text, "1"});
}

static attn_status_t choice_value(scene_t *scene) {
    return plan(scene, "softmax", &(attn_param_t){"precision", scene->text});
}

static attn_status_t number_value(scene_t *scene) {
    return plan(scene, "sparse", &(attn_param_t){"block", scene->text});
}

static attn_status_t cpu_name(scene_t *scene) {
    const attn_context_options_t options = {.struct_size = sizeof options, .cpu = scene->text};
    attn_context_t *made;
    return attn_context_create(&options, &made, &scene->error);
}

static attn_status_t plugin_path(scene_t *scene) {
    return attn_plugin_load(scene->context, scene->text, &scene->error);
}

static attn_status_t input_name(scene_t *scene) {
    return attn_problem_add_input(&scene->problem, attn_backend_find(scene->context, "linear"),
                                  scene->text, &scene->error);
}

static attn_status_t plugin_origin(scene_t *scene) {
    const attn_plugin_entry_t entry = {sizeof entry, ATTN_ABI_MAJOR + 1, 0, 0, 0, NULL};
    return attn_plugin_register(scene->context, &entry, scene->text, &scene->error);
}

static attn_status_t saved_name(scene_t *scene) {
    enum { MAGIC = 8, NAME = 32 };
    attn_stream_t *stream;
    assert_int_equal(attn_stream_create(scene->context, "softmax", &scene->problem, NULL, 0, 8,
                                        &stream, &scene->error),
                     ATTN_OK);
    const uint64_t size = attn_stream_save(stream, NULL, 0);
    char *bytes = calloc(1, (size_t)size);
    attn_stream_save(stream, bytes, size);
    snprintf(bytes + MAGIC, NAME, "%s", scene->text);
    const attn_status_t status = attn_stream_restore(stream, bytes, size, &scene->error);
    attn_stream_destroy(stream);
    free(bytes);
    return status;
}

/* A plugin that writes its errors itself, and its names of what a host may hold against it. */
static const char *told;

static attn_status_t say(attn_error_t *error) {
    if (error) {
        error->status = ATTN_ERROR_UNSUPPORTED;
        memset(error->message, 'x', sizeof error->message); // with no end, but for the text's
        if (told) memcpy(error->message, told, strlen(told) + 1);
    }
    return ATTN_ERROR_UNSUPPORTED;
}

static attn_status_t supports(const attn_problem_t *problem, attn_error_t *error) {
    (void)problem;
    return say(error);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **made,
                               attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)made;
    return say(error);
}

static attn_status_t make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **made,
                                 attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)made;
    return say(error);
}

static const void *get_extension(const char *id) {
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams, .create = make_stream};
    return strcmp(id, ATTN_EXT_STREAM) == 0 ? &streams : NULL;
}

static attn_status_t tell_by(scene_t *scene, int has_supports, int is_stream) {
    const attn_backend_t backend = {.struct_size = sizeof backend,
                                    .id = "org.example.teller",
                                    .supports = has_supports ? supports : NULL,
                                    .plan = make_plan,
                                    .get_extension = get_extension};
    const attn_backend_t *const list[] = {&backend};
    const attn_plugin_entry_t entry = {sizeof entry, ATTN_ABI_MAJOR, ATTN_ABI_MINOR, 1, 0, list};
    attn_context_t *context = fixture_context(1), *own = scene->context;
    assert_int_equal(attn_plugin_register(context, &entry, "here", &scene->error), ATTN_OK);
    told = scene->text;
    scene->context = context;
    attn_stream_t *made;
    const attn_status_t status = is_stream
                                     ? attn_stream_create(context, backend.id, &scene->problem,
                                                          NULL, 0, 8, &made, &scene->error)
                                     : plan(scene, backend.id, NULL);
    scene->context = own;
    attn_context_destroy(context);
    return status;
}

static attn_status_t told_by_supports(scene_t *scene) { return tell_by(scene, 1, 0); }
static attn_status_t told_by_plan(scene_t *scene) { return tell_by(scene, 0, 0); }
static attn_status_t told_by_stream(scene_t *scene) { return tell_by(scene, 0, 1); }

static attn_status_t told_without_end(scene_t *scene) {
    const char *text = scene->text;
    scene->text = NULL;
    const attn_status_t status = tell_by(scene, 0, 0);
    scene->text = text;
    return status;
}

static attn_status_t twice_registered(scene_t *scene) {
    attn_context_t *context = fixture_context(1);
    const attn_backend_t backend = {
        .struct_size = sizeof backend, .id = scene->text, .plan = make_plan};
    const attn_backend_t *const list[] = {&backend, &backend};
    const attn_plugin_entry_t entry = {sizeof entry, ATTN_ABI_MAJOR, ATTN_ABI_MINOR, 2, 0, list};
    const attn_status_t status = attn_plugin_register(context, &entry, "here", &scene->error);
    attn_context_destroy(context);
    return status;
}

static void messages_are_lines(void **state) {
    (void)state;
    static const struct {
        const char *what;
        attn_status_t (*refuse)(scene_t *scene);
    } places[] = {
        {"a plan's backend", plan_id},
        {"a stream's backend", stream_id},
        {"a parameter's name", param_name},
        {"a parameter's name, of linear", param_name_without_any},
        {"a choice", choice_value},
        {"a number", number_value},
        {"cpu", cpu_name},
        {"a plugin's path", plugin_path},
        {"an input's name", input_name},
        {"a plugin's origin", plugin_origin},
        {"a saved stream's backend", saved_name},
        {"what a plugin does not support", told_by_supports},
        {"why a plugin makes no plan", told_by_plan},
        {"why a plugin makes no stream", told_by_stream},
        {"a plugin's message without end", told_without_end},
        {"a backend that is there twice", twice_registered},
    };
    for (size_t place = 0; place < TEST_COUNT(places); place++)
        for (size_t i = 0; i < TEST_COUNT(evil); i++) {
            scene_t scene = {.context = fixture_context(1), .text = evil[i]};
            test_label("%s, text %zu", places[place].what, i);
            attn_problem_init(&scene.problem, 1, 1, 4, 4, 8, 8);
            if (places[place].refuse == saved_name || places[place].refuse == stream_id)
                scene.problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
            memset(&scene.error, 0x7F, sizeof scene.error);
            const attn_status_t status = places[place].refuse(&scene);
            assert_int_not_equal(status, ATTN_OK);
            assert_int_equal(scene.error.status, status);
            check_line(scene.error.message, sizeof scene.error.message);
            attn_context_destroy(scene.context);
        }
}

/* ---- descriptions ---------------------------------------------------------------------------------- */

static void descriptions_are_utf8(void **state) {
    (void)state;
    const attn_backend_t backend = {.struct_size = sizeof backend,
                                    .id = "org.example.teller",
                                    .name = "name \xff",
                                    .description = "a\nb \xe4\xba",
                                    .reference = "\xc3\xa4",
                                    .plan = make_plan};
    const attn_backend_t *const list[] = {&backend};
    const attn_plugin_entry_t entry = {sizeof entry, ATTN_ABI_MAJOR, ATTN_ABI_MINOR, 1, 0, list};
    attn_context_t *context = fixture_context(1);
    attn_error_t error;
    assert_int_equal(attn_plugin_register(context, &entry, "/a/\xfe.so", &error), ATTN_OK);
    const size_t size = attn_describe(context, NULL, 0) + 1;
    char *text = malloc(size);
    attn_describe(context, text, size);
    for (const char *at = text; *at; at += attn_utf8_length(at))
        if (attn_utf8_length(at) == 0) test_fail("a byte %02x", (unsigned char)*at);
    assert_non_null(strstr(text, "\"name \\\\xff\""));
    assert_non_null(strstr(text, "\"a\\u000ab \\\\xe4\\\\xba\""));
    assert_non_null(strstr(text, "\"/a/\\\\xfe.so\""));
    assert_non_null(strstr(text, "\"\xc3\xa4\""));
    free(text);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(texts_become_lines),
          cmocka_unit_test(long_messages_end_with_a_whole_character),
          cmocka_unit_test(messages_are_lines), cmocka_unit_test(descriptions_are_utf8))
