/* Arrays and workspaces that do not fit the plan: refused with a message, nothing written. */
#include "attn/random.h"
#include "support/backends.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** A softmax plan with arrays that fit, sealed: whatever is refused must change none of them. */
typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    arrays_t arrays;
} scene_t;

static scene_t scene_open(const char *backend, int with_lse) {
    attn_problem_t problem = fixture_problem(2, 4, 5, 6, 7, 8);
    problem.kv_heads = 2;
    scene_t scene = {.context = fixture_context(1)};
    scene.plan = fixture_plan(scene.context, backend, &problem, NULL);
    scene.arrays = arrays_create(&problem, LAYOUT_BHND, with_lse);
    arrays_give_workspace(&scene.arrays, scene.plan);
    array_seal(&scene.arrays.query);
    array_seal(&scene.arrays.key);
    array_seal(&scene.arrays.value);
    array_seal(&scene.arrays.out);
    if (with_lse) array_seal(&scene.arrays.lse);
    return scene;
}

static void scene_close(scene_t *scene) {
    arrays_check(&scene->arrays);
    arrays_destroy(&scene->arrays);
    attn_plan_destroy(scene->plan);
    attn_context_destroy(scene->context);
}

/** Runs with this io, which must be refused. */
static void expect_refusal(const scene_t *scene, const attn_io_t *io, attn_status_t expected,
                           const char *words) {
    attn_error_t error = {0};
    fixture_expect(attn_run(scene->plan, io, &error), &error, expected, words);
    assert_int_equal(attn_run(scene->plan, io, NULL), expected);
    arrays_check(&scene->arrays);
}

static void null_arguments(void **state) {
    (void)state;
    scene_t scene = scene_open("softmax", 1);
    attn_error_t error = {0};
    test_label("null arguments");
    fixture_expect(attn_run(NULL, &scene.arrays.io, &error), &error, ATTN_ERROR_ARGUMENT, "plan");
    expect_refusal(&scene, NULL, ATTN_ERROR_ARGUMENT, "null");
    scene_close(&scene);
}

static void wrong_struct_sizes(void **state) {
    (void)state;
    scene_t scene = scene_open("softmax", 1);
    test_label("struct sizes");
    attn_io_t io = scene.arrays.io;
    io.struct_size = 4;
    expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, "io|struct_size|4");
    attn_report_t report = {.struct_size = 0};
    io = scene.arrays.io;
    io.report = &report;
    expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, "report|struct_size|0");
    scene_close(&scene);
}

typedef attn_tensor_t *tensor_of_t(attn_io_t *io);
static attn_tensor_t *query_of(attn_io_t *io) { return &io->query; }
static attn_tensor_t *key_of(attn_io_t *io) { return &io->key; }
static attn_tensor_t *value_of(attn_io_t *io) { return &io->value; }
static attn_tensor_t *out_of(attn_io_t *io) { return &io->out; }
static attn_tensor_t *lse_of(attn_io_t *io) { return &io->lse; }

static const struct {
    tensor_of_t *get;
    const char *name;
    int written;
} TENSORS[] = {{query_of, "query", 0},
               {key_of, "key", 0},
               {value_of, "value", 0},
               {out_of, "out", 1},
               {lse_of, "lse", 1}};

static void wrong_tensors(void **state) {
    (void)state;
    scene_t scene = scene_open("softmax", 1);
    for (size_t t = 0; t < TEST_COUNT(TENSORS); t++) {
        const char *name = TENSORS[t].name;
        attn_io_t io = scene.arrays.io;
        attn_tensor_t *tensor = TENSORS[t].get(&io);
        const attn_tensor_t good = *tensor;
        test_label("wrong %s", name);
        if (tensor != &io.lse) { // lse may be absent
            tensor->data = NULL;
            expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, name);
            *tensor = good;
        }
        tensor->dtype = ATTN_F64;
        expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, name);
        tensor->dtype = 0;
        expect_refusal(&scene, &io, ATTN_ERROR_DTYPE, name);
        *tensor = good;
        tensor->data = (char *)good.data + 1;
        expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, name);
        *tensor = good;
        for (int k = 0; k < 4; k++) {
            static const int64_t changes[] = {1, -1, INT64_C(1) << 40};
            for (size_t c = 0; c < TEST_COUNT(changes); c++) {
                tensor->shape[k] = good.shape[k] + changes[c];
                expect_refusal(&scene, &io, ATTN_ERROR_SHAPE, name);
            }
            *tensor = good;
            if (!TENSORS[t].written || good.shape[k] == 1) continue;
            tensor->stride[k] = 0; // elements on top of each other
            expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, name);
            *tensor = good;
        }
    }
    scene_close(&scene);
}

