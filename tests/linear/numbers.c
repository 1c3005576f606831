/* linear: many tokens, gates at their ends, and bad input. */
#include "support/test.h"
#include "trial.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One query at the end of so many keys: the oracle's cost is then that of the keys. */
static trial_t long_trial(const attn_context_t *context, int64_t keys, int64_t dim, int map,
                          int rule, int normalise) {
    attn_problem_t problem = fixture_problem(1, 1, 1, keys, dim, dim);
    problem.causal = rule ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
    return trial_of(context, &problem, map, rule, normalise);
}

static void finish(trial_t *trial) {
    trial_label(trial);
    attn_plan_t *plan = trial_run(trial);
    assert_int_equal(trial_compare(trial), 0);
    assert_int_equal(trial->report.degenerate_rows, 0);
    trial_end(trial, plan);
}

static void a_million_tokens(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    static const int maps[] = {ATTN_ORACLE_ELU1, ATTN_ORACLE_RELU2};
    for (int rule = 0; rule < 2; rule++) {
        if (!test_takes_case()) continue;
        trial_t trial = long_trial(context, 1000000, 3, maps[rule], rule, 1);
        trial_make(&trial);
        finish(&trial);
    }
    attn_context_destroy(context);
}

/* Decays from nothing to all at once, over so many tokens that their product is 0. */
static void products_of_decays(void **state) {
    (void)state;
    static const double decays[] = {0, -1e-7, -0.01, -3, -60, -90, -200, (double)-INFINITY};
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i <= TEST_COUNT(decays); i++) {
        if (!test_takes_case()) continue;
        trial_t trial = long_trial(context, 65536, 2, ATTN_ORACLE_ELU1, ATTN_ORACLE_RULE_GATED, 1);
        trial_make(&trial);
        for (int64_t j = 0; j < 65536; j++)
            for (int64_t k = 0; k < 2; k++) /* the last time all of them in turn */
                typed_set(
                    &trial.own[DECAY], 0, 0, j, k,
                    decays[i < TEST_COUNT(decays) ? i : (size_t)(j / 3 + k) % TEST_COUNT(decays)]);
        finish(&trial);
    }
    attn_context_destroy(context);
}

/* What the only row may be off by is less than a twentieth of it, however many tokens there were. */
static void bound_is_small(const trial_t *trial) {
    enum { COLUMNS = 8 };
    const int64_t size = attn_oracle_linear_scratch(&trial->form, &trial->problem);
    double out[COLUMNS], bound[COLUMNS], *scratch = malloc((size_t)size * sizeof *scratch);
    double most = 0, allowed = 0;
    const attn_oracle_rows_t rows = {.out = out, .out_bound = bound};
    assert_non_null(scratch);
    attn_oracle_linear_head(&trial->form, &trial->problem, &trial->io, 0, 0, &rows, scratch);
    for (int64_t c = 0; c < COLUMNS; c++) {
        most = fmax(most, fabs(out[c]));
        allowed = fmax(allowed, bound[c]);
    }
    assert_true(allowed < most / 20);
    free(scratch);
}

/*
 * Keys of length 1 and beta between 0 and 2: what is there is never made larger, and since keys point everywhere it
 * is forgotten within some dozens of tokens, errors as all else (core/oracle/linear.c).
 */
static void delta_stays_stable(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int rule = ATTN_ORACLE_RULE_DELTA; rule < RULES_COUNT; rule++) {
        if (!test_takes_case()) continue;
        trial_t trial = long_trial(context, 65536, 8, ATTN_ORACLE_LIN, rule, 0);
        trial_make(&trial);
        for (int64_t j = 0; j < 65536; j++) {
            double square = 0;
            for (int64_t k = 0; k < 8; k++)
                square += pow(typed_get(&trial.key.tensor, 0, 0, j, k), 2);
            for (int64_t k = 0; k < 8; k++)
                typed_set(&trial.key, 0, 0, j, k,
                          typed_get(&trial.key.tensor, 0, 0, j, k) / sqrt(square));
            typed_set(&trial.own[BETA], 0, 0, j, 0,
                      2 * (double)fixture_draw((uint64_t)j, 10000) / 10000);
        }
        bound_is_small(&trial);
        finish(&trial);
    }
    attn_context_destroy(context);
}

