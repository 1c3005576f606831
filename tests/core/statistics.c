/* Statistics of rows of weights: what the rows themselves say in double precision, for every backend. */
#include "attn/statistics.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 5 };

/* A problem with its plan, all weights of one head, and room for results. */
typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    arrays_t arrays;
    int64_t rows, keys;
    float *weights;
    void *workspace;
    attn_statistics_t wanted;
} scene_t;

static void *take(uint64_t size) {
    void *memory = aligned_alloc(ATTN_ALIGNMENT, (size + ATTN_ALIGNMENT) / 64 * 64);
    assert_non_null(memory);
    memset(memory, 0xff, (size + ATTN_ALIGNMENT) / 64 * 64); /* NaN, -1 */
    return memory;
}

static attn_statistics_t take_results(int64_t rows, int64_t keys, int32_t top) {
    return (attn_statistics_t){.struct_size = sizeof(attn_statistics_t),
                               .top = top,
                               .entropy = take((uint64_t)rows * sizeof(float)),
                               .distance = take((uint64_t)rows * sizeof(float)),
                               .column_mass = take((uint64_t)keys * sizeof(double)),
                               .top_keys = take((uint64_t)(rows * top) * sizeof(int64_t)),
                               .top_weights = take((uint64_t)(rows * top) * sizeof(float))};
}

static void release_results(const attn_statistics_t *wanted) {
    free(wanted->entropy), free(wanted->distance), free(wanted->column_mass);
    free(wanted->top_keys), free(wanted->top_weights);
}

static scene_t scene_open(const char *backend, const char *settings, const attn_problem_t *problem,
                          int threads) {
    scene_t scene = {.context = fixture_context(threads),
                     .arrays = arrays_create(problem, LAYOUT_BHND, 0),
                     .rows = problem->queries,
                     .keys = problem->keys};
    scene.plan = fixture_plan(scene.context, backend, problem, settings);
    const uint64_t size = attn_statistics_workspace_size(scene.plan);
    assert_int_equal(size % ATTN_ALIGNMENT, 0);
    assert_true(size >= attn_plan_workspace_size(scene.plan));
    scene.workspace = take(size);
    scene.arrays.io.workspace = scene.workspace;
    scene.arrays.io.workspace_size = size;
    scene.weights = take((uint64_t)(scene.rows * scene.keys) * sizeof(float));
    scene.wanted = take_results(scene.rows, scene.keys, TOP);
    return scene;
}

static void scene_close(scene_t *scene) {
    release_results(&scene->wanted);
    free(scene->weights), free(scene->workspace);
    arrays_destroy(&scene->arrays);
    attn_plan_destroy(scene->plan);
    attn_context_destroy(scene->context);
}

static void get_weights(scene_t *scene, int64_t batch, int64_t head) {
    attn_error_t error;
    if (attn_weights(scene->plan, &scene->arrays.io, batch, head, 0, scene->rows, scene->weights,
                     scene->keys, &error))
        test_fail("%s", error.message);
}

static void study(scene_t *scene, int64_t batch, int64_t head) {
    attn_error_t error;
    if (attn_plan_statistics(scene->plan, &scene->arrays.io, batch, head, 0, scene->rows,
                             &scene->wanted, &error))
        test_fail("%s", error.message);
}

/* ---- what the rows say ----------------------------------------------------------------------- */

/* Sums in double precision are exact beside the logarithms, which are floats: an error of 2^-23 of at most 150, and
 * the result is rounded once. */
static const double ENTROPY_ERROR = 151.0 / (1 << 23);

static void check_number(double got, double wanted, double tolerance, const char *what,
                         int64_t row) {
    if (isnan(wanted) ? isnan(got) : fabs(got - wanted) <= tolerance) return;
    test_fail("%s of row %lld is %.9g, the weights have %.9g", what, (long long)row, got, wanted);
}

static void check_spread(const scene_t *scene, int64_t r, int64_t position) {
    const float *row = scene->weights + r * scene->keys;
    double total = 0, entropy = 0, distance = 0;
    for (int64_t j = 0; j < scene->keys; j++) total += row[j] >= 0 ? row[j] : NAN;
    for (int64_t j = 0; j < scene->keys; j++) {
        const double share = row[j] / total;
        if (share > 0) entropy -= share * log2(share);
        distance += share * fabs((double)(position - j));
    }
    if (!(total > 0) || isinf(total)) entropy = distance = NAN;
    check_number(scene->wanted.entropy[r], entropy, ENTROPY_ERROR, "entropy", r);
    check_number(scene->wanted.distance[r], distance, distance * 0x1p-23, "distance", r);
}