/* The offsets of an array's elements from the first one, in the order of the logical axes. */
static size_t offsets_of(const attn_tensor_t *t, int64_t *offsets) {
    size_t count = 0;
    for (int64_t b = 0; b < t->shape[0]; b++)
        for (int64_t h = 0; h < t->shape[1]; h++)
            for (int64_t i = 0; i < t->shape[2]; i++)
                for (int64_t c = 0; c < t->shape[3]; c++)
                    offsets[count++] =
                        b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3];
    return count;
}

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool elements_overlap(const attn_tensor_t *tensor) {
    int64_t offsets[2 * 4 * 5 * 8];
    const size_t count = offsets_of(tensor, offsets);
    qsort(offsets, count, sizeof *offsets, by_value);
    for (size_t i = 1; i < count; i++)
        if (offsets[i] == offsets[i - 1]) return true;
    return false;
}

static int64_t draw(uint64_t *draws, int64_t below) {
    return (int64_t)(attn_random_uniform(test_seed(), 55, (*draws)++) * (double)below);
}

/* Strides of axes in a random order and direction, each with a gap of up to 2 behind all before. */
static void nest_axes(attn_tensor_t *t, uint64_t *draws) {
    int64_t reach = 0;
    unsigned left = 15;
    while (left) {
        const int64_t k = draw(draws, 4);
        if (!(left >> k & 1)) continue;
        left &= ~(1u << k);
        const int64_t stride = reach + 1 + draw(draws, 3);
        reach += (t->shape[k] - 1) * stride;
        t->stride[k] = draw(draws, 2) ? stride : -stride;
    }
}

/* An output is written where no two elements share a place, and else not at all. */
static void strides_of_outputs(void **state) {
    (void)state;
    enum { ROOM = 1 << 16 };
    scene_t scene = scene_open("softmax", 0);
    float *room = malloc(ROOM * sizeof *room);
    attn_io_t io = scene.arrays.io;
    uint64_t draws = 0;
    int64_t refused = 0;
    assert_non_null(room);
    io.out.data = room + ROOM / 2;
    for (int round = 0; round < 3000; round++) {
        for (int k = 0; k < 4; k++) io.out.stride[k] = draw(&draws, 201) - 100;
        const bool nests = round % 2 == 0;
        if (nests) nest_axes(&io.out, &draws);
        const int64_t *s = io.out.stride;
        test_label("strides %d %d %d %d", (int)s[0], (int)s[1], (int)s[2], (int)s[3]);
        attn_error_t error = {0};
        if (attn_run(scene.plan, &io, &error) == ATTN_OK) {
            if (elements_overlap(&io.out)) test_fail("accepted, though elements overlap");
            continue;
        }
        if (nests) test_fail("refused: %s", error.message);
        assert_int_equal(error.status, ATTN_ERROR_ARGUMENT);
        refused++;
    }
    assert_true(refused > 1000);
    test_label("strides that overlap");
    const attn_tensor_t overlap = {.stride = {160, 39, 8, 1}};
    memcpy(io.out.stride, overlap.stride, sizeof overlap.stride);
    expect_refusal(&scene, &io, ATTN_ERROR_ARGUMENT, "out|strides (160, 39, 8, 1)|overlap");
    free(room);
    scene_close(&scene);
}

