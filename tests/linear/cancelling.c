/*
 * linear: rows whose normaliser is no more than rounding alone could have left of its terms are counted, and no
 * others: by rules in batches, token by token, and in streams of any pieces. All sums here are exact in float, so that
 * which rows these are depends on nothing but |sum| <= eps sqrt(keys + features) sum of |terms|.
 */
#include "support/test.h"
#include "trial.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { N = 90, RESET = 41, FIRST = 16 /* keys before a sum is small */ };

/* Keys are whole numbers of these, and sums, up to that of 12 keys of 1, have no more digits than float. */
static const double UNIT = 0x1p-19;

static double drowned(int64_t seen, double absolute) {
    return (double)FLT_EPSILON * sqrt((double)seen + 1) * absolute; /* of one feature */
}

/*
 * What key number `place` leaves of the sum. Eight add up to 8, eight take it away, and then each second one does: by
 * turns but for one unit, a quarter of what drowns after 16 keys and less later, and but for eight times what drowns.
 */
static double target(int64_t place, int64_t seen) {
    if (place < FIRST / 2) return (double)(place + 1);
    if (place < FIRST - 1) return (double)(FIRST - 1 - place);
    if (place % 2 == 0) return 1;
    return place / 2 % 2 ? UNIT : ceil(8 * drowned(seen, (double)place) / UNIT) * UNIT;
}

/* Queries of 1, so that keys are the terms; those of head 1 are all 1. With `forgets` it begins anew at RESET. */
static void make(trial_t *trial, const attn_context_t *context, int rule, int forgets,
                 int is_counted[N]) {
    attn_problem_t problem = fixture_problem(1, 2, N, N, 1, 3);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    *trial = trial_of(context, &problem, ATTN_ORACLE_LIN, rule, 1);
    trial_make(trial);
    trial_label(trial);
    double sum = 0, absolute = 0;
    for (int64_t j = 0; j < N; j++) {
        const int is_reset = forgets && j == RESET;
        const int64_t place = forgets && j >= RESET ? j - RESET : j;
        if (is_reset) sum = absolute = 0;
        const double key = target(place, j + 1) - sum;
        sum += key;
        absolute += fabs(key);
        is_counted[j] = fabs(sum) <= drowned(j + 1, absolute);
        assert_true(fabs(sum) < drowned(j + 1, absolute) / 2 ||
                    fabs(sum) > drowned(j + 1, absolute) * 2);
        for (int64_t h = 0; h < 2; h++) {
            typed_set(&trial->query, 0, h, j, 0, 1);
            typed_set(&trial->key, 0, h, j, 0, h ? 1 : key);
            if (rule) typed_set(&trial->own[DECAY], 0, h, j, 0, is_reset ? -(double)INFINITY : 0);
        }
    }
}

static void check_stream(const trial_t *trial, const int is_counted[N], int64_t largest) {
    char settings[160];
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    if (fixture_try_stream(trial->context, "linear", &trial->problem,
                           trial_settings(trial, settings), N, &stream, &error) != ATTN_OK)
        test_fail("%s", error.message);
    for (int64_t length = 0, last = 0; length < N;) {
        const int64_t left = N - length, drawn = 1 + fixture_draw((uint64_t)length, largest);
        const int64_t first = length, count = drawn < left ? drawn : left;
        if (trial_append(trial, stream, first, count, &error) != ATTN_OK)
            test_fail("%s", error.message);
        length += count;
        for (int64_t queries = 1; queries <= count; queries += count > 1 ? count - 1 : 1) {
            attn_report_t report = {.struct_size = sizeof report};
            const attn_io_t io = {.struct_size = sizeof io,
                                  .query =
                                      trial_rows(&trial->query.tensor, length - queries, queries),
                                  .out = trial_rows(&trial->out.tensor, length - queries, queries),
                                  .report = &report};
            last = 0;
            for (int64_t i = length - queries; i < length; i++) last += is_counted[i];
            if (attn_stream_query(stream, &io, &error) != ATTN_OK) test_fail("%s", error.message);
            if (report.degenerate_rows != last)
                test_fail("%lld of the last %lld of %lld rows are counted, not %lld",
                          (long long)report.degenerate_rows, (long long)queries, (long long)length,
                          (long long)last);
        }
    }
    attn_stream_destroy(stream);
}

static void rows_that_drown_are_counted(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int rule = 0; rule <= ATTN_ORACLE_RULE_GATED; rule++)
        for (int forgets = 0; forgets <= (rule == ATTN_ORACLE_RULE_GATED); forgets++) {
            int is_counted[N];
            int64_t count = 0;
            trial_t trial;
            make(&trial, context, rule, forgets, is_counted);
            for (int64_t i = 0; i < N; i++) count += is_counted[i];
            assert_true(count > 10);
            attn_plan_t *plan = trial_run(&trial);
            assert_int_equal(trial.report.degenerate_rows, count);
            check_stream(&trial, is_counted, 1);
            check_stream(&trial, is_counted, 5);
            check_stream(&trial, is_counted, 30);
            trial_end(&trial, plan);
        }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(rows_that_drown_are_counted))
