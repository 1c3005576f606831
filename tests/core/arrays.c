/*
 * Arrays of a backend's own, as a plugin may declare them: what the library names, wants, checks and
 * hands on. The backend computes nothing: its run notes which arrays came.
 */
#include "attn/ext/inputs.h"
#include "attn/support.h"
#include "support/fixture.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_MASK, GATES, LENGTHS, STATE, OWN, BLOCK = 4 };

#define ARRAY(role_, presence_, dtype_, ...)                                                       \
    .struct_size = sizeof(attn_array_info_t), .role = ATTN_ROLE_##role_,                           \
    .presence = ATTN_PRESENCE_##presence_, .dtype = dtype_, .help = "", __VA_ARGS__

static const attn_array_info_t block_mask = {
    ARRAY(INPUT, NAMED, ATTN_BOOL, .name = "block_mask", .broadcast = 3),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_HEADS, ATTN_AXIS_PLAN, ATTN_AXIS_PLAN},
};
static const attn_array_info_t gates = {
    ARRAY(INPUT, REQUIRED, ATTN_DTYPE_OF_KEY, .name = "gates"),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_KV_HEADS, ATTN_AXIS_KEYS, ATTN_AXIS_ONE},
};
static const attn_array_info_t lengths = {
    ARRAY(INPUT, NAMED, ATTN_I64, .name = "own_lengths", .elements = ATTN_ELEMENTS_LENGTH),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_ONE},
};
static const attn_array_info_t state_out = {
    ARRAY(OUTPUT, OPTIONAL, ATTN_F32, .name = "state"),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_KV_HEADS, ATTN_AXIS_DIM, ATTN_AXIS_VALUE_DIM},
};

static void shape_of(const attn_backend_plan_t *plan, uint32_t index, int64_t shape[4]) {
    (void)plan;
    assert_true(index < OWN);
    if (index == BLOCK_MASK) shape[2] = shape[3] = BLOCK;
}

static const attn_array_info_t *const arrays[OWN] = {&block_mask, &gates, &lengths, &state_out};
static const attn_ext_inputs_t inputs = {sizeof inputs, OWN, arrays, shape_of};
static const attn_ext_inputs_t *declared = &inputs; /* what the backend says just now */

static const void *get_extension(const char *id) {
    return strcmp(id, ATTN_EXT_INPUTS) == 0 ? declared : NULL;
}

static uint32_t came; /* bit i: own array i, in the last run */

static attn_status_t run(const attn_backend_plan_t *plan, const attn_io_t *io,
                         attn_error_t *error) {
    (void)plan, (void)error;
    came = 0;
    for (uint32_t i = 0; i < OWN + 2; i++)
        if (attn_own_array(io, i)) came |= 1u << i;
    return ATTN_OK;
}

static void destroy(attn_backend_plan_t *plan) { free(plan); }

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)error;
    *plan = malloc(sizeof **plan);
    assert_non_null(*plan);
    **plan = (attn_backend_plan_t){.struct_size = sizeof **plan, .run = run, .destroy = destroy};
    return ATTN_OK;
}

static const attn_backend_t backend = {
    .struct_size = sizeof backend,
    .features = ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_HALF | ATTN_FEATURE_KV_LENGTHS,
    .id = "org.example.own",
    .name = "Own",
    .version = "1",
    .plan = make_plan,
    .get_extension = get_extension,
};
static const attn_backend_t *const backends[] = {&backend};
static const attn_plugin_entry_t entry = {sizeof entry, ATTN_ABI_MAJOR, ATTN_ABI_MINOR, 1, 0,
                                          backends};

typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    arrays_t arrays;
    attn_tensor_t tensors[OWN];
    const attn_tensor_t *own[OWN];
    _Alignas(8) char memory[4096], written[4096];
} scene_t;

