/* Arrays that do not fit a plan are refused by name, and nothing is written. */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    trial_t trial;
} scene_t;

/* A problem with every array there is; `kv_dtype` f32 or i8. */
static scene_t scene_open(attn_dtype_t kv_dtype, uint32_t inputs) {
    attn_problem_t problem = fixture_problem(2, 4, 3, 5, 6, 7);
    problem.kv_heads = 2;
    problem.inputs = inputs;
    problem.kv_dtype = kv_dtype;
    const look_t look = {.layout = LAYOUT_PADDED, .lse = 1, .scores = 1};
    scene_t scene = {.context = fixture_context(1)};
    scene.plan = trial_plan(scene.context, &problem);
    scene.trial = trial_create(&problem, &look);
    trial_give_workspace(scene.plan, &scene.trial);
    return scene;
}

static void scene_close(scene_t *scene) {
    trial_destroy(&scene->trial);
    attn_plan_destroy(scene->plan);
    attn_context_destroy(scene->context);
}

static void expect_refusal(const scene_t *scene, const attn_io_t *io, attn_status_t expected,
                           const char *words) {
    attn_error_t error = {0};
    fixture_expect(attn_run(scene->plan, io, &error), &error, expected, words);
    typed_check_untouched(&scene->trial.out, "out");
    typed_check_untouched(&scene->trial.lse, "lse");
    typed_check_untouched(&scene->trial.scores, "scores");
}

enum {
    ALL_INPUTS = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_SINKS |
                 ATTN_INPUT_SLOPES
};

static attn_tensor_t *bias_of(attn_io_t *io) { return &io->bias; }
static attn_tensor_t *mask_of(attn_io_t *io) { return &io->mask; }
static attn_tensor_t *lengths_of(attn_io_t *io) { return &io->kv_lengths; }
static attn_tensor_t *sinks_of(attn_io_t *io) { return &io->sinks; }
static attn_tensor_t *slopes_of(attn_io_t *io) { return &io->slopes; }
static attn_tensor_t *key_scales_of(attn_io_t *io) { return &io->key_scales; }
static attn_tensor_t *value_scales_of(attn_io_t *io) { return &io->value_scales; }
static attn_tensor_t *scores_of(attn_io_t *io) { return &io->scores; }

static const struct {
    attn_tensor_t *(*get)(attn_io_t *io);
    const char *name;
    int needed, broadcast;
} ARRAYS[] = {{bias_of, "bias", 1, 1},
              {mask_of, "mask", 1, 1},
              {lengths_of, "kv_lengths", 1, 0},
              {sinks_of, "sinks", 1, 0},
              {slopes_of, "slopes", 1, 0},
              {key_scales_of, "key_scales", 1, 0},
              {value_scales_of, "value_scales", 1, 0},
              {scores_of, "scores", 0, 0}};

static void wrong_arrays(void **state) {
    (void)state;
    scene_t scene = scene_open(ATTN_I8, ALL_INPUTS);
    for (size_t a = 0; a < TEST_COUNT(ARRAYS); a++) {
        const char *name = ARRAYS[a].name;
        attn_io_t io = scene.trial.io;
        attn_tensor_t *tensor = ARRAYS[a].get(&io);
        const attn_tensor_t good = *tensor;
        test_label("wrong %s", name);
        if (ARRAYS[a].needed) {
            tensor->data = NULL;
            expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, name);
            *tensor = good;
        }
        tensor->dtype = ATTN_F16;
        expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, name);
        tensor->dtype = 0;
        expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, name);
        *tensor = good;
        if (good.dtype != ATTN_BOOL) {
            tensor->data = (char *)good.data + 1;
            expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, name);
            *tensor = good;
        }
        for (int k = 0; k < 4; k++) {
            const int64_t wrong[] = {good.shape[k] + 1, 0, -1, INT64_MAX,
                                     good.shape[k] > 1 ? 1 : 2};
            for (size_t w = 0; w < TEST_COUNT(wrong); w++) {
                if (wrong[w] == 1 && ARRAYS[a].broadcast && k < 3) continue; /* one for all */
                tensor->shape[k] = wrong[w];
                expect_refusal(&scene, &io, ATTN_ERROR_SHAPE, name);
            }
            *tensor = good;
        }
    }
    scene_close(&scene);
}

