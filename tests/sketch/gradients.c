/*
 * Gradients through a sketch: against the oracle's derivative, in double precision, of exact attention on Q T and K T,
 * with the T that the plan drew; and that derivative against central differences.
 */
#include "matrix.h"
#include "sketch/matrices.h"
#include "support/test.h"

#include "attn/oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = {"gaussian", "ams",           "osnap",      "leverage",
                                      "srht",     "deterministic", "approximate"};
enum { METHOD_COUNT = 5 /* that take any size */ };
static const double U = 0x1p-24;

/* ---- one head in double precision ------------------------------------------------------------------ */

/* Rows of doubles, and sums of absolute terms of each. */
typedef struct rows {
    int64_t count, columns;
    double *values, *absolute;
} rows_t;

static rows_t rows_create(int64_t count, int64_t columns) {
    return (rows_t){count, columns, sketch_numbers(count * columns, sizeof(double)),
                    sketch_numbers(count * columns, sizeof(double))};
}

static void rows_destroy(rows_t *rows) {
    free(rows->values);
    free(rows->absolute);
}

static rows_t rows_read(const array_t *array, int64_t batch, int64_t head) {
    const int64_t *shape = array->tensor.shape;
    rows_t rows = rows_create(shape[2], shape[3]);
    for (int64_t i = 0; i < shape[2] * shape[3]; i++) {
        rows.values[i] = (double)array_get(array, batch, head, i / shape[3], i % shape[3]);
        rows.absolute[i] = fabs(rows.values[i]);
    }
    return rows;
}

/* Rows times T, which is from.columns x columns; or times T^T of columns x from.columns. */
static rows_t rows_times(const rows_t *from, const double *t, int64_t columns, int transposed) {
    rows_t to = rows_create(from->count, columns);
    for (int64_t i = 0; i < from->count; i++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = 0; k < from->columns; k++) {
                const double entry = t[transposed ? c * from->columns + k : k * columns + c];
                to.values[i * columns + c] += from->values[i * from->columns + k] * entry;
                to.absolute[i * columns + c] += from->absolute[i * from->columns + k] * fabs(entry);
            }
    return to;
}

static attn_tensor_t tensor_of(const rows_t *rows) {
    attn_tensor_t tensor = attn_tensor_bhnd(NULL, 1, 1, rows->count, rows->columns);
    tensor.data = rows->values;
    tensor.dtype = ATTN_F64;
    return tensor;
}

/* A head on sketches: its problem and its arrays, of which `loss` is dL/dout. */
typedef struct head {
    attn_problem_t problem;
    rows_t query, key, value, loss;
    double scale, largest; /* of scale sum |q'_t| |k'_t|, in absolute terms */
} head_t;

static head_t head_create(const arrays_t *arrays, const array_t *loss, const double *t,
                          int64_t size, int64_t batch, int64_t h) {
    const attn_problem_t *p = &arrays->problem;
    const int64_t kv_head = h / (p->heads / p->kv_heads);
    rows_t query = rows_read(&arrays->query, batch, h),
           key = rows_read(&arrays->key, batch, kv_head);
    head_t head = {.problem = fixture_problem(1, 1, p->queries, p->keys, size, p->value_dim),
                   .query = rows_times(&query, t, size, 0),
                   .key = rows_times(&key, t, size, 0),
                   .value = rows_read(&arrays->value, batch, kv_head),
                   .loss = rows_read(loss, batch, h)};
    head.problem.causal = p->causal;
    head.problem.scale = (float)(1.0 / sqrt((double)p->dim));
    head.scale = (double)head.problem.scale;
    for (int64_t i = 0; i < p->queries; i++)
        for (int64_t j = 0; j < p->keys; j++) {
            double sum = 0;
            for (int64_t c = 0; c < size; c++)
                sum += head.query.absolute[i * size + c] * head.key.absolute[j * size + c];
            head.largest = fmax(head.largest, head.scale * sum);
        }
    rows_destroy(&query);
    rows_destroy(&key);
    return head;
}

static void head_destroy(head_t *head) {
    rows_destroy(&head->query);
    rows_destroy(&head->key);
    rows_destroy(&head->value);
    rows_destroy(&head->loss);
}

