/* The file of a model of text: what it keeps, and what is refused. */
#include "scene.h"

#include "labs/language/bytes.h"
#include "labs/reasoning/checksum.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- weights --------------------------------------------------------------------------------------- */

/* Each is the nearest multiple of its group's scale, which is 1/127 of the largest. */
static void rounds(void **state) {
    (void)state;
    const nn_shape_t shape = {
        .vocabulary = 7, .length = 4, .width = 10, .heads = 3, .layers = 1, .tied = 1};
    nn_layout_t layout;
    assert_int_equal(nn_layout_make(&shape, &layout, NULL), ATTN_OK);
    const size_t count = (size_t)layout.count;
    float *weights = malloc(count * sizeof *weights), *rounded = malloc(count * sizeof *rounded);
    float *read = malloc(count * sizeof *read);
    const size_t size = weights_size(WEIGHTS_INT8, &shape, &layout);
    unsigned char *bytes = malloc(size);
    assert_true(weights && rounded && read && bytes);
    nn_weights_draw(&shape, &layout, 0.05, test_seed(), weights);
    for (int64_t i = 20; i < 30; i++) weights[i] = 0; /* a group of no weight at all */
    memcpy(rounded, weights, count * sizeof *weights);
    weights_round(WEIGHTS_INT8, &shape, &layout, rounded);
    weights_put(WEIGHTS_INT8, &shape, &layout, weights, bytes);
    weights_get(WEIGHTS_INT8, &shape, &layout, bytes, read);
    assert_memory_equal(read, rounded, count * sizeof *read);
    for (int64_t from = 0; from < layout.decayed; from += 10) {
        float most = 0;
        const int64_t end = from + 10 < layout.decayed ? from + 10 : layout.decayed;
        for (int64_t i = from; i < end; i++) most = fmaxf(most, fabsf(weights[i]));
        /* half a step, and the roundings of the scale, the quotient and the product */
        const double bound = (double)most * (0.5 / 127 + 4 * 0x1p-24);
        for (int64_t i = from; i < end; i++)
            assert_true(fabs((double)rounded[i] - (double)weights[i]) <= bound);
    }
    for (int64_t i = layout.decayed; i < layout.count; i++)
        assert_true(fabsf(rounded[i] - weights[i]) <= fabsf(weights[i]) * 0x1p-11f);
    free(weights), free(rounded), free(read), free(bytes);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static void keeps(void **state) {
    (void)state;
    scene_t scene;
    scene_make("softmax", &scene);
    const study_settings_t *settings = &scene.model.description.settings;
    assert_memory_equal(scene.model.weights, scene.study.trainer.weights,
                        (size_t)scene.model.net.layout.count * sizeof *scene.model.weights);
    assert_int_equal(settings->task.kind, REASONING_TEXT);
    assert_int_equal(settings->task.size, SCENE_CONTEXT);
    assert_true(settings->task.learned == scene.corpus.hash);
    assert_int_equal(settings->cool, 4);
    assert_true(scene.model.record.bits == 3.5);
    assert_int_equal(scene.model.record.step, SCENE_STEPS);
    scene_free(&scene);
}

static void refuse(const scene_t *scene, const char *bytes, size_t size, attn_status_t status,
                   const char *words) {
    attn_error_t error = {0};
    model_t model;
    char *copy = malloc(size ? size : 1); /* so that a sanitizer sees what is read behind it */
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    fixture_expect(model_load(scene->context, copy, size, &model, &error), &error, status, words);
    assert_null(model.weights);
    free(copy);
}

static void refuses_pieces(void **state) {
    (void)state;
    scene_t scene;
    scene_make("softmax", &scene);
    for (size_t size = 0; size < scene.size; size += size < 600 ? 1 : 97) {
        if (!test_takes_case()) continue;
        test_label("%d bytes", (int)size);
        refuse(&scene, scene.file, size, ATTN_ERROR_ARGUMENT, size < 11 ? "no file" : "truncated");
    }
    scene.file[scene.size / 2] ^= 4;
    refuse(&scene, scene.file, scene.size, ATTN_ERROR_ARGUMENT, "damaged");
    scene_free(&scene);
}

/* Lines of equal length in place of others, with a sum that is right. */
static void refuses_headers(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        attn_status_t status;
        const char *words;
    } changes[] = {
        {"attn model 1", "attn model 2", ATTN_ERROR_ARGUMENT, "version '2'|'1'"},
        {"weights=int8", "weights=int4", ATTN_ERROR_ARGUMENT, "format 'int4'|int8"},
        {"width=10", "width=12", ATTN_ERROR_ARGUMENT, "truncated"},
        {"width=10", "width=08", ATTN_ERROR_ARGUMENT, "too long"},
        {"layers=2", "layers=3", ATTN_ERROR_ARGUMENT, "truncated"},
        {"heads=4", "heads=1", ATTN_ERROR_ARGUMENT, "too long"},
        {"size=40", "size=01", ATTN_ERROR_RANGE, "text of size 1"},
        {"vocabulary=", "vocabulary=f", ATTN_ERROR_ARGUMENT, "another vocabulary|expected"},
        {"corpus=", "corpus=x", ATTN_ERROR_ARGUMENT, "corpus=|no hash"},
        {"bits=3.5", "bits=3,5", ATTN_ERROR_ARGUMENT, "bits=3,5|no number"},
        {"bits=3.5", "hits=3.5", ATTN_ERROR_ARGUMENT, "'bits='"},
    };
    scene_t scene;
    scene_make("softmax", &scene);
    char *whole = malloc(scene.size);
    assert_non_null(whole);
    memcpy(whole, scene.file, scene.size);
    for (size_t c = 0; c < TEST_COUNT(changes); c++) {
        char *at = strstr(scene.file, changes[c].from);
        assert_non_null(at);
        test_label("%s", changes[c].to);
        memcpy(at, changes[c].to, strlen(changes[c].to));
        const uint64_t sum = checksum(CHECKSUM_BASIS, scene.file, scene.size - 8);
        for (int i = 0; i < 8; i++) scene.file[scene.size - 8 + (size_t)i] = (char)(sum >> 8 * i);
        refuse(&scene, scene.file, scene.size, changes[c].status, changes[c].words);
        memcpy(scene.file, whole, scene.size);
    }
    free(whole);
    scene_free(&scene);
}

TEST_MAIN(cmocka_unit_test(rounds), cmocka_unit_test(keeps), cmocka_unit_test(refuses_pieces),
          cmocka_unit_test(refuses_headers))