static scene_t *scene_open(const char *const *names, int count) {
    scene_t *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene->context = fixture_context(1);
    assert_int_equal(attn_plugin_register(scene->context, &entry, NULL, NULL), ATTN_OK);
    attn_problem_t problem = fixture_problem(2, 4, 5, 6, 7, 8);
    problem.kv_heads = 2;
    for (int i = 0; i < count; i++)
        assert_int_equal(attn_problem_add_input(&problem, &backend, names[i], NULL), ATTN_OK);
    scene->plan = fixture_plan(scene->context, backend.id, &problem, NULL);
    scene->arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (uint32_t i = 0; i < OWN; i++) {
        assert_true(attn_plan_array(scene->plan, ATTN_ARRAY_OWN + i, &scene->tensors[i]));
        assert_null(scene->tensors[i].data);
        scene->own[i] = NULL;
    }
    scene->arrays.io.own = scene->own;
    scene->arrays.io.own_count = OWN;
    return scene;
}

static void give(scene_t *scene, int index) {
    scene->tensors[index].data = index == STATE ? scene->written : scene->memory;
    scene->own[index] = &scene->tensors[index];
}

static void scene_close(scene_t *scene) {
    attn_plan_destroy(scene->plan);
    arrays_destroy(&scene->arrays);
    attn_context_destroy(scene->context);
    free(scene);
}

static void expect(const scene_t *scene, attn_status_t status, const char *words) {
    attn_error_t error = {0};
    test_label("a run that should be refused for %s", words);
    came = UINT32_MAX;
    fixture_expect(attn_run(scene->plan, &scene->arrays.io, &error), &error, status, words);
    assert_int_equal(came, UINT32_MAX);
}

static void shapes_and_types_follow_the_declaration(void **state) {
    (void)state;
    scene_t *scene = scene_open(NULL, 0);
    static const struct {
        attn_dtype_t dtype;
        int64_t shape[4], stride[4];
    } wanted[OWN] = {
        [BLOCK_MASK] = {ATTN_BOOL, {2, 4, BLOCK, BLOCK}, {64, 16, 4, 1}},
        [GATES] = {ATTN_F32, {2, 2, 6, 1}, {12, 6, 1, 1}},
        [LENGTHS] = {ATTN_I64, {2, 1, 1, 1}, {1, 1, 1, 1}},
        [STATE] = {ATTN_F32, {2, 2, 7, 8}, {112, 56, 8, 1}},
    };
    for (int i = 0; i < OWN; i++) {
        assert_int_equal(scene->tensors[i].dtype, wanted[i].dtype);
        assert_memory_equal(scene->tensors[i].shape, wanted[i].shape, sizeof wanted[i].shape);
        assert_memory_equal(scene->tensors[i].stride, wanted[i].stride, sizeof wanted[i].stride);
    }
    attn_tensor_t past;
    assert_false(attn_plan_array(scene->plan, ATTN_ARRAY_OWN + OWN, &past));
    assert_true(attn_plan_array(scene->plan, ATTN_ARRAY_KEY, &past));
    assert_true(past.shape[1] == 2 && past.shape[2] == 6 && past.shape[3] == 7);
    scene_close(scene);
}

