/* A model that writes: by streams as by the parallel pass, behind its context, and how well it foretells. */
#include "scene.h"

#include "labs/language/bits.h"
#include "labs/language/bytes.h"
#include "labs/language/writer.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCABULARY = BYTES_VOCABULARY, MOST = 4 * SCENE_CONTEXT };

static const char *const backends[] = {"softmax", "linear", "sparse"};
static const sample_choice_t greedy = {.temperature = 0, .top_p = 1};

/*
 * Two evaluations in f32: sums of up to 40 terms in 14 places one after another; of 10 normed columns of order 1 the
 * terms are at most 10 together, and logits at most 10 of the embedding's.
 */
static const double TOLERANCE = 2 * 14 * 40 * 0x1p-24 * 10;

static void create(const scene_t *scene, writer_t *writer) {
    attn_error_t error;
    if (writer_create(&scene->model, writer, &error)) test_fail("%s", error.message);
}

static void read_tokens(writer_t *writer, const int32_t *tokens, int64_t count) {
    attn_error_t error;
    if (writer_read(writer, tokens, count, &error)) test_fail("%s", error.message);
}

static int32_t next(writer_t *writer, const sample_choice_t *choice) {
    attn_error_t error;
    int32_t token;
    if (writer_next(writer, choice, &token, &error)) test_fail("%s", error.message);
    return token;
}

/* ---- streams against the parallel pass ------------------------------------------------------------- */

/* What the writer knows, all at once: its logits, and that it chose the largest of them. */
static void check_known(const scene_t *scene, const writer_t *writer) {
    const int64_t known = writer->decoder.position;
    int32_t tokens[SCENE_CONTEXT] = {0};
    nn_pass_t pass;
    attn_error_t error;
    memcpy(tokens, writer->seen, (size_t)known * sizeof *tokens);
    if (nn_pass_create(&scene->model.net, scene->model.weights, 1, &pass, &error) ||
        nn_forward(&pass, tokens, 1, &error))
        test_fail("%s", error.message);
    const float *logits = pass.logits + (known - 1) * VOCABULARY;
    for (int t = 0; t < VOCABULARY; t++)
        if (!(fabs((double)logits[t] - (double)writer->decoder.logits[t]) <= TOLERANCE))
            test_fail("token %d: %g, the streams have %g", t, (double)logits[t],
                      (double)writer->decoder.logits[t]);
    const double most = (double)logits[nn_largest(logits, VOCABULARY)];
    const double own = (double)logits[nn_largest(writer->decoder.logits, VOCABULARY)];
    assert_true(own >= most - TOLERANCE);
    nn_pass_destroy(&pass);
}

static void streams_agree(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        scene_t scene;
        writer_t writer;
        if (!test_takes_case()) continue;
        scene_make(backends[b], &scene);
        create(&scene, &writer);
        read_tokens(&writer, scene.corpus.test.tokens, 5);
        for (int i = 0; i < 2 * SCENE_CONTEXT + 5; i++) { /* beyond the context twice */
            test_label("%s, token %d", backends[b], i);
            check_known(&scene, &writer);
            const int32_t expected = nn_largest(writer.decoder.logits, VOCABULARY);
            assert_int_equal(next(&writer, &greedy), expected);
        }
        writer_destroy(&writer);
        scene_free(&scene);
    }
}

/* Any text at once is as it is in parts, to the bit, and what is written twice is the same. */
static void reads_in_parts(void **state) {
    (void)state;
    static const sample_choice_t choice = {.temperature = 1, .top_p = 0.9, .seed = 7};
    int32_t text[MOST];
    scene_t scene;
    scene_make("softmax", &scene);
    for (int i = 0; i < MOST; i++) text[i] = (int32_t)fixture_draw((uint64_t)i, VOCABULARY);
    for (int64_t count = 0; count <= MOST; count += 1 + count / 9) {
        writer_t whole, parts;
        if (!test_takes_case()) continue;
        test_label("%d tokens", (int)count);
        create(&scene, &whole), create(&scene, &parts);
        read_tokens(&whole, text, count);
        read_tokens(&parts, text, count / 3);
        read_tokens(&parts, text + count / 3, count - count / 3);
        assert_int_equal(whole.decoder.position, parts.decoder.position);
        assert_true(whole.decoder.position <= SCENE_CONTEXT);
        assert_true(count < SCENE_CONTEXT || whole.decoder.position > SCENE_CONTEXT / 2);
        for (int i = 0; i < 5; i++) assert_int_equal(next(&whole, &choice), next(&parts, &choice));
        assert_memory_equal(whole.decoder.logits, parts.decoder.logits,
                            VOCABULARY * sizeof *whole.decoder.logits);
        writer_destroy(&whole), writer_destroy(&parts);
    }
    scene_free(&scene);
}

/* ---- choosing -------------------------------------------------------------------------------------- */

