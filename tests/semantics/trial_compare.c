#include "trial.h"

#include "attn/oracle.h"
#include "support/compare.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

/* In a row that came to NaN the weights of hidden keys are 0 or NaN: nobody can use them. */
static int is_void(const exact_t *exact, int64_t key) {
    return isnan(exact->lse) && exact->score[ATTN_SCORES_MASKED][key] == (double)-INFINITY;
}

/* The oracle and exact.c compute the same in double: each may be off by its own rounding. */
static void compare_oracle(const trial_t *trial, exact_t *exact, double *space,
                           const int64_t at[4]) {
    const attn_problem_t *p = &trial->problem;
    double *out = space, *weights = out + p->value_dim, *scratch = weights + p->keys, lse;
    exact_row(exact, p, &trial->io, &EXACT_F64, at[0], at[1], at[2]);
    attn_oracle_row(p, &trial->io, at[0], at[1], at[2], out, &lse, weights, NULL, scratch);
    for (int64_t c = 0; c < p->value_dim; c++)
        compare_number(out[c], exact->out[c], 2 * exact->out_bound[c], "the oracle's out",
                       (int64_t[]){at[0], at[1], at[2], c});
    compare_number(lse, exact->lse, 2 * exact->lse_bound, "the oracle's lse", at);
    for (int64_t j = 0; j < p->keys; j++) {
        const int64_t key[4] = {at[0], at[1], at[2], j};
        if (!is_void(exact, j))
            compare_number(weights[j], exact->weight[j], 2 * exact->weight_bound[j],
                           "the oracle's weight", key);
        for (int32_t s = 0; s < EXACT_STAGES; s++)
            compare_number(attn_oracle_score(p, &trial->io, at[0], at[1], at[2], j, s),
                           exact->score[s][j], 2 * exact->score_bound[s][j], "the oracle's score",
                           key);
    }
}

static void compare_scores(const trial_t *trial, const exact_t *exact, const int64_t at[4]) {
    const int32_t stage = trial->problem.scores;
    for (int64_t j = 0; j < trial->problem.keys; j++) {
        const int64_t key[4] = {at[0], at[1], at[2], j};
        if (stage == ATTN_SCORES_WEIGHTS && is_void(exact, j)) continue;
        compare_number(typed_get(&trial->scores.tensor, at[0], at[1], at[2], j),
                       exact_score(exact, stage, j), exact_score_bound(exact, stage, j), "scores",
                       key);
    }
}

void trial_compare(const trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    exact_t exact = trial_exact(trial);
    const arithmetic_t arithmetic = trial_arithmetic(trial);
    double *space = malloc((size_t)(p->value_dim + 2 * p->keys) * sizeof *space);
    if (!space) test_fail("the test itself has no memory");
    FOR_EACH_ROW(p, at) {
        if (trial_is_dense() && test_is_lowest_tier()) compare_oracle(trial, &exact, space, at);
        exact_row(&exact, p, &trial->io, &arithmetic, at[0], at[1], at[2]);
        compare_exact_row(&exact, p, &trial->io, at);
        if (trial->scores.block) compare_scores(trial, &exact, at);
    }
    free(space);
    exact_destroy(&exact);
}

void trial_compare_weights(const attn_plan_t *plan, trial_t *trial, exact_t *exact,
                           const attn_problem_t *problem, const attn_io_t *io) {
    const int64_t keys = problem->keys;
    float *row = malloc((size_t)keys * sizeof *row);
    if (!row) test_fail("the test itself has no memory");
    trial_give_workspace(plan, trial);
    const arithmetic_t arithmetic = trial_arithmetic(trial);
    attn_error_t error = {0};
    FOR_EACH_ROW(problem, at) {
        if (attn_weights(plan, &trial->io, at[0], at[1], at[2], 1, row, keys, &error) != ATTN_OK)
            test_fail("attn_weights: %s", error.message);
        exact_row(exact, problem, io, &arithmetic, at[0], at[1], at[2]);
        for (int64_t j = 0; j < keys; j++)
            compare_number((double)row[j], exact->weight[j], exact->weight_bound[j], "weights",
                           (int64_t[]){at[0], at[1], at[2], j});
    }
    trial_check_workspace(trial);
    free(row);
}

void trial_check_weights(const attn_plan_t *plan, trial_t *trial) {
    exact_t exact = trial_exact(trial);
    trial_compare_weights(plan, trial, &exact, &trial->problem, &trial->io);
    exact_destroy(&exact);
}
