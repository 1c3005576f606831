/* Token by token through streams against the parallel pass: the same logits, up to rounding. */
#include "decoder.h"
#include "numbers.h"

#include "labs/nn/decode.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3, LENGTH = 21, VOCABULARY = 13, LOGITS = COUNT * LENGTH * VOCABULARY, DRAWS = 4 };

typedef struct scene {
    nn_net_t net;
    float *weights;
    int32_t tokens[COUNT * LENGTH];
    double *logits; /* in double precision */
    double tolerance;
} scene_t;

static double *make_logits(void) {
    double *logits = malloc(LOGITS * sizeof *logits);
    assert_non_null(logits);
    return logits;
}

/* decoder.h says why. The most of all logits: some hardly move, as no draw moves all weights the worst way. */
static double measure_tolerance(scene_t *scene, decoder_t decoder, double *weights) {
    const int64_t count = scene->net.layout.count;
    const double size = decoder_roundings(&scene->net) * NUMBERS_U;
    double tolerance = 0;
    decoder.weights = weights;
    decoder.logits = make_logits();
    for (uint64_t d = 0; d < DRAWS; d++) {
        for (int64_t i = 0; i < count; i++)
            weights[i] = (double)scene->weights[i] * decoder_error(d, i, size);
        decoder_loss(&decoder);
        for (int i = 0; i < LOGITS; i++)
            tolerance = fmax(tolerance, fabs(decoder.logits[i] - scene->logits[i]));
    }
    free(decoder.logits);
    return tolerance;
}

static void setup(scene_t *scene, const attn_context_t *context, const char *backend, int tied) {
    static const attn_param_t block[] = {{"block", "2"}};
    const int sparse = strcmp(backend, "sparse") == 0;
    const nn_shape_t shape = {.vocabulary = VOCABULARY,
                              .length = LENGTH,
                              .width = 10,
                              .heads = 2,
                              .layers = 2,
                              .tied = tied,
                              .backend = backend,
                              .params = sparse ? block : NULL,
                              .param_count = sparse ? 1 : 0};
    attn_error_t error;
    int32_t targets[COUNT * LENGTH];
    if (nn_net_create(context, &shape, &scene->net, &error)) test_fail("%s", error.message);
    const int64_t count = scene->net.layout.count;
    double *exact = malloc((size_t)count * sizeof *exact);
    scene->weights = numbers_make(count, 1);
    scene->logits = make_logits();
    assert_non_null(exact);
    nn_weights_draw(&shape, &scene->net.layout, 0, test_seed(), scene->weights);
    for (int64_t i = 0; i < count; i++) exact[i] = (double)scene->weights[i];
    for (int i = 0; i < COUNT * LENGTH; i++) {
        scene->tokens[i] = (int32_t)fixture_draw((uint64_t)i, VOCABULARY);
        targets[i] = -1;
    }
    const decoder_t decoder = {.net = &scene->net,
                               .weights = exact,
                               .tokens = scene->tokens,
                               .targets = targets,
                               .count = COUNT,
                               .logits = scene->logits};
    decoder_loss(&decoder);
    scene->tolerance = measure_tolerance(scene, decoder, exact);
    free(exact);
}

/* Two evaluations in f32 of what is exact in double: the streams' may be off as the parallel pass may. */
static void check(const scene_t *scene, const float *parallel, const float *streamed) {
    for (int i = 0; i < LOGITS; i++) {
        numbers_near((double)parallel[i], scene->logits[i], scene->tolerance, "the parallel pass",
                     i);
        numbers_near((double)streamed[i], scene->logits[i], scene->tolerance, "the streams", i);
    }
}

static void run_scene(scene_t *scene, const attn_context_t *context) {
    attn_error_t error;
    nn_decoder_t decoder;
    nn_pass_t pass;
    float *streamed = numbers_make(LOGITS, 5);
    if (nn_pass_create(&scene->net, scene->weights, COUNT, &pass, &error) ||
        nn_forward(&pass, scene->tokens, COUNT, &error) ||
        nn_decoder_create(context, &scene->net, scene->weights, COUNT, &decoder, &error))
        test_fail("%s", error.message);
    for (int round = 0; round < 2; round++) { /* twice: a decoder begins anew */
        if (nn_decoder_restart(&decoder, &error)) test_fail("%s", error.message);
        for (int p = 0; p < LENGTH; p++) {
            int32_t tokens[COUNT];
            for (int s = 0; s < COUNT; s++) tokens[s] = scene->tokens[s * LENGTH + p];
            if (nn_decoder_step(&decoder, tokens, &error)) test_fail("%s", error.message);
            for (int s = 0; s < COUNT; s++)
                memcpy(streamed + (s * LENGTH + p) * VOCABULARY, decoder.logits + s * VOCABULARY,
                       VOCABULARY * sizeof *streamed);
        }
        check(scene, pass.logits, streamed);
    }
    fixture_expect(nn_decoder_step(&decoder, scene->tokens, &error), &error, ATTN_ERROR_RANGE,
                   "21 tokens");
    assert_true(nn_decoder_memory(&decoder) > 0);
    nn_decoder_destroy(&decoder);
    nn_pass_destroy(&pass);
    free(streamed);
}

static void streams_agree(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "sparse", "linear"};
    attn_context_t *context = fixture_context(1);
    for (size_t b = 0; b < 2 * TEST_COUNT(backends); b++) {
        const int tied = b % 2;
        scene_t scene;
        test_label("%s, head %d", backends[b / 2], tied);
        setup(&scene, context, backends[b / 2], tied);
        run_scene(&scene, context);
        nn_net_destroy(&scene.net);
        free(scene.weights), free(scene.logits);
    }
    attn_context_destroy(context);
}

static void largest(void **state) {
    (void)state;
    const float logits[] = {1, 3, -2, 3};
    assert_int_equal(nn_largest(logits, 4), 1);
    assert_int_equal(nn_largest(logits, 1), 0);
}

TEST_MAIN(cmocka_unit_test(streams_agree), cmocka_unit_test(largest))