/* Largest first, equal ones in their order, and none left out that is larger than the last. */
static void check_top(const scene_t *scene, int64_t r) {
    const float *row = scene->weights + r * scene->keys, *weights;
    const int64_t *places = scene->wanted.top_keys + r * TOP;
    int64_t larger = 0, positive = 0, found = 0;
    weights = scene->wanted.top_weights + r * TOP;
    for (; found < TOP && places[found] >= 0; found++) {
        if (weights[found] != row[places[found]]) test_fail("weight %lld", (long long)found);
        if (found && !(weights[found - 1] > weights[found] ||
                       (weights[found - 1] == weights[found] && places[found - 1] < places[found])))
            test_fail("row %lld: keys %lld and %lld stand in the wrong order", (long long)r,
                      (long long)places[found - 1], (long long)places[found]);
    }
    for (int64_t j = 0; j < scene->keys; j++) {
        positive += row[j] > 0;
        if (!found || !(row[j] > 0)) continue;
        larger +=
            row[j] > weights[found - 1] || (row[j] == weights[found - 1] && j <= places[found - 1]);
    }
    assert_int_equal(found, positive < TOP ? positive : TOP);
    assert_int_equal(larger, found);
    for (; found < TOP; found++) assert_true(places[found] == -1 && weights[found] == 0);
}

static void check_columns(const scene_t *scene) {
    for (int64_t j = 0; j < scene->keys; j++) {
        double sum = 0;
        for (int64_t r = 0; r < scene->rows; r++) sum += scene->weights[r * scene->keys + j];
        check_number(scene->wanted.column_mass[j], sum, 0, "mass of column", j);
    }
}

static void check_head(scene_t *scene, int64_t batch, int64_t head, int64_t length) {
    get_weights(scene, batch, head);
    study(scene, batch, head);
    for (int64_t r = 0; r < scene->rows; r++) {
        check_spread(scene, r, attn_query_position(&scene->arrays.problem, length, r));
        check_top(scene, r);
    }
    check_columns(scene);
}

static void every_backend(void **state) {
    static const struct {
        const char *backend, *settings;
    } subjects[] = {{"softmax", NULL},
                    {"linear", NULL},
                    {"linear", "feature_map=lin"},
                    {"sparse", "block=16"},
                    {"sketch", NULL}};
    static const int64_t sizes[][2] = {{300, 70}, {3, 2500}, {1, 1}, {130, 130}};
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(subjects); s++)
        for (size_t i = 0; i < TEST_COUNT(sizes); i++)
            for (int causal = ATTN_CAUSAL_NONE; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
                attn_problem_t problem = fixture_problem(2, 2, sizes[i][0], sizes[i][1], 8, 8);
                problem.causal = causal;
                test_label("%s %s, %lld x %lld, causal %d", subjects[s].backend,
                           subjects[s].settings ? subjects[s].settings : "", (long long)sizes[i][0],
                           (long long)sizes[i][1], causal);
                scene_t scene = scene_open(subjects[s].backend, subjects[s].settings, &problem, 2);
                check_head(&scene, 1, 1, problem.keys);
                scene_close(&scene);
            }
}

/* ---- rows that one knows --------------------------------------------------------------------- */

static void known_rows(void **state) {
    attn_problem_t problem = fixture_problem(1, 1, 4, 64, 4, 4);
    (void)state;
    problem.past = 10;
    scene_t scene = scene_open("softmax", NULL, &problem, 1);
    for (int64_t r = 0; r < 3; r++) /* equal logits; one key alone; a row of NaN */
        for (int64_t c = 0; c < 4; c++)
            array_set(&scene.arrays.query, 0, 0, r, c,
                      r == 0             ? 0.0f
                      : r == 1 && c == 0 ? 1e6f
                      : r == 2 && c == 0 ? NAN
                                         : 0.0f);
    for (int64_t j = 0; j < 64; j++) array_set(&scene.arrays.key, 0, 0, j, 0, j == 20 ? 1 : 0);
    study(&scene, 0, 0);
    const attn_statistics_t *got = &scene.wanted;
    check_number(got->entropy[0], 6, ENTROPY_ERROR, "entropy", 0);
    for (int k = 0; k < TOP; k++) assert_int_equal(got->top_keys[k], k);
    assert_true(got->entropy[1] == 0 && got->distance[1] == 20 - 11);
    assert_true(got->top_keys[TOP] == 20 && got->top_weights[TOP] == 1);
    assert_int_equal(got->top_keys[TOP + 1], -1);
    assert_true(isnan(got->entropy[2]) && isnan(got->distance[2]) && isnan(got->column_mass[7]));
    assert_int_equal(got->top_keys[2 * TOP], -1);
    scene_close(&scene);
}

/* With KV lengths and bottom-right, queries stand at the end of their own sequence. */
static void lengths_move_queries(void **state) {
    int64_t lengths[2] = {9, 40};
    attn_problem_t problem = fixture_problem(2, 1, 6, 40, 8, 8);
    (void)state;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    problem.inputs |= ATTN_INPUT_KV_LENGTHS;
    scene_t scene = scene_open("softmax", NULL, &problem, 1);
    scene.arrays.io.kv_lengths = attn_tensor_lengths(lengths, 2);
    for (int64_t b = 0; b < 2; b++) check_head(&scene, b, 0, lengths[b]);
    scene_close(&scene);
}

