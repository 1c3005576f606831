/* Models: what a file keeps of a study, files that are none, and the model at work by streams and by the parallel pass. */
#include "labs/reasoning/model.h"

#include "labs/nn/decode.h"
#include "labs/reasoning/checksum.h"
#include "small.h"
#include "support/fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    attn_context_t *context;
    study_t study;
    char *checkpoint, *file;
    size_t checkpoint_size, size;
} scene_t;

static const char command[] = "attn lab train lis --n 4";

/* One that learns for a moment, with dropout, and is never enough. */
static study_settings_t brief(const char *backend) {
    static const attn_param_t block[] = {{"block", "2"}};
    study_settings_t settings = small_study(backend);
    settings.steps = 30;
    settings.enough = 2;
    settings.training.batch = 16;
    settings.training.dropout = 0.125f;
    if (strcmp(backend, "linear") == 0) settings.training.epsilon = 1e-7; /* not the paper's */
    if (strcmp(backend, "sparse") == 0) settings.params = block, settings.param_count = 1;
    return settings;
}

/* A study that has learnt a little, its checkpoint, and the file of its model. */
static void setup(scene_t *scene, const char *backend) {
    const study_settings_t settings = brief(backend);
    const model_record_t record = {.step = 30, .tests = 50, .answers = 31, .command = command};
    description_t description;
    attn_error_t error;
    study_t *study = &scene->study;
    scene->context = fixture_context(1);
    if (study_create(scene->context, &settings, study, &error) ||
        study_train(study, settings.steps, &error))
        test_fail("%s", error.message);
    scene->checkpoint_size = study_save(study, NULL, 0);
    scene->checkpoint = malloc(scene->checkpoint_size);
    assert_non_null(scene->checkpoint);
    study_save(study, scene->checkpoint, scene->checkpoint_size);
    if (description_read(scene->checkpoint, scene->checkpoint_size, "study", &description, &error))
        test_fail("%s", error.message);
    model_round(study);
    scene->size = model_save(study, scene->checkpoint, description.size, &record, NULL, 0);
    scene->file = calloc(1, scene->size);
    assert_non_null(scene->file);
    model_save(study, scene->checkpoint, description.size, &record, scene->file, scene->size - 1);
    assert_int_equal(scene->file[0], 0); /* nothing is written where there is too little room */
    assert_int_equal(
        model_save(study, scene->checkpoint, description.size, &record, scene->file, scene->size),
        scene->size);
}

static void teardown(scene_t *scene) {
    free(scene->checkpoint), free(scene->file);
    study_destroy(&scene->study);
    attn_context_destroy(scene->context);
}

static void load(const scene_t *scene, model_t *model) {
    attn_error_t error;
    if (model_load(scene->context, scene->file, scene->size, model, &error))
        test_fail("%s", error.message);
}

static const char *const backends[] = {"softmax", "sparse", "linear"};

/* ---- files ----------------------------------------------------------------------------------------- */

/* What is read of a checkpoint's lines makes a study that takes the checkpoint, which compares all of them. */
static void checkpoint_describes(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        scene_t scene;
        description_t description;
        study_t again;
        attn_error_t error;
        test_label("%s", backends[b]);
        setup(&scene, backends[b]);
        if (description_read(scene.checkpoint, scene.checkpoint_size, "study", &description,
                             &error) ||
            description_end(&description, &error) ||
            study_create(scene.context, &description.settings, &again, &error) ||
            study_restore(&again, scene.checkpoint, scene.checkpoint_size, &error))
            test_fail("%s", error.message);
        assert_int_equal(again.trainer.step, 30);
        study_destroy(&again);
        teardown(&scene);
    }
}

static void keeps(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        scene_t scene;
        model_t model;
        test_label("%s", backends[b]);
        setup(&scene, backends[b]);
        load(&scene, &model);
        const nn_trainer_t *trainer = &scene.study.trainer;
        const study_settings_t *settings = &model.description.settings;
        assert_int_equal(model.net.layout.count, trainer->net.layout.count);
        assert_memory_equal(model.weights, trainer->weights,
                            (size_t)model.net.layout.count * sizeof *model.weights);
        assert_memory_equal(&settings->task, &scene.study.settings.task, sizeof settings->task);
        assert_string_equal(settings->backend, backends[b]);
        assert_int_equal(settings->param_count, b == 1);
        if (b == 1) assert_string_equal(settings->params[0].value, "2");
        assert_int_equal(settings->training.seed, 3);
        assert_true(settings->training.dropout == 0.125f);
        assert_true(settings->training.epsilon == (b == 2 ? 1e-7 : 1e-8));
        assert_int_equal(model.record.step, 30);
        assert_int_equal(model.record.tests, 50);
        assert_int_equal(model.record.answers, 31);
        assert_string_equal(model.record.command, command);
        model_destroy(&model);
        teardown(&scene);
    }
}