static void runs_bring_what_is_needed(void **state) {
    (void)state;
    static const char *const names[] = {"block_mask", "own_lengths"};
    scene_t *scene = scene_open(names, 2);
    expect(scene, ATTN_ERROR_ARGUMENT, "block_mask: is missing|names it as an input");
    give(scene, BLOCK_MASK);
    expect(scene, ATTN_ERROR_ARGUMENT, "gates: is missing|NULL");
    give(scene, GATES);
    give(scene, LENGTHS);
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    assert_int_equal(came, 1 << BLOCK_MASK | 1 << GATES | 1 << LENGTHS);
    give(scene, STATE);
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    assert_int_equal(came, (1 << OWN) - 1);

    scene->tensors[BLOCK_MASK].shape[0] = scene->tensors[BLOCK_MASK].shape[1] = 1;
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    scene->tensors[BLOCK_MASK].shape[2] = 1;
    expect(scene, ATTN_ERROR_SHAPE, "block_mask|(1, 1, 1, 4)|(2, 4, 4, 4)");
    scene->tensors[BLOCK_MASK].shape[2] = BLOCK;
    ((int64_t *)(void *)scene->memory)[1] = 7;
    expect(scene, ATTN_ERROR_RANGE, "own_lengths|sequence 1|7|6");
    ((int64_t *)(void *)scene->memory)[1] = 0;
    scene->tensors[STATE].stride[1] = 1;
    expect(scene, ATTN_ERROR_ARGUMENT, "state|overlap");
    scene->tensors[STATE].stride[1] = 56;
    scene->tensors[STATE].data = scene->written + 1;
    expect(scene, ATTN_ERROR_ARGUMENT, "state|aligned");
    scene->arrays.io.own_count = GATES;
    expect(scene, ATTN_ERROR_ARGUMENT, "gates: is missing|NULL");
    scene->arrays.io.own_count = OWN;
    scene->arrays.io.own = NULL;
    expect(scene, ATTN_ERROR_ARGUMENT, "block_mask: is missing|names it as an input");
    scene_close(scene);
}

static void what_is_not_named_is_refused(void **state) {
    (void)state;
    scene_t *scene = scene_open(NULL, 0);
    give(scene, GATES);
    give(scene, BLOCK_MASK);
    expect(scene, ATTN_ERROR_ARGUMENT, "block_mask|does not name");
    scene->own[BLOCK_MASK] = NULL;
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    scene_close(scene);
    attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    attn_error_t error = {0};
    test_label("names");
    fixture_expect(attn_problem_add_input(&problem, &backend, "gates", &error), &error,
                   ATTN_ERROR_ARGUMENT, "gates");
    fixture_expect(attn_problem_add_input(&problem, &backend, "state", &error), &error,
                   ATTN_ERROR_NOT_FOUND, "state");
    fixture_expect(attn_problem_add_input(&problem, NULL, "block_mask", &error), &error,
                   ATTN_ERROR_NOT_FOUND, "block_mask");
    assert_int_equal(attn_problem_add_input(&problem, &backend, "mask", NULL), ATTN_OK);
    assert_int_equal(problem.inputs, ATTN_INPUT_MASK);
    problem.struct_size = ATTN_PROBLEM_FIRST;
    fixture_expect(attn_problem_add_input(&problem, &backend, "block_mask", &error), &error,
                   ATTN_ERROR_ARGUMENT, "own_inputs");
}

/* ---- elements --------------------------------------------------------------------------------------- */

/* Arrays with elements that the host checks, whose axes are not those of any array of the library. */
static const attn_array_info_t head_lengths = {
    ARRAY(INPUT, NAMED, ATTN_I64, .name = "head_lengths", .elements = ATTN_ELEMENTS_LENGTH),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_HEADS, ATTN_AXIS_ONE, ATTN_AXIS_ONE},
};
static const attn_array_info_t key_gains = {
    ARRAY(INPUT, NAMED, ATTN_F32, .name = "key_gains", .elements = ATTN_ELEMENTS_POSITIVE,
          .broadcast = 5),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_ONE, ATTN_AXIS_KEYS, ATTN_AXIS_ONE},
};
static const attn_array_info_t pair_gains = {
    ARRAY(INPUT, NAMED, ATTN_F32, .name = "pair_gains", .elements = ATTN_ELEMENTS_POSITIVE),
    .axes = {ATTN_AXIS_QUERIES, ATTN_AXIS_ONE, ATTN_AXIS_KEYS, ATTN_AXIS_ONE},
};

