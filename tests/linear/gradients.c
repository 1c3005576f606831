/* Gradients of linear attention: every form against the oracle's, that against differences, threads, what is hidden. */
#include "support/test.h"
#include "trial_gradients.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Modules have none. */
static int has_gradients(const attn_context_t *context) {
    return attn_backend_find(context, "linear")->features & ATTN_FEATURE_BACKWARD;
}

/* Run a trial whose arrays are made, and its way back; compare and end it. */
static void hold(trial_t *trial) {
    way_back_t way;
    way_make(&way, trial);
    trial_label(trial);
    attn_plan_t *plan = way_run(&way);
    way_compare(&way);
    way_drop(&way);
    trial_end(trial, plan);
}

static void all_forms(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int rule = 0; rule < RULES_COUNT; rule++)
            for (int normalise = 0; normalise <= !is_delta(rule); normalise++)
                for (int k = 0; k < 12; k++, number++) {
                    if (!has_gradients(context) || !test_takes_case()) continue;
                    trial_t trial = trial_draw(context, map, rule, normalise, number);
                    trial_make(&trial);
                    hold(&trial);
                }
    attn_context_destroy(context);
}

/* ---- gates for all --------------------------------------------------------------------------------- */

/* A run whose decays are those of the first head of the first sequence: said for each, or once for all. */
static attn_plan_t *run_decays(trial_t *trial, way_back_t *way, int for_all) {
    typed_t *decay = &trial->own[DECAY];
    trial_make(trial);
    const typed_t given = *decay;
    const int64_t *shape = given.tensor.shape;
    *decay =
        typed_create(ATTN_F32, LAYOUT_BHND,
                     (int64_t[4]){for_all ? 1 : shape[0], for_all ? 1 : shape[1], shape[2], 1});
    for (int64_t b = 0; b < decay->tensor.shape[0]; b++)
        for (int64_t h = 0; h < decay->tensor.shape[1]; h++)
            for (int64_t j = 0; j < shape[2]; j++)
                typed_set(decay, b, h, j, 0, typed_get(&given.tensor, 0, 0, j, 0));
    typed_t old = given;
    typed_destroy(&old);
    way_make(way, trial);
    return way_run(way);
}

/* The gradient of a decay that sequences and heads share is the sum of theirs, rounded once. */
static void shared_gates_have_sums(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    attn_problem_t problem = fixture_problem(3, 4, 20, 20, 5, 6);
    problem.kv_heads = 2;
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trials[2];
    way_back_t ways[2];
    attn_plan_t *plans[2];
    for (int i = 0; has_gradients(context) && i < 2; i++) {
        trials[i] = trial_of(context, &problem, ATTN_ORACLE_ELU1, ATTN_ORACLE_RULE_GATED, 1);
        trials[i].decay_by = DECAY_BY_HEAD;
        plans[i] = run_decays(&trials[i], &ways[i], i);
    }
    for (int64_t j = 0; has_gradients(context) && j < problem.keys; j++) {
        double sum = 0;
        for (int64_t b = 0; b < problem.batch; b++)
            for (int64_t h = 0; h < problem.kv_heads; h++)
                sum += typed_get(&ways[0].own[DECAY].tensor, b, h, j, 0);
        compare_number(typed_get(&ways[1].own[DECAY].tensor, 0, 0, j, 0), sum,
                       typed_rounding(ATTN_F32, sum), "gradient of decay",
                       (int64_t[4]){0, 0, j, 0});
    }
    for (int i = 0; has_gradients(context) && i < 2; i++) {
        way_drop(&ways[i]);
        trial_end(&trials[i], plans[i]);
    }
    attn_context_destroy(context);
}

