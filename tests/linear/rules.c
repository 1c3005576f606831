/*
 * linear: every feature map, rule and normaliser against the oracle (attn/oracle_linear.h), number by
 * number within its bounds: outputs, states, weights.
 */
#include "support/test.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>

static double *doubles(int64_t count) {
    double *memory = malloc((size_t)(count + 1) * sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static void compare_weights_of(const trial_t *trial, const attn_plan_t *plan, int64_t b,
                               int64_t h) {
    const attn_problem_t *p = &trial->problem;
    const int64_t m = p->keys;
    double *memory = doubles(2 * m + attn_oracle_linear_scratch(&trial->form, p));
    float *rows = malloc((size_t)(p->queries * m) * sizeof *rows);
    assert_non_null(rows);
    attn_error_t error = {0};
    if (attn_weights(plan, &trial->io, b, h, 0, p->queries, rows, m, &error) != ATTN_OK)
        test_fail("attn_weights: %s", error.message);
    for (int64_t i = 0; i < p->queries; i++) {
        attn_oracle_linear_weights(&trial->form, p, &trial->io, b, h, i, memory, memory + m,
                                   memory + 2 * m);
        for (int64_t j = 0; j < m; j++) {
            if (isnan(memory[j]) || !(memory[m + j] >= 0)) continue; /* its normaliser drowns */
            compare_number((double)rows[i * m + j], memory[j], memory[m + j], "weights",
                           (int64_t[4]){b, h, i, j});
        }
    }
    free(rows);
    free(memory);
}

static void check(trial_t *trial) {
    trial_make(trial);
    trial_label(trial);
    attn_plan_t *plan = trial_run(trial);
    assert_true(trial->report.degenerate_rows <= trial_compare(trial));
    for (int64_t b = 0; b < trial->problem.batch; b++)
        for (int64_t h = 0; h < trial->problem.heads; h++) compare_weights_of(trial, plan, b, h);
    trial_end(trial, plan);
}

/* ---- tests --------------------------------------------------------------------------------------- */

static void all_forms(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int rule = 0; rule < RULES_COUNT; rule++)
            for (int normalise = 0; normalise <= !is_delta(rule); normalise++)
                for (int k = 0; k < 12; k++, number++) {
                    if (!test_takes_case()) continue;
                    trial_t trial = trial_draw(context, map, rule, normalise, number);
                    check(&trial);
                }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_forms))