static void chooses(void **state) {
    (void)state;
    /* probabilities 1/2, 1/4, 1/8, 1/8 in another order */
    const float logits[] = {logf(0.125f), logf(0.5f), logf(0.125f), logf(0.25f)};
    enum { DRAWS = 4000 };
    int counts[4] = {0}, colder[4] = {0};
    const sample_choice_t all = {.temperature = 1, .top_p = 1, .seed = test_seed()};
    const sample_choice_t cold = {.temperature = 0.5, .top_p = 1, .seed = test_seed()};
    const sample_choice_t two = {.temperature = 1, .top_p = 0.7, .seed = test_seed()};
    const sample_choice_t one = {.temperature = 1, .top_p = 0.5, .seed = test_seed()};
    for (uint64_t i = 0; i < DRAWS; i++) {
        counts[sample_token(&all, i, logits, 4)]++;
        colder[sample_token(&cold, i, logits, 4)]++;
        const int32_t token = sample_token(&two, i, logits, 4);
        assert_true(token == 1 || token == 3);
        assert_int_equal(sample_token(&one, i, logits, 4), 1);
        assert_int_equal(sample_token(&greedy, i, logits, 4), 1);
    }
    static const double shares[] = {1 / 8., 1 / 2., 1 / 8., 1 / 4.};
    static const double squares[] = {1 / 22., 16 / 22., 1 / 22., 4 / 22.};
    for (int t = 0; t < 4; t++) { /* within 6 standard deviations */
        assert_true(fabs(counts[t] - DRAWS * shares[t]) <
                    6 * sqrt(DRAWS * shares[t] * (1 - shares[t])));
        assert_true(fabs(colder[t] - DRAWS * squares[t]) <
                    6 * sqrt(DRAWS * squares[t] * (1 - squares[t])));
    }
}

static void refuses_choices(void **state) {
    (void)state;
    static const struct {
        sample_choice_t choice;
        const char *words;
    } wrong[] = {
        {{.temperature = -1, .top_p = 1}, "temperature of -1"},
        {{.temperature = NAN, .top_p = 1}, "temperature of nan"},
        {{.temperature = 1, .top_p = 0}, "top-p of 0"},
        {{.temperature = 1, .top_p = 1.5}, "top-p of 1.5"},
        {{.temperature = 1, .top_p = NAN}, "top-p of nan"},
    };
    scene_t scene;
    writer_t writer;
    attn_error_t error;
    int32_t token;
    scene_make("softmax", &scene);
    create(&scene, &writer);
    for (size_t i = 0; i < TEST_COUNT(wrong); i++)
        fixture_expect(writer_next(&writer, &wrong[i].choice, &token, &error), &error,
                       ATTN_ERROR_RANGE, wrong[i].words);
    writer_destroy(&writer);
    scene_free(&scene);
}

/* ---- how well -------------------------------------------------------------------------------------- */

/* -log probability of text[at] from the tokens [from, at), by a pass of its own. */
static double surprise(const scene_t *scene, const int32_t *text, int64_t from, int64_t at) {
    int32_t tokens[SCENE_CONTEXT] = {0};
    nn_pass_t pass;
    attn_error_t error;
    double sum = 0;
    if (at == 0) return log(VOCABULARY);
    memcpy(tokens, text + from, (size_t)(at - from) * sizeof *tokens);
    if (nn_pass_create(&scene->model.net, scene->model.weights, 1, &pass, &error) ||
        nn_forward(&pass, tokens, 1, &error))
        test_fail("%s", error.message);
    const float *logits = pass.logits + (at - from - 1) * VOCABULARY;
    for (int t = 0; t < VOCABULARY; t++) sum += exp((double)logits[t]);
    const double loss = log(sum) - (double)logits[text[at]];
    nn_pass_destroy(&pass);
    return loss;
}

static void bits(void **state) {
    (void)state;
    const int64_t half = SCENE_CONTEXT / 2;
    scene_t scene;
    scene_make("softmax", &scene);
    const corpus_part_t *text = &scene.corpus.test;
    assert_true(text->count > SCENE_CONTEXT + half);
    for (int64_t count = 1; count <= text->count; count += 11) {
        const corpus_part_t part = {text->tokens, count, 3 * count};
        double found, expected = 0;
        attn_error_t error;
        if (!test_takes_case()) continue;
        for (int64_t at = 0; at < count; at++) {
            const int64_t from =
                at <= SCENE_CONTEXT ? 0 : (at - SCENE_CONTEXT + half - 1) / half * half;
            expected += surprise(&scene, text->tokens, from, at) / log(2) / (double)part.bytes;
        }
        if (language_bits(&scene.model.net, scene.model.weights, &part, &found, &error))
            test_fail("%s", error.message);
        /* each is a difference of logits, both within the tolerance of two evaluations */
        if (!(fabs(found - expected) <= 2 * TOLERANCE))
            test_fail("%d tokens: %g bits, expected %g", (int)count, found, expected);
    }
    scene_free(&scene);
}

static void no_text(void **state) {
    (void)state;
    scene_t scene;
    double found;
    attn_error_t error;
    const corpus_part_t none = {NULL, 0, 0};
    scene_make("softmax", &scene);
    assert_int_equal(language_bits(&scene.model.net, scene.model.weights, &none, &found, &error),
                     ATTN_OK);
    assert_true(isnan(found));
    fixture_expect(language_loss(&scene.model.net, scene.model.weights, &none, 2, &found, &error),
                   &error, ATTN_ERROR_RANGE, "0 tokens|41");
    scene_free(&scene);
}

TEST_MAIN(cmocka_unit_test(streams_agree), cmocka_unit_test(reads_in_parts),
          cmocka_unit_test(chooses), cmocka_unit_test(refuses_choices), cmocka_unit_test(bits),
          cmocka_unit_test(no_text))
