/*
 * attn.backward/1 through the template: gradients against finite differences of the loss
 * L = sum R * out, R = dL/dout, which is computed here in double precision from the formula.
 */
#include "attn/plugin.h"
#include "attn/random.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static const char *const TEMPLATE_ID = "org.libattn.template";
enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, QUERIES = 7, KEYS = 9, DIM = 3, VALUE_DIM = 5 };

typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    attn_problem_t problem;
    arrays_t arrays, gradients; /* of gradients: query, key, value, and out, which is R */
    float widths[HEADS], widths_gradient[HEADS];
    attn_tensor_t width_tensor, width_gradient_tensor;
    const attn_tensor_t *own[1], *own_gradients[1];
} scene_t;

static void scene_open(scene_t *scene, int32_t causal, layout_t layout) {
    memset(scene, 0, sizeof *scene);
    scene->context = fixture_context(1);
    attn_error_t error = {0};
    if (attn_plugin_load(scene->context, TEMPLATE_PATH, &error)) test_fail("%s", error.message);
    attn_problem_t *problem = &scene->problem;
    *problem = fixture_problem(BATCH, HEADS, QUERIES, KEYS, DIM, VALUE_DIM);
    problem->kv_heads = KV_HEADS;
    problem->causal = causal;
    problem->backward = 1;
    scene->arrays = arrays_create(problem, layout, 1);
    scene->gradients = arrays_create(problem, layout, 0);
    array_fill_normal(&scene->gradients.out, 77, 1.0);
    assert_int_equal(attn_problem_add_input(problem, attn_backend_find(scene->context, TEMPLATE_ID),
                                            "widths", NULL),
                     ATTN_OK);
    for (int h = 0; h < HEADS; h++) scene->widths[h] = 1.5f + (float)h;
    scene->width_tensor = attn_tensor_bhnd(scene->widths, 1, HEADS, 1, 1);
    scene->width_gradient_tensor = attn_tensor_bhnd(scene->widths_gradient, 1, HEADS, 1, 1);
    scene->own[0] = &scene->width_tensor;
    scene->own_gradients[0] = &scene->width_gradient_tensor;
    scene->arrays.io.own = scene->own;
    scene->gradients.io.own = scene->own_gradients;
    scene->arrays.io.own_count = scene->gradients.io.own_count = 1;
    scene->plan = fixture_plan(scene->context, TEMPLATE_ID, problem, NULL);
}

static void scene_close(scene_t *scene) {
    attn_plan_destroy(scene->plan);
    arrays_destroy(&scene->arrays);
    arrays_destroy(&scene->gradients);
    attn_context_destroy(scene->context);
}

/* ---- the loss ------------------------------------------------------------------------------------- */

/* What the loss is differentiated by: an element of V, or a head's width, moved by `step`. */
typedef struct moved {
    int64_t value[4]; /* batch -1: none */
    int64_t head;     /* -1: none */
    double step;
} moved_t;

static double value_of(const scene_t *scene, const moved_t *moved, int64_t b, int64_t h, int64_t j,
                       int64_t c) {
    const int64_t at[4] = {b, h, j, c};
    const double value = (double)array_get(&scene->arrays.value, b, h, j, c);
    return memcmp(at, moved->value, sizeof at) == 0 ? value + moved->step : value;
}

/* The loss of one row, and with it the sum of the absolute terms of any of its derivatives by V. */
static double row_loss(const scene_t *scene, const moved_t *moved, int64_t b, int64_t h,
                       int64_t i) {
    const attn_problem_t *p = &scene->problem;
    const double width = (double)scene->widths[h] + (h == moved->head ? moved->step : 0);
    const int64_t seen = attn_causal_limit(p, i), position = attn_query_position(p, p->keys, i);
    double total = 0, loss = 0;
    for (int64_t j = 0; j < seen; j++) total += exp(-fabs((double)(position - j)) / width);
    for (int64_t j = 0; j < seen; j++) {
        const double weight = exp(-fabs((double)(position - j)) / width) / total;
        for (int64_t c = 0; c < VALUE_DIM; c++)
            loss += weight * value_of(scene, moved, b, h / (HEADS / KV_HEADS), j, c) *
                    (double)array_get(&scene->gradients.out, b, h, i, c);
    }
    return loss;
}

static double loss(const scene_t *scene, const moved_t *moved) {
    double sum = 0;
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t h = 0; h < HEADS; h++)
            for (int64_t i = 0; i < QUERIES; i++) sum += row_loss(scene, moved, b, h, i);
    return sum;
}

