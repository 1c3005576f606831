/*
 * linear: a row of the output that is not finite is counted, whatever made it so, in batches and streams. What a
 * test finds in the output is what the report has to say.
 */
#include "support/test.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 60, MANY = 400 /* a head is several tasks */, AT = 21, HEADS = 4 };

/* What makes rows of head 1 on infinite or NaN, from key or query AT on. */
enum { INFINITE_VALUE, NAN_QUERY, LARGE_VALUES, INFINITE_BETA, NAN_GATE, CAUSES };
static const char *const CAUSE_NAMES[] = {"an infinite value", "a query of NaN", "large values",
                                          "an infinite beta", "a gate of NaN"};

static int makes_sense(int cause, int rule) {
    if (cause == INFINITE_BETA) return is_delta(rule);
    return cause != NAN_GATE || rule != ATTN_ORACLE_RULE_LINEAR;
}

/* The largest numbers of their type, which only their mean does not leave. */
static double largest(attn_dtype_t dtype) { return dtype == ATTN_F16 ? 65504 : 0x1.fep127; }

static void plant(trial_t *trial, int cause) {
    const attn_problem_t *p = &trial->problem;
    const int gate = is_delta(trial->form.rule) ? BETA : DECAY;
    for (int64_t c = 0; cause == NAN_QUERY && c < p->dim; c++)
        typed_set(&trial->query, 0, 1, AT, c, NAN);
    if (cause == INFINITE_VALUE)
        typed_set(&trial->value, 0, 1, AT, p->value_dim - 1, -(double)INFINITY);
    for (int64_t j = AT; cause == LARGE_VALUES && j < p->keys; j++)
        typed_set(&trial->value, 0, 1, j, 2, largest(p->dtype));
    if (cause == INFINITE_BETA) typed_set(&trial->own[BETA], 0, 1, AT, 0, INFINITY);
    if (cause == NAN_GATE) typed_set(&trial->own[gate], 0, 1, AT, 0, NAN);
}

/* Positive queries and keys, whose normalisers are none that drown. */
static void make_positive(typed_t *array, const attn_problem_t *p, int64_t heads) {
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = 0; i < p->queries; i++)
            for (int64_t c = 0; c < p->dim; c++)
                typed_set(array, 0, h, i, c, fabs(typed_get(&array->tensor, 0, h, i, c)));
}

static int64_t rows_not_finite(const attn_tensor_t *out) {
    int64_t count = 0;
    for (int64_t h = 0; h < out->shape[1]; h++)
        for (int64_t i = 0; i < out->shape[2]; i++) {
            int is_finite = 1;
            for (int64_t c = 0; c < out->shape[3]; c++)
                is_finite &= isfinite(typed_get(out, 0, h, i, c)) != 0;
            count += !is_finite;
        }
    return count;
}

static trial_t draw(const attn_context_t *context, int map, int rule, int normalise, int64_t length,
                    uint64_t number) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16};
    attn_problem_t problem = fixture_problem(1, HEADS, length, length, 5, number % 2 ? 32 : 9);
    problem.kv_heads = 2;
    problem.causal = rule || fixture_draw(2 * number, 2) ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE;
    problem.dtype = problem.kv_dtype = types[fixture_draw(2 * number + 1, 3)];
    trial_t trial = trial_of(context, &problem, map, rule, normalise);
    trial.decay_by = DECAY_BY_HEAD;
    return trial;
}

/* Positive numbers and what a test plants among them. */
static void make(trial_t *trial, int cause) {
    trial_make(trial);
    make_positive(&trial->query, &trial->problem, HEADS);
    make_positive(&trial->key, &trial->problem, 2);
    plant(trial, cause);
    trial_label(trial);
}

static void check_batch(trial_t *trial, int cause) {
    attn_plan_t *plan = trial_run(trial);
    const int64_t lost = rows_not_finite(&trial->out.tensor);
    const int is_sum = trial->form.rule == ATTN_ORACLE_RULE_LINEAR && !trial->form.normalise;
    if (cause != LARGE_VALUES || is_sum) assert_true(lost > 0);
    if (trial->report.degenerate_rows != lost)
        test_fail("%s: %lld rows are not finite, %lld are reported", CAUSE_NAMES[cause],
                  (long long)lost, (long long)trial->report.degenerate_rows);
    free(trial->io.workspace);
    attn_plan_destroy(plan);
}

/* Queries of the last append, `queries` of them. */
static void check_query(const trial_t *trial, attn_stream_t *stream, int64_t length,
                        int64_t queries, int cause) {
    attn_report_t report = {.struct_size = sizeof report};
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = trial_rows(&trial->query.tensor, length - queries, queries),
                          .out = trial_rows(&trial->out.tensor, length - queries, queries),
                          .report = &report};
    attn_error_t error = {0};
    if (attn_stream_query(stream, &io, &error) != ATTN_OK) test_fail("%s", error.message);
    const int64_t lost = rows_not_finite(&io.out);
    if (report.degenerate_rows != lost)
        test_fail("%s, stream of %lld: %lld rows are not finite, %lld are reported",
                  CAUSE_NAMES[cause], (long long)length, (long long)lost,
                  (long long)report.degenerate_rows);
}

static void check_stream(const trial_t *trial, int cause) {
    static const int64_t pieces[] = {1, 1, 20, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1};
    char settings[160];
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    if (fixture_try_stream(trial->context, "linear", &trial->problem,
                           trial_settings(trial, settings), FEW, &stream, &error) != ATTN_OK)
        test_fail("%s", error.message);
    int64_t length = 0;
    for (size_t i = 0; i < TEST_COUNT(pieces); i++) {
        if (trial_append(trial, stream, length, pieces[i], &error) != ATTN_OK)
            test_fail("%s", error.message);
        length += pieces[i];
        check_query(trial, stream, length, 1, cause);
        if (pieces[i] > 1) check_query(trial, stream, length, pieces[i], cause);
    }
    attn_stream_destroy(stream);
}

static void batches_and_streams(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    uint64_t number = 0;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int rule = 0; rule < RULES_COUNT; rule++)
            for (int normalise = 0; normalise <= !is_delta(rule); normalise++)
                for (int cause = 0; cause < CAUSES; cause++, number++) {
                    if (!makes_sense(cause, rule) || !test_takes_case()) continue;
                    trial_t trial = draw(context, map, rule, normalise, FEW, number);
                    make(&trial, cause);
                    check_batch(&trial, cause);
                    check_stream(&trial, cause);
                    trial_drop(&trial);
                }
    attn_context_destroy(context);
}

static void parts_of_heads(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(3);
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int normalise = 0; normalise < 2; normalise++)
            for (int cause = 0; cause <= LARGE_VALUES; cause++) {
                if (!test_takes_case()) continue;
                trial_t trial = draw(context, map, ATTN_ORACLE_RULE_LINEAR, normalise, MANY,
                                     (uint64_t)(3 * map + cause));
                make(&trial, cause);
                check_batch(&trial, cause);
                trial_drop(&trial);
            }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(batches_and_streams), cmocka_unit_test(parts_of_heads))
