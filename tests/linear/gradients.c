/* Gradients of linear attention: the oracle's, against differences. */
#include "support/test.h"
#include "trial_gradients.h"

#include <math.h>
#include <stdlib.h>

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

TEST_MAIN(cmocka_unit_test(oracle_by_central_differences))
