/*
 * The whole model's loss and gradient against a double-precision reference, whose derivative is taken by
 * central differences.
 *
 * Tolerance: what weights that are off by their roundings make of an element of the gradient (decoder.h).
 */
#include "decoder.h"
#include "numbers.h"

#include "attn/random.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 2, DRAWS = 4, STEP = 7 }; /* one weight in STEP is checked */

typedef struct scene {
    nn_net_t net;
    nn_pass_t pass;
    float *weights, *gradient, *moved; /* moved: most that drawn errors change an element by */
    double *exact;
    int32_t tokens[COUNT * 16], targets[COUNT * 16];
    decoder_t decoder;
} scene_t;

static double compute(scene_t *scene, float *gradient) {
    attn_error_t error;
    double loss = 0;
    memset(gradient, 0, (size_t)scene->net.layout.count * sizeof *gradient);
    if (nn_forward(&scene->pass, scene->tokens, COUNT, &error) ||
        nn_backward(&scene->pass, scene->tokens, scene->targets, COUNT, 1.0f, &loss, gradient,
                    &error))
        test_fail("%s", error.message);
    return loss;
}

static void setup(scene_t *scene, const attn_context_t *context, const nn_shape_t *shape,
                  float rate) {
    attn_error_t error;
    if (nn_net_create(context, shape, &scene->net, &error)) test_fail("%s", error.message);
    const int64_t count = scene->net.layout.count;
    scene->weights = numbers_make(count, 1);
    nn_weights_draw(shape, &scene->net.layout, 0, test_seed(), scene->weights);
    for (int64_t i = 0; i < count; i++) /* gains that are not 1, biases that are not 0 */
        scene->weights[i] += 0.2f * (float)attn_random_normal(test_seed(), 2, (uint64_t)i);
    scene->gradient = numbers_make(count, 3), scene->moved = numbers_make(count, 3);
    scene->exact = malloc((size_t)count * sizeof *scene->exact);
    assert_non_null(scene->exact);
    for (int64_t i = 0; i < count; i++) scene->exact[i] = (double)scene->weights[i];
    for (int64_t i = 0; i < COUNT * shape->length; i++) {
        scene->tokens[i] = (int32_t)fixture_draw((uint64_t)(2 * i), shape->vocabulary);
        scene->targets[i] = (int32_t)fixture_draw((uint64_t)(2 * i + 1), shape->vocabulary + 1) - 1;
    }
    if (nn_pass_create(&scene->net, scene->weights, COUNT, &scene->pass, &error))
        test_fail("%s", error.message);
    scene->pass.dropout = (nn_dropout_t){.rate = rate, .seed = test_seed(), .stream = 100};
    scene->decoder = (decoder_t){.net = &scene->net,
                                 .weights = scene->exact,
                                 .tokens = scene->tokens,
                                 .targets = scene->targets,
                                 .count = COUNT,
                                 .dropout = scene->pass.dropout};
}

static void teardown(scene_t *scene) {
    nn_pass_destroy(&scene->pass);
    nn_net_destroy(&scene->net);
    free(scene->weights), free(scene->gradient), free(scene->moved), free(scene->exact);
}

/* scene->moved, and how far the loss moves. */
static double move(scene_t *scene, double loss) {
    const int64_t count = scene->net.layout.count;
    const double size = 2 * decoder_roundings(&scene->net) * NUMBERS_U; /* there and back */
    float *other = numbers_make(count, 4);
    double moved = 0;
    memset(scene->moved, 0, (size_t)count * sizeof *scene->moved);
    for (uint64_t d = 0; d < DRAWS; d++) {
        for (int64_t i = 0; i < count; i++)
            scene->weights[i] = (float)(scene->exact[i] * decoder_error(d, i, size));
        moved = fmax(moved, fabs(compute(scene, other) - loss));
        for (int64_t i = 0; i < count; i++)
            scene->moved[i] = fmaxf(scene->moved[i], fabsf(other[i] - scene->gradient[i]));
    }
    free(other);
    return moved;
}

typedef struct slope {
    scene_t *scene;
    int64_t at;
} slope_t;

static double loss_at(const void *data, double v) {
    const slope_t *slope = data;
    double *weight = &slope->scene->exact[slope->at];
    const double was = *weight;
    *weight = v;
    const double loss = decoder_loss(&slope->scene->decoder);
    *weight = was;
    return loss;
}

/* One array of weights: elements share a tolerance, as some are 0 but for rounding (bias of keys). */
static void check_array(scene_t *scene, const char *name, int64_t layer, int64_t at,
                        int64_t count) {
    double tolerance = 0;
    char what[64];
    snprintf(what, sizeof what, "%s of layer %" PRId64, name, layer);
    for (int64_t i = at; i < at + count; i++) tolerance = fmax(tolerance, (double)scene->moved[i]);
    for (int64_t i = at + at % STEP % count; i < at + count; i += STEP) {
        const slope_t slope = {scene, i};
        numbers_near((double)scene->gradient[i], numbers_slope(loss_at, &slope, scene->exact[i]),
                     tolerance, what, i - at);
    }
}

static void check_linear(scene_t *scene, const char *name, int64_t layer, const nn_linear_t *l) {
    check_array(scene, name, layer, l->weight, l->in * l->out);
    check_array(scene, name, layer, l->bias, l->out);
}

static void check_scale(scene_t *scene, const char *name, int64_t layer, const nn_scale_t *s) {
    check_array(scene, name, layer, s->gain, scene->net.shape.width);
    check_array(scene, name, layer, s->bias, scene->net.shape.width);
}

static void check(scene_t *scene) {
    const nn_layout_t *layout = &scene->net.layout;
    const double loss = compute(scene, scene->gradient);
    numbers_near(loss, decoder_loss(&scene->decoder), move(scene, loss), "loss", 0);
    check_array(scene, "embedding", 0, layout->embedding,
                scene->net.shape.vocabulary * scene->net.shape.width);
    check_scale(scene, "first norm", 0, &layout->first);
    for (int64_t l = 0; l < scene->net.shape.layers; l++) {
        const nn_block_t *block = &layout->blocks[l];
        check_scale(scene, "norm before attention", l, &block->attend);
        check_linear(scene, "qkv", l, &block->qkv);
        check_linear(scene, "out", l, &block->out);
        check_scale(scene, "norm before feed", l, &block->feed);
        check_linear(scene, "up", l, &block->up);
        check_linear(scene, "down", l, &block->down);
    }
    check_scale(scene, "last norm", 0, &layout->last);
    if (!scene->net.shape.tied) check_linear(scene, "head", 0, &layout->head);
}

/* Widths that heads do not divide and vectors do not, with and without dropout; the head by itself, or tied. */
static void gradients(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "sparse", "linear"};
    static const attn_param_t block[] = {{"block", "2"}};
    attn_context_t *context = fixture_context(1);
    for (size_t b = 0; b < TEST_COUNT(backends); b++)
        for (int dropped = 0; dropped < 2; dropped++) {
            const int sparse = strcmp(backends[b], "sparse") == 0;
            const nn_shape_t shape = {.vocabulary = 7,
                                      .length = 9,
                                      .width = dropped ? 8 : 10,
                                      .heads = 3 - dropped,
                                      .layers = 2,
                                      .tied = b == 0 || dropped,
                                      .backend = backends[b],
                                      .params = sparse ? block : NULL,
                                      .param_count = sparse ? 1 : 0};
            scene_t scene;
            test_label("%s, width %" PRId64, backends[b], shape.width);
            setup(&scene, context, &shape, dropped ? 0.1f : 0);
            check(&scene);
            teardown(&scene);
        }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(gradients))