/* (L(x + step) - L(x - step)) / (2 step). */
static double central(const scene_t *scene, moved_t moved, double step) {
    moved.step = step;
    const double up = loss(scene, &moved);
    moved.step = -step;
    return (up - loss(scene, &moved)) / (2 * step);
}

/*
 * Of step h the error of a central difference is c h^2 + O(h^4): twice the step has four times of it,
 * so that a third of the difference of the two is the error (doubled here for the O(h^4)). Added are
 * the roundings of 630 terms of L in double, none of them above `size`, and that of the gradient
 * to float.
 */
static void check(const scene_t *scene, const moved_t *moved, float actual, double size,
                  const char *name) {
    const double step = 0x1p-10, near = central(scene, *moved, step);
    const double far = central(scene, *moved, 2 * step);
    const double terms = BATCH * HEADS * QUERIES * KEYS * VALUE_DIM;
    const double bound =
        2 * fabs(far - near) / 3 + terms * terms * 0x1p-52 * size / step + fabs(near) * 0x1p-23;
    compare_number((double)actual, near, bound, name, moved->value);
}

static double largest_product(const scene_t *scene) {
    double value = 0, gradient = 0;
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t c = 0; c < VALUE_DIM; c++) {
            for (int64_t h = 0; h < KV_HEADS; h++)
                for (int64_t j = 0; j < KEYS; j++)
                    value = fmax(value, fabs((double)array_get(&scene->arrays.value, b, h, j, c)));
            for (int64_t h = 0; h < HEADS; h++)
                for (int64_t i = 0; i < QUERIES; i++)
                    gradient =
                        fmax(gradient, fabs((double)array_get(&scene->gradients.out, b, h, i, c)));
        }
    return value * gradient;
}

/* ---- tests ---------------------------------------------------------------------------------------- */

static void finite_differences_hold_it(void **state) {
    (void)state;
    for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
            scene_t scene;
            test_label("gradients, causal %d, layout %d", causal, layout);
            scene_open(&scene, causal, (layout_t)layout);
            arrays_run(&scene.arrays, scene.plan);
            attn_error_t error = {0};
            if (attn_backward(scene.plan, &scene.arrays.io, &scene.gradients.io, &error))
                test_fail("%s", error.message);
            const double size = largest_product(&scene);
            for (int64_t h = 0; h < HEADS; h++) {
                const moved_t moved = {.value = {-1}, .head = h};
                check(&scene, &moved, scene.widths_gradient[h], size, "widths");
            }
            for (int64_t b = 0; b < BATCH; b++)
                for (int64_t h = 0; h < KV_HEADS; h++)
                    for (int64_t j = 0; j < KEYS; j++)
                        for (int64_t c = 0; c < VALUE_DIM; c++) {
                            const moved_t moved = {.value = {b, h, j, c}, .head = -1};
                            check(&scene, &moved, array_get(&scene.gradients.value, b, h, j, c),
                                  size, "value");
                        }
            for (int64_t c = 0; c < DIM; c++) {
                assert_true(array_get(&scene.gradients.query, 1, 3, 6, c) == 0);
                assert_true(array_get(&scene.gradients.key, 1, 1, 8, c) == 0);
            }
            scene_close(&scene);
        }
}

/* A backend without gradients; no plan of it is ever asked for. */
static attn_status_t no_plan(const attn_host_t *host, const attn_problem_t *problem,
                             const attn_value_t *values, attn_backend_plan_t **plan,
                             attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)plan;
    return attn_fail(error, ATTN_ERROR_PLUGIN, "it was asked for a plan");
}

static const void *no_extension(const char *id) { return (void)id, NULL; }

static const attn_backend_t plain = {
    .struct_size = sizeof plain,
    .id = "org.example.plain",
    .plan = no_plan,
    .get_extension = no_extension,
};
static const attn_backend_t *const plains[] = {&plain};
static const attn_plugin_entry_t plain_entry = {
    sizeof plain_entry, ATTN_ABI_MAJOR, ATTN_ABI_MINOR, 1, 0, plains};