static void wrong_workspaces(void **state) {
    (void)state;
    static const char *const backends[] = {"softmax", "linear", "sparse", "sketch"};
    for (size_t b = 0; b < TEST_COUNT(backends); b++) {
        scene_t scene = scene_open(backends[b], 0);
        const uint64_t size = attn_plan_workspace_size(scene.plan);
        test_label("workspace of %s, %" PRIu64 " bytes", backends[b], size);
        assert_true(size > 0 && size % ATTN_ALIGNMENT == 0);
        attn_io_t io = scene.arrays.io;
        io.workspace = NULL;
        expect_refusal(&scene, &io, ATTN_ERROR_WORKSPACE, "workspace: is missing: the plan needs");
        io = scene.arrays.io;
        io.workspace_size = size - 1;
        expect_refusal(&scene, &io, ATTN_ERROR_WORKSPACE, "workspace");
        io.workspace_size = 0;
        expect_refusal(&scene, &io, ATTN_ERROR_WORKSPACE, "workspace");
        io = scene.arrays.io;
        io.workspace = (char *)io.workspace + 4;
        expect_refusal(&scene, &io, ATTN_ERROR_WORKSPACE, "workspace|64");
        scene_close(&scene);
    }
}

static void lse_where_there_is_none(void **state) {
    (void)state;
    scene_t scene = scene_open("linear", 1);
    test_label("lse of linear");
    expect_refusal(&scene, &scene.arrays.io, ATTN_ERROR_UNSUPPORTED, "linear|lse");
    scene_close(&scene);
}

/** What does not matter is not looked at: an absent lse's shape, a larger workspace. */
static void harmless_differences(void **state) {
    (void)state;
    scene_t scene = scene_open("softmax", 1);
    arrays_t *arrays = &scene.arrays;
    free(arrays->out.sealed);
    arrays->out.sealed = NULL;
    attn_io_t io = arrays->io;
    io.lse = (attn_tensor_t){.data = NULL, .dtype = 99, .shape = {-1, -1, -1, -1}};
    io.workspace_size += 64;
    assert_int_equal(attn_run(scene.plan, &io, NULL), ATTN_OK);
    scene_close(&scene);
}

static void weights_out_of_bounds(void **state) {
    (void)state;
    static const int64_t cases[][5] = {
        // batch, head, first, count, row stride
        {-1, 0, 0, 1, 6},        {2, 0, 0, 1, 6},         {0, -1, 0, 1, 6}, {0, 4, 0, 1, 6},
        {0, 0, -1, 1, 6},        {0, 0, 5, 1, 6},         {0, 0, 3, 3, 6},  {0, 0, 0, -1, 6},
        {0, 0, INT64_MAX, 1, 6}, {0, 0, 1, INT64_MAX, 6}, {0, 0, 0, 2, 5},  {0, 0, 0, 2, -6},
    };
    scene_t scene = scene_open("softmax", 0);
    float rows[64];
    for (size_t i = 0; i < 64; i++) rows[i] = -3;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        const int64_t *c = cases[i];
        attn_error_t error = {0};
        test_label("weights case %zu", i);
        fixture_expect(
            attn_weights(scene.plan, &scene.arrays.io, c[0], c[1], c[2], c[3], rows, c[4], &error),
            &error, ATTN_ERROR_SHAPE, "weights");
    }
    attn_error_t error = {0};
    test_label("weights with null");
    fixture_expect(attn_weights(NULL, &scene.arrays.io, 0, 0, 0, 1, rows, 6, &error), &error,
                   ATTN_ERROR_ARGUMENT, "weights");
    fixture_expect(attn_weights(scene.plan, NULL, 0, 0, 0, 1, rows, 6, &error), &error,
                   ATTN_ERROR_ARGUMENT, "null");
    fixture_expect(attn_weights(scene.plan, &scene.arrays.io, 0, 0, 0, 1, NULL, 6, &error), &error,
                   ATTN_ERROR_ARGUMENT, "weights");
    attn_io_t io = scene.arrays.io;
    io.workspace_size = 0;
    fixture_expect(attn_weights(scene.plan, &io, 0, 0, 0, 1, rows, 6, &error), &error,
                   ATTN_ERROR_WORKSPACE, "workspace");
    io = scene.arrays.io;
    io.key.shape[2]++;
    fixture_expect(attn_weights(scene.plan, &io, 0, 0, 0, 1, rows, 6, &error), &error,
                   ATTN_ERROR_SHAPE, "key");
    for (size_t i = 0; i < 64; i++) assert_true(rows[i] == -3);

    io = scene.arrays.io; // value and out may be absent
    io.value.data = io.out.data = NULL;
    assert_int_equal(attn_weights(scene.plan, &io, 1, 3, 4, 1, rows, 6, NULL), ATTN_OK);
    assert_int_equal(attn_weights(scene.plan, &io, 1, 3, 5, 0, rows, 6, NULL), ATTN_OK);
    assert_true(rows[5] >= 0 && rows[6] == -3);
    scene_close(&scene);
}

