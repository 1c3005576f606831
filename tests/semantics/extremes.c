/*
 * Logits as large as a float holds, both ways: finite logits give what exact arithmetic gives,
 * rounded, in whatever base a kernel computes. Logits of this size have no fraction, so here one
 * key takes all, or keys have the same logit and share.
 */
#include "trial.h"

#include "support/compare.h"
#include "support/fixture.h"
#include "support/test.h"

#include <float.h>
#include <math.h>

enum { KEYS = 300, DIM = 3, COLUMNS = 5, WINNER = 130 };

/* What brings logits to their size. */
typedef enum carrier { BY_PRODUCTS, BY_BIAS, BY_SLOPES, BY_CAPPED_PRODUCTS, CARRIERS } carrier_t;
static const char *const CARRIER_NAMES[] = {"products", "bias", "ALiBi", "products, softcap"};

static const double SIZES[] = {1e38, 2.3e38, 2.4e38, 3e38, (double)FLT_MAX};
static const int64_t QUERIES[] = {1, 3, 20};

static attn_problem_t problem_of(int64_t queries, carrier_t carrier) {
    attn_problem_t problem = fixture_problem(1, 1, queries, KEYS, DIM, COLUMNS);
    problem.scale = 1;
    if (carrier == BY_BIAS) problem.inputs = ATTN_INPUT_BIAS;
    if (carrier == BY_SLOPES) problem.inputs = ATTN_INPUT_SLOPES;
    if (carrier == BY_CAPPED_PRODUCTS) problem.softcap = FLT_MAX;
    return problem;
}

/* Logit j of every row becomes logits[j]: all products are 2^64 * (logit / 2^64), exactly. */
static void set_products(trial_t *trial, const double *logits) {
    const attn_problem_t *p = &trial->problem;
    for (int64_t k = 0; k < DIM; k++) {
        for (int64_t i = 0; i < p->queries; i++)
            typed_set(&trial->query, 0, 0, i, k, k ? 0 : 0x1p64);
        for (int64_t j = 0; j < p->keys; j++)
            typed_set(&trial->key, 0, 0, j, k, k ? 0 : logits[j] * 0x1p-64);
    }
}

static trial_t trial_of(const attn_problem_t *problem, const double *logits) {
    const look_t look = {.layout = LAYOUT_BHND, .lse = 1, .bias_axes = 7};
    const double nothing[KEYS] = {0};
    trial_t trial = trial_create(problem, &look);
    set_products(&trial, problem->inputs & ATTN_INPUT_BIAS ? nothing : logits);
    for (int64_t j = 0; problem->inputs & ATTN_INPUT_BIAS && j < KEYS; j++)
        typed_set(&trial.bias, 0, 0, 0, j, logits[j]);
    return trial;
}

/* Rounding of the logit on its way to the kernel's base and back, and of its product's factors. */
static void require_lse(const trial_t *trial, int64_t row, double expected) {
    const double off = 0x1p-22 + trial_arithmetic(trial).logit;
    compare_number(typed_get(&trial->lse.tensor, 0, 0, row, 0), expected, off * fabs(expected),
                   "lse", (int64_t[4]){0, 0, row, 0});
}

static void require_value(const trial_t *trial, int64_t row, int64_t key) {
    for (int64_t c = 0; c < COLUMNS; c++) {
        const double value = typed_get(&trial->value.tensor, 0, 0, key, c);
        compare_number(typed_get(&trial->out.tensor, 0, 0, row, c), value,
                       trial_arithmetic(trial).value * fabs(value), "out",
                       (int64_t[4]){0, 0, row, c});
    }
}

/* Of the values that the row sees: m additions and a division, each of which rounds. */
static void require_mean(const trial_t *trial, int64_t row) {
    double seen = 0;
    for (int64_t j = 0; j < KEYS; j++) seen += trial_sees(trial, 0, 0, row, j);
    for (int64_t c = 0; c < COLUMNS; c++) {
        double sum = 0, absolute = 0;
        for (int64_t j = 0; j < KEYS; j++) {
            const double value = typed_get(&trial->value.tensor, 0, 0, j, c);
            if (!trial_sees(trial, 0, 0, row, j)) continue;
            sum += value / seen;
            absolute += fabs(value) / seen;
        }
        const double off = (2 * KEYS + 24) * 0x1p-24 + trial_arithmetic(trial).value;
        compare_number(typed_get(&trial->out.tensor, 0, 0, row, c), sum, off * absolute, "out",
                       (int64_t[4]){0, 0, row, c});
    }
}

