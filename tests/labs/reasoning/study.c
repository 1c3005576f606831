/* Studies: a model learns a task, decodes what it says under teacher forcing, and goes on from a checkpoint. */
#include "small.h"

#include "labs/reasoning/checksum.h"
#include "support/fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void create(const attn_context_t *context, const study_settings_t *settings,
                   study_t *study) {
    attn_error_t error;
    if (study_create(context, settings, study, &error)) test_fail("%s", error.message);
}

static void train(study_t *study, int64_t steps) {
    attn_error_t error;
    if (study_train(study, steps, &error)) test_fail("%s", error.message);
}

/* ---- learning -------------------------------------------------------------------------------------- */

static void learns(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "sparse", "linear"};
    enum { SAMPLES = 150 };
    attn_context_t *context = fixture_context(2);
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        const study_settings_t settings = small_study(backends[b]);
        study_score_t before, after;
        study_t study;
        attn_error_t error;
        if (!test_takes_case()) continue;
        test_label("%s", backends[b]);
        create(context, &settings, &study);
        if (study_solve(&study, SAMPLES, &before, &error)) test_fail("%s", error.message);
        train(&study, settings.steps);
        if (study_solve(&study, SAMPLES, &after, &error)) test_fail("%s", error.message);
        assert_true(study_is_done(&study));
        assert_true(before.whole < SAMPLES / 10);
        if (after.answers < SAMPLES * 7 / 10)
            test_fail("%" PRId64 " of %d answers are right", after.answers, SAMPLES);
        /* Where each token is right given those before, decoding says all of them, but for ties. */
        assert_true(after.answers + 1 >= after.whole && after.whole > SAMPLES / 2);
        assert_true(study.enough || study.trainer.step == settings.steps);
        study_destroy(&study);
    }
    attn_context_destroy(context);
}

/* What a choice leaves to the task is the task's. */
static void choices(void **state) {
    (void)state;
    const study_choice_t automatic = {.kind = REASONING_ED, .size = 3, .batch = 100};
    study_choice_t chosen = automatic;
    study_settings_t settings;
    const study_learning_t learning = study_learning(REASONING_ED);
    assert_int_equal(study_settings_make(&automatic, &settings, NULL), ATTN_OK);
    assert_true(settings.rate == learning.rate && learning.rate > 0);
    assert_true(settings.training.embedding == learning.embedding && learning.embedding > 0);
    assert_int_equal(settings.steps, 10 * learning.samples);
    chosen.rate = 0.25, chosen.embedding = 0.5, chosen.samples = 3;
    assert_int_equal(study_settings_make(&chosen, &settings, NULL), ATTN_OK);
    assert_true(settings.rate == 0.25 && settings.training.embedding == 0.5);
    assert_int_equal(settings.steps, 30);
}

/* ---- checkpoints ----------------------------------------------------------------------------------- */

static char *save(const study_t *study, size_t *size) {
    *size = study_save(study, NULL, 0);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(study_save(study, bytes, *size), *size);
    return bytes;
}

static void goes_on(void **state) {
    (void)state;
    const study_settings_t settings = small_study("softmax");
    attn_context_t *context = fixture_context(1);
    attn_error_t error;
    study_t at_once, first, second;
    size_t size, other;
    create(context, &settings, &at_once);
    create(context, &settings, &first);
    create(context, &settings, &second);
    train(&at_once, 7);
    train(&first, 3);
    char *half = save(&first, &size);
    train(&second, 1); /* all of that is replaced */
    if (study_restore(&second, half, size, &error)) test_fail("%s", error.message);
    assert_int_equal(second.trainer.step, 3);
    train(&second, 4);
    char *one = save(&at_once, &size), *two = save(&second, &other);
    assert_int_equal(size, other);
    assert_memory_equal(one, two, size);
    free(half), free(one), free(two);
    study_destroy(&at_once), study_destroy(&first), study_destroy(&second);
    attn_context_destroy(context);
}

typedef struct change {
    void (*make)(study_settings_t *settings);
    const char *words;
} change_t;

static void other_task(study_settings_t *settings) {
    reasoning_make(REASONING_ED, 4, 0, 0, &settings->task, NULL);
}
static void other_size(study_settings_t *settings) {
    reasoning_make(REASONING_LIS, 3, 0, 0, &settings->task, NULL);
}
static void other_width(study_settings_t *settings) { settings->width = 32; }
static void other_backend(study_settings_t *settings) { settings->backend = "linear"; }
static void other_rate(study_settings_t *settings) { settings->rate = 0.25; }
static void other_schedule(study_settings_t *settings) { settings->constant = 1; }
static void other_embedding(study_settings_t *settings) { settings->training.embedding = 0.5; }
static void other_epsilon(study_settings_t *settings) { settings->training.epsilon = 0.125; }

static void refuse(study_t *study, const char *bytes, size_t size, attn_status_t status,
                   const char *words) {
    attn_error_t error = {0};
    size_t after_size, before_size;
    char *before = save(study, &before_size);
    fixture_expect(study_restore(study, bytes, size, &error), &error, status, words);
    char *after = save(study, &after_size);
    assert_memory_equal(before, after, before_size);
    free(before), free(after);
}

static void refuses_others(void **state) {
    (void)state;
    static const change_t changes[] = {
        {other_task, "task=lis|task=ed"},     {other_size, "size=4|size=3"},
        {other_width, "width=16|width=32"},   {other_backend, "attention=softmax|attention=linear"},
        {other_rate, "rate=0.005|rate=0.25"},
    };
    attn_context_t *context = fixture_context(1);
    const study_settings_t settings = small_study("softmax");
    study_t study, other;
    size_t size;
    create(context, &settings, &study);
    char *bytes = save(&study, &size);
    for (size_t c = 0; c < TEST_COUNT(changes); c++) {
        study_settings_t changed = settings;
        changes[c].make(&changed);
        create(context, &changed, &other);
        refuse(&other, bytes, size, ATTN_ERROR_SHAPE, changes[c].words);
        study_destroy(&other);
    }
    free(bytes);
    study_destroy(&study);
    attn_context_destroy(context);
}