static attn_io_t head_io(const head_t *head) {
    return (attn_io_t){.struct_size = sizeof(attn_io_t),
                       .query = tensor_of(&head->query),
                       .key = tensor_of(&head->key),
                       .value = tensor_of(&head->value)};
}

/* Adds factor times row j of one to row i of another, and size times the absolute terms. */
static void add_row(rows_t *to, int64_t i, const rows_t *from, int64_t j, double factor,
                    double size) {
    for (int64_t c = 0; c < to->columns; c++) {
        to->values[i * to->columns + c] += factor * from->values[j * from->columns + c];
        to->absolute[i * to->columns + c] += size * from->absolute[j * from->columns + c];
    }
}

/* sum_c |dO_c v_jc|. */
static double absolute_product(const head_t *head, int64_t i, int64_t j) {
    const int64_t columns = head->value.columns;
    double sum = 0;
    for (int64_t c = 0; c < columns; c++)
        sum += head->loss.absolute[i * columns + c] * head->value.absolute[j * columns + c];
    return sum;
}

/*
 * Adds a head's gradients of Q', K' and V. A logit's, A_j (dP_j - D), is a sum of absolute terms A_j (|dO||v_j| + D'),
 * D' = sum_j A_j |dO||v_j|.
 */
static void head_back(const head_t *head, rows_t *query, rows_t *key, rows_t *value) {
    const int64_t m = head->problem.keys;
    double *weights = sketch_numbers(3 * m, sizeof *weights);
    double *logits = weights + m, *products = logits + m;
    double *scratch = sketch_numbers(m + head->problem.value_dim, sizeof *scratch);
    const attn_io_t io = head_io(head);
    const attn_tensor_t loss = tensor_of(&head->loss);
    for (int64_t i = 0; i < head->problem.queries; i++) {
        double mean = 0;
        attn_oracle_row_backward(&head->problem, &io, &loss, 0, 0, i, weights, logits, products,
                                 scratch);
        for (int64_t j = 0; j < m; j++) mean += weights[j] * absolute_product(head, i, j);
        for (int64_t j = 0; j < m; j++) {
            const double product = head->scale * products[j];
            const double size = head->scale * weights[j] * (absolute_product(head, i, j) + mean);
            add_row(query, i, &head->key, j, product, size);
            add_row(key, j, &head->query, i, product, size);
            add_row(value, j, &head->loss, i, weights[j], weights[j]);
        }
    }
    free(weights);
    free(scratch);
}

/* ---- against it ------------------------------------------------------------------------------------ */

typedef struct way_back {
    arrays_t arrays;
    array_t loss, query, key, value; /* dL/dout, and the gradients */
} way_back_t;

static array_t array_like(const array_t *array, layout_t layout) {
    const int64_t *shape = array->tensor.shape;
    return array_create(layout, shape[0], shape[1], shape[2], shape[3]);
}

static way_back_t way_create(const attn_problem_t *problem, layout_t layout) {
    attn_problem_t asked = *problem;
    asked.backward = 1;
    way_back_t way = {.arrays = arrays_create(&asked, layout, 1)};
    const layout_t other = (layout_t)((layout + 1) % LAYOUT_COUNT);
    way.loss = array_like(&way.arrays.out, other);
    way.query = array_like(&way.arrays.query, layout);
    way.key = array_like(&way.arrays.key, other);
    way.value = array_like(&way.arrays.value, layout);
    array_fill_normal(&way.loss, 31, 1);
    return way;
}

static void way_destroy(way_back_t *way) {
    arrays_destroy(&way->arrays);
    array_destroy(&way->loss);
    array_destroy(&way->query);
    array_destroy(&way->key);
    array_destroy(&way->value);
}

static void run_back(const attn_context_t *context, const char *backend, const char *settings,
                     way_back_t *way) {
    const attn_io_t gradients = {.struct_size = sizeof gradients,
                                 .out = way->loss.tensor,
                                 .query = way->query.tensor,
                                 .key = way->key.tensor,
                                 .value = way->value.tensor};
    attn_plan_t *plan = fixture_plan(context, backend, &way->arrays.problem, settings);
    attn_error_t error = {0};
    arrays_run(&way->arrays, plan);
    if (attn_backward(plan, &way->arrays.io, &gradients, &error)) test_fail("%s", error.message);
    arrays_check(&way->arrays);
    array_check(&way->query, "gradient of query");
    array_check(&way->key, "gradient of key");
    array_check(&way->value, "gradient of value");
    attn_plan_destroy(plan);
}

