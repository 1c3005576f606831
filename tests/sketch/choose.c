/* sketch: methods that factorise [Q; K] choose what `attn sketch` does of the same X, promise what it does, and refuse the rest. */
#include "sketching/sketch.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const formula_t SOFTMAX = {.form = FORM_SOFTMAX};

enum kind { KIND_NORMAL, KIND_COPIES, KIND_SPIKED, KIND_LOW_RANK, KINDS };
static const char *const KIND_NAMES[KINDS] = {"normal", "copies", "spiked", "of rank 5"};

/* Rows are equal, features are large, or rows are of rank 5. */
static float element(const array_t *from, enum kind kind, int64_t b, int64_t h, int64_t i,
                     int64_t j) {
    const float x = array_get(from, b, h, i, j);
    if (kind == KIND_COPIES) return array_get(from, b, h, i / 2, j);
    if (kind == KIND_SPIKED) return j % 7 == 3 ? 20 * x : x;
    return x;
}

static void fill_low_rank(array_t *array) {
    enum { RANK = 5 };
    const int64_t *shape = array->tensor.shape;
    for (int64_t at = 0; at < shape[0] * shape[1] * shape[2] * shape[3]; at++) {
        const int64_t j = at % shape[3], row = at / shape[3], i = row % shape[2];
        double sum = 0;
        for (int64_t k = 0; k < RANK; k++)
            sum += (double)(fixture_draw((uint64_t)(row * RANK + k), 9) - 4) *
                   (double)(fixture_draw((uint64_t)(1000000 + k * shape[3] + j), 9) - 4);
        array_set(array, row / shape[2] / shape[1], row / shape[2] % shape[1], i, j,
                  (float)sum / 64);
    }
}

static void fill(arrays_t *arrays, enum kind kind) {
    array_t *const inputs[] = {&arrays->query, &arrays->key};
    for (int a = 0; a < 2; a++) {
        const int64_t *shape = inputs[a]->tensor.shape;
        if (kind == KIND_LOW_RANK) {
            fill_low_rank(inputs[a]);
            continue;
        }
        for (int64_t b = 0; b < shape[0]; b++)
            for (int64_t h = 0; h < shape[1]; h++)
                for (int64_t i = shape[2] - 1; i >= 0; i--)
                    for (int64_t j = 0; j < shape[3]; j++)
                        array_set(inputs[a], b, h, i, j, element(inputs[a], kind, b, h, i, j));
    }
}

/* Copies rows of a head; the number of the next one. */
static int64_t stack(const array_t *from, int64_t b, int64_t h, int64_t at, float *x) {
    const int64_t *shape = from->tensor.shape;
    for (int64_t i = 0; i < shape[2]; i++, at++)
        for (int64_t j = 0; j < shape[3]; j++) x[at * shape[3] + j] = array_get(from, b, h, i, j);
    return at;
}

static void copy(array_t *to, int64_t h, const array_t *from, int64_t b, int64_t head) {
    const int64_t *shape = from->tensor.shape;
    for (int64_t i = 0; i < shape[2]; i++)
        for (int64_t j = 0; j < shape[3]; j++)
            array_set(to, 0, h, i, j, array_get(from, b, head, i, j));
}

static void put(array_t *to, int64_t h, const float *y, int64_t size) {
    for (int64_t i = 0; i < to->tensor.shape[2]; i++)
        for (int64_t j = 0; j < size; j++) array_set(to, 0, h, i, j, y[i * size + j]);
}

/* That this key/value head's output is exact attention on the Y that `attn sketch` makes of its [Q; K]. */
static void compare_head(const arrays_t *arrays, const sketching_options_t *options, int64_t b,
                         int64_t kv_head) {
    const attn_problem_t *p = &arrays->problem;
    const int64_t group = p->heads / p->kv_heads, rows = group * p->queries + p->keys;
    float *x = calloc((size_t)(rows * p->dim), sizeof *x);
    sketching_features_t features;
    sketching_result_t sketch;
    assert_non_null(x);
    int64_t at = 0;
    for (int64_t g = 0; g < group; g++) at = stack(&arrays->query, b, kv_head * group + g, at, x);
    stack(&arrays->key, b, kv_head, at, x);
    const sketching_x_t dense = {.rows = rows, .columns = p->dim, .dense = x};
    assert_true(sketching_features_create(&dense, &features));
    assert_int_equal(sketching_sketch(&features, options, &sketch, NULL), ATTN_OK);

    attn_problem_t small =
        fixture_problem(1, group, p->queries, p->keys, sketch.size, p->value_dim);
    small.kv_heads = 1;
    small.causal = p->causal;
    small.scale = (float)(1 / sqrt((double)p->dim));
    arrays_t reduced = arrays_create(&small, LAYOUT_BHND, 1);
    for (int64_t g = 0; g < group; g++) {
        put(&reduced.query, g, sketch.y + g * p->queries * sketch.size, sketch.size);
        copy(&reduced.out, g, &arrays->out, b, kv_head * group + g);
        copy(&reduced.lse, g, &arrays->lse, b, kv_head * group + g);
    }
    put(&reduced.key, 0, sketch.y + group * p->queries * sketch.size, sketch.size);
    copy(&reduced.value, 0, &arrays->value, b, kv_head);
    compare_output(&reduced, &SOFTMAX);
    arrays_destroy(&reduced);
    sketching_result_destroy(&sketch);
    sketching_features_destroy(&features);
    free(x);
}

