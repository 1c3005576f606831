/*
 * linear: sums over very many tokens stay as good as float numbers are, whatever came in: bounds that do not know how
 * many tokens there were.
 */
#include "support/compare.h"
#include "support/test.h"
#include "trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * All terms are of one sign. In units of 2^-24 of the sum: a term is a product. Of the plain rule up to 96 of them are
 * summed up by themselves. Where states decay these are 12, each of which is one of up to 12 decays, 3 off; and before
 * they join the sum this decays by a factor that 12 additions and a polynomial find, 18. The sum is a compensated one,
 * 2 off. Last come the few features of the query. A normaliser is such a sum as well; dividing by it takes two
 * roundings.
 */
static const double PLAIN = (1 + 96 + 2 + 8) * 0x1p-24;
static const double DECAYS = (1 + 12 + 12 * 3 + 18 + 2 + 8) * 0x1p-24;
static const double DIVISION = 2 * 0x1p-24;

/*
 * A delta rule is held by what its keys find, which are here all the same key, and its values nearly so. With
 * r = beta |k|^2 = 0.735 a state that is off by e is off by (1 - r) e a token later, and as good as 0 a step later;
 * a find that is off by f moves it by r f a token, by f in the long run. A find is a sum of 3 products, 1 for what it is
 * taken from, 2 for the corrections that the step's tokens before it made: up to 12 of them, a thousandth of the value
 * each, that passed up to 52 roundings. With decays it is off by up to 12 of these, too, 3 each, and the state's own by
 * 18. The sum is a compensated one, 2 off, and last come the features of the query.
 */
static const double DELTA = (3 + 1 + 2 + 2 + 8) * 0x1p-24;
static const double DELTA_DECAYS = (3 + 1 + 2 + 12 * 3 + 18 + 2 + 8) * 0x1p-24;

typedef struct long_sum {
    int rule;
    int64_t tokens;
    double noise; /* of keys, if they are not the same, and values beside a constant */
    double decay;
    int normalise, causal; /* rules that are not the plain one are causal */
} long_sum_t;

enum {
    PLAIN_RULE = ATTN_ORACLE_RULE_LINEAR,
    GATED = ATTN_ORACLE_RULE_GATED,
    CORRECTED = ATTN_ORACLE_RULE_DELTA,
    BOTH = ATTN_ORACLE_RULE_GATED_DELTA,
    MILLION = 1000000
};

static const long_sum_t SUMS[] = {
    {PLAIN_RULE, MILLION, 0, 0, 0, 0},   {PLAIN_RULE, 200000, 1e-3, 0, 0, 0},
    {PLAIN_RULE, MILLION, 0, 0, 1, 0},   {PLAIN_RULE, MILLION, 1e-3, 0, 1, 1},
    {GATED, MILLION, 0, 0, 0, 1},        {GATED, MILLION, 1e-3, -1e-8, 1, 1},
    {GATED, 65536, 1e-3, -1e-6, 0, 1},   {GATED, 65536, 0, -1e-4, 0, 1},
    {GATED, 65536, 0, -3e-2, 0, 1},      {GATED, 65536, 1e-3, -2, 0, 1},
    {CORRECTED, MILLION, 1e-3, 0, 0, 1}, {BOTH, MILLION, 1e-3, 0, 0, 1},
    {BOTH, 65536, 1e-3, -1e-6, 0, 1},    {BOTH, 65536, 1e-3, -1e-4, 0, 1},
};

static double bound_of(const long_sum_t *sum) {
    if (is_delta(sum->rule)) return is_gated(sum->rule) ? DELTA_DECAYS : DELTA;
    const double one = is_gated(sum->rule) ? DECAYS : PLAIN;
    return sum->normalise ? 2 * one + DIVISION : one;
}

static void set_all(typed_t *array, double value, double noise) {
    const attn_tensor_t *tensor = &array->tensor;
    for (int64_t j = 0; j < tensor->shape[2]; j++)
        for (int64_t c = 0; c < tensor->shape[3]; c++)
            typed_set(array, 0, 0, j, c, value * (1 + noise * fabs(typed_get(tensor, 0, 0, j, c))));
}

/* One query behind all tokens, which sees a sum of terms that are all above 0. */
static void make_sum(trial_t *trial, const attn_context_t *context, const long_sum_t *sum) {
    attn_problem_t problem = fixture_problem(1, 1, 1, sum->tokens, 3, 2);
    problem.causal = sum->causal ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
    *trial = trial_of(context, &problem, ATTN_ORACLE_LIN, sum->rule, sum->normalise);
    trial_make(trial);
    set_all(&trial->query, 0.9, 0);
    set_all(&trial->key, 0.7, is_delta(sum->rule) ? 0 : sum->noise);
    set_all(&trial->value, 0.3, sum->noise);
    if (is_gated(sum->rule)) set_all(&trial->own[DECAY], sum->decay, 0);
    if (is_delta(sum->rule)) set_all(&trial->own[BETA], 0.5, 0);
    test_label("%s, %" PRId64 " tokens, noise %g, decay %g, normaliser %d, causal %d",
               RULES[sum->rule], sum->tokens, sum->noise, sum->decay, sum->normalise, sum->causal);
}

static void compare(const trial_t *trial, double bound) {
    const int64_t size = attn_oracle_linear_scratch(&trial->form, &trial->problem);
    double out[2], *scratch = malloc((size_t)size * sizeof *scratch);
    const attn_oracle_rows_t rows = {.out = out};
    assert_non_null(scratch);
    attn_oracle_linear_head(&trial->form, &trial->problem, &trial->io, 0, 0, &rows, scratch);
    for (int64_t c = 0; c < 2; c++)
        compare_number(typed_get(&trial->out.tensor, 0, 0, 0, c), out[c], bound * out[c], "out",
                       (int64_t[4]){0, 0, 0, c});
    free(scratch);
}

static void sums_do_not_drift(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(SUMS); i++) {
        if (!test_takes_case()) continue;
        trial_t trial;
        make_sum(&trial, context, &SUMS[i]);
        attn_plan_t *plan = trial_run(&trial);
        compare(&trial, bound_of(&SUMS[i]));
        trial_end(&trial, plan);
    }
    attn_context_destroy(context);
}

/* One query of the stream, to the trial's output. */
static void ask(const trial_t *trial, attn_stream_t *stream) {
    const attn_io_t io = {
        .struct_size = sizeof io, .query = trial->query.tensor, .out = trial->out.tensor};
    attn_error_t error;
    if (attn_stream_query(stream, &io, &error) != ATTN_OK) test_fail("query: %s", error.message);
}

/* The same of tokens that come one by one. */
static void streams_do_not_drift(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(SUMS); i++) {
        if (!test_takes_case()) continue;
        trial_t trial;
        make_sum(&trial, context, &SUMS[i]);
        attn_stream_t *stream = NULL;
        attn_error_t error = {0};
        char settings[160];
        if (fixture_try_stream(context, "linear", &trial.problem, trial_settings(&trial, settings),
                               SUMS[i].tokens, &stream, &error) != ATTN_OK)
            test_fail("attn_stream_create: %s", error.message);
        for (int64_t j = 0; j < SUMS[i].tokens; j++) {
            if (trial_append(&trial, stream, j, 1, &error) != ATTN_OK)
                test_fail("append: %s", error.message);
            if (j % 2000 < 20) ask(&trial, stream);
        }
        ask(&trial, stream);
        compare(&trial, bound_of(&SUMS[i]));
        attn_stream_destroy(stream);
        trial_drop(&trial);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(sums_do_not_drift), cmocka_unit_test(streams_do_not_drift))