static void all_elements_that_count_are_checked(void **state) {
    (void)state;
    enum { HEAD_LENGTHS, KEY_GAINS, PAIR_GAINS, QUERIES = 5, KEYS = 6 };
    static const attn_array_info_t *const list[OWN] = {&head_lengths, &key_gains, &pair_gains,
                                                       &state_out};
    static const attn_ext_inputs_t checked = {sizeof checked, OWN, list, NULL};
    static const char *const names[] = {"head_lengths", "key_gains", "pair_gains", "kv_lengths"};
    declared = &checked;
    scene_t *scene = scene_open(names, 4);
    int64_t lengths_of[2][4] = {{0}}, counted[2] = {2, 5};
    float gains_of_keys[2][KEYS], gains_of_pairs[QUERIES][KEYS];
    for (int j = 0; j < 2 * KEYS; j++) (&gains_of_keys[0][0])[j] = j % KEYS < 5 ? 1.0f : 0.0f;
    for (int j = 0; j < QUERIES * KEYS; j++)
        (&gains_of_pairs[0][0])[j] = j % KEYS < 5 ? 1.0f : 0.0f; /* the last is no sequence's */
    void *const memory[] = {lengths_of, gains_of_keys, gains_of_pairs};
    for (int i = 0; i < 3; i++) {
        scene->tensors[i].data = memory[i];
        scene->own[i] = &scene->tensors[i];
    }
    scene->arrays.io.kv_lengths = (attn_tensor_t){
        .data = counted, .dtype = ATTN_I64, .shape = {2, 1, 1, 1}, .stride = {1, 1, 1, 1}};
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    lengths_of[1][3] = KEYS + 1;
    expect(scene, ATTN_ERROR_RANGE, "head_lengths|sequence 1|7|6");
    lengths_of[1][3] = KEYS;
    gains_of_pairs[4][4] = -1.0f;
    expect(scene, ATTN_ERROR_RANGE, "pair_gains|batch 4|key 4|-1");
    gains_of_pairs[4][4] = 1.0f;
    gains_of_keys[0][2] = 0.0f; /* behind the keys that count of the first sequence */
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    scene->tensors[KEY_GAINS].shape[0] = 1; /* of both sequences */
    expect(scene, ATTN_ERROR_RANGE, "key_gains|key 2");
    scene->tensors[KEY_GAINS].shape[2] =
        1; /* of all keys: what stands behind is not of the array */
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    gains_of_keys[0][0] = 0.0f;
    expect(scene, ATTN_ERROR_RANGE, "key_gains|key 0");
    scene_close(scene);
    declared = &inputs;
}

/* ---- arrays that stand for others ------------------------------------------------------------------- */

static const attn_array_info_t both = {
    ARRAY(INPUT, NAMED, ATTN_F32, .name = "both"),
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_DIM},
    .replaces = 1 << ATTN_ARRAY_QUERY | 1 << ATTN_ARRAY_KEY,
};

static void an_input_stands_for_query_and_key(void **state) {
    (void)state;
    attn_array_info_t older = gates; /* of a plugin that knows no such inputs */
    older.struct_size = ATTN_ARRAY_INFO_FIRST;
    const attn_array_info_t *const list[OWN] = {&both, &older, &lengths, &state_out};
    const attn_ext_inputs_t standing = {sizeof standing, OWN, list, NULL};
    static const char *const names[] = {"both"};
    enum { BOTH = 0 };
    declared = &standing;
    scene_t *scene = scene_open(names, 1);
    attn_io_t *io = &scene->arrays.io;
    const attn_tensor_t key = io->key;
    give(scene, BOTH);
    give(scene, GATES);
    expect(scene, ATTN_ERROR_ARGUMENT, "query: given|stand for it");
    io->query.data = NULL;
    expect(scene, ATTN_ERROR_ARGUMENT, "key: given");
    io->key.data = NULL;
    assert_int_equal(attn_run(scene->plan, io, NULL), ATTN_OK);
    assert_int_equal(came, 1 << BOTH | 1 << GATES);
    scene->own[BOTH] = NULL;
    expect(scene, ATTN_ERROR_ARGUMENT, "both: is missing|names it as an input");
    io->value.data = NULL;
    give(scene, BOTH);
    expect(scene, ATTN_ERROR_ARGUMENT, "value: is missing: its data is NULL");
    scene_close(scene);

    scene = scene_open(NULL, 0); /* whose problem does not name it */
    give(scene, GATES);
    assert_int_equal(attn_run(scene->plan, &scene->arrays.io, NULL), ATTN_OK);
    scene->arrays.io.key.data = NULL;
    expect(scene, ATTN_ERROR_ARGUMENT, "key: is missing");
    scene->arrays.io.key = key;
    scene_close(scene);
    declared = &inputs;
}

