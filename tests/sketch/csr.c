/*
 * X as the backend's own CSR arrays, in place of queries and keys: bit for bit what dense X gives where no sum is
 * rounded, and what is no CSR is refused in words before a kernel reads it.
 */
#include "support/fixture.h"
#include "support/test.h"

#include "attn/ext/inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, HEADS = 3, TOKENS = 40, DIM = 70, VALUE_DIM = 5, ROWS = BATCH * HEADS * TOKENS };
enum { INDPTR, INDICES, DATA, OWN };

/** X twice: in `arrays`, as queries and keys, and in CSR. */
typedef struct scene {
    attn_context_t *context;
    arrays_t arrays;
    int64_t starts[ROWS + 1], indices[ROWS * DIM];
    float data[ROWS * DIM];
    int64_t stored;
    attn_tensor_t tensors[OWN];
    const attn_tensor_t *own[OWN];
    attn_problem_t problem; /* that names them */
    attn_io_t io;
} scene_t;

static attn_tensor_t list(void *data, attn_dtype_t dtype, int64_t count) {
    return (attn_tensor_t){.data = data,
                           .dtype = dtype,
                           .shape = {1, 1, 1, count},
                           .stride = {count, count, count, 1}};
}

/** Small whole numbers, so that sums are exact; every fifth row is empty, others have at most `most` elements. */
static scene_t *scene_open(int threads, int most, int32_t causal, int64_t dim) {
    scene_t *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    attn_problem_t problem = fixture_problem(BATCH, HEADS, TOKENS, TOKENS, dim, VALUE_DIM);
    problem.causal = causal;
    scene->context = fixture_context(threads);
    scene->arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t b = r / TOKENS / HEADS, h = r / TOKENS % HEADS, i = r % TOKENS;
        int left = r % 5 == 3 ? 0 : most;
        for (int64_t j = dim - 1; j >= 0; j--) {
            const uint64_t at = (uint64_t)(r * DIM + j);
            const int has = left > 0 && (j == dim - 1 || fixture_draw(at, 4) == 0);
            const float x = has ? (float)(fixture_draw(at + 1000000, 7) - 3) : 0;
            left -= has;
            array_set(&scene->arrays.query, b, h, i, j, x);
            array_set(&scene->arrays.key, b, h, i, j, x);
        }
    }
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t b = r / TOKENS / HEADS, h = r / TOKENS % HEADS, i = r % TOKENS;
        for (int64_t j = 0; j < dim; j++) {
            const float x = array_get(&scene->arrays.query, b, h, i, j);
            if (x == 0 && (most == 1 || (i + j) % 11))
                continue; /* stored zeros are elements, too */
            scene->indices[scene->stored] = j;
            scene->data[scene->stored++] = x;
        }
        scene->starts[r + 1] = scene->stored;
    }
    scene->tensors[INDPTR] = list(scene->starts, ATTN_I64, ROWS + 1);
    scene->tensors[INDICES] = list(scene->indices, ATTN_I64, scene->stored);
    scene->tensors[DATA] = list(scene->data, ATTN_F32, scene->stored);
    for (int i = 0; i < OWN; i++) scene->own[i] = &scene->tensors[i];
    scene->problem = problem;
    scene->problem.own_inputs = (1u << OWN) - 1;
    return scene;
}

static void scene_close(scene_t *scene) {
    arrays_destroy(&scene->arrays);
    attn_context_destroy(scene->context);
    free(scene);
}

/** The arrays of a run without queries and keys. */
static attn_plan_t *prepare(scene_t *scene, const char *settings) {
    char text[160];
    snprintf(text, sizeof text, "%s,elements=%lld", settings, (long long)scene->stored);
    test_label("%s", text);
    attn_plan_t *plan = fixture_plan(scene->context, "sketch", &scene->problem, text);
    arrays_give_workspace(&scene->arrays, plan);
    scene->io = scene->arrays.io;
    scene->io.query.data = scene->io.key.data = NULL;
    scene->io.own = scene->own;
    scene->io.own_count = OWN;
    return plan;
}

