/* The task `text`: samples of a corpus, and trainings that go on, also as longer ones. */
#include "labs/reasoning/study.h"

#include "labs/language/bytes.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 12, STEPS = 16, COOL = 4 };

static const char learned[] =
    "The boat lay on the shore, and the sea was still. A man came down to the boat, and looked at "
    "the sea, and said: it is still. Then the wind rose, and the boat lay on the shore no more.";
static const char held_out[] = "The wind was still, and the man looked at the shore.";

static void make_corpus(corpus_t *corpus) {
    attn_error_t error;
    if (corpus_make(learned, strlen(learned), held_out, strlen(held_out), corpus, &error))
        test_fail("%s", error.message);
}

static study_settings_t settings_of(const corpus_t *corpus, const char *backend, int64_t steps) {
    study_settings_t settings = {.backend = backend,
                                 .width = 12,
                                 .heads = 2,
                                 .layers = 2,
                                 .training = nn_training_paper(3),
                                 .rate = 0.01,
                                 .warm = 3,
                                 .steps = steps,
                                 .cool = COOL,
                                 .enough = 2};
    attn_error_t error;
    settings.training.batch = 9;
    settings.training.dropout = 0;
    settings.training.embedding = 0.05;
    assert_int_equal(reasoning_make(REASONING_TEXT, SIZE, 0, 0, &settings.task, NULL), ATTN_OK);
    if (reasoning_learn(&settings.task, corpus, &error)) test_fail("%s", error.message);
    return settings;
}

static void create(const attn_context_t *context, const study_settings_t *settings, int64_t steps,
                   study_t *study) {
    attn_error_t error;
    if (study_create(context, settings, study, &error) || study_train(study, steps, &error))
        test_fail("%s", error.message);
}

static char *save(const study_t *study, size_t *size) {
    *size = study_save(study, NULL, 0);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    study_save(study, bytes, *size);
    return bytes;
}

/* ---- samples --------------------------------------------------------------------------------------- */

static int is_within(const corpus_part_t *part, const reasoning_sample_t *sample) {
    for (int64_t at = 0; at + sample->count <= part->count; at++)
        if (memcmp(part->tokens + at, sample->tokens,
                   (size_t)sample->count * sizeof *sample->tokens) == 0)
            return 1;
    return 0;
}

static void samples(void **state) {
    (void)state;
    static reasoning_sample_t sample, again;
    corpus_t corpus;
    make_corpus(&corpus);
    const study_settings_t settings = settings_of(&corpus, "softmax", STEPS);
    int differ = 0;
    for (uint64_t number = 0; number < 60; number++) {
        reasoning_draw(&settings.task, test_seed(), REASONING_TRAIN, number, &sample);
        assert_true(sample.count == SIZE + 1 && is_within(&corpus.train, &sample));
        reasoning_draw(&settings.task, test_seed(), REASONING_TRAIN, number, &again);
        assert_memory_equal(sample.tokens, again.tokens, (SIZE + 1) * sizeof *sample.tokens);
        reasoning_draw(&settings.task, test_seed(), REASONING_TRAIN, number + 1, &again);
        differ += memcmp(sample.tokens, again.tokens, (SIZE + 1) * sizeof *sample.tokens) != 0;
        reasoning_draw(&settings.task, test_seed(), REASONING_TEST, number, &sample);
        assert_true(is_within(&corpus.test, &sample) && !is_within(&corpus.train, &sample));
    }
    assert_true(differ > 30);
    corpus_free(&corpus);
}

static void short_texts(void **state) {
    (void)state;
    corpus_t corpus;
    reasoning_task_t task, other;
    attn_error_t error;
    assert_int_equal(corpus_make(learned, strlen(learned), "Too short.", 10, &corpus, NULL), 0);
    assert_int_equal(reasoning_make(REASONING_TEXT, SIZE, 0, 0, &task, NULL), ATTN_OK);
    fixture_expect(reasoning_learn(&task, &corpus, &error), &error, ATTN_ERROR_RANGE,
                   "held-out text has|13");
    corpus_free(&corpus);
    assert_int_equal(corpus_make("", 0, held_out, strlen(held_out), &corpus, NULL), 0);
    fixture_expect(reasoning_learn(&task, &corpus, &error), &error, ATTN_ERROR_RANGE,
                   "text to learn has 0 tokens");
    assert_int_equal(reasoning_make(REASONING_LIS, 4, 0, 0, &other, NULL), ATTN_OK);
    fixture_expect(reasoning_learn(&other, &corpus, &error), &error, ATTN_ERROR_ARGUMENT,
                   "lis has no corpus");
    corpus_free(&corpus);
}