static void cost_arguments(void **state) {
    (void)state;
    scene_t scene = scene_open("softmax", 0);
    attn_error_t error = {0};
    attn_cost_t cost = {.struct_size = sizeof cost};
    test_label("cost with null");
    fixture_expect(attn_plan_cost(NULL, &cost, &error), &error, ATTN_ERROR_ARGUMENT, "cost");
    fixture_expect(attn_plan_cost(scene.plan, NULL, &error), &error, ATTN_ERROR_ARGUMENT, "cost");
    test_label("it is written as a whole");
    memset(&cost, 0xA5, sizeof cost);
    assert_int_equal(attn_plan_cost(scene.plan, &cost, NULL), ATTN_ERROR_ARGUMENT);
    cost.struct_size = sizeof cost;
    assert_int_equal(attn_plan_cost(scene.plan, &cost, NULL), ATTN_OK);
    assert_true(cost.struct_size == sizeof cost && cost.reserved == 0);
    scene_close(&scene);
}

static void tensors_by_order(void **state) {
    (void)state;
    float data[1];
    const attn_tensor_t a = attn_tensor_bhnd(data, 2, 3, 5, 7),
                        b = attn_tensor_bnhd(data, 2, 3, 5, 7);
    const int64_t shape[4] = {2, 3, 5, 7}, bhnd[4] = {105, 35, 7, 1}, bnhd[4] = {105, 7, 21, 1};
    assert_memory_equal(a.shape, shape, sizeof shape);
    assert_memory_equal(b.shape, shape, sizeof shape);
    assert_memory_equal(a.stride, bhnd, sizeof bhnd);
    assert_memory_equal(b.stride, bnhd, sizeof bnhd);
    assert_true(a.data == data && b.data == data && a.dtype == ATTN_F32 && b.dtype == ATTN_F32);
}

static void nonfinite_elements_are_counted(void **state) {
    (void)state;
    for (int layout = 0; layout < LAYOUT_COUNT; layout++) { // the gaps are NaN and do not count
        array_t array = array_create((layout_t)layout, 2, 3, 5, 7);
        array_fill_normal(&array, 4, 1);
        assert_int_equal(attn_count_nonfinite(&array.tensor), 0);
        array_set(&array, 0, 0, 0, 0, NAN);
        array_set(&array, 1, 2, 4, 6, INFINITY);
        array_set(&array, 1, 0, 3, 2, -INFINITY);
        assert_int_equal(attn_count_nonfinite(&array.tensor), 3);
        array_destroy(&array);
    }
    const attn_tensor_t absent = {.dtype = ATTN_F32, .shape = {1, 1, 1, 1}};
    assert_int_equal(attn_count_nonfinite(&absent), 0);
    assert_int_equal(attn_count_nonfinite(NULL), 0);
}

TEST_MAIN(cmocka_unit_test(null_arguments), cmocka_unit_test(wrong_struct_sizes),
          cmocka_unit_test(wrong_tensors), cmocka_unit_test(strides_of_outputs),
          cmocka_unit_test(wrong_workspaces), cmocka_unit_test(lse_where_there_is_none),
          cmocka_unit_test(harmless_differences), cmocka_unit_test(weights_out_of_bounds),
          cmocka_unit_test(cost_arguments), cmocka_unit_test(tensors_by_order),
          cmocka_unit_test(nonfinite_elements_are_counted))