/* The types of query, key, value and out are the plan's. */
static void wrong_types(void **state) {
    (void)state;
    scene_t scene = scene_open(ATTN_F32, 0);
    attn_io_t io = scene.trial.io;
    test_label("types of the plan");
    io.query.dtype = ATTN_BF16;
    expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, "query|bf16|f32");
    io = scene.trial.io;
    io.key.dtype = ATTN_I8;
    expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, "key|i8|f32");
    io = scene.trial.io;
    io.value.dtype = ATTN_F16;
    expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, "value|f16|f32");
    io = scene.trial.io;
    io.out.dtype = ATTN_F16;
    expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, "out|f16|f32");
    scene_close(&scene);
}

static void arrays_nobody_asked_for(void **state) {
    (void)state;
    scene_t all = scene_open(ATTN_I8, ALL_INPUTS), none = scene_open(ATTN_F32, 0);
    for (size_t a = 0; a < TEST_COUNT(ARRAYS); a++) {
        if (!ARRAYS[a].needed) continue;
        attn_io_t io = none.trial.io;
        *ARRAYS[a].get(&io) = *ARRAYS[a].get(&all.trial.io);
        test_label("unasked %s", ARRAYS[a].name);
        expect_refusal(&none, &io, ATTN_ERROR_ARGUMENT, ARRAYS[a].name);
    }
    scene_close(&all);
    scene_close(&none);
}

static void wrong_numbers(void **state) {
    (void)state;
    scene_t scene = scene_open(ATTN_I8, ATTN_INPUT_KV_LENGTHS);
    const double lengths[] = {-1, 6, 1e18, -9e18};
    for (size_t i = 0; i < TEST_COUNT(lengths); i++) {
        typed_set(&scene.trial.lengths, 1, 0, 0, 0, lengths[i]);
        test_label("length %g", lengths[i]);
        expect_refusal(&scene, &scene.trial.io, ATTN_ERROR_RANGE, "kv_lengths|sequence 1|0 to 5");
    }
    for (int64_t b = 0; b < 2; b++) typed_set(&scene.trial.lengths, b, 0, 0, 0, 5);
    const double scales[] = {0, -0.0, -1, NAN, INFINITY};
    for (size_t i = 0; i < TEST_COUNT(scales); i++) {
        test_label("scale %g", scales[i]);
        typed_set(&scene.trial.key_scales, 0, 1, 3, 0, scales[i]);
        expect_refusal(&scene, &scene.trial.io, ATTN_ERROR_RANGE,
                       "key_scales|batch 0|head 1|key 3|scale");
        typed_set(&scene.trial.key_scales, 0, 1, 3, 0, 1);
        typed_set(&scene.trial.value_scales, 1, 0, 4, 0, scales[i]);
        expect_refusal(&scene, &scene.trial.io, ATTN_ERROR_RANGE,
                       "value_scales|batch 1|head 0|key 4|scale");
        typed_set(&scene.trial.value_scales, 1, 0, 4, 0, 1);
    }
    trial_run(scene.plan, &scene.trial);
    scene_close(&scene);
}

static void scores_out_of_place(void **state) {
    (void)state;
    scene_t scene = scene_open(ATTN_F32, 0);
    attn_io_t io = scene.trial.io;
    test_label("scores");
    io.scores.stride[3] = 2;
    expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, "scores|unit stride");
    io = scene.trial.io;
    io.scores.stride[2] = 0;
    expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, "scores|overlap");
    scene_close(&scene);
}

/* Backends without scores say so when they are given the array, and write nothing. */
static void scores_where_there_are_none(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (uint32_t b = 0; b < attn_backend_count(context); b++) {
        const attn_backend_t *backend = attn_backend_at(context, b);
        if (backend->features & ATTN_FEATURE_SCORES) continue;
        const attn_problem_t problem = fixture_problem(1, 1, 8, 8, 4, 4);
        const look_t look = {.layout = LAYOUT_BHND, .scores = 1};
        trial_t trial = trial_create(&problem, &look);
        attn_plan_t *plan = fixture_plan(context, backend->id, &problem, NULL);
        trial_give_workspace(plan, &trial);
        attn_error_t error = {0};
        test_label("scores of %s", backend->id);
        fixture_expect(attn_run(plan, &trial.io, &error), &error, ATTN_ERROR_UNSUPPORTED, "scores");
        typed_check_untouched(&trial.out, "out");
        attn_plan_destroy(plan);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(wrong_arrays), cmocka_unit_test(wrong_types),
               cmocka_unit_test(arrays_nobody_asked_for), cmocka_unit_test(wrong_numbers),
               cmocka_unit_test(scores_out_of_place), cmocka_unit_test(scores_where_there_are_none))