static void refuse(const scene_t *scene, const char *bytes, size_t size, attn_status_t status,
                   const char *words) {
    attn_error_t error = {0};
    model_t model;
    /* in memory of its own, so that a sanitizer sees what is read behind it */
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    fixture_expect(model_load(scene->context, copy, size, &model, &error), &error, status, words);
    assert_null(model.weights);
    free(copy);
}

static void refuses_others(void **state) {
    (void)state;
    scene_t scene;
    setup(&scene, "softmax");
    const size_t header = scene.size - 8 - 2 * (size_t)scene.study.trainer.net.layout.count;
    refuse(&scene, "", 0, ATTN_ERROR_ARGUMENT, "no file of a model");
    refuse(&scene, "something else entirely", 23, ATTN_ERROR_ARGUMENT, "no file of a model");
    refuse(&scene, scene.checkpoint, scene.checkpoint_size, ATTN_ERROR_ARGUMENT,
           "no file of a model");
    for (size_t size = sizeof "attn model"; size < header; size++)
        refuse(&scene, scene.file, size, ATTN_ERROR_ARGUMENT, "truncated");
    refuse(&scene, scene.file, header, ATTN_ERROR_ARGUMENT, "bytes|truncated");
    refuse(&scene, scene.file, scene.size - 1, ATTN_ERROR_ARGUMENT, "bytes|truncated");
    scene.file[header + 100] ^= 4;
    refuse(&scene, scene.file, scene.size, ATTN_ERROR_ARGUMENT, "damaged");
    teardown(&scene);
}

typedef struct change {
    const char *from, *to; /* of equal length */
    attn_status_t status;
    const char *words;
} change_t;

/* With a sum that is right, so that it is the line which is refused. */
static void refuses_headers(void **state) {
    (void)state;
    static const change_t changes[] = {
        {"attn model 1", "attn model 2", ATTN_ERROR_ARGUMENT, "version '2'|'1'"},
        {"task=lis", "task=fis", ATTN_ERROR_NOT_FOUND, "task 'fis'"},
        {"size=4", "size=1", ATTN_ERROR_RANGE, "lis of size 1"},
        {"size=4", "size=x", ATTN_ERROR_ARGUMENT, "size=x|no number"},
        {"attention=softmax", "attention=softmix", ATTN_ERROR_NOT_FOUND, "softmix"},
        {"width=16", "width=12", ATTN_ERROR_ARGUMENT, "too long"},
        {"width=16", "width=99", ATTN_ERROR_ARGUMENT, "truncated"},
        {"width=16", "width=-1", ATTN_ERROR_ARGUMENT, "width=-1"},
        {"width=16", "width=.5", ATTN_ERROR_ARGUMENT, "width=0.5"},
        {"width=16", "depth=16", ATTN_ERROR_ARGUMENT, "'width='"},
        {"heads=2", "heads=0", ATTN_ERROR_SHAPE, "heads: 0"},
        {"layers=2", "layers=0", ATTN_ERROR_SHAPE, "layers: 0"},
        {"answers=31", "answers=99", ATTN_ERROR_ARGUMENT, "answers=99"},
        {"command=", "commend=", ATTN_ERROR_ARGUMENT, "'command='"},
    };
    scene_t scene;
    setup(&scene, "softmax");
    for (size_t c = 0; c < TEST_COUNT(changes); c++) {
        const change_t *change = &changes[c];
        char *at = strstr(scene.file, change->from);
        const size_t length = strlen(change->from), before = scene.size - 8;
        assert_true(at && length == strlen(change->to));
        test_label("%s", change->to);
        memcpy(at, change->to, length);
        const uint64_t sum = checksum(CHECKSUM_BASIS, scene.file, before);
        for (int i = 0; i < 8; i++) scene.file[before + (size_t)i] = (char)(sum >> 8 * i);
        refuse(&scene, scene.file, scene.size, change->status, change->words);
        memcpy(at, change->from, length);
    }
    teardown(&scene);
}

/* ---- at work --------------------------------------------------------------------------------------- */

enum { QUESTIONS = 10 };
/*
 * Two evaluations in f32: sums of 16 to 64 terms in 14 places one after another; of 16 columns of order 1 the terms are
 * at most 16 together.
 */
static const double TOLERANCE = 2 * 14 * 64 * 0x1p-24 * 16;