/* Gates that let nothing through, and next to nothing: their own gradients are as small, beside large ones of others. */
static void closed_gates_have_small_gradients(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int rule = 0; has_gradients(context) && rule < RULES_COUNT; rule++) {
        if (!is_gated(rule)) continue;
        attn_problem_t problem = fixture_problem(1, 2, 75, 75, 9, 10);
        problem.causal = ATTN_CAUSAL_TOP_LEFT;
        trial_t trial = trial_of(context, &problem, ATTN_ORACLE_LIN, rule, 0);
        trial.decay_by = DECAY_BY_COLUMN;
        trial_make(&trial);
        for (int64_t j = 0; j < problem.keys; j += 5)
            for (int64_t c = 0; c < problem.dim; c++)
                typed_set(&trial.own[DECAY], 0, 0, j, c, (j + c) % 2 ? -(double)INFINITY : -30.0);
        hold(&trial);
    }
    attn_context_destroy(context);
}

/* ---- bits ------------------------------------------------------------------------------------------ */

static trial_t trial_of_sizes(const attn_context_t *context, int rule, int64_t queries,
                              int64_t keys) {
    attn_problem_t problem = fixture_problem(1, 4, queries, keys, 9, 10);
    problem.kv_heads = 2;
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    return trial_of(context, &problem, ATTN_ORACLE_ELU1, rule, !is_delta(rule));
}

static void expect_same(const way_back_t *a, const way_back_t *b) {
    typed_check_same(&a->query, &b->query, "gradient of query");
    typed_check_same(&a->key, &b->key, "gradient of key");
    typed_check_same(&a->value, &b->value, "gradient of value");
    for (int g = DECAY; g <= BETA; g++)
        if (a->own[g].block) typed_check_same(&a->own[g], &b->own[g], "gradient of a gate");
}

static void check_threads(int rule) {
    static const int threads[] = {1, 2, 5};
    trial_t trials[TEST_COUNT(threads)];
    way_back_t ways[TEST_COUNT(threads)];
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        attn_context_t *context = fixture_context(threads[i]);
        trials[i] = trial_of_sizes(context, rule, 301, 290);
        trials[i].decay_by = DECAY_FOR_ALL_KEYS;
        trial_make(&trials[i]);
        way_make(&ways[i], &trials[i]);
        if (has_gradients(context)) {
            attn_plan_t *plan = way_run(&ways[i]);
            free(trials[i].io.workspace);
            attn_plan_destroy(plan);
        }
        attn_context_destroy(context);
    }
    for (size_t i = 0; i < TEST_COUNT(threads); i++) {
        expect_same(&ways[0], &ways[i]);
        way_drop(&ways[i]);
        trial_drop(&trials[i]);
    }
}

static void threads_change_nothing(void **state) {
    (void)state;
    for (int rule = 0; rule < RULES_COUNT; rule++) check_threads(rule);
}

/* ---- what is hidden -------------------------------------------------------------------------------- */

static void poison(typed_t *array, int64_t head, int64_t row) {
    for (int64_t c = 0; c < array->tensor.shape[3]; c++)
        typed_set(array, 0, head, row, c, c % 2 ? NAN : (double)INFINITY);
}

/* A run whose keys from `from` on are hidden, by a length or by being behind the last query; dirty ones are not finite. */
static void run_hidden(const attn_context_t *context, int rule, int by_length, int dirty,
                       trial_t *trial, way_back_t *way) {
    enum { QUERIES = 70, KEYS = 130, LENGTH = 55 };
    const int64_t from = by_length ? LENGTH : QUERIES;
    *trial = trial_of_sizes(context, rule, QUERIES, KEYS);
    if (by_length) trial->problem.inputs = ATTN_INPUT_KV_LENGTHS;
    trial_make(trial);
    if (by_length) typed_set(&trial->lengths, 0, 0, 0, 0, (double)from);
    for (int64_t j = from; dirty && j < KEYS; j++)
        for (int64_t h = 0; h < 2; h++) {
            poison(&trial->key, h, j);
            poison(&trial->value, h, j);
            if (by_length && is_gated(rule)) poison(&trial->own[DECAY], h, j);
            if (by_length && is_delta(rule)) poison(&trial->own[BETA], h, j);
        }
    way_make(way, trial);
    attn_plan_t *plan = way_run(way);
    for (int64_t c = 0; c < trial->problem.dim; c++)
        assert_true(typed_get(&way->key.tensor, 0, 0, from, c) == 0);
    free(trial->io.workspace);
    attn_plan_destroy(plan);
}