/* ---- parts of rows, threads, refusals -------------------------------------------------------- */

static void parts_and_threads(void **state) {
    attn_problem_t problem = fixture_problem(1, 1, 400, 1500, 8, 8);
    attn_error_t error;
    (void)state;
    scene_t one = scene_open("softmax", NULL, &problem, 1);
    scene_t two = scene_open("softmax", NULL, &problem, 2);
    study(&one, 0, 0);
    study(&two, 0, 0);
    assert_memory_equal(one.wanted.column_mass, two.wanted.column_mass, 1500 * sizeof(double));
    assert_memory_equal(one.wanted.entropy, two.wanted.entropy, 400 * sizeof(float));
    assert_memory_equal(one.wanted.top_keys, two.wanted.top_keys, 400 * TOP * sizeof(int64_t));
    attn_statistics_t part = {.struct_size = sizeof part, .entropy = take(100 * sizeof(float))};
    assert_int_equal(attn_plan_statistics(one.plan, &one.arrays.io, 0, 0, 300, 100, &part, &error),
                     ATTN_OK);
    assert_memory_equal(part.entropy, one.wanted.entropy + 300, 100 * sizeof(float));
    assert_int_equal(attn_plan_statistics(one.plan, &one.arrays.io, 0, 0, 400, 0, &part, &error),
                     ATTN_OK);
    free(part.entropy);
    scene_close(&one);
    scene_close(&two);
}

static void expect(const scene_t *scene, const attn_io_t *io, int64_t first, int64_t count,
                   const attn_statistics_t *wanted, attn_status_t status, const char *words) {
    attn_error_t error = {0};
    fixture_expect(attn_plan_statistics(scene->plan, io, 0, 0, first, count, wanted, &error),
                   &error, status, words);
}

static void refusals(void **state) {
    const attn_problem_t problem = fixture_problem(1, 1, 10, 12, 8, 8);
    (void)state;
    scene_t scene = scene_open("softmax", NULL, &problem, 1);
    const attn_io_t *io = &scene.arrays.io;
    expect(&scene, io, 0, 10, NULL, ATTN_ERROR_ARGUMENT, "statistics");
    expect(&scene, io, 5, 6, &scene.wanted, ATTN_ERROR_SHAPE, "queries 5 + 6");
    expect(&scene, io, 0, -1, &scene.wanted, ATTN_ERROR_SHAPE, "0 + -1");
    expect(&scene, io, 0, INT64_MAX, &scene.wanted, ATTN_ERROR_SHAPE, "statistics");
    attn_io_t small = *io;
    small.workspace_size--;
    expect(&scene, &small, 0, 10, &scene.wanted, ATTN_ERROR_WORKSPACE, "statistics|need");
    attn_statistics_t wanted = scene.wanted;
    wanted.top = -1;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_RANGE, "top is -1");
    wanted.top = 0;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_RANGE, "top_keys given");
    wanted = scene.wanted, wanted.top_weights = NULL;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_RANGE, "top_weights NULL");
    wanted = scene.wanted, wanted.struct_size = 3;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_ARGUMENT, "struct_size");
    wanted = scene.wanted, wanted.distance = wanted.entropy + 9;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_ARGUMENT, "distance|entropy");
    wanted = scene.wanted, wanted.entropy = (float *)scene.arrays.query.tensor.data + 1;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_ARGUMENT, "entropy|query");
    wanted = scene.wanted, wanted.entropy = (float *)io->workspace + 1;
    expect(&scene, io, 0, 10, &wanted, ATTN_ERROR_ARGUMENT, "entropy|workspace");
    /* What has no element type is refused before places are compared, or is not read at all. */
    attn_io_t odd = *io;
    odd.query = attn_tensor_bhnd_of(77, scene.wanted.entropy + 1, 1, 1, 4, 4);
    expect(&scene, &odd, 0, 10, &scene.wanted, ATTN_ERROR_DTYPE, "query");
    odd = *io, odd.out = attn_tensor_bhnd_of(77, scene.wanted.entropy + 1, 1, 1, 4, 4);
    attn_error_t error;
    assert_int_equal(attn_plan_statistics(scene.plan, &odd, 0, 0, 0, 10, &scene.wanted, &error),
                     ATTN_OK);
    wanted = scene.wanted, wanted.distance = wanted.entropy; /* of no rows */
    assert_int_equal(attn_plan_statistics(scene.plan, io, 0, 0, 0, 0, &wanted, &error), ATTN_OK);
    assert_int_equal(attn_statistics_workspace_size(NULL), 0);
    scene_close(&scene);
}

TEST_MAIN(cmocka_unit_test(every_backend), cmocka_unit_test(known_rows),
          cmocka_unit_test(lengths_move_queries), cmocka_unit_test(parts_and_threads),
          cmocka_unit_test(refusals))