/* What it says by streams is what the parallel pass of the same tokens says next, up to ties. */
static void check_said(const model_t *model, const reasoning_sample_t *said) {
    const nn_shape_t *shape = &model->net.shape;
    int32_t tokens[64] = {0};
    nn_pass_t pass;
    attn_error_t error;
    memcpy(tokens, said->tokens, (size_t)shape->length * sizeof *tokens);
    if (nn_pass_create(&model->net, model->weights, 1, &pass, &error) ||
        nn_forward(&pass, tokens, 1, &error))
        test_fail("%s", error.message);
    for (int32_t p = said->question - 1; p + 1 < said->count; p++) {
        const float *logits = pass.logits + p * shape->vocabulary;
        const double most = (double)logits[nn_largest(logits, shape->vocabulary)];
        const double own = (double)logits[said->tokens[p + 1]];
        if (!(own >= most - TOLERANCE))
            test_fail("token %d: %g by the streams, %g", (int)p, own, most);
    }
    nn_pass_destroy(&pass);
}

/* Keys and values of each token in f32; of linear attention those of some last tokens, which then go into its sums. */
static void check_states(const model_t *model, const uint64_t *states, int32_t count) {
    const nn_net_t *net = &model->net;
    const int is_linear = strcmp(net->shape.backend, "linear") == 0;
    const uint64_t token = (uint64_t)(net->shape.layers * 2 * net->layout.inner) * sizeof(float);
    for (int32_t i = 1; i < count; i++) {
        const int falls = is_linear && states[i] < states[i - 1];
        if (!falls && states[i] != states[i - 1] + token)
            test_fail("token %d: %" PRIu64 " bytes after %" PRIu64, (int)i, states[i],
                      states[i - 1]);
    }
}

static void says_by_streams(void **state) {
    (void)state;
    static reasoning_sample_t question, said;
    static uint64_t states[REASONING_MOST_TOKENS];
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        scene_t scene;
        model_t model;
        attn_error_t error;
        int32_t longest = 0;
        setup(&scene, backends[b]);
        load(&scene, &model);
        for (uint64_t q = 0; q < QUESTIONS; q++) {
            test_label("%s, question %" PRIu64, backends[b], q);
            reasoning_draw(&scene.study.settings.task, test_seed(), REASONING_TEST, q, &question);
            if (model_solve(&model, &question, &said, states, &error))
                test_fail("%s", error.message);
            assert_int_equal(said.question, question.question);
            assert_memory_equal(said.tokens, question.tokens,
                                (size_t)said.question * sizeof *said.tokens);
            assert_true(said.count > said.question && said.count <= model.net.shape.length + 1);
            assert_true(said.tokens[said.count - 1] == REASONING_EOS ||
                        said.count == model.net.shape.length + 1);
            if (said.count > longest) longest = said.count;
            check_said(&model, &said);
            check_states(&model, states, said.count - 1);
        }
        assert_true(longest > question.question + 2);
        model_destroy(&model);
        teardown(&scene);
    }
}

/* Queries, keys and values are those that the layers have: in the pass, and the last layer's in the decoder. */
static void check_heads(const model_t *model, const int32_t *tokens, int64_t count) {
    const int64_t layers = model->net.shape.layers, heads = model->net.shape.heads;
    const int64_t dim = model->net.layout.dim, inner = heads * dim;
    const size_t floats = (size_t)(layers * inner * count);
    float *parts[3];
    nn_decoder_t decoder;
    attn_error_t error;
    for (int part = 0; part < 3; part++) assert_non_null(parts[part] = malloc(floats * 4));
    if (model_heads(model, tokens, count, parts, &error) ||
        nn_decoder_create(model->context, &model->net, model->weights, 1, &decoder, &error))
        test_fail("%s", error.message);
    for (int64_t i = 0; i < count; i++) {
        if (nn_decoder_step(&decoder, &tokens[i], &error)) test_fail("%s", error.message);
        for (int64_t c = 0; c < 3 * inner; c++) {
            const int64_t h = c % inner / dim;
            const float *part = parts[c / inner] + (layers - 1) * inner * count;
            const double got = (double)part[(h * count + i) * dim + c % dim];
            const double other = (double)decoder.qkv[c];
            if (!(fabs(got - other) <= TOLERANCE))
                test_fail("token %d, column %d: %g, the streams have %g", (int)i, (int)c, got,
                          other);
        }
    }
    nn_decoder_destroy(&decoder);
    for (int part = 0; part < 3; part++) free(parts[part]);
}

static void has_heads(void **state) {
    (void)state;
    static reasoning_sample_t sample;
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        scene_t scene;
        model_t model;
        test_label("%s", backends[b]);
        setup(&scene, backends[b]);
        load(&scene, &model);
        reasoning_draw(&scene.study.settings.task, test_seed(), REASONING_TEST, 0, &sample);
        check_heads(&model, sample.tokens, sample.count - 1);
        check_heads(&model, sample.tokens, 3);
        model_destroy(&model);
        teardown(&scene);
    }
}

TEST_MAIN(cmocka_unit_test(checkpoint_describes), cmocka_unit_test(keeps),
          cmocka_unit_test(refuses_others), cmocka_unit_test(refuses_headers),
          cmocka_unit_test(says_by_streams), cmocka_unit_test(has_heads))
