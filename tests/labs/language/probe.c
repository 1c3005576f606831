/* What is measured of heads, on models whose heads are known. */
#include "scene.h"

#include "labs/language/bits.h"
#include "labs/language/probe.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { HEADS = 8, PIECES = 3 };

static void probe(const scene_t *scene, probe_t *found) {
    attn_error_t error;
    if (probe_model(&scene->model, &scene->corpus.test, PIECES, found, &error))
        test_fail("%s", error.message);
}

/* Queries of zeros: each row's weight is spread evenly. */
static void make_even(scene_t *scene) {
    const nn_layout_t *layout = &scene->model.net.layout;
    for (int64_t l = 0; l < scene->model.net.shape.layers; l++) {
        const nn_linear_t *qkv = &layout->blocks[l].qkv;
        for (int64_t o = 0; o < layout->inner; o++) {
            scene->model.weights[qkv->bias + o] = 0;
            for (int64_t i = 0; i < qkv->in; i++)
                scene->model.weights[qkv->weight + i * qkv->out + o] = 0;
        }
    }
}

/* The mean of 1 / (i + 1), rows from `from` on. */
static double even(int64_t from) {
    double sum = 0;
    for (int64_t i = from; i < SCENE_CONTEXT; i++) sum += 1 / (double)(i + 1);
    return sum / (double)(SCENE_CONTEXT - from);
}

static void near(double found, double expected) {
    /* means of at most 40 weights that are off by some roundings */
    if (!(fabs(found - expected) <= 64 * 0x1p-24)) test_fail("%g, expected %g", found, expected);
}

static void even_heads(void **state) {
    (void)state;
    probe_head_t heads[HEADS];
    probe_t found = {.heads = heads};
    scene_t scene;
    scene_make("softmax", &scene);
    make_even(&scene);
    probe(&scene, &found);
    for (int h = 0; h < HEADS; h++) {
        near(heads[h].previous, even(PROBE_FIRST));
        near(heads[h].diagonal, even(PROBE_FIRST));
        near(heads[h].first, even(PROBE_FIRST));
        near(heads[h].local, PROBE_LOCAL * even(PROBE_FIRST));
        near(heads[h].induction, even(SCENE_CONTEXT / 2));
    }
    scene_free(&scene);
}

/* Whatever a head does, its shares are those of one whole, and its loss is that without what it attended. */
static void shares(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "linear", "sparse"};
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        probe_head_t heads[HEADS];
        probe_t found = {.heads = heads};
        double loss;
        scene_t scene;
        attn_error_t error;
        if (!test_takes_case()) continue;
        test_label("%s", backends[b]);
        scene_make(backends[b], &scene);
        probe(&scene, &found);
        const nn_net_t *net = &scene.model.net;
        for (int h = 0; h < HEADS; h++) {
            const probe_head_t *head = &heads[h];
            assert_true(head->previous >= 0 && head->diagonal >= 0 && head->first >= 0);
            assert_true(head->previous + head->diagonal <= head->local + 64 * 0x1p-24);
            assert_true(head->local + head->first <= 1 + 64 * 0x1p-24);
            assert_true(head->induction >= 0 && head->induction <= 1);
        }
        assert_int_equal(
            language_loss(net, scene.model.weights, &scene.corpus.test, PIECES, &loss, &error),
            ATTN_OK);
        assert_true(loss == found.loss);
        /* by the values instead: none of head 2 of layer 1 */
        const nn_linear_t *qkv = &net->layout.blocks[0].qkv;
        for (int64_t c = 0; c < net->layout.dim; c++) {
            const int64_t column = 2 * net->layout.inner + net->layout.dim + c;
            scene.model.weights[qkv->bias + column] = 0;
            for (int64_t i = 0; i < qkv->in; i++)
                scene.model.weights[qkv->weight + i * qkv->out + column] = 0;
        }
        assert_int_equal(
            language_loss(net, scene.model.weights, &scene.corpus.test, PIECES, &loss, &error),
            ATTN_OK);
        /* a mean of 120 losses, each of logits with the same terms but for zeros */
        if (!(fabs(loss - heads[1].loss) <= 0x1p-18)) test_fail("%g, %g", loss, heads[1].loss);
        assert_true(loss != found.loss);
        scene_free(&scene);
    }
}

static void names(void **state) {
    (void)state;
    assert_string_equal(probe_name(&(probe_head_t){.previous = 0.5, .local = 0.9}),
                        "previous token");
    assert_string_equal(probe_name(&(probe_head_t){.diagonal = 0.6, .local = 0.9}), "itself");
    assert_string_equal(probe_name(&(probe_head_t){.first = 0.7}), "first token");
    assert_string_equal(probe_name(&(probe_head_t){.induction = 0.5}), "induction");
    assert_string_equal(probe_name(&(probe_head_t){.previous = 0.49, .local = 0.6}), "local");
    assert_string_equal(probe_name(&(probe_head_t){0.49, 0.49, 0.49, 0.49, 0.49, 9}), "");
}

TEST_MAIN(cmocka_unit_test(even_heads), cmocka_unit_test(shares), cmocka_unit_test(names))