/* A shape, and which kinds of X a method can have in it: all from the `least` on. */
typedef struct shape {
    int64_t queries, keys, dim, size;
    double factor; /* of approximate; 0: deterministic */
    enum kind least;
} shape_t;

static void compare_shape(const attn_context_t *context, const shape_t *shape, enum kind kind,
                          layout_t layout) {
    enum { SEED = 9 };
    char text[96];
    attn_problem_t problem = fixture_problem(2, 4, shape->queries, shape->keys, shape->dim, 6);
    problem.kv_heads = 2;
    problem.causal = (int32_t)layout % 3;
    const sketching_options_t options = {.method = shape->factor > 0 ? SKETCHING_APPROXIMATE
                                                                     : SKETCHING_DETERMINISTIC,
                                         .solver = &algebra_plain,
                                         .eps = 0.5,
                                         .delta = 0.1,
                                         .size = shape->size,
                                         .seed = SEED,
                                         .factor = shape->factor};
    arrays_t arrays = arrays_create(&problem, layout, 1);
    fill(&arrays, kind);
    if (shape->factor > 0)
        snprintf(text, sizeof text, "method=approximate,factor=%g,seed=%d,size=%" PRId64,
                 shape->factor, SEED, shape->size);
    else
        snprintf(text, sizeof text, "method=deterministic,size=%" PRId64, shape->size);
    test_label("%s, d = %d, %s", text, (int)shape->dim, KIND_NAMES[kind]);
    fixture_solve(context, "sketch", text, &arrays);
    /* `attn sketch` draws as the first head does. */
    for (int64_t h = 0; h < (shape->factor > 0 ? 1 : 4); h++)
        compare_head(&arrays, &options, h / 2, h % 2);
    arrays_destroy(&arrays);
}

/**
 * Wide and tall [Q; K], grouped heads, all layouts: exact attention on what `attn sketch` keeps, with its weights. By
 * approximate scores where there is an embedding, with a JL matrix and without, and by exact ones where there is none.
 */
static void choices_are_those_of_attn_sketch(void **state) {
    (void)state;
    static const shape_t shapes[] = {
        {5, 7, 64, 40, 0, KIND_NORMAL},      {1, 1, 33, 8, 0, KIND_NORMAL},
        {30, 23, 40, 11, 0, KIND_LOW_RANK},  {40, 10, 70, 69, 0, KIND_LOW_RANK},
        {9, 12, 150, 90, 0, KIND_NORMAL},    {5, 7, 64, 40, 3, KIND_NORMAL},
        {30, 23, 40, 11, 2, KIND_NORMAL},    {5, 2, 300, 40, 3, KIND_NORMAL},
        {20, 20, 500, 60, 360, KIND_NORMAL}, {1, 1, 700, 9, 8, KIND_NORMAL}};
    attn_context_t *context = fixture_context(2);
    for (size_t s = 0; s < TEST_COUNT(shapes); s++)
        for (int kind = (int)shapes[s].least; kind < KINDS; kind++)
            if (test_takes_case())
                compare_shape(context, &shapes[s], (enum kind)kind, (layout_t)(s % LAYOUT_COUNT));
    attn_context_destroy(context);
}