/* A gate that is no number: NaN from there on, in its head alone, and every such row is counted. */
static void nan_gates_poison_their_head(void **state) {
    (void)state;
    enum { N = 40, AT = 17 };
    attn_context_t *context = fixture_context(1);
    for (int rule = 1; rule < RULES_COUNT; rule++)
        for (int normalise = 0; normalise <= !is_delta(rule); normalise++)
            for (int gate = DECAY; gate <= BETA; gate++) {
                if (gate == DECAY ? !is_gated(rule) : !is_delta(rule)) continue;
                attn_problem_t problem = fixture_problem(1, 4, N, N, 6, 5);
                problem.kv_heads = 2;
                problem.causal = ATTN_CAUSAL_TOP_LEFT;
                trial_t trial = trial_of(context, &problem, ATTN_ORACLE_ELU1, rule, normalise);
                trial_make(&trial);
                trial_label(&trial);
                for (int64_t c = 0; c < trial.tensors[gate]->shape[3]; c++)
                    typed_set(&trial.own[gate], 0, 1, AT, c, NAN);
                attn_plan_t *plan = trial_run(&trial);
                trial_compare(&trial);
                for (int64_t h = 0; h < 4; h++)
                    for (int64_t i = 0; i < N; i++)
                        for (int64_t c = 0; c < 5; c++)
                            assert_true(isnan(typed_get(&trial.out.tensor, 0, h, i, c)) ==
                                        (h >= 2 && i >= AT));
                assert_int_equal(trial.report.degenerate_rows, 2 * (N - AT));
                trial_end(&trial, plan);
            }
    attn_context_destroy(context);
}

/* Keys of 1 in all columns, and in head 1 values of which float can add two. */
static void make_overflow(trial_t *trial, int64_t first, int64_t count) {
    static const double decays[] = {0, -1e-6, -0.02, -0.05};
    for (int64_t h = 0; h < 2; h++)
        for (int64_t j = 0; j < trial->problem.keys; j++)
            for (int64_t k = 0; k < 4; k++) {
                typed_set(&trial->query, 0, h, j, k, 0.25);
                typed_set(&trial->key, 0, h, j, k, 1);
                if (h == 1 && j >= first && j < first + count)
                    typed_set(&trial->value, 0, h, j, k, 0x1.8p126);
                if (is_gated(trial->form.rule))
                    typed_set(&trial->own[DECAY], 0, h, j, k, decays[k]);
            }
}

/* A state beyond float's numbers stays so, in its head alone, whatever it keeps of itself later. */
static void sums_without_end_stay_infinite(void **state) {
    (void)state;
    enum { N = 100, AT = 20 };
    attn_context_t *context = fixture_context(1);
    for (int rule = 0; rule < RULES_COUNT; rule++) {
        attn_problem_t problem = fixture_problem(1, 2, N, N, 4, 4);
        problem.causal = ATTN_CAUSAL_TOP_LEFT;
        trial_t trial = trial_of(context, &problem, ATTN_ORACLE_LIN, rule, 0);
        trial_make(&trial);
        trial_label(&trial);
        make_overflow(&trial, AT, 4);
        attn_plan_t *plan = trial_run(&trial);
        for (int64_t i = 0; i < N; i++)
            for (int64_t c = 0; c < 4; c++) {
                const double found = typed_get(&trial.out.tensor, 0, 1, i, c);
                assert_true(isfinite(typed_get(&trial.out.tensor, 0, 0, i, c)));
                if (!is_delta(rule))
                    assert_true(isinf(found) == (i > AT + 1) && !isnan(found));
                else if (i <= AT)
                    assert_true(isfinite(found));
            }
        trial_end(&trial, plan);
    }
    attn_context_destroy(context);
}

/*
 * A decay of -inf leaves nothing of any finite state, as large as it may be; of what is infinite it makes NaN, as
 * 0 times that is: in its column of values alone. Such rows are counted.
 */
static void forgetting_is_zero_times(void **state) {
    (void)state;
    enum { N = 40, AT = 17, RESET = 21 };
    static const double values[] = {0x1p127, (double)INFINITY};
    attn_context_t *context = fixture_context(1);
    for (int normalise = 0; normalise < 2; normalise++)
        for (size_t v = 0; v < TEST_COUNT(values); v++) {
            attn_problem_t problem = fixture_problem(1, 2, N, N, 4, 5);
            problem.causal = ATTN_CAUSAL_TOP_LEFT;
            trial_t trial =
                trial_of(context, &problem, ATTN_ORACLE_ELU1, ATTN_ORACLE_RULE_GATED, normalise);
            trial_make(&trial);
            trial_label(&trial);
            for (int64_t k = 0; k < 4; k++) {
                typed_set(&trial.query, 0, 1, AT, k, -8); /* its sums are finite */
                typed_set(&trial.key, 0, 1, AT, k, -2);
                typed_set(&trial.own[DECAY], 0, 1, RESET, k, -(double)INFINITY);
            }
            typed_set(&trial.value, 0, 1, AT, 1, values[v]);
            attn_plan_t *plan = trial_run(&trial);
            for (int64_t h = 0; h < 2; h++)
                for (int64_t i = RESET; i < N; i++)
                    for (int64_t c = 0; c < 5; c++) {
                        const double found = typed_get(&trial.out.tensor, 0, h, i, c);
                        const int is_lost = h == 1 && c == 1 && isinf(values[v]);
                        assert_true(is_lost ? isnan(found) : fabs(found) < 0x1p20);
                    }
            assert_int_equal(trial.report.degenerate_rows, isinf(values[v]) ? N - AT : 0);
            trial_end(&trial, plan);
        }
    attn_context_destroy(context);
}