static void it_is_what_dense_is(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        int most; /* elements of a row, without rounding */
        int64_t dim;
    } cases[] = {
        {"method=ams,size=16,seed=3", DIM, DIM},
        {"method=osnap,size=20,seed=4", DIM, DIM},
        {"method=srht,size=16,seed=5", DIM, DIM},
        {"method=osnap,size=9,sparsity=1,seed=5", DIM, DIM},
        {"method=osnap,size=9,sparsity=4,seed=5", 1, 5 * ROWS}, /* more features than elements */
        {"method=gaussian,size=17,seed=6", 1, DIM},
        {"method=gaussian,size=70", DIM, DIM},
        {"method=srht,size=71", DIM, DIM},
        /* scores by the rows' Gram matrix and by the features', of full rank and less */
        {"method=leverage,size=24,seed=7", DIM, DIM},
        {"method=leverage,size=60,seed=8", 2, DIM},
        {"method=leverage,size=11,seed=9", DIM, 20},
        {"method=leverage,size=11,seed=9", 2, 20},
        {"method=leverage,size=1,seed=9", 1, TOKENS},
        {"method=leverage,size=70", DIM, DIM},
    };
    for (size_t c = 0; c < TEST_COUNT(cases); c++)
        for (int threads = 1; threads <= 2; threads++) {
            scene_t *scene = scene_open(threads, cases[c].most, threads == 2, cases[c].dim);
            arrays_t *arrays = &scene->arrays;
            fixture_solve(scene->context, "sketch", cases[c].settings, arrays);
            const size_t bytes = arrays->out.words * sizeof *arrays->out.block;
            void *dense = malloc(bytes);
            float weights[3 * TOKENS], first[3 * TOKENS];
            memcpy(dense, arrays->out.block, bytes);
            attn_plan_t *plan =
                fixture_plan(scene->context, "sketch", &arrays->problem, cases[c].settings);
            arrays_give_workspace(arrays, plan);
            assert_int_equal(attn_weights(plan, &arrays->io, 1, 2, 30, 3, first, TOKENS, NULL),
                             ATTN_OK);
            attn_plan_destroy(plan);

            plan = prepare(scene, cases[c].settings);
            memset(arrays->out.tensor.data, 0x7f, sizeof(float) * ROWS * VALUE_DIM);
            assert_int_equal(attn_run(plan, &scene->io, NULL), ATTN_OK);
            assert_memory_equal(arrays->out.block, dense, bytes);
            assert_int_equal(attn_weights(plan, &scene->io, 1, 2, 30, 3, weights, TOKENS, NULL),
                             ATTN_OK);
            assert_memory_equal(weights, first, sizeof first);
            arrays_check(arrays);
            attn_plan_destroy(plan);
            free(dense);
            scene_close(scene);
        }
}

/** The cost is that of the elements, and no array of d features a row is counted. */
static void cost_follows_the_elements(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 8, 8, 50000, 4);
    problem.own_inputs = (1u << OWN) - 1;
    const double attended = 2.0 * 2 * 8 * 8 * (16 + 4), rows = 16;
    static const struct {
        const char *settings;
        double per_element; /* operations */
    } cases[] = {
        {"method=osnap,size=16,elements=1000", 8},
        {"method=ams,size=16,elements=1000", 32},
        /* each element taken, in two Gram matrices and their scores, which are 2/3 n^3 besides */
        {"method=leverage,size=16,elements=1000", 1 + 8 + 8 + 2 * 2.0 / 3 * 8 * 8 * 8 / 1000}};
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        attn_plan_t *plan = fixture_plan(context, "sketch", &problem, cases[c].settings);
        attn_cost_t cost = {.struct_size = sizeof cost};
        assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
        assert_true(fabs(cost.flops - attended - cases[c].per_element * 1000) < 0.5);
        assert_true(cost.bytes == 12 * 1000 + 8 * (rows + 1) + 4 * rows * (4 + 4));
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

static void refuse(const scene_t *scene, const attn_plan_t *plan, attn_status_t status,
                   const char *words) {
    attn_error_t error = {0};
    test_label("%s", words);
    fixture_expect(attn_run(plan, &scene->io, &error), &error, status, words);
}