/* Lines that are there only where they say what is not usual: one has it, and the other none. */
static void refuses_what_one_has(void **state) {
    (void)state;
    static const struct {
        void (*make)(study_settings_t *settings);
        const char *by_plain,
            *by_other; /* what a study without and one with it say of the other's checkpoint */
    } lines[] = {
        {other_epsilon, "checkpoint is of epsilon=0.125, and this is not",
         "this is of epsilon=0.125, and the checkpoint is not"},
        {other_embedding, "checkpoint is of embedding=0.5, and this is not",
         "this is of embedding=0.5, and the checkpoint is not"},
        {other_schedule, "checkpoint is of constant=1, and this is not",
         "this is of constant=1, and the checkpoint is not"},
    };
    attn_context_t *context = fixture_context(1);
    const study_settings_t settings = small_study("softmax");
    study_t plain, other;
    size_t size;
    create(context, &settings, &plain);
    for (size_t i = 0; i < TEST_COUNT(lines); i++) {
        study_settings_t changed = settings;
        lines[i].make(&changed);
        create(context, &changed, &other);
        char *bytes = save(&plain, &size);
        refuse(&other, bytes, size, ATTN_ERROR_SHAPE, lines[i].by_other);
        free(bytes);
        bytes = save(&other, &size);
        refuse(&plain, bytes, size, ATTN_ERROR_SHAPE, lines[i].by_plain);
        free(bytes);
        study_destroy(&other);
    }
    study_destroy(&plain);
    attn_context_destroy(context);
}

/* More words than the text has room for count, too: those that come last, and those of a long one. */
static void long_parameters(void **state) {
    (void)state;
    static char zeros[2][1500];
    attn_context_t *context = fixture_context(1);
    study_settings_t settings = small_study("sparse"), changed;
    const attn_param_t params[2][1] = {{{"block", zeros[0]}}, {{"block", zeros[1]}}};
    study_t study, other;
    size_t size;
    for (int i = 0; i < 2; i++) {
        memset(zeros[i], '0', sizeof zeros[i] - 1);
        zeros[i][sizeof zeros[i] - 2] = (char)('4' + i);
    }
    settings.params = params[0], settings.param_count = 1;
    create(context, &settings, &study);
    char *bytes = save(&study, &size);
    changed = settings;
    changed.rate = 0.25;
    create(context, &changed, &other);
    refuse(&other, bytes, size, ATTN_ERROR_SHAPE, "rate=0.005|rate=0.25");
    study_destroy(&other);
    changed = settings;
    changed.params = params[1];
    create(context, &changed, &other);
    refuse(&other, bytes, size, ATTN_ERROR_SHAPE, "rest=");
    study_destroy(&other);
    if (study_restore(&study, bytes, size, NULL)) test_fail("its own checkpoint is refused");
    free(bytes);
    study_destroy(&study);
    attn_context_destroy(context);
}

static void refuses_damage(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const study_settings_t settings = small_study("softmax");
    study_t study;
    size_t size;
    create(context, &settings, &study);
    train(&study, 1);
    char *bytes = save(&study, &size);
    train(&study, 1);
    refuse(&study, bytes, size - 1, ATTN_ERROR_ARGUMENT, "truncated|bytes");
    refuse(&study, bytes, 100, ATTN_ERROR_ARGUMENT, "truncated");
    refuse(&study, bytes, 5, ATTN_ERROR_ARGUMENT, "no checkpoint");
    refuse(&study, "something else entirely", 23, ATTN_ERROR_ARGUMENT, "no checkpoint");
    bytes[11] = '2';
    refuse(&study, bytes, size, ATTN_ERROR_ARGUMENT, "version '2'|'1'");
    bytes[11] = '1';
    bytes[size / 2] ^= 4;
    refuse(&study, bytes, size, ATTN_ERROR_ARGUMENT, "damaged");
    free(bytes);
    study_destroy(&study);
    attn_context_destroy(context);
}

/* Numbers behind the weights that no study has, with a sum that is right: the step, and the one of the last look. */
static void refuses_steps_that_are_none(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const study_settings_t settings = small_study("softmax");
    const int64_t steps[] = {-((int64_t)1 << 62), INT64_MIN, -1, settings.steps + 1, INT64_MAX};
    study_t study;
    size_t size;
    create(context, &settings, &study);
    char *bytes = save(&study, &size);
    const size_t sum_at = size - sizeof(uint64_t);
    for (int which = 0; which < 2; which++)
        for (size_t s = 0; s < TEST_COUNT(steps); s++) {
            int64_t tail[2] = {0, 0}; /* five numbers of 8 bytes: step, look, enough, loss, sum */
            tail[which] = steps[s];
            memcpy(bytes + size - 40, tail, sizeof tail);
            const uint64_t sum = checksum(CHECKSUM_BASIS, bytes, sum_at);
            memcpy(bytes + sum_at, &sum, sizeof sum);
            refuse(&study, bytes, size, ATTN_ERROR_ARGUMENT, "damaged|step");
        }
    free(bytes);
    study_destroy(&study);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(learns), cmocka_unit_test(choices), cmocka_unit_test(goes_on),
          cmocka_unit_test(refuses_others), cmocka_unit_test(refuses_what_one_has),
          cmocka_unit_test(long_parameters), cmocka_unit_test(refuses_damage),
          cmocka_unit_test(refuses_steps_that_are_none))