static void compare_rows(const array_t *array, const rows_t *exact, double relative, int64_t batch,
                         int64_t head, const char *name) {
    for (int64_t i = 0; i < exact->count * exact->columns; i++) {
        const int64_t at[4] = {batch, head, i / exact->columns, i % exact->columns};
        compare_number((double)array_get(array, batch, head, at[2], at[3]), exact->values[i],
                       relative * exact->absolute[i], name, at);
    }
}

/*
 * What rounding may change, relative to absolute terms. A logit is off by its products' roundings; a weight,
 * exp(S - lse), by those of S, of lse, which is off as S and by its sum, and by the rounding of lse itself; D by
 * those of out; and each sum by one rounding for each of its terms.
 */
static double relative_error(const head_t *head, int64_t dim, int64_t queries) {
    const attn_problem_t *p = &head->problem;
    const double logit = U * (double)(2 * dim + p->dim + 8) * head->largest;
    const double lse = U * (head->largest + (double)p->keys + 16);
    const double terms = (double)(2 * (p->value_dim + p->keys + queries + dim + p->dim) + 64);
    return 3 * expm1(2 * logit + lse) + terms * U;
}

/* All gradients of one key/value head and of the queries that read it. */
static void check_kv_head(const way_back_t *way, int method, int64_t size, int64_t batch,
                          int64_t kv_head) {
    const attn_problem_t *p = &way->arrays.problem;
    const int64_t group = p->heads / p->kv_heads;
    double *t = sketch_matrix(&way->arrays, method, batch, kv_head, size), relative = 0;
    rows_t key = rows_create(p->keys, size), value = rows_create(p->keys, p->value_dim);
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++) {
        head_t head = head_create(&way->arrays, &way->loss, t, size, batch, h);
        rows_t query = rows_create(p->queries, size);
        relative = fmax(relative, relative_error(&head, p->dim, group * p->queries));
        head_back(&head, &query, &key, &value);
        rows_t back = rows_times(&query, t, p->dim, 1);
        compare_rows(&way->query, &back, relative, batch, h, "gradient of query");
        rows_destroy(&back);
        rows_destroy(&query);
        head_destroy(&head);
    }
    rows_t back = rows_times(&key, t, p->dim, 1);
    compare_rows(&way->key, &back, relative, batch, kv_head, "gradient of key");
    compare_rows(&way->value, &value, relative, batch, kv_head, "gradient of value");
    rows_destroy(&back);
    rows_destroy(&key);
    rows_destroy(&value);
    free(t);
}

static void settings_of(char text[96], int method, int64_t size) {
    snprintf(text, 96, "method=%s,size=%" PRId64 ",seed=%d", METHODS[method], size, SKETCH_SEED);
    test_label("%s", text);
}

/* Around a task's rows, powers of two, vectors, and one of everything. */
static void against_the_oracle(void **state) {
    (void)state;
    static const int64_t cases[][5] = {
        {1, 1, 2, 1, 1}, {97, 40, 24, 8, 5}, {20, 193, 33, 17, 3}, {96, 96, 64, 48, 20}};
    attn_context_t *context = fixture_context(2);
    for (int method = 0; method < METHOD_COUNT; method++)
        for (size_t s = 0; s < TEST_COUNT(cases); s++) {
            if (!test_takes_case()) continue;
            char text[96];
            attn_problem_t problem =
                fixture_problem(2, 4, cases[s][0], cases[s][1], cases[s][2], cases[s][4]);
            problem.kv_heads = s % 2 ? 2 : 4;
            problem.causal = (int32_t)((s + (size_t)method) % 3);
            settings_of(text, method, cases[s][3]);
            way_back_t way = way_create(&problem, (layout_t)((s + (size_t)method) % LAYOUT_COUNT));
            run_back(context, "sketch", text, &way);
            for (int64_t head = 0; head < 2 * problem.kv_heads; head++)
                check_kv_head(&way, method, cases[s][3], head / problem.kv_heads,
                              head % problem.kv_heads);
            way_destroy(&way);
        }
    attn_context_destroy(context);
}