static void what_is_none_is_refused(void **state) {
    (void)state;
    scene_t *scene = scene_open(1, DIM, 0, DIM);
    attn_plan_t *plan = prepare(scene, "method=osnap,size=16");
    const int64_t end = scene->starts[ROWS];
    int64_t row = 0; /* one of two elements or more */
    while (scene->starts[row + 1] - scene->starts[row] < 2) row++;
    int64_t *two = scene->indices + scene->starts[row];
    assert_int_equal(attn_run(plan, &scene->io, NULL), ATTN_OK);
#define WITH(place, value, status, words)                                                          \
    do {                                                                                           \
        const __typeof__(place) kept = place;                                                      \
        place = value;                                                                             \
        refuse(scene, plan, status, words);                                                        \
        place = kept;                                                                              \
    } while (0)
    WITH(scene->starts[0], 1, ATTN_ERROR_RANGE, "indptr: begins with 1, not 0");
    WITH(scene->starts[0], INT64_MIN, ATTN_ERROR_RANGE, "indptr: begins with -9223372036854775808");
    WITH(scene->starts[4], INT64_MAX, ATTN_ERROR_RANGE, "indptr: falls from 9223372036854775807");
    WITH(scene->starts[9], -1, ATTN_ERROR_RANGE, "indptr: falls from|to -1 after row 8");
    WITH(scene->starts[ROWS], end + 1, ATTN_ERROR_RANGE, "indptr: ends with");
    WITH(two[0], -1, ATTN_ERROR_RANGE, "indices: row|has column -1, must be 0 to 69");
    WITH(two[1], DIM, ATTN_ERROR_RANGE, "has column 70, must be 0 to 69");
    WITH(two[1], INT64_MAX, ATTN_ERROR_RANGE, "has column 9223372036854775807");
    WITH(two[1], two[0], ATTN_ERROR_RANGE, "they have to ascend, each once");
    WITH(scene->data[7], NAN, ATTN_ERROR_RANGE, "X: element 7 is NaN");
    WITH(scene->data[end - 1], -INFINITY, ATTN_ERROR_RANGE, "is infinite");
    WITH(scene->own[INDICES], NULL, ATTN_ERROR_ARGUMENT, "x_indices: is missing");
    WITH(scene->tensors[DATA].dtype, ATTN_I64, ATTN_ERROR_DTYPE, "x_data");
    WITH(scene->tensors[DATA].shape[3], end - 1, ATTN_ERROR_SHAPE, "x_data: shape");
    WITH(scene->tensors[INDPTR].shape[3], ROWS, ATTN_ERROR_SHAPE, "x_indptr: shape");
    WITH(scene->tensors[INDICES].stride[3], 2, ATTN_ERROR_ARGUMENT, "x_indices: rows must have");
    WITH(scene->io.key, scene->arrays.io.key, ATTN_ERROR_ARGUMENT, "key: given|stand for it");
    WITH(scene->io.query, scene->arrays.io.query, ATTN_ERROR_ARGUMENT, "query: given");
    float weights[TOKENS];
    attn_error_t error = {0};
    scene->data[7] = NAN;
    fixture_expect(attn_weights(plan, &scene->io, 0, 0, 0, 1, weights, TOKENS, &error), &error,
                   ATTN_ERROR_RANGE, "NaN");
    attn_plan_destroy(plan);
    scene_close(scene);
}

static void problems_that_have_none_are_refused(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const uint32_t all = (1u << OWN) - 1;
    static const struct {
        uint32_t own;
        int64_t heads, keys;
        const char *settings;
        attn_status_t status;
        const char *words;
    } cases[] = {
        {1, 2, 8, "elements=5", ATTN_ERROR_ARGUMENT, "x_indptr, x_indices and x_data"},
        {6, 2, 8, "elements=5", ATTN_ERROR_ARGUMENT, "x_indptr, x_indices and x_data"},
        {all, 4, 8, "elements=5", ATTN_ERROR_SHAPE, "8 and 8 of 4 and 2 heads"},
        {all, 2, 9, "elements=5", ATTN_ERROR_SHAPE, "8 and 9 of 2 and 2 heads"},
        {all, 2, 8, "", ATTN_ERROR_RANGE, "'elements'|length of x_data"},
        {all, 2, 8, "elements=-1", ATTN_ERROR_RANGE, "elements"},
        {all, 2, 8, "elements=9007199254740993", ATTN_ERROR_RANGE, "elements"},
    };
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        attn_problem_t problem = fixture_problem(1, cases[c].heads, 8, cases[c].keys, 32, 4);
        problem.kv_heads = 2;
        problem.own_inputs = cases[c].own;
        attn_plan_t *plan = NULL;
        attn_stream_t *stream = NULL;
        attn_error_t error = {0};
        test_label("%s", cases[c].words);
        fixture_expect(
            fixture_try_plan(context, "sketch", &problem, cases[c].settings, &plan, &error), &error,
            cases[c].status, cases[c].words);
        assert_null(plan);
        error = (attn_error_t){0};
        fixture_expect(fixture_try_stream(context, "sketch", &problem, "", 16, &stream, &error),
                       &error, ATTN_ERROR_UNSUPPORTED, "streams take no input in place of key");
        assert_null(stream);
    }
    attn_context_destroy(context);
}