/* Gradients have the bits that they have without. */
static void hidden_keys_leave_no_trace(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int rule = 0; has_gradients(context) && rule < RULES_COUNT; rule++)
        for (int by_length = 0; by_length < 2; by_length++) {
            trial_t trials[2];
            way_back_t ways[2];
            for (int dirty = 0; dirty < 2; dirty++)
                run_hidden(context, rule, by_length, dirty, &trials[dirty], &ways[dirty]);
            expect_same(&ways[0], &ways[1]);
            for (int dirty = 0; dirty < 2; dirty++)
                way_drop(&ways[dirty]), trial_drop(&trials[dirty]);
        }
    attn_context_destroy(context);
}

static int row_is_finite(const typed_t *array, int64_t head, int64_t row) {
    for (int64_t c = 0; c < array->tensor.shape[3]; c++)
        if (!isfinite(typed_get(&array->tensor, 0, head, row, c))) return 0;
    return 1;
}

/* A query that is not finite, or whose dL/dout is not, reaches its own gradient and its keys', no others. */
static void a_lost_query_is_its_own(void **state) {
    (void)state;
    enum { COUNT = 210, LOST = 120, HEAD = 1 };
    attn_context_t *context = fixture_context(1);
    for (int part = 0; has_gradients(context) && part < 2 * RULES_COUNT; part++) {
        const int of_out = part % 2;
        trial_t trial = trial_of_sizes(context, part / 2, COUNT, COUNT);
        way_back_t way;
        trial_make(&trial);
        way_make(&way, &trial);
        test_label("%s: lost %s", RULES[part / 2], of_out ? "dL/dout" : "query");
        poison(of_out ? &way.out : &trial.query, HEAD, LOST);
        attn_plan_t *plan = way_run(&way);
        for (int64_t h = 0; h < 4; h++)
            for (int64_t i = 0; i < COUNT; i++) {
                if (row_is_finite(&way.query, h, i) != (h != HEAD || i != LOST))
                    test_fail("gradient of query %" PRId64 " of head %" PRId64, i, h);
                if (row_is_finite(&way.value, h / 2, i) != (h / 2 != HEAD / 2 || i > LOST))
                    test_fail("gradient of value %" PRId64 " of head %" PRId64, i, h / 2);
                if (row_is_finite(&way.key, h / 2, i) != (h / 2 != HEAD / 2 || i > LOST))
                    test_fail("gradient of key %" PRId64 " of head %" PRId64, i, h / 2);
            }
        way_drop(&way);
        trial_end(&trial, plan);
    }
    attn_context_destroy(context);
}

/* ---- the oracle ------------------------------------------------------------------------------------ */

enum { TOKENS = 6, DIM = 3, VALUE_DIM = 2 };

/* L = dO . O of the only head, and the sum of its terms without signs. */
static double loss(const way_back_t *way, double *size) {
    const trial_t *trial = way->trial;
    double out[2 * TOKENS * VALUE_DIM], sum = 0;
    double *scratch =
        malloc((size_t)attn_oracle_linear_scratch(&trial->form, &trial->problem) * sizeof *scratch);
    assert_non_null(scratch);
    *size = 0;
    for (int64_t h = 0; h < 2; h++) {
        const attn_oracle_rows_t rows = {.out = out};
        attn_oracle_linear_head(&trial->form, &trial->problem, &trial->io, 0, h, &rows, scratch);
        for (int64_t i = 0; i < TOKENS; i++)
            for (int64_t c = 0; c < VALUE_DIM; c++) {
                const double term =
                    out[i * VALUE_DIM + c] * typed_get(&way->out.tensor, 0, h, i, c);
                if (isnan(term)) continue; /* no normaliser: zeros */
                sum += term, *size += fabs(term);
            }
    }
    free(scratch);
    return sum;
}