/* Rows whose normaliser has no reciprocal in float are zeros, and NaN where it is infinite; all are counted. */
static void normalisers_without_reciprocal(void **state) {
    (void)state;
    static const double sizes[] = {0x1p-67, 0x1p-64, 0, 0x1p66};
    attn_context_t *context = fixture_context(1);
    for (int rule = 0; rule < 2; rule++)
        for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
            attn_problem_t problem = fixture_problem(1, 2, 3, 3, 1, 16);
            problem.causal = ATTN_CAUSAL_TOP_LEFT;
            trial_t trial = trial_of(context, &problem, ATTN_ORACLE_RELU, rule, 1);
            trial_make(&trial);
            trial_label(&trial);
            for (int64_t h = 0; h < 2; h++)
                for (int64_t i = 0; i < 3; i++) {
                    typed_set(&trial.query, 0, h, i, 0, sizes[s]);
                    typed_set(&trial.key, 0, h, i, 0, sizes[s]);
                    typed_set(&trial.value, 0, h, i, 1, INFINITY);
                }
            attn_plan_t *plan = trial_run(&trial);
            assert_int_equal(trial.report.degenerate_rows, 6);
            for (int64_t h = 0; h < 2; h++)
                for (int64_t i = 0; i < 3; i++)
                    for (int64_t c = 0; c < 16; c++) {
                        const double found = typed_get(&trial.out.tensor, 0, h, i, c);
                        assert_true(sizes[s] > 1 ? isnan(found) : found == 0);
                    }
            trial_end(&trial, plan);
        }
    attn_context_destroy(context);
}

static void plans_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *settings, *words;
        int causal, own;
        attn_status_t status;
    } cases[] = {
        {"rule=linear2", "rule|linear2|gated_delta", 1, 0, ATTN_ERROR_RANGE},
        {"feature_map=cosine", "feature_map|cosine|taylor2", 1, 0, ATTN_ERROR_RANGE},
        {"feature_map=favor,features=0", "features|0", 1, 0, ATTN_ERROR_RANGE},
        {"rule=gated", "gated|causal", 0, 1 << DECAY, ATTN_ERROR_UNSUPPORTED},
        {"rule=delta", "delta|causal", 0, 1 << BETA, ATTN_ERROR_UNSUPPORTED},
        {"rule=gated", "gated|decay", 1, 0, ATTN_ERROR_ARGUMENT},
        {"rule=delta", "delta|beta", 1, 0, ATTN_ERROR_ARGUMENT},
        {"rule=gated_delta", "gated_delta|beta", 1, 1 << DECAY, ATTN_ERROR_ARGUMENT},
        {"rule=delta,normaliser=on", "delta|normaliser", 1, 1 << BETA, ATTN_ERROR_UNSUPPORTED},
        {"rule=linear", "linear|decay", 1, 1 << DECAY, ATTN_ERROR_ARGUMENT},
        {"rule=gated", "gated|beta", 1, 1 << DECAY | 1 << BETA, ATTN_ERROR_ARGUMENT},
        {"rule=linear,retnet=1", "retnet|gated", 1, 0, ATTN_ERROR_ARGUMENT},
        {"rule=delta,retnet=1", "retnet|gated", 1, 1 << BETA, ATTN_ERROR_ARGUMENT},
        {"rule=gated,retnet=1", "retnet|array decay", 1, 1 << DECAY, ATTN_ERROR_ARGUMENT},
        {"rule=linear", "state|state_z", 1, 1 << STATE, ATTN_ERROR_ARGUMENT},
        {"rule=linear,normaliser=off", "state_z|normaliser", 1, 1 << STATE | 1 << STATE_Z,
         ATTN_ERROR_ARGUMENT},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        attn_problem_t problem = fixture_problem(1, 1, 4, 4, 3, 3);
        problem.causal = cases[i].causal;
        problem.own_inputs = (uint32_t)cases[i].own;
        test_label("%s, own 0x%x", cases[i].settings, problem.own_inputs);
        fixture_refuse_plan(context, "linear", &problem, cases[i].settings, cases[i].status,
                            cases[i].words);
    }
    attn_context_destroy(context);
}

