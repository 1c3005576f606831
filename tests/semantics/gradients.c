/* Gradients of exact attention: sizes around blocks and parts, threads, what is hidden, and the oracle's. */
#include "trial.h"

#include "attn/oracle.h"
#include "support/fixture.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int has_gradients(const attn_context_t *context) {
    const attn_problem_t problem = fixture_problem(1, 1, 1, 1, 1, 1);
    return trial_has_gradients(context, &problem);
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

/* Around a block of queries and one of keys, vectors, and one of everything. */
static void sizes(void **state) {
    (void)state;
    static const int64_t cases[][4] = {{1, 1, 1, 1},       {1, 300, 5, 3},     {97, 1, 8, 8},
                                       {191, 191, 16, 17}, {192, 192, 31, 64}, {193, 193, 33, 1},
                                       {200, 401, 3, 40},  {130, 60, 130, 2},  {13, 29, 64, 256}};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; has_gradients(context) && s < TEST_COUNT(cases); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++) {
            if (!test_takes_case()) continue;
            attn_problem_t problem =
                fixture_problem(2, 2, cases[s][0], cases[s][1], cases[s][2], cases[s][3]);
            problem.causal = causal;
            problem.kv_heads = s % 2 ? 1 : 2;
            const look_t look = {.layout = (layout_t)((s + (size_t)causal) % LAYOUT_COUNT)};
            trial_check_gradients(context, &problem, &look);
        }
    attn_context_destroy(context);
}

/* A head's queries in several parts, their sums added up; a bias that all of them share. */
static void parts(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    for (int axes = 3; has_gradients(context) && axes <= 7; axes += 4) {
        attn_problem_t problem = fixture_problem(1, 2, 983, 61, 5, 7);
        problem.kv_heads = 1;
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        problem.inputs = ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES | ATTN_INPUT_BIAS;
        const look_t look = {.layout = LAYOUT_PADDED, .bias_axes = axes};
        trial_check_gradients(context, &problem, &look);
    }
    attn_context_destroy(context);
}

/* Patterns whose blocks a run chooses, or that are drawn. */
static void chosen_blocks(void **state) {
    (void)state;
    static const char *const settings[] = {"pattern=topk,block=8,top=2",
                                           "pattern=bigbird,block=5,random=2",
                                           "pattern=longformer,block=16,global=3"};
    attn_context_t *context = fixture_context(2);
    for (size_t s = 0; trial_is_dense() && s < TEST_COUNT(settings); s++) {
        if (!attn_backend_find(context, "sparse")) break;
        attn_problem_t problem = fixture_problem(2, 4, 110, 110, 7, 9);
        problem.kv_heads = 2;
        problem.causal = s == 0 ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
        problem.inputs = ATTN_INPUT_SLOPES;
        const look_t look = {.layout = LAYOUT_BNHD};
        trial_check_chosen(context, &problem, &look, settings[s]);
    }
    attn_context_destroy(context);
}

/* ---- bits ----------------------------------------------------------------------------------------- */

enum { ARRAYS = 3 };

/* A run's arrays and its gradients of query, key and value. */
typedef struct gradient_run {
    trial_t trial;
    typed_t out, gradients[ARRAYS];
    attn_tensor_t sinks; /* its gradient, or absent */
} gradient_run_t;

static gradient_run_t run_create(const attn_problem_t *problem) {
    const look_t look = {.lse = 1};
    gradient_run_t run = {.trial = trial_create(problem, &look)};
    run.out = typed_create(problem->dtype, LAYOUT_BHND, run.trial.out.tensor.shape);
    typed_fill(&run.out, 31, 1);
    const typed_t *const of[ARRAYS] = {&run.trial.query, &run.trial.key, &run.trial.value};
    for (int i = 0; i < ARRAYS; i++)
        run.gradients[i] = typed_create(of[i]->tensor.dtype, LAYOUT_BHND, of[i]->tensor.shape);
    return run;
}

static void run_destroy(gradient_run_t *run) {
    trial_destroy(&run->trial);
    typed_destroy(&run->out);
    for (int i = 0; i < ARRAYS; i++) typed_destroy(&run->gradients[i]);
}

static void run_back(const attn_context_t *context, gradient_run_t *run) {
    const attn_io_t io = {.struct_size = sizeof io,
                          .out = run->out.tensor,
                          .query = run->gradients[0].tensor,
                          .key = run->gradients[1].tensor,
                          .value = run->gradients[2].tensor,
                          .sinks = run->sinks};
    attn_plan_t *plan = trial_plan(context, &run->trial.problem);
    attn_error_t error = {0};
    trial_run(plan, &run->trial);
    if (attn_backward(plan, &run->trial.io, &io, &error)) test_fail("%s", error.message);
    for (int i = 0; i < ARRAYS; i++) typed_check(&run->gradients[i], "a gradient");
    attn_plan_destroy(plan);
}