#ifdef TEST_SKETCHING
/* The same of methods that factorise [Q; K], of which one takes more features than its rank, with heads that share keys. */
static void chosen_features_against_the_oracle(void **state) {
    (void)state;
    static const int64_t cases[][5] = {
        {1, 1, 9, 5, 1}, {5, 7, 64, 40, 3}, {20, 33, 128, 110, 20}, {2, 3, 300, 40, 4}};
    attn_context_t *context = fixture_context(2);
    for (int method = ATTN_SKETCH_DETERMINISTIC; method <= ATTN_SKETCH_APPROXIMATE; method++)
        for (size_t s = 0; s < TEST_COUNT(cases); s++) {
            char text[96];
            if (!test_takes_case()) continue;
            attn_problem_t problem =
                fixture_problem(2, 4, cases[s][0], cases[s][1], cases[s][2], cases[s][4]);
            problem.kv_heads = 2;
            problem.causal = (int32_t)(s % 3);
            settings_of(text, method, cases[s][3]);
            way_back_t way = way_create(&problem, (layout_t)s);
            run_back(context, "sketch", text, &way);
            for (int64_t head = 0; head < 4; head++)
                check_kv_head(&way, method, cases[s][3], head / 2, head % 2);
            way_destroy(&way);
        }
    attn_context_destroy(context);
}
#endif

/* ---- the oracle's derivative ------------------------------------------------------------------------- */

static double loss_of(const arrays_t *arrays, const array_t *loss, const double *t, int64_t size) {
    const attn_problem_t *p = &arrays->problem;
    head_t head = head_create(arrays, loss, t, size, 0, 0);
    double *out = sketch_numbers(p->value_dim + p->keys, sizeof *out), sum = 0;
    const attn_io_t io = head_io(&head);
    for (int64_t i = 0; i < p->queries; i++) {
        attn_oracle_row(&head.problem, &io, 0, 0, i, out, NULL, NULL, NULL, out + p->value_dim);
        for (int64_t c = 0; c < p->value_dim; c++)
            sum += out[c] * head.loss.values[i * p->value_dim + c];
    }
    free(out);
    head_destroy(&head);
    return sum;
}

/* (L(x + step) - L(x - step)) / 2 step; steps are powers of two, and x a float that they do not round. */
static double central(const arrays_t *arrays, const array_t *loss, array_t *moved, int64_t row,
                      int64_t column, const double *t, int64_t size, double step) {
    const double kept = (double)array_get(moved, 0, 0, row, column);
    double sides[2];
    for (int side = 0; side < 2; side++) {
        array_set(moved, 0, 0, row, column, (float)(side ? kept - step : kept + step));
        sides[side] = loss_of(arrays, loss, t, size);
    }
    array_set(moved, 0, 0, row, column, (float)kept);
    return (sides[0] - sides[1]) / (2 * step);
}

/* The error of a central difference is c h^2 + O(h^4): a third of what twice the step differs by, doubled. */
static void by_central_differences(void **state) {
    (void)state;
    enum { ROWS = 5, KEYS = 6, DIM = 12, SIZE = 4, VALUE_DIM = 3 };
    const double step = 0x1p-9;
    const attn_problem_t problem = fixture_problem(1, 1, ROWS, KEYS, DIM, VALUE_DIM);
    for (int method = 0; method < METHOD_COUNT; method++) {
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
        array_t loss = array_like(&arrays.out, LAYOUT_BHND);
        array_t *const moved[] = {&arrays.query, &arrays.key};
        array_fill_normal(&loss, 31, 1);
        for (int which = 0; which < 2; which++) /* numbers that a step does not round */
            for (int64_t i = 0; i < moved[which]->tensor.shape[2] * DIM; i++) {
                const float x = array_get(moved[which], 0, 0, i / DIM, i % DIM);
                array_set(moved[which], 0, 0, i / DIM, i % DIM, roundf(x * 0x1p10f) * 0x1p-10f);
            }
        double *t = sketch_matrix(&arrays, method, 0, 0, SIZE);
        head_t head = head_create(&arrays, &loss, t, SIZE, 0, 0);
        rows_t back[] = {rows_create(ROWS, SIZE), rows_create(KEYS, SIZE)};
        rows_t value = rows_create(KEYS, VALUE_DIM);
        head_back(&head, &back[0], &back[1], &value);
        for (int which = 0; which < 2; which++) {
            rows_t exact = rows_times(&back[which], t, DIM, 1);
            for (int64_t i = 0; i < exact.count * DIM; i++) {
                const int64_t at[4] = {method, which, i / DIM, i % DIM};
                const double near =
                    central(&arrays, &loss, moved[which], at[2], at[3], t, SIZE, step);
                const double far =
                    central(&arrays, &loss, moved[which], at[2], at[3], t, SIZE, 2 * step);
                const double bound = 2 * fabs(far - near) / 3 + 1000 * 0x1p-50 / step;
                compare_number(exact.values[i], near, bound, "derivative by Q or K", at);
            }
            rows_destroy(&exact);
            rows_destroy(&back[which]);
        }
        rows_destroy(&value);
        head_destroy(&head);
        free(t);
        array_destroy(&loss);
        arrays_destroy(&arrays);
    }
}