static double central(const way_back_t *way, double *x, double step, double *size) {
    const double kept = *x;
    *x = kept + step;
    const double up = loss(way, size);
    *x = kept - step;
    const double down = loss(way, size);
    *x = kept;
    return (up - down) / (2 * step);
}

/*
 * The error of a central difference is c h^2 + O(h^4): that of twice the step is four times as large, so that a
 * third of their difference is it (doubled for the O(h^4)). L itself rounds by a few hundred ulps of its terms
 * (as many as tokens and features), which the step divides.
 */
static void check_array(const way_back_t *way, attn_tensor_t *tensor, const attn_oracle_sum_t *sums,
                        const char *name) {
    const attn_tensor_t kept = *tensor;
    const int64_t *shape = kept.shape, count = shape[1] * shape[2] * shape[3];
    const double step = 0x1p-13;
    double *numbers = malloc((size_t)count * sizeof *numbers), size;
    assert_non_null(numbers);
    for (int64_t i = 0; i < count; i++)
        numbers[i] =
            typed_get(&kept, 0, i / (shape[2] * shape[3]), i / shape[3] % shape[2], i % shape[3]);
    *tensor = attn_tensor_bhnd(NULL, 1, shape[1], shape[2], shape[3]);
    tensor->data = numbers;
    tensor->dtype = ATTN_F64;
    for (int64_t i = 0; i < count; i++) {
        const double near = central(way, &numbers[i], step, &size);
        const double far = central(way, &numbers[i], 2 * step, &size);
        const double bound = 2 * fabs(far - near) / 3 + 500 * size * 0x1p-53 / step;
        compare_number(sums[i].value, near, bound, name, (int64_t[4]){0, 0, i, 0});
        assert_true(sums[i].absolute >= fabs(sums[i].value) * (1 - 0x1p-40));
    }
    *tensor = kept;
    free(numbers);
}

static void oracle_by_central_differences(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int rule = 0; rule < RULES_COUNT; rule++)
            for (int normalise = 0; normalise <= !is_delta(rule); normalise++) {
                attn_problem_t problem = fixture_problem(1, 2, TOKENS, TOKENS, DIM, VALUE_DIM);
                problem.kv_heads = 1;
                problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
                problem.scale = 0.75f;
                trial_t trial = trial_of(context, &problem, map, rule, normalise);
                way_back_t way;
                void *memory;
                trial.with_state = 1;
                trial.form.features = 5;
                trial.decay_by = map < ATTN_ORACLE_FAVOR ? DECAY_BY_COLUMN : DECAY_BY_HEAD;
                trial_make(&trial);
                way_make(&way, &trial);
                trial_label(&trial);
                const attn_oracle_linear_gradients_t to = way_oracle(&way, 0, 0, &memory);
                attn_tensor_t *const own[] = {&trial.own[DECAY].tensor, &trial.own[BETA].tensor,
                                              &trial.own[STATE].tensor, &trial.own[STATE_Z].tensor};
                check_array(&way, &trial.io.query, to.query, "dL/dq");
                check_array(&way, &trial.io.key, to.key, "dL/dk");
                check_array(&way, &trial.io.value, to.value, "dL/dv");
                if (is_gated(rule) && map < ATTN_ORACLE_FAVOR)
                    check_array(&way, own[0], to.decay, "dL/ddecay");
                if (is_delta(rule)) check_array(&way, own[1], to.beta, "dL/dbeta");
                check_array(&way, own[2], to.state, "dL/dS");
                if (normalise) check_array(&way, own[3], to.state_z, "dL/dz");
                free(memory);
                way_drop(&way);
                trial_drop(&trial);
            }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_forms), cmocka_unit_test(shared_gates_have_sums),
          cmocka_unit_test(closed_gates_have_small_gradients),
          cmocka_unit_test(threads_change_nothing), cmocka_unit_test(hidden_keys_leave_no_trace),
          cmocka_unit_test(a_lost_query_is_its_own),
          cmocka_unit_test(oracle_by_central_differences))