static void expect_same(const gradient_run_t *a, const gradient_run_t *b, const char *what) {
    for (int i = 0; i < ARRAYS; i++)
        if (memcmp(a->gradients[i].block, b->gradients[i].block, a->gradients[i].size) != 0)
            test_fail("%s: gradient %d differs", what, i);
}

static void threads_change_nothing(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 2, 1000, 150, 12, 20);
    problem.backward = 1;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    gradient_run_t runs[] = {run_create(&problem), run_create(&problem), run_create(&problem)};
    static const int threads[] = {1, 2, 5};
    for (size_t i = 0; i < TEST_COUNT(runs); i++) {
        attn_context_t *context = fixture_context(threads[i]);
        if (has_gradients(context)) run_back(context, &runs[i]);
        attn_context_destroy(context);
    }
    expect_same(&runs[0], &runs[1], "two threads");
    expect_same(&runs[0], &runs[2], "five threads");
    for (size_t i = 0; i < TEST_COUNT(runs); i++) run_destroy(&runs[i]);
}

/* ---- what is hidden ------------------------------------------------------------------------------- */

static void poison(typed_t *array, int64_t row) {
    const int64_t *shape = array->tensor.shape;
    for (int64_t c = 0; c < shape[3]; c++)
        typed_set(array, 0, 0, row, c, c % 2 ? NAN : (double)INFINITY);
}

/* Keys that nobody sees may hold anything: the gradients have the bits that they have without. */
static void hidden_keys_leave_no_trace(void **state) {
    (void)state;
    enum { QUERIES = 110, KEYS = 200, FROM = 150 };
    attn_problem_t problem = fixture_problem(1, 1, QUERIES, KEYS, 9, 10);
    problem.backward = 1;
    attn_context_t *context = fixture_context(1);
    static const uint32_t ways[] = {ATTN_INPUT_MASK, ATTN_INPUT_KV_LENGTHS, ATTN_INPUT_BIAS};
    for (size_t w = 0; has_gradients(context) && w < TEST_COUNT(ways); w++) {
        test_label("hidden by inputs %x", ways[w]);
        problem.inputs = ways[w];
        gradient_run_t clean = run_create(&problem), dirty = run_create(&problem);
        gradient_run_t *const runs[] = {&clean, &dirty};
        for (int r = 0; r < 2; r++) {
            trial_t *trial = &runs[r]->trial;
            if (trial->lengths.block) typed_set(&trial->lengths, 0, 0, 0, 0, FROM);
            for (int64_t i = 0; i < QUERIES; i++)
                for (int64_t j = FROM; j < KEYS; j++) {
                    if (trial->mask.block) typed_set(&trial->mask, 0, 0, i, j, 0);
                    if (trial->bias.block) typed_set(&trial->bias, 0, 0, i, j, -INFINITY);
                }
            for (int64_t j = FROM; r == 1 && j < KEYS; j++)
                poison(&trial->key, j), poison(&trial->value, j);
            run_back(context, runs[r]);
        }
        expect_same(&clean, &dirty, "hidden numbers");
        run_destroy(&clean);
        run_destroy(&dirty);
    }
    attn_context_destroy(context);
}

static int row_is_finite(const typed_t *array, int64_t row) {
    for (int64_t c = 0; c < array->tensor.shape[3]; c++)
        if (!isfinite(typed_get(&array->tensor, 0, 0, row, c))) return 0;
    return 1;
}

/* A query that is not finite reaches its own gradient and those of the keys that it sees, no others. */
static void a_lost_query_is_its_own(void **state) {
    (void)state;
    enum { COUNT = 210, LOST = 120 };
    attn_problem_t problem = fixture_problem(1, 1, COUNT, COUNT, 9, 10);
    problem.backward = 1;
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    attn_context_t *context = fixture_context(1);
    for (int part = 0; has_gradients(context) && part < 2; part++) {
        test_label(part ? "lost dL/dout" : "lost query");
        gradient_run_t run = run_create(&problem);
        poison(part ? &run.out : &run.trial.query, LOST);
        run_back(context, &run);
        for (int64_t i = 0; i < COUNT; i++) {
            const int is_seen = trial_sees(&run.trial, 0, 0, LOST, i);
            if (row_is_finite(&run.gradients[0], i) != (i != LOST))
                test_fail("gradient of query %" PRId64, i);
            if (row_is_finite(&run.gradients[2], i) == is_seen)
                test_fail("gradient of value %" PRId64, i);
            if (row_is_finite(&run.gradients[1], i) == is_seen)
                test_fail("gradient of key %" PRId64, i);
        }
        run_destroy(&run);
    }
    attn_context_destroy(context);
}