/* ---- bits ---------------------------------------------------------------------------------------- */

static void expect_same(const way_back_t *a, const way_back_t *b) {
    array_check_same(&a->query, &b->query, "gradient of query");
    array_check_same(&a->key, &b->key, "gradient of key");
    array_check_same(&a->value, &b->value, "gradient of value");
}

static void threads_change_nothing(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 2, 400, 150, 40, 9);
    problem.kv_heads = 1;
    for (int method = 0; method < METHOD_COUNT; method++) {
        char text[96];
        settings_of(text, method, 16);
        way_back_t ways[] = {way_create(&problem, LAYOUT_BHND), way_create(&problem, LAYOUT_BHND)};
        for (int i = 0; i < 2; i++) {
            attn_context_t *context = fixture_context(i ? 5 : 1);
            run_back(context, "sketch", text, &ways[i]);
            attn_context_destroy(context);
        }
        expect_same(&ways[0], &ways[1]);
        way_destroy(&ways[0]);
        way_destroy(&ways[1]);
    }
}

/* With all features kept they are softmax's. */
static void exact_when_all_is_kept(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 30, 40, 12, 7);
    for (int method = 0; method < METHOD_COUNT; method++) {
        char text[96];
        settings_of(text, method, 12);
        way_back_t ways[] = {way_create(&problem, LAYOUT_BNHD), way_create(&problem, LAYOUT_BNHD)};
        run_back(context, "sketch", text, &ways[0]);
        run_back(context, "softmax", NULL, &ways[1]);
        expect_same(&ways[0], &ways[1]);
        way_destroy(&ways[0]);
        way_destroy(&ways[1]);
    }
    attn_context_destroy(context);
}

/* Keys that nobody sees may hold anything; leverage looks at all that is finite. */
static void hidden_keys_leave_no_trace(void **state) {
    (void)state;
    enum { QUERIES = 30, KEYS = 50 };
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, QUERIES, KEYS, 24, 5);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    for (int method = 0; method < METHOD_COUNT; method++) {
        if (method == ATTN_SKETCH_LEVERAGE) continue;
        char text[96];
        settings_of(text, method, 8);
        way_back_t clean = way_create(&problem, LAYOUT_BHND);
        way_back_t dirty = way_create(&problem, LAYOUT_BHND);
        for (int64_t j = QUERIES; j < KEYS; j++) {
            for (int64_t c = 0; c < 24; c++)
                array_set(&dirty.arrays.key, 0, 0, j, c, c % 2 ? NAN : INFINITY);
            for (int64_t c = 0; c < 5; c++) array_set(&dirty.arrays.value, 0, 0, j, c, NAN);
        }
        run_back(context, "sketch", text, &clean);
        run_back(context, "sketch", text, &dirty);
        expect_same(&clean, &dirty);
        way_destroy(&clean);
        way_destroy(&dirty);
    }
    attn_context_destroy(context);
}

#ifdef TEST_SKETCHING
#define CHOSEN cmocka_unit_test(chosen_features_against_the_oracle),
#else
#define CHOSEN
#endif

TEST_MAIN(cmocka_unit_test(against_the_oracle), CHOSEN cmocka_unit_test(by_central_differences),
          cmocka_unit_test(threads_change_nothing), cmocka_unit_test(exact_when_all_is_kept),
          cmocka_unit_test(hidden_keys_leave_no_trace))