/** Nothing depends on who is at work: the same bits for any number of threads; and of deterministic for any seed. */
static void seeds_alone_change_draws(void **state) {
    (void)state;
    static const char *const settings[][4] = {
        {"method=deterministic,size=30", "method=deterministic,size=30",
         "method=deterministic,size=30,seed=9", NULL},
        {"method=approximate,size=30", "method=approximate,size=30",
         "method=approximate,size=30,seed=9", "other"}};
    const attn_problem_t problem = fixture_problem(2, 3, 6, 7, 260, 5);
    for (size_t m = 0; m < TEST_COUNT(settings); m++) {
        arrays_t arrays[3];
        for (int way = 0; way < 3; way++) {
            attn_context_t *context = fixture_context(way ? 4 : 1);
            arrays[way] = arrays_create(&problem, LAYOUT_BHND, 1);
            fixture_solve(context, "sketch", settings[m][way], &arrays[way]);
            attn_context_destroy(context);
        }
        test_label("%s", settings[m][0]);
        array_check_same(&arrays[0].out, &arrays[1].out, "out");
        array_check_same(&arrays[0].lse, &arrays[1].lse, "lse");
        const size_t bytes = arrays[0].out.words * sizeof *arrays[0].out.block;
        const int same = memcmp(arrays[0].out.block, arrays[2].out.block, bytes) == 0;
        assert_int_equal(same, settings[m][3] == NULL);
        for (int way = 0; way < 3; way++) arrays_destroy(&arrays[way]);
    }
}

static const char *guarantee_of(const attn_plan_t *plan) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(plan, i, &fact); i++)
        if (strcmp(fact.name, "guarantee") == 0) return fact.text;
    return "";
}

/**
 * ceil(4 r / eps^2) features, or all where these are no more; by approximate scores those of leverage for delta / 2, F times
 * as many, and F times again where the sum of the scores may be that of an embedding's. A size is never enough for less than said.
 */