/* A study of text that nobody has given a text is refused, not drawn from nowhere. */
static void no_corpus(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_error_t error;
    corpus_t corpus;
    study_t study;
    make_corpus(&corpus);
    study_settings_t settings = settings_of(&corpus, "softmax", STEPS);
    settings.task.corpus = NULL;
    if (study_create(context, &settings, &study, &error)) test_fail("%s", error.message);
    fixture_expect(study_train(&study, 1, &error), &error, ATTN_ERROR_ARGUMENT, "text|corpus");
    fixture_expect(study_check(&study, &error), &error, ATTN_ERROR_ARGUMENT, "text|corpus");
    double loss;
    fixture_expect(study_loss(&study, 1, &loss, &error), &error, ATTN_ERROR_ARGUMENT,
                   "text|corpus");
    study_destroy(&study);
    corpus_free(&corpus);
    attn_context_destroy(context);
}

/* ---- training -------------------------------------------------------------------------------------- */

static const char *const backends[] = {"softmax", "linear", "sparse"};

/* Drawn weights guess among 512 tokens; what it has learned of the text helps with words that are held out. */
static void learns(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    corpus_t corpus;
    make_corpus(&corpus);
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        const study_settings_t settings = settings_of(&corpus, backends[b], 40);
        attn_error_t error;
        double before = 0, after = 0;
        study_t study;
        if (!test_takes_case()) continue;
        test_label("%s", backends[b]);
        create(context, &settings, 0, &study);
        if (study_loss(&study, 1, &before, &error) || study_train(&study, 40, &error) ||
            study_loss(&study, 1, &after, &error))
            test_fail("%s", error.message);
        assert_true(fabs(before - log(BYTES_VOCABULARY)) < 0.5);
        if (!(after < before - 1.5)) test_fail("%g after %g", after, before);
        study_destroy(&study);
    }
    corpus_free(&corpus);
    attn_context_destroy(context);
}

/* In the middle, from the checkpoint of a shorter training, and of a longer one: the same bits. */
static void goes_on(void **state) {
    (void)state;
    static const int64_t lengths[] = {STEPS, STEPS - 2, STEPS + 9};
    attn_context_t *context = fixture_context(1);
    corpus_t corpus;
    make_corpus(&corpus);
    for (size_t b = 0; b < TEST_COUNT(backends); b++)
        for (size_t l = 0; l < TEST_COUNT(lengths); l++) {
            const study_settings_t settings = settings_of(&corpus, backends[b], STEPS);
            const study_settings_t first_settings = settings_of(&corpus, backends[b], lengths[l]);
            study_t at_once, first, second;
            attn_error_t error;
            size_t size, other;
            if (!test_takes_case()) continue;
            test_label("%s, %d steps", backends[b], (int)lengths[l]);
            create(context, &settings, STEPS, &at_once);
            create(context, &first_settings, 10, &first);
            create(context, &settings, 1, &second);
            char *half = save(&first, &size);
            if (study_restore(&second, half, size, &error) || study_train(&second, STEPS, &error))
                test_fail("%s", error.message);
            char *one = save(&at_once, &size), *two = save(&second, &other);
            assert_int_equal(size, other);
            assert_memory_equal(one, two, size);
            free(half), free(one), free(two);
            study_destroy(&at_once), study_destroy(&first), study_destroy(&second);
        }
    corpus_free(&corpus);
    attn_context_destroy(context);
}

/* The weights of a training whose rate falls are none that a longer one ever has. */
static void refuses_what_falls(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    corpus_t corpus;
    make_corpus(&corpus);
    const study_settings_t settings = settings_of(&corpus, "softmax", STEPS);
    const study_settings_t longer = settings_of(&corpus, "softmax", STEPS + 100);
    study_t first, second;
    attn_error_t error;
    size_t size;
    create(context, &settings, STEPS - COOL + 1, &first);
    create(context, &longer, 0, &second);
    char *bytes = save(&first, &size);
    fixture_expect(study_restore(&second, bytes, size, &error), &error, ATTN_ERROR_SHAPE,
                   "step 13 of 16|116 steps|up to step 12");
    assert_int_equal(second.trainer.step, 0);
    free(bytes);
    study_destroy(&first), study_destroy(&second);
    corpus_free(&corpus);
    attn_context_destroy(context);
}

static void refuses_other_texts(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    corpus_t corpus, other;
    attn_error_t error;
    make_corpus(&corpus);
    if (corpus_make(held_out, strlen(held_out), learned, strlen(learned), &other, &error))
        test_fail("%s", error.message);
    const study_settings_t settings = settings_of(&corpus, "softmax", STEPS);
    const study_settings_t others = settings_of(&other, "softmax", STEPS);
    study_t first, second;
    size_t size;
    create(context, &settings, 1, &first);
    create(context, &others, 0, &second);
    char *bytes = save(&first, &size);
    fixture_expect(study_restore(&second, bytes, size, &error), &error, ATTN_ERROR_SHAPE,
                   "checkpoint is of corpus=|this is corpus=");
    free(bytes);
    study_destroy(&first), study_destroy(&second);
    corpus_free(&corpus), corpus_free(&other);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(samples), cmocka_unit_test(short_texts), cmocka_unit_test(no_corpus),
          cmocka_unit_test(learns), cmocka_unit_test(goes_on), cmocka_unit_test(refuses_what_falls),
          cmocka_unit_test(refuses_other_texts))