static void label(const attn_problem_t *problem, carrier_t carrier, double high, double low) {
    test_label("%d queries, logits of %g above %g by %s", (int)problem->queries, high, low,
               CARRIER_NAMES[carrier]);
}

static void one_wins(const attn_context_t *context, int64_t queries, carrier_t carrier, double high,
                     double low) {
    const attn_problem_t problem = problem_of(queries, carrier);
    double logits[KEYS];
    for (int64_t j = 0; j < KEYS; j++) logits[j] = j == WINNER ? high : low;
    label(&problem, carrier, high, low);
    trial_t trial = trial_of(&problem, logits);
    trial_solve(context, &trial);
    for (int64_t i = 0; i < queries; i++) {
        if (trial_sees(&trial, 0, 0, i, WINNER)) {
            require_value(&trial, i, WINNER);
            require_lse(&trial, i, high);
        } else { /* the others share */
            require_mean(&trial, i);
            require_lse(&trial, i, low);
        }
    }
    trial_destroy(&trial);
}

static void all_share(const attn_context_t *context, int64_t queries, carrier_t carrier,
                      double level) {
    const attn_problem_t problem = problem_of(queries, carrier);
    double logits[KEYS];
    for (int64_t j = 0; j < KEYS; j++) logits[j] = level;
    label(&problem, carrier, level, level);
    trial_t trial = trial_of(&problem, logits);
    trial_solve(context, &trial);
    for (int64_t i = 0; i < queries; i++) {
        require_mean(&trial, i);
        require_lse(&trial, i, level);
    }
    trial_destroy(&trial);
}

static void largest_products_and_biases(void **state) {
    (void)state;
    static const carrier_t carriers[] = {BY_PRODUCTS, BY_BIAS};
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t c = 0; c < TEST_COUNT(carriers); c++)
            for (size_t s = 0; s < TEST_COUNT(SIZES); s++) {
                const double size = SIZES[s];
                one_wins(context, QUERIES[q], carriers[c], size, size / 2);
                one_wins(context, QUERIES[q], carriers[c], size, -size);
                one_wins(context, QUERIES[q], carriers[c], -size / 2, -size);
                all_share(context, QUERIES[q], carriers[c], size);
                all_share(context, QUERIES[q], carriers[c], -size);
            }
    attn_context_destroy(context);
}

/* c tanh(S / c) of the same logit is the same, wherever tanh is flat or not. */
static void softcaps(void **state) {
    (void)state;
    static const float caps[] = {1e-45f, 1e-39f, 1e-30f, 1, 1e30f, 2.4e38f, FLT_MAX};
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++) {
        for (size_t c = 0; c < TEST_COUNT(caps); c++) {
            attn_problem_t problem = fixture_problem(1, 2, QUERIES[q], KEYS, 8, COLUMNS);
            const look_t look = {.layout = LAYOUT_BHND, .lse = 1};
            problem.softcap = caps[c];
            trial_check(context, &problem, &look, "softcap");
        }
        for (size_t s = 0; s < TEST_COUNT(SIZES); s++) {
            attn_problem_t problem = problem_of(QUERIES[q], BY_CAPPED_PRODUCTS);
            double logits[KEYS];
            for (int64_t j = 0; j < KEYS; j++) logits[j] = SIZES[s];
            label(&problem, BY_CAPPED_PRODUCTS, SIZES[s], SIZES[s]);
            trial_t trial = trial_of(&problem, logits);
            trial_solve(context, &trial);
            const double capped = (double)FLT_MAX * tanh(SIZES[s] / (double)FLT_MAX);
            for (int64_t i = 0; i < QUERIES[q]; i++) {
                require_mean(&trial, i);
                require_lse(&trial, i, capped);
            }
            trial_destroy(&trial);
        }
    }
    attn_context_destroy(context);
}

/* Queries, values and outputs in f16 that are all denormal there: multiples of 2^-24. None of them is denormal in f32, so
 * that they count for what they are where processors take denormals for zero. */