static void sizes_and_guarantees_are_those_of_the_bounds(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    static const struct {
        int64_t dim; /* of 16 rows, which an embedding takes 310 features for */
        const char *settings;
        double size;
        const char *says;
    } cases[] = {
        {300, "method=deterministic,eps=0.5", 256,
         "X' X'^T within 1 +- 0.5 of X X^T, X = [Q; K], always"},
        {300, "method=deterministic,eps=0.5,rank=11", 176, "within 1 +- 0.5 "},
        {300, "method=deterministic,eps=0.4", 300, "exact: all 300 features are kept"},
        /* however many these are */
        {70000, "method=deterministic,eps=0.02", 70000, "exact: all 70000 features are kept"},
        {300, "method=deterministic,size=64", 64, "within 1 +- 0.8 "},
        /* 2 sqrt(q) / (q + 1) = 0.9995: rounded up */
        {300, "method=deterministic,size=17", 17, "within 1 +- 1 "},
        {300, "method=deterministic,size=16", 16,
         "none: the bound asks for 64 of 300 features (at eps = 1)"},
        /* 383 = ceil(48 ln(32 / 0.05) / 0.81), 14 = ceil(3 ln(2 / 0.05) / 0.81) */
        {20000, "method=approximate,eps=0.9", 9 * 383,
         "within 1 +- 0.9 of X X^T, X = [Q; K], with probability 0.9"},
        {20000, "method=approximate,eps=0.9,factor=4", 16 * 383, "within 1 +- 0.9 "},
        {310, "method=approximate,eps=0.9,rank=1", 3 * 14, "within 1 +- 0.9 "},
        {311, "method=approximate,eps=0.9,rank=1", 9 * 14, "within 1 +- 0.9 "},
        {330, "method=approximate,eps=0.9", 165, "none: the bound asks for 3447 of 330 features"}};
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        const attn_problem_t problem = fixture_problem(1, 2, 5, 11, cases[c].dim, 4);
        test_label("%s", cases[c].settings);
        attn_plan_t *plan = fixture_plan(context, "sketch", &problem, cases[c].settings);
        const double size = fixture_fact(plan, "size", -1);
        if (size != cases[c].size || !strstr(guarantee_of(plan), cases[c].says))
            test_fail("%g features, '%s'", size, guarantee_of(plan));
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

static int64_t workspace_of(int threads, const char *backend, const attn_problem_t *problem,
                            const char *settings) {
    attn_context_t *context = fixture_context(threads);
    attn_plan_t *plan = fixture_plan(context, backend, problem, settings);
    const int64_t size = (int64_t)attn_plan_workspace_size(plan);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    return size;
}

/** Heads are chosen for one by one: more threads than heads take no more workspace than those, but for the reduced problem's. */
static void workspace_is_for_heads(void **state) {
    (void)state;
    static const char *const settings[] = {"method=approximate,size=40",
                                           "method=deterministic,size=40"};
    for (size_t s = 0; s < TEST_COUNT(settings); s++)
        for (int heads = 1; heads <= 3; heads++) {
            const attn_problem_t problem = fixture_problem(1, heads, 6, 6, 4000, 4);
            const attn_problem_t small = fixture_problem(1, heads, 6, 6, 40, 4);
            const int64_t reduced =
                workspace_of(8, "softmax", &small, "") - workspace_of(heads, "softmax", &small, "");
            test_label("%s, %d heads", settings[s], heads);
            assert_int_equal(workspace_of(8, "sketch", &problem, settings[s]),
                             workspace_of(heads, "sketch", &problem, settings[s]) + reduced);
        }
}

static void expect(const attn_context_t *context, const attn_problem_t *problem, enum kind kind,
                   const char *settings, const char *words) {
    arrays_t arrays = arrays_create(problem, LAYOUT_BHND, 1);
    attn_plan_t *plan = fixture_plan(context, "sketch", problem, settings);
    attn_error_t error = {0};
    fill(&arrays, kind);
    arrays_give_workspace(&arrays, plan);
    test_label("%s", settings);
    fixture_expect(attn_run(plan, &arrays.io, &error), &error, ATTN_ERROR_RANGE, words);
    attn_plan_destroy(plan);
    arrays_destroy(&arrays);
}

static void what_cannot_be_is_told(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t wide = fixture_problem(1, 2, 6, 6, 64, 4);
    const attn_problem_t tall = fixture_problem(1, 1, 30, 30, 16, 4);
    const attn_problem_t embedded = fixture_problem(1, 2, 6, 6, 640, 4);
    expect(context, &wide, KIND_NORMAL, "method=deterministic,size=12",
           "size is 12|more than the rank of [Q; K], 12 of key/value head 0");
    expect(context, &wide, KIND_NORMAL, "method=deterministic,size=40,rank=7",
           "'rank' is 7|has rank 12");
    expect(context, &tall, KIND_NORMAL, "method=deterministic,size=15", "size is 15|16 of");
    expect(context, &tall, KIND_LOW_RANK, "method=deterministic,size=5", "size is 5|5 of");
    expect(context, &wide, KIND_NORMAL, "method=approximate,size=40,rank=7",
           "'rank' is 7|has rank 12");
    expect(context, &embedded, KIND_NORMAL, "method=approximate,size=40,rank=7",
           "'rank' is 7|has rank 12");
    fixture_refuse_plan(context, "sketch", &wide, "method=approximate,factor=1.9", ATTN_ERROR_RANGE,
                        "factor|1.9");
    const attn_problem_t huge = fixture_problem(1, 1, 6, 6, 1000000, 4);
    fixture_refuse_plan(context, "sketch", &huge, "method=gaussian,size=4096", ATTN_ERROR_MEMORY,
                        "gaussian, 1000000 x 4096 numbers, would take 16384 MB|osnap");
    attn_context_destroy(context);
}

/** Q = K has half the rank that its rows might have; zeros have none, and rows that are not finite do not count. */
static void deficient_inputs(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    static const char *const settings[] = {"method=deterministic,size=9,rank=8",
                                           "method=approximate,size=9,rank=8"};
    for (int kind = 0; kind < 12; kind++) {
        const int64_t dim = kind / 3 % 2 ? 400 : 40; // with an embedding
        const attn_problem_t problem = fixture_problem(1, 1, 8, 8, dim, 4);
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
        for (int64_t i = 0; i < 8; i++)
            for (int64_t j = 0; j < dim; j++) {
                const float x = kind % 3 == 1 ? 0 : array_get(&arrays.query, 0, 0, i, j);
                array_set(&arrays.query, 0, 0, i, j, x);
                array_set(&arrays.key, 0, 0, i, j, x);
            }
        if (kind % 3 == 2) array_set(&arrays.query, 0, 0, 3, 0, INFINITY);
        test_label("kind %d", kind);
        fixture_solve(context, "sketch", settings[kind / 6], &arrays);
        for (int64_t i = 0; i < 8; i++)
            assert_true(isfinite(array_get(&arrays.lse, 0, 0, i, 0)) || (kind % 3 == 2 && i == 3));
        if (kind % 3 == 1) compare_output(&arrays, &SOFTMAX); // all logits are 0, sketched or not
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(choices_are_those_of_attn_sketch),
          cmocka_unit_test(seeds_alone_change_draws),
          cmocka_unit_test(sizes_and_guarantees_are_those_of_the_bounds),
          cmocka_unit_test(workspace_is_for_heads), cmocka_unit_test(what_cannot_be_is_told),
          cmocka_unit_test(deficient_inputs))