/* ---- large logits --------------------------------------------------------------------------------- */

static void expect_bounded(const typed_t *array, double bound, const char *what) {
    const int64_t *shape = array->tensor.shape;
    for (int64_t h = 0; h < shape[1]; h++)
        for (int64_t i = 0; i < shape[2]; i++)
            for (int64_t c = 0; c < shape[3]; c++)
                if (!(fabs(typed_get(&array->tensor, 0, h, i, c)) <= bound))
                    test_fail("%s (%" PRId64 ", %" PRId64 ", %" PRId64 "): %g, at most %g", what, h,
                              i, c, typed_get(&array->tensor, 0, h, i, c), bound);
}

/* sum |x| of all elements. */
static double size_of(const typed_t *array) {
    const int64_t *shape = array->tensor.shape;
    double sum = 0;
    for (int64_t h = 0; h < shape[1]; h++)
        for (int64_t i = 0; i < shape[2]; i++)
            for (int64_t c = 0; c < shape[3]; c++)
                sum += fabs(typed_get(&array->tensor, 0, h, i, c));
    return sum;
}

/* An lse far above 2^23 says nothing of the sum, but weights made of it are 1 at most, and their sums finite:
 * |dV| <= sum |dO|, and |dsink| <= sum |O| |dO|, which is below max |V| sum |dO|. */
static void weights_are_at_most_one(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 13, 40, 6, 5);
    problem.backward = 1;
    problem.scale = 1.0f;
    for (int sinks = 0; has_gradients(context) && sinks < 2; sinks++)
        for (double size = 1; size < 0x1p100; size *= 3) {
            if (!test_takes_case()) continue;
            test_label("logits of %g%s", size, sinks ? ", and a sink" : "");
            problem.inputs = sinks ? ATTN_INPUT_SINKS : 0;
            gradient_run_t run = run_create(&problem);
            typed_t sink = typed_create(ATTN_F32, LAYOUT_BHND, (int64_t[]){1, 1, 1, 1});
            if (sinks) typed_set(&run.trial.sinks, 0, 0, 0, 0, size);
            if (!sinks) typed_fill(&run.trial.query, 41, size);
            run.sinks = sinks ? sink.tensor : (attn_tensor_t){.data = NULL};
            run_back(context, &run);
            const double bound = size_of(&run.out) * (1 + 100 * 0x1p-24);
            expect_bounded(&run.gradients[2], bound, "gradient of value");
            for (int i = 0; i < 2; i++) expect_bounded(&run.gradients[i], DBL_MAX, "a gradient");
            if (sinks)
                expect_bounded(&sink, bound * size_of(&run.trial.value), "gradient of sinks");
            typed_destroy(&sink);
            run_destroy(&run);
        }
    attn_context_destroy(context);
}

/* ---- the oracle ----------------------------------------------------------------------------------- */

enum { KEYS = 9, DIM = 5, VALUE_DIM = 4, QUERY = 3 };

/* L = dO . O of one row. */
static double loss(const trial_t *trial, const typed_t *gradient) {
    double out[VALUE_DIM], scratch[KEYS], sum = 0;
    attn_oracle_row(&trial->problem, &trial->io, 0, 0, QUERY, out, NULL, NULL, NULL, scratch);
    for (int64_t c = 0; c < VALUE_DIM; c++)
        sum += out[c] * typed_get(&gradient->tensor, 0, 0, QUERY, c);
    return sum;
}

/* (L(x + step) - L(x - step)) / 2 step, where x is an element in f64. */
static double central(const trial_t *trial, const typed_t *gradient, double *x, double step) {
    const double kept = *x;
    *x = kept + step;
    const double up = loss(trial, gradient);
    *x = kept - step;
    const double down = loss(trial, gradient);
    *x = kept;
    return (up - down) / (2 * step);
}

/*
 * The error of a central difference is c h^2 + O(h^4): that of twice the step is four times as large, so that a
 * third of their difference is it (doubled for the O(h^4)); L is a sum of KEYS VALUE_DIM terms in double,
 * below 100 here, and so is what its weights round.
 */
static void check_central(const trial_t *trial, const typed_t *gradient, double *x, double expected,
                          const char *name, int64_t key) {
    const double step = 0x1p-12, near = central(trial, gradient, x, step);
    const double far = central(trial, gradient, x, 2 * step);
    const double bound =
        2 * fabs(far - near) / 3 + KEYS * VALUE_DIM * 0x1p-50 * 100 / step + 0x1p-50;
    compare_number(expected, near, bound, name, (int64_t[]){0, 0, QUERY, key});
}