static attn_tensor_t rows_of(float *data, int64_t rows, int64_t columns) {
    return (attn_tensor_t){.data = data,
                           .dtype = ATTN_F32,
                           .shape = {1, 1, rows, columns},
                           .stride = {rows * columns, rows * columns, columns, 1}};
}

/* Queries and keys that are not there need not be addressable: of 32 bits they would not be. */
static void it_may_be_larger_than_memory(void **state) {
    (void)state;
    enum { N = 512, D = 1000000, DV = 2 };
    static int64_t starts[N + 1], indices[N];
    static float data[N], value[N * DV], out[N * DV];
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, N, N, D, DV);
    problem.own_inputs = (1u << OWN) - 1;
    for (int64_t i = 0; i < N; i++) { /* rows i and i + N / 2 are the same */
        starts[i + 1] = i + 1;
        indices[i] = i % (N / 2) * 3900 + 5;
        data[i] = 1000;
        value[i * DV] = i < N / 2 ? 1 : 3;
        value[i * DV + 1] = (float)(i % (N / 2));
    }
    const attn_tensor_t tensors[OWN] = {list(starts, ATTN_I64, N + 1), list(indices, ATTN_I64, N),
                                        list(data, ATTN_F32, N)};
    const attn_tensor_t *const own[OWN] = {&tensors[0], &tensors[1], &tensors[2]};
    attn_plan_t *plan =
        fixture_plan(context, "sketch", &problem, "method=osnap,size=64,elements=512");
    attn_io_t io = {.struct_size = sizeof io, .own = own, .own_count = OWN};
    io.value = rows_of(value, N, DV);
    io.out = rows_of(out, N, DV);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = aligned_alloc(64, (size_t)(io.workspace_size / 64 + 1) * 64);
    attn_error_t error = {0};
    if (attn_run(plan, &io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    for (int64_t i = 0; i < N; i++) { /* a row sees itself and its like, or those that collide */
        assert_true(out[i * DV] == 2);
        assert_true(out[i * DV + 1] == out[(i + N / 2) % N * DV + 1]);
    }
    free(io.workspace);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

static void it_has_no_gradients(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 8, 8, 32, 4);
    problem.own_inputs = (1u << OWN) - 1;
    problem.backward = 1;
    if (attn_backend_find(context, "sketch")->features & ATTN_FEATURE_BACKWARD)
        fixture_refuse_plan(context, "sketch", &problem, "elements=5", ATTN_ERROR_UNSUPPORTED,
                            "a sparse X has no gradients");
    attn_context_destroy(context);
}

static void what_factorises_takes_dense_inputs(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 8, 8, 32, 4);
    problem.own_inputs = (1u << OWN) - 1;
    fixture_refuse_plan(context, "sketch", &problem, "elements=5,method=deterministic",
                        ATTN_ERROR_UNSUPPORTED, "deterministic takes dense queries and keys");
    fixture_refuse_plan(context, "sketch", &problem, "elements=5,method=approximate",
                        ATTN_ERROR_UNSUPPORTED, "approximate takes dense queries and keys");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(it_is_what_dense_is), cmocka_unit_test(cost_follows_the_elements),
          cmocka_unit_test(what_is_none_is_refused),
          cmocka_unit_test(what_factorises_takes_dense_inputs),
          cmocka_unit_test(problems_that_have_none_are_refused),
          cmocka_unit_test(it_may_be_larger_than_memory), cmocka_unit_test(it_has_no_gradients))