static void tiny_halves(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
            attn_problem_t problem = fixture_problem(1, 2, QUERIES[q], KEYS, 19, 21);
            problem.dtype = problem.kv_dtype = ATTN_F16;
            problem.scale = 0x1p14f;
            const look_t look = {.layout = (layout_t)layout, .lse = 1};
            trial_t trial = trial_create(&problem, &look);
            typed_fill(&trial.query, 1, 0x1p-16);
            typed_fill(&trial.value, 3, 0x1p-16);
            trial_label(&trial, "tiny halves");
            trial_solve(context, &trial);
            trial_compare(&trial);
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* A slope that only the query's own position survives. */
static void slopes(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t s = 0; s < TEST_COUNT(SIZES); s++) {
            const attn_problem_t problem = problem_of(QUERIES[q], BY_SLOPES);
            const double nothing[KEYS] = {0};
            label(&problem, BY_SLOPES, 0, -SIZES[s]);
            trial_t trial = trial_of(&problem, nothing);
            typed_set(&trial.slopes, 0, 0, 0, 0, SIZES[s]);
            trial_solve(context, &trial);
            for (int64_t i = 0; i < QUERIES[q]; i++) {
                require_value(&trial, i, i);
                require_lse(&trial, i, 0);
            }
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* A sink beside no key at all, and beside keys far below or above. */
static void sinks(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t s = 0; s < 2 * TEST_COUNT(SIZES); s++) {
            const double sink = s % 2 ? -SIZES[s / 2] : SIZES[s / 2];
            const double others[] = {(double)-INFINITY, sink - fabs(sink) / 2};
            for (size_t o = 0; o < TEST_COUNT(others); o++) {
                attn_problem_t problem = problem_of(QUERIES[q], BY_BIAS);
                double logits[KEYS];
                if (others[o] < -(double)FLT_MAX && o == 1) continue;
                problem.inputs |= ATTN_INPUT_SINKS;
                for (int64_t j = 0; j < KEYS; j++) logits[j] = others[o];
                label(&problem, BY_BIAS, sink, others[o]);
                trial_t trial = trial_of(&problem, logits);
                typed_set(&trial.sinks, 0, 0, 0, 0, sink);
                trial_solve(context, &trial);
                for (int64_t i = 0; i < QUERIES[q]; i++) {
                    require_lse(&trial, i, sink);
                    for (int64_t c = 0; c < COLUMNS; c++)
                        assert_true(typed_get(&trial.out.tensor, 0, 0, i, c) == 0);
                }
                trial_destroy(&trial);
            }
        }
    attn_context_destroy(context);
}

/* What IEEE 754 says of exp(inf - inf), however many queries there are; -inf is no sink. */
static void infinite_sinks(void **state) {
    (void)state;
    static const double sinks[] = {INFINITY, -INFINITY, NAN};
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t s = 0; s < TEST_COUNT(sinks); s++) {
            attn_problem_t problem = fixture_problem(1, 1, QUERIES[q], KEYS, DIM, COLUMNS);
            const look_t look = {.layout = LAYOUT_BHND, .lse = 1};
            problem.inputs = ATTN_INPUT_SINKS;
            test_label("%d queries, a sink of %g", (int)QUERIES[q], sinks[s]);
            trial_t trial = trial_create(&problem, &look);
            typed_set(&trial.sinks, 0, 0, 0, 0, sinks[s]);
            trial_solve(context, &trial);
            for (int64_t i = 0; i < QUERIES[q]; i++)
                assert_true(!isnan(typed_get(&trial.out.tensor, 0, 0, i, 0)) ==
                            (sinks[s] == (double)-INFINITY));
            if (sinks[s] == (double)-INFINITY) trial_compare(&trial);
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* A logit that no float holds is an infinity: below, its key is as good as hidden; above, the row is NaN. */
static void beyond_floats(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (int seen = 0; seen <= 1; seen++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const attn_problem_t problem = problem_of(QUERIES[q], BY_PRODUCTS);
                double logits[KEYS];
                for (int j = 0; j < KEYS; j++) logits[j] = sign * 0x1p180;
                if (seen) logits[WINNER] = -0x1p100;
                test_label("%d queries, logits of %g, %d of -2^100", (int)QUERIES[q], logits[0],
                           seen);
                trial_t trial = trial_of(&problem, logits);
                trial_solve(context, &trial);
                for (int64_t i = 0; i < QUERIES[q]; i++) {
                    const double out = typed_get(&trial.out.tensor, 0, 0, i, 0);
                    const double lse = typed_get(&trial.lse.tensor, 0, 0, i, 0);
                    const int wins = seen && trial_sees(&trial, 0, 0, i, WINNER);
                    if (sign > 0)
                        assert_true(isnan(out));
                    else if (wins)
                        require_value(&trial, i, WINNER);
                    else
                        assert_true(out == 0 && lse == (double)-INFINITY);
                }
                trial_destroy(&trial);
            }
    attn_context_destroy(context);
}

/* Scores come back from the kernel's base as finite as they were. */
static void scores(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int32_t stage = 0; stage < ATTN_SCORES_WEIGHTS; stage++)
        for (size_t s = 0; s < 2 * TEST_COUNT(SIZES); s++) {
            const double size = s % 2 ? -SIZES[s / 2] : SIZES[s / 2];
            attn_problem_t problem = problem_of(20, BY_PRODUCTS);
            const look_t look = {.layout = LAYOUT_BHND, .scores = 1};
            double logits[KEYS];
            for (int64_t j = 0; j < KEYS; j++) logits[j] = j % 2 ? size : size / 3;
            problem.scores = stage;
            test_label("scores of %g, stage %d", size, stage);
            trial_t trial = trial_create(&problem, &look);
            set_products(&trial, logits);
            trial_solve(context, &trial);
            const double off = 0x1p-22 + trial_arithmetic(&trial).logit;
            for (int64_t j = 0; j < KEYS; j++) {
                const int hidden = stage == ATTN_SCORES_MASKED && !trial_sees(&trial, 0, 0, 7, j);
                const double logit = hidden ? (double)-INFINITY : (double)(float)logits[j];
                compare_number(typed_get(&trial.scores.tensor, 0, 0, 7, j), logit, off * fabs(size),
                               "scores", (int64_t[4]){0, 0, 7, j});
            }
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* Scales near both ends of what a float holds, with queries that take logits back to a few units. */
static void extreme_scales(void **state) {
    (void)state;
    static const float scales[] = {3e38f, -3e38f, 1.7e38f, 0x1p127f, 1e-37f, -1.2e-38f};
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t s = 0; s < TEST_COUNT(scales); s++) {
            attn_problem_t problem = problem_of(QUERIES[q], BY_PRODUCTS);
            const look_t look = {.layout = LAYOUT_BHND, .lse = 1};
            problem.scale = scales[s];
            trial_t trial = trial_create(&problem, &look);
            trial_label(&trial, "an extreme scale");
            for (int64_t i = 0; i < problem.queries; i++)
                for (int64_t k = 0; k < DIM; k++)
                    typed_set(&trial.query, 0, 0, i, k, (double)(4 + i + k) / (double)scales[s]);
            trial_solve(context, &trial);
            trial_compare(&trial);
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* Queries that a scale above 1 takes to nearly the largest float, and no farther when they are rounded to bf16. */
static void largest_queries(void **state) {
    (void)state;
    static const float scales[] = {1.4f, 1.9f, -3, 100, -1e30f};
    const double size = (double)FLT_MAX * (1 - 0x1p-7);
    attn_context_t *context = fixture_context(1);
    for (size_t q = 0; q < TEST_COUNT(QUERIES); q++)
        for (size_t s = 0; s < TEST_COUNT(scales); s++) {
            attn_problem_t problem = problem_of(QUERIES[q], BY_PRODUCTS);
            double logits[KEYS];
            for (int64_t j = 0; j < KEYS; j++) logits[j] = j == WINNER ? 0x1p64 : 0x1p63;
            problem.scale = scales[s];
            trial_t trial = trial_of(&problem, logits);
            trial_label(&trial, "the largest queries");
            for (int64_t i = 0; i < problem.queries; i++)
                typed_set(&trial.query, 0, 0, i, 0, size / (double)scales[s]);
            trial_solve(context, &trial);
            for (int64_t i = 0; i < problem.queries; i++)
                if (trial_sees(&trial, 0, 0, i, WINNER)) {
                    require_value(&trial, i, WINNER);
                    require_lse(&trial, i, size);
                } else {
                    require_mean(&trial, i);
                    require_lse(&trial, i, size / 2);
                }
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* Scales of i8 are above 0 also where they are denormal, and processors take those for zero. */
static void denormal_scales(void **state) {
    (void)state;
    enum { COUNT = 5, WIDTH = 8 };
    static const float scales[COUNT] = {1e-45f, 1e-40f, 1.1754942e-38f, 1e-39f, 2e-38f};
    static const int8_t bytes[COUNT * WIDTH] = {1, -2, 3};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 1, COUNT, WIDTH, WIDTH);
    problem.kv_dtype = ATTN_I8;
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, "");
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    arrays.io.key = arrays.io.value = attn_tensor_bhnd_of(ATTN_I8, bytes, 1, 1, COUNT, WIDTH);
    arrays.io.key_scales = arrays.io.value_scales = attn_tensor_bhnd(scales, 1, 1, COUNT, 1);
    arrays_run(&arrays, plan);
    arrays_destroy(&arrays);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(largest_products_and_biases), cmocka_unit_test(softcaps),
               cmocka_unit_test(tiny_halves), cmocka_unit_test(slopes), cmocka_unit_test(sinks),
               cmocka_unit_test(infinite_sinks), cmocka_unit_test(beyond_floats),
               cmocka_unit_test(scores), cmocka_unit_test(extreme_scales),
               cmocka_unit_test(largest_queries), cmocka_unit_test(denormal_scales))