static void refusals(void **state) {
    (void)state;
    scene_t scene;
    scene_open(&scene, 0, LAYOUT_BHND);
    arrays_run(&scene.arrays, scene.plan);
    attn_error_t error = {0};
    const attn_io_t *io = &scene.arrays.io;
    attn_io_t gradients = scene.gradients.io, run = *io;
    test_label("a plan that was not asked for it");
    attn_problem_t forward = scene.problem;
    forward.backward = 0;
    attn_plan_t *plan = fixture_plan(scene.context, TEMPLATE_ID, &forward, NULL);
    fixture_expect(attn_backward(plan, io, &gradients, &error), &error, ATTN_ERROR_ARGUMENT,
                   "backward");
    attn_plan_destroy(plan);
    test_label("a backend without gradients");
    attn_problem_t asked = fixture_problem(1, 1, 2, 2, 2, 2);
    asked.backward = 1;
    if (attn_plugin_register(scene.context, &plain_entry, NULL, &error))
        test_fail("%s", error.message);
    fixture_refuse_plan(scene.context, plain.id, &asked, NULL, ATTN_ERROR_UNSUPPORTED,
                        "org.example.plain|gradients");
    test_label("no lse");
    run.lse.data = NULL;
    fixture_expect(attn_backward(scene.plan, &run, &gradients, &error), &error, ATTN_ERROR_ARGUMENT,
                   "lse");
    test_label("gradients of no known size");
    gradients.struct_size = 8;
    fixture_expect(attn_backward(scene.plan, io, &gradients, &error), &error, ATTN_ERROR_ARGUMENT,
                   "gradients: struct_size is 8");
    gradients = scene.gradients.io;
    test_label("no dL/dout");
    gradients.out.data = NULL;
    fixture_expect(attn_backward(scene.plan, io, &gradients, &error), &error, ATTN_ERROR_ARGUMENT,
                   "gradient of out: is missing");
    test_label("a gradient of what has none");
    gradients = scene.gradients.io;
    gradients.lse = io->lse;
    fixture_expect(attn_backward(scene.plan, io, &gradients, &error), &error,
                   ATTN_ERROR_UNSUPPORTED, "lse");
    test_label("a gradient of an array that the run has not");
    gradients = scene.gradients.io;
    gradients.bias = io->lse;
    fixture_expect(attn_backward(scene.plan, io, &gradients, &error), &error,
                   ATTN_ERROR_UNSUPPORTED, "bias");
    test_label("a gradient of another shape");
    gradients = scene.gradients.io;
    gradients.value.shape[2]--;
    fixture_expect(attn_backward(scene.plan, io, &gradients, &error), &error, ATTN_ERROR_SHAPE,
                   "gradient of value: shape");
    test_label("a gradient behind the last array");
    const attn_tensor_t *const two[] = {scene.own_gradients[0], scene.own_gradients[0]};
    gradients = scene.gradients.io;
    gradients.own = two;
    gradients.own_count = 2;
    fixture_expect(attn_backward(scene.plan, io, &gradients, &error), &error, ATTN_ERROR_ARGUMENT,
                   "own[1]|template|1");
    test_label("own gradients that are nowhere");
    gradients.own = NULL;
    assert_int_equal(attn_backward(scene.plan, io, &gradients, NULL), ATTN_OK);
    test_label("only what is wanted");
    gradients = scene.gradients.io;
    gradients.query.data = gradients.key.data = gradients.value.data = NULL;
    gradients.own_count = 0;
    assert_int_equal(attn_backward(scene.plan, io, &gradients, NULL), ATTN_OK);
    scene_close(&scene);
}

/* A backend that has no lse cannot be asked for that of the run. */
static void without_lse(void **state) {
    (void)state;
    scene_t scene;
    scene_open(&scene, ATTN_CAUSAL_NONE, LAYOUT_BHND);
    attn_backend_t backend = *attn_backend_find(scene.context, TEMPLATE_ID);
    backend.id = "org.example.no_lse";
    backend.features &= ~(uint64_t)ATTN_FEATURE_LSE;
    const attn_backend_t *const list[] = {&backend};
    const attn_plugin_entry_t entry = {.struct_size = sizeof entry,
                                       .abi_major = ATTN_ABI_MAJOR,
                                       .backend_count = 1,
                                       .backends = list};
    assert_int_equal(attn_plugin_register(scene.context, &entry, NULL, NULL), ATTN_OK);
    attn_plan_t *plan = fixture_plan(scene.context, backend.id, &scene.problem, NULL);
    arrays_run(&scene.arrays, scene.plan);
    attn_io_t io = scene.arrays.io;
    assert_int_equal(attn_backward(scene.plan, &io, &scene.gradients.io, NULL), ATTN_OK);
    float wanted[HEADS];
    memcpy(wanted, scene.widths_gradient, sizeof wanted);
    memset(scene.widths_gradient, 0, sizeof wanted);
    io.lse = (attn_tensor_t){.data = NULL};
    attn_error_t error = {0};
    if (attn_backward(plan, &io, &scene.gradients.io, &error)) test_fail("%s", error.message);
    assert_memory_equal(scene.widths_gradient, wanted, sizeof wanted);
    attn_plan_destroy(plan);
    scene_close(&scene);
}

TEST_MAIN(cmocka_unit_test(without_lse), cmocka_unit_test(finite_differences_hold_it),
          cmocka_unit_test(refusals))