static void put_doubles(attn_tensor_t *tensor, double *numbers, int64_t rows, int64_t columns) {
    *tensor = attn_tensor_bhnd(NULL, 1, 1, rows, columns);
    tensor->data = numbers;
    tensor->dtype = ATTN_F64;
}

/* Bias moves S, a key's first element moves scale q.k by q_0. */
static void oracle_by_central_differences(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 1, QUERY + 1, KEYS, DIM, VALUE_DIM);
    problem.inputs = ATTN_INPUT_BIAS | ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES | ATTN_INPUT_MASK;
    problem.softcap = 1.25f;
    problem.scale = 0.75f;
    const look_t look = {.lse = 1};
    trial_t trial = trial_create(&problem, &look);
    typed_t gradient = typed_create(ATTN_F32, LAYOUT_BHND, trial.out.tensor.shape);
    double keys[KEYS * DIM], bias[(QUERY + 1) * KEYS], sink;
    double weights[KEYS], logits[KEYS], products[KEYS], scratch[KEYS + VALUE_DIM];
    typed_fill(&gradient, 31, 1);
    for (int64_t j = 0; j < KEYS; j++) {
        for (int64_t k = 0; k < DIM; k++)
            keys[j * DIM + k] = typed_get(&trial.key.tensor, 0, 0, j, k);
        for (int64_t i = 0; i <= QUERY; i++) {
            bias[i * KEYS + j] = j == 4 ? (double)-INFINITY : 0.1 * (double)(i + j);
            typed_set(&trial.mask, 0, 0, i, j, j != 2);
        }
    }
    sink = typed_get(&trial.sinks.tensor, 0, 0, 0, 0);
    put_doubles(&trial.io.key, keys, KEYS, DIM);
    put_doubles(&trial.io.bias, bias, QUERY + 1, KEYS);
    put_doubles(&trial.io.sinks, &sink, 1, 1);
    const double by_sink = attn_oracle_row_backward(&problem, &trial.io, &gradient.tensor, 0, 0,
                                                    QUERY, weights, logits, products, scratch);
    const double query = typed_get(&trial.query.tensor, 0, 0, QUERY, 0);
    for (int64_t j = 0; j < KEYS; j++) {
        if (isfinite(bias[QUERY * KEYS + j]))
            check_central(&trial, &gradient, &bias[QUERY * KEYS + j], logits[j], "dL/dS", j);
        check_central(&trial, &gradient, &keys[j * DIM], 0.75 * query * products[j], "dL/dk", j);
    }
    assert_true(logits[4] == 0 && products[4] == 0 && logits[2] == 0 && products[2] == 0);
    assert_true(weights[4] == 0 && weights[2] == 0 && weights[0] > 0);
    check_central(&trial, &gradient, &sink, by_sink, "dL/dsink", 0);
    typed_destroy(&gradient);
    trial_destroy(&trial);
}

/* ---- refusals --------------------------------------------------------------------------------------- */

static void keys_in_i8_have_none(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 4, 4, 4, 4);
    problem.backward = 1;
    problem.kv_dtype = ATTN_I8;
    if (has_gradients(context))
        fixture_refuse_plan(context, trial_subject()->backend, &problem, NULL,
                            ATTN_ERROR_UNSUPPORTED, "i8|gradients");
    attn_context_destroy(context);
}

/*
 * Keys that fit in an address space while their sums, or rows padded to whole vectors, do not: a
 * plan is refused, or asks for the room that sums of key and value take, two floats a key.
 */
static void padded_rows_that_do_not_fit(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int most = 8 * (int)sizeof(size_t) - 5; /* of doubles that can be addressed */
    for (int power = most - 2; trial_is_dense() && has_gradients(context) && power <= most;
         power++) {
        attn_problem_t problem = fixture_problem(1, 1, 1, (int64_t)1 << power, 1, 1);
        problem.backward = 1;
        test_label("2^%d keys", power);
        attn_error_t error = {0};
        attn_plan_t *plan = NULL;
        const attn_status_t status =
            fixture_try_plan(context, trial_subject()->backend, &problem, NULL, &plan, &error);
        if (status == ATTN_OK)
            assert_true(attn_plan_workspace_size(plan) >> (power + 3) > 0);
        else
            fixture_expect(status, &error, ATTN_ERROR_MEMORY, "workspace");
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(sizes), cmocka_unit_test(parts), cmocka_unit_test(chosen_blocks),
               cmocka_unit_test(threads_change_nothing),
               cmocka_unit_test(hidden_keys_leave_no_trace),
               cmocka_unit_test(a_lost_query_is_its_own), cmocka_unit_test(weights_are_at_most_one),
               cmocka_unit_test(oracle_by_central_differences),
               cmocka_unit_test(keys_in_i8_have_none),
               cmocka_unit_test(padded_rows_that_do_not_fit))