/* ---- declarations that a host must refuse ----------------------------------------------------------- */

static void refuse(const attn_ext_inputs_t *bad, const char *words) {
    attn_context_t *context = fixture_context(1);
    attn_error_t error = {0};
    test_label("a declaration: %s", words);
    declared = bad;
    fixture_expect(attn_plugin_register(context, &entry, "here", &error), &error, ATTN_ERROR_PLUGIN,
                   words);
    declared = &inputs;
    attn_context_destroy(context);
}

static void malformed_declarations(void **state) {
    (void)state;
    const attn_array_info_t *list[33];
    for (int i = 0; i < 33; i++) list[i] = &gates;
    refuse(&(attn_ext_inputs_t){sizeof inputs, 33, list, NULL}, "here|org.example.own|list");
    refuse(&(attn_ext_inputs_t){sizeof inputs, 1, NULL, NULL}, "list");
    refuse(&(attn_ext_inputs_t){sizeof inputs, 2, list, NULL}, "name");
    const attn_array_info_t bad[] = {
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = NULL)},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "")},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "Large")},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "a=b")},
        {ARRAY(INPUT, NAMED, 8, .name = "x")},
        {ARRAY(INPUT, NAMED, 0, .name = "x")},
        {ARRAY(INPUT, NAMED, -3, .name = "x")},
        {ARRAY(INPUT, OPTIONAL, ATTN_F32, .name = "x")},
        {ARRAY(INPUT, INT8, ATTN_F32, .name = "x")},
        {ARRAY(OUTPUT, NAMED, ATTN_F32, .name = "x")},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "x", .axes = {9})},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "x", .axes = {0, 0, 0, -1})},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "x", .elements = 3)},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "x", .elements = ATTN_ELEMENTS_LENGTH)},
        {ARRAY(INPUT, NAMED, ATTN_F16, .name = "x", .elements = ATTN_ELEMENTS_POSITIVE)},
        {.struct_size = 8, .role = ATTN_ROLE_INPUT, .name = "x"},
        {ARRAY(INPUT, REQUIRED, ATTN_F32, .name = "x", .replaces = 1)},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "x", .replaces = 1 << ATTN_ARRAY_OUT)},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "x", .replaces = UINT64_C(1) << 63)},
        {ARRAY(OUTPUT, OPTIONAL, ATTN_F32, .name = "x", .replaces = 2)},
        {ARRAY(INPUT, NAMED, ATTN_F32, .name = "query")},
    };
    for (size_t i = 0; i < TEST_COUNT(bad); i++) {
        const attn_array_info_t *one = &bad[i];
        refuse(&(attn_ext_inputs_t){sizeof inputs, 1, &one, NULL},
               i + 1 < TEST_COUNT(bad) ? "array|malformed" : "name");
    }
    const attn_array_info_t *none = NULL;
    refuse(&(attn_ext_inputs_t){sizeof inputs, 1, &none, NULL}, "malformed");
}

TEST_MAIN(cmocka_unit_test(shapes_and_types_follow_the_declaration),
          cmocka_unit_test(runs_bring_what_is_needed),
          cmocka_unit_test(what_is_not_named_is_refused),
          cmocka_unit_test(all_elements_that_count_are_checked),
          cmocka_unit_test(an_input_stands_for_query_and_key),
          cmocka_unit_test(malformed_declarations))