/* States that no memory holds, also where counting their numbers overflows. */
static void large_states_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *settings;
        int64_t dim, value_dim;
    } cases[] = {
        {"feature_map=taylor2", (int64_t)1 << 24, 1 << 20},
        {"feature_map=taylor2", (int64_t)1 << 33, 1},
        {"feature_map=taylor2", (int64_t)1 << 50, 1},
        {"feature_map=taylor2", (int64_t)1 << 30, 64},
        {"feature_map=elu1", (int64_t)1 << 33, (int64_t)1 << 33},
        {"feature_map=lin", (int64_t)1 << 40, (int64_t)1 << 28},
        {"feature_map=favor", 8, (int64_t)1 << 55},
    };
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        const attn_problem_t problem =
            fixture_problem(1, 1, 1, 1, cases[i].dim, cases[i].value_dim);
        /* Where addresses have 32 bits, a row of some of these arrays is too long by itself. */
        const int is_long = cases[i].dim > PTRDIFF_MAX / 4 || cases[i].value_dim > PTRDIFF_MAX / 4;
        test_label("%s %zu", cases[i].settings, i);
        fixture_refuse_plan(context, "linear", &problem, cases[i].settings,
                            is_long ? ATTN_ERROR_SHAPE : ATTN_ERROR_MEMORY,
                            is_long ? "" : "linear|state|memory");
    }
    attn_context_destroy(context);
}

/* What only a run's arrays tell, also one of weights. */
static void runs_are_refused(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 9, 9, 3, 3);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trial = trial_of(context, &problem, ATTN_ORACLE_TAYLOR2, ATTN_ORACLE_RULE_GATED, 1);
    trial.with_state = 1;
    trial.decay_by = DECAY_BY_HEAD;
    trial_make(&trial);
    trial_label(&trial);
    attn_plan_t *plan = trial_run(&trial);
    attn_error_t error = {0};
    float rows[9];

    typed_set(&trial.own[DECAY], 0, 1, 4, 0, 0.5);
    typed_set(&trial.out, 0, 0, 8, 2, 77); /* of a head whose decays are right */
    typed_set(&trial.own[STATE_OUT], 0, 0, 3, 1, 77);
    fixture_expect(attn_run(plan, &trial.io, &error), &error, ATTN_ERROR_RANGE,
                   "decay|head 1|key 4|above 0");
    assert_true(typed_get(&trial.out.tensor, 0, 0, 8, 2) == 77);
    assert_true(typed_get(trial.tensors[STATE_OUT], 0, 0, 3, 1) == 77);
    rows[8] = 77;
    fixture_expect(attn_weights(plan, &trial.io, 0, 1, 8, 1, rows, 9, &error), &error,
                   ATTN_ERROR_RANGE, "decay|head 1|key 4|above 0");
    assert_true(rows[8] == 77);
    typed_set(&trial.own[DECAY], 0, 1, 4, 0, -0.5);

    attn_tensor_t wide = *trial.tensors[DECAY], state_in = *trial.tensors[STATE];
    wide.shape[3] = 3;
    wide.stride[3] = 0;
    trial.tensors[DECAY] = &wide;
    fixture_expect(attn_run(plan, &trial.io, &error), &error, ATTN_ERROR_SHAPE,
                   "decay|taylor2|10 features");
    fixture_expect(attn_weights(plan, &trial.io, 0, 1, 8, 1, rows, 9, &error), &error,
                   ATTN_ERROR_SHAPE, "decay|taylor2|10 features");
    trial.tensors[DECAY] = &trial.own[DECAY].tensor;

    state_in.shape[2] = 3;
    trial.tensors[STATE] = &state_in;
    fixture_expect(attn_run(plan, &trial.io, &error), &error, ATTN_ERROR_SHAPE,
                   "state|3|(1, 2, 10, 3)");
    trial.tensors[STATE] = &trial.own[STATE].tensor;
    assert_int_equal(attn_run(plan, &trial.io, &error), ATTN_OK);
    trial_end(&trial, plan);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(a_million_tokens), cmocka_unit_test(products_of_decays),
          cmocka_unit_test(delta_stays_stable), cmocka_unit_test(nan_gates_poison_their_head),
          cmocka_unit_test(sums_without_end_stay_infinite),
          cmocka_unit_test(forgetting_is_zero_times),
          cmocka_unit_test(normalisers_without_reciprocal), cmocka_unit_test(plans_are_refused),
          cmocka_unit_test(large_states_are_refused), cmocka_unit_test(runs_are_refused))
